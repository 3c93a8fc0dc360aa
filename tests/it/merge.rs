//! Folders of one run that become one: shards from disks of their own, copies, contradictions, and folders of others.

use crate::common::{WorkDir, lines, read};
use serde_json::Value;
use std::path::Path;

const SAMPLE: &str = "datasets/sample.jsonl";

/// Three shards in folders of their own, with two variants over 30 questions.
fn shards(dir: &WorkDir) {
    for n in 1..=3 {
        let (out, shard) = (format!("disk{n}/r"), format!("{n}/3"));
        dir.run(&[SAMPLE, "--limit", "30", "--method", "react,act", "--quiet", "--out", &out, "--shard", &shard]).ok();
    }
}

/// What a command prints as JSON, without the folder and the times.
fn figures(dir: &WorkDir, args: &[&str]) -> Value {
    let mut value = dir.wikitrail(args).json();
    for key in ["run", "runs", "wall_ms"] {
        value.as_object_mut().expect("an object").remove(key);
    }
    for variant in value["variants"].as_array_mut().into_iter().flatten() {
        variant.as_object_mut().expect("an object").remove("episode_ms");
    }
    value
}

/// Changes the record with this number in a file.
fn change(path: &Path, line: usize, change: impl Fn(&mut Value)) {
    let mut records = lines(&read(path));
    change(&mut records[line]);
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    std::fs::write(path, lines.join("\n") + "\n").expect("written");
}

#[test]
fn shards_from_disks_of_their_own_are_the_run_that_was_never_split() {
    let dir = WorkDir::new();
    shards(&dir);
    dir.run(&[SAMPLE, "--limit", "30", "--method", "react,act", "--quiet", "--out", "whole"]).ok();
    let merged = dir.wikitrail(&["merge", "disk1/r", "disk2/r", "disk3/r", "--out", "new/r", "--json"]).json();
    let expected = serde_json::json!({"run": "new/r", "planned": 60, "episodes": 60, "measured": 60, "missing": 0,
        "copies": 0, "settled": 0});
    assert_eq!(merged, expected);
    let keys = |run: &str| -> Vec<Value> {
        let mut keys: Vec<Value> = dir.records(run).into_iter().map(|record| record["key"].clone()).collect();
        keys.sort_by_key(Value::to_string);
        keys
    };
    assert_eq!(keys("new/r"), keys("whole"));
    assert_eq!(figures(&dir, &["score", "new/r", "--json"]), figures(&dir, &["score", "whole", "--json"]));
    let compared = |run: &str| dir.wikitrail(&["compare", run, "--json"]).json()["metrics"].take();
    assert_eq!(compared("new/r"), compared("whole"));
    assert_eq!(dir.read("new/r/questions.jsonl"), dir.read("whole/questions.jsonl"));
    dir.wikitrail(&["replay", "new/r"]).ok();
    let nothing = dir.run(&["--resume", "--out", "new/r"]).ok();
    assert!(nothing.stderr.contains("keep 60, redo 0, new 0"), "{}", nothing.stderr);
    // A merged run is a run: merged again, alone or with a part of itself, it is the same.
    let again = dir.wikitrail(&["merge", "new/r", "disk2/r", "--out", "again"]).ok();
    assert!(
        again.stdout.starts_with("again: 60 of 60 episodes\n") && again.stdout.contains("all alike\n"),
        "{}",
        again.stdout
    );
    assert_eq!(dir.read("again/trajectories.jsonl"), dir.read("new/r/trajectories.jsonl"));
    // Two of three: what is missing is told.
    let some = dir.wikitrail(&["merge", "disk1/r", "disk3/r", "--out", "some", "--json"]).json();
    let missing = some["missing"].as_u64().expect("a number");
    assert!(missing > 0 && some["episodes"] == 60 - missing, "{some}");
}

#[test]
fn different_results_of_an_episode_are_named_and_kept_only_on_purpose() {
    let dir = WorkDir::new();
    shards(&dir);
    dir.wikitrail(&["merge", "disk1/r", "--out", "copy"]).ok();
    let file = dir.path("copy/trajectories.jsonl");
    change(&file, 2, |record| record["answer"] = "another".into());
    // One that was not measured here is no contradiction.
    change(&file, 0, |record| {
        record["outcome"] = "not_measured".into();
        record["answer"] = Value::Null;
    });
    let record = lines(&read(&file)).swap_remove(2);
    let (id, variant) = (record["id"].as_str().expect("an id"), record["variant"].as_str().expect("a name"));
    let named = format!("{id} ({variant}): disk1/r/trajectories.1-of-3.jsonl:");
    let args = ["merge", "disk1/r", "disk2/r", "copy", "--out", "new"];
    dir.wikitrail(&args)
        .refused(3, &["1 episode is recorded with different results", &named, " and copy/trajectories.jsonl:3"]);
    assert!(!dir.path("new").exists());
    assert_eq!(std::fs::read_dir(dir.root()).expect("a folder").count(), 4, "nothing is left over");
    for (keep, out, answer) in [("first", "a", "another"), ("last", "b", "another")] {
        let kept = dir.wikitrail(&[&args[..5], &[out, "--keep", keep, "--json"]].concat()).json();
        assert_eq!(
            (&kept["settled"], &kept["missing"]),
            (&1.into(), &lines_of(&dir, "disk3/r/trajectories.3-of-3.jsonl").into())
        );
        assert_eq!(kept["measured"], kept["episodes"]);
        let mut records = dir.records(out).into_iter();
        let found = records.find(|kept| kept["key"] == record["key"]).expect("the episode");
        assert_eq!(found["answer"] == answer, keep == "last");
    }
    // A copy of a record that differs is a copy, whichever record comes first.
    dir.wikitrail(&["merge", "copy", "--out", "copy2"]).ok();
    let kept = dir.wikitrail(&["merge", "disk1/r", "copy", "copy2", "--out", "c", "--keep", "last", "--json"]).json();
    assert_eq!(kept["settled"], 1);
}

