//! A run recorded against the mocks, replayed with the mocks gone; a miss that says what differs; a cache that asks
//! nobody twice.

use crate::common;
use crate::common::mockd;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

fn run(flags: &[&str], out: &Path) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_wikitrail"))
        .args(["run", "--limit", "12", "--method", "react,cot-sc", "--samples", "3", "--repeats", "2", "--quiet"])
        .args(flags)
        .arg("--out")
        .arg(out)
        .env_remove("OPENAI_API_KEY")
        .output()
        .expect("wikitrail runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

/// The trajectories without their times, by variant, question and repeat.
fn without_times(out: &Path) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for mut episode in common::records(out) {
        let fields = episode.as_object_mut().expect("an object");
        fields.remove("started_at");
        fields.remove("wall_ms");
        for step in fields["steps"].as_array_mut().expect("steps") {
            for call in step["calls"].as_array_mut().expect("calls") {
                call.as_object_mut().expect("a call").remove("latency_ms");
            }
        }
        found.insert(format!("{}/{}/{}", episode["variant"], episode["id"], episode["repeat"]), episode);
    }
    found
}

#[test]
fn a_recorded_run_replays_without_anyone() {
    let Some(shared) = common::shared() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second, other) = (folder.path().join("a"), folder.path().join("b"), folder.path().join("c"));
    let (tape, tape_path) = (folder.path().join("run.tape"), folder.path().join("run.tape").display().to_string());
    let (llm, wiki) = mockd::start(&shared);
    let (base, site) = (format!("{}/v1?key=sk-very-secret-1", llm.url()), wiki.url());
    let server = ["--model", "openai:mock", "--base-url", &base, "--wiki", "html", "--wiki-url", &site];
    let (code, text) = run(&[&server[..], &["--record", &tape_path]].concat(), &first);
    assert_eq!(code, Some(0), "{text}");
    drop((llm, wiki));
    let (code, text) = run(&[&server[..], &["--replay", &tape_path]].concat(), &second);
    assert_eq!(code, Some(0), "{text}");
    let (recorded, replayed) = (without_times(&first), without_times(&second));
    assert_eq!(recorded.len(), 48);
    assert_eq!(recorded, replayed);
    assert!(!std::fs::read_to_string(&tape).expect("the tape").contains("sk-very-secret-1"));
    // A prompt with fewer examples is another prompt: the run goes on, nothing is measured, and it says what differs.
    let (code, text) = run(&[&server[..], &["--replay", &tape_path, "--shots", "3"]].concat(), &other);
    assert_eq!(code, Some(4), "{text}");
    let detail = without_times(&other).values().next().expect("an episode")["detail"].to_string();
    for part in ["has no such model request", "the nearest, in line", "differs in prompt", "recorded", "asked"] {
        assert!(detail.contains(part), "`{part}` is missing in {detail}");
    }
    let (code, text) = run(&["--replay", &tape_path, "--record", &tape_path], &other);
    assert_eq!(code, Some(2), "{text}");
}

#[test]
fn a_cache_asks_nobody_twice() {
    let Some(shared) = common::shared() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let cache = folder.path().join("cache").display().to_string();
    let (llm, wiki) = mockd::start(&shared);
    let (base, site) = (format!("{}/v1", llm.url()), wiki.url());
    let flags =
        ["--model", "openai:mock", "--base-url", &base, "--wiki", "html", "--wiki-url", &site, "--cache", &cache];
    let (code, text) = run(&flags, &folder.path().join("a"));
    assert_eq!(code, Some(0), "{text}");
    let (asked, pages) = (llm.requests(), wiki.requests());
    // 24 episodes of four steps, and 24 votes of three samples whose answer is asked for apart or not.
    assert!(asked >= 24 * 4 + 24 * 3, "{asked}");
    // Two searches a question, which the repeat makes again without asking anybody.
    assert_eq!(pages, 24);
    assert!(text.contains(&format!("cache: 0 hits, {} misses", asked + pages)), "{text}");
    let (code, text) = run(&flags, &folder.path().join("b"));
    assert_eq!(code, Some(0), "{text}");
    assert_eq!((llm.requests(), wiki.requests()), (asked, pages), "{text}");
    assert!(text.contains(&format!("cache: {} hits, 0 misses", asked + pages)), "{text}");
}
