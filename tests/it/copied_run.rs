//! A run's folder that is copied to another place, without the dataset, gives the same figures and can be resumed.

use crate::common::{self, Ran, WorkDir, wikitrail};
use serde_json::Value;
use std::path::Path;

const LIMIT: &str = "12";

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let to = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &to);
        } else {
            std::fs::copy(&entry, &to).expect("a copy");
        }
    }
}

/// What is said of a run, without its folder's name and the times.
fn figures(folder: &Path, args: &[&str]) -> Value {
    let mut value = wikitrail(folder, args).json();
    for key in ["run", "runs", "wall_ms"] {
        value.as_object_mut().expect("an object").remove(key);
    }
    value
}

#[test]
fn a_copied_folder_gives_the_same_figures_and_resumes() {
    let (home, away) = (WorkDir::new(), WorkDir::new());
    std::fs::write(home.path("own.jsonl"), common::repository("datasets/sample.jsonl")).expect("it can be written");
    let flags = ["own.jsonl", "--method", "react,act", "--limit", LIMIT, "--quiet", "--out", "r"];
    home.run(&flags).ok();
    copy(&home.path("r"), &away.path("r"));
    let (run, copied) = (home.path("r"), away.path("r"));
    for args in [
        &["compare", ".", "--by", "type", "--json"][..],
        &["compare", ".", "--by", "level", "--metric", "f1,sentences_seen", "--json"],
        &["score", ".", "--json", "--per-item"],
    ] {
        let (there, here) = (wikitrail(&run, args).ok(), wikitrail(&copied, args).ok());
        assert_eq!(there.stdout, here.stdout, "{args:?}");
        assert!(!here.stderr.contains("supporting facts are not available"), "{}", here.stderr);
    }
    let csv = |folder: &Path| wikitrail(folder, &["export", ".", "--format", "csv"]).ok().stdout;
    assert_eq!(csv(&run), csv(&copied));

    // Half of it is lost, and done again without the dataset.
    let file = copied.join("trajectories.jsonl");
    let text = std::fs::read_to_string(&file).expect("records");
    let half: Vec<&str> = text.lines().take(text.lines().count() / 2).collect();
    std::fs::write(&file, half.join("\n") + "\n").expect("it can be written");
    let resumed: Ran = wikitrail(&away.path("."), &["run", "--resume", "--out", "r", "--quiet"]).ok();
    assert!(resumed.stderr.contains("`own.jsonl` is not here"), "{}", resumed.stderr);
    let args = ["score", ".", "--json"];
    let (mut there, mut here) = (figures(&run, &args), figures(&copied, &args));
    for figures in [&mut there, &mut here] {
        for variant in figures["variants"].as_array_mut().expect("variants") {
            variant.as_object_mut().expect("an object").remove("episode_ms");
        }
    }
    assert_eq!(there, here);
    // Another selection cannot be made without the file.
    wikitrail(
        &away.path("."),
        &["run", "own.jsonl", "--method", "react,act", "--limit", "20", "--resume", "--out", "r"],
    )
    .refused(3, &["own.jsonl", "there is no such file"]);
}