fn lines_of(dir: &WorkDir, name: &str) -> usize {
    lines(&dir.read(name)).len()
}

/// A folder of somebody else leads to files that are not its own, and names some outside.
#[cfg(unix)]
#[test]
fn nothing_is_copied_from_outside_or_written_there() {
    use std::os::unix::fs::symlink;
    let dir = WorkDir::new();
    let run = |out: &str| dir.run(&[SAMPLE, "--limit", "3", "--quiet", "--out", out]).ok();
    run("theirs");
    dir.write("secret.txt", "a secret");
    let prompts = std::fs::read_dir(dir.path("theirs/prompts")).expect("a folder");
    for prompt in prompts.map(|entry| entry.expect("an entry").path()) {
        std::fs::remove_file(&prompt).expect("removed");
        symlink(dir.path("secret.txt"), prompt).expect("a link");
    }
    let path = dir.path("theirs/manifest.json");
    let mut manifest = dir.manifest("theirs");
    manifest["variants"][0]["direct_prompt_sha256"] = "../../outside".into();
    std::fs::write(&path, manifest.to_string()).expect("written");
    let merged = dir.wikitrail(&["merge", "theirs", "--out", "new"]).ok();
    assert!(merged.stderr.contains("no folder has prompt"), "{}", merged.stderr);
    assert!(!dir.path("outside.txt").exists() && !dir.path("new/prompts").exists());
    symlink(dir.path("elsewhere"), dir.path("link")).expect("a link");
    dir.wikitrail(&["merge", "theirs", "--out", "link"]).refused(3, &["a symbolic link"]);
    assert!(!dir.path("elsewhere").exists());
}

/// What people and models said of a run is carried along, and nothing that only has the name of it.
#[cfg(unix)]
#[test]
fn judgements_are_carried_from_the_folder_itself_and_only_what_is_one() {
    let dir = WorkDir::new();
    dir.run(&[SAMPLE, "--limit", "3", "--quiet", "--out", "theirs"]).ok();
    dir.write("secret.txt", "a secret\n{\"a\": \"secret\"}\n");
    for name in ["annotations.jsonl", "verdicts.jsonl", "classifications.jsonl"] {
        let file = dir.path("theirs").join(name);
        std::os::unix::fs::symlink(dir.path("secret.txt"), &file).expect("a link");
        let merged = dir.wikitrail(&["merge", "theirs", "--out", "linked"]).ok();
        let warning = format!("warning: theirs/{name}: it is a symbolic link, which may lead anywhere; left out");
        assert!(merged.stderr.contains(&warning), "{}", merged.stderr);
        assert!(!dir.path("linked").join(name).exists());
        std::fs::remove_dir_all(dir.path("linked")).expect("removed");
        std::fs::remove_file(&file).expect("removed");
        // The same lines in a file of the folder itself are not what they claim to be.
        std::fs::copy(dir.path("secret.txt"), &file).expect("copied");
        let merged = dir.wikitrail(&["merge", "theirs", "--out", "copied"]).ok();
        for line in 1..=2 {
            assert!(merged.stderr.contains(&format!("warning: theirs/{name}:{line}: not a ")), "{}", merged.stderr);
        }
        assert!(!dir.path("copied").join(name).exists());
        std::fs::remove_dir_all(dir.path("copied")).expect("removed");
        std::fs::remove_file(&file).expect("removed");
    }
    let id = dir.records("theirs")[0]["id"].as_str().expect("an id").to_owned();
    dir.write("j.csv", format!("id,correct\n{id},yes\n"));
    dir.wikitrail(&["annotate", "theirs", "--import", "j.csv", "--by", "me"]).ok();
    dir.wikitrail(&["merge", "theirs", "--out", "new"]).ok();
    assert_eq!(dir.read("new/annotations.jsonl"), dir.read("theirs/annotations.jsonl"));
}
