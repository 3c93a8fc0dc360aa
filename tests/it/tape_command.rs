//! A run recorded against the mocks, replayed with the mocks gone; a miss that says what differs; a cache that asks
//! nobody twice.

use crate::common::{self, Ran, WorkDir, mockd};
use serde_json::Value;
use std::collections::BTreeMap;

fn run(dir: &WorkDir, flags: &[&str], out: &str) -> Ran {
    let usual =
        ["--limit", "12", "--method", "react,cot-sc", "--samples", "3", "--repeats", "2", "--quiet", "--out", out];
    dir.run(&[&usual[..], flags].concat())
}

/// The trajectories without their times, by variant, question and repeat.
fn without_times(dir: &WorkDir, out: &str) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for episode in dir.records(out).into_iter().map(common::without_times) {
        found.insert(format!("{}/{}/{}", episode["variant"], episode["id"], episode["repeat"]), episode);
    }
    found
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_recorded_run_replays_without_anyone() {
    let shared = common::shared();
    let dir = WorkDir::new();
    let (llm, wiki) = mockd::start(&shared);
    let (base, site) = (format!("{}/v1?key=sk-very-secret-1", llm.url()), wiki.url());
    let server = ["--model", "openai:mock", "--base-url", &base, "--wiki", "html", "--wiki-url", &site];
    run(&dir, &[&server[..], &["--record", "run.tape"]].concat(), "a").ok();
    drop((llm, wiki));
    run(&dir, &[&server[..], &["--replay", "run.tape"]].concat(), "b").ok();
    let [recorded, replayed] = ["a", "b"].map(|out| without_times(&dir, out));
    assert_eq!(recorded.len(), 48);
    assert_eq!(recorded, replayed);
    assert!(!dir.read("run.tape").contains("sk-very-secret-1"));
    // A prompt with fewer examples is another prompt: the run goes on, nothing is measured, and it says what differs.
    let ran = run(&dir, &[&server[..], &["--replay", "run.tape", "--shots", "3"]].concat(), "c");
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    let detail = without_times(&dir, "c").values().next().expect("an episode")["detail"].to_string();
    for part in ["has no such model request", "the nearest, in line", "differs in prompt", "recorded", "asked"] {
        assert!(detail.contains(part), "`{part}` is missing in {detail}");
    }
    assert_eq!(run(&dir, &["--replay", "run.tape", "--record", "run.tape"], "c").code, Some(2));
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_cache_asks_nobody_twice() {
    let shared = common::shared();
    let dir = WorkDir::new();
    let (llm, wiki) = mockd::start(&shared);
    let (base, site) = (format!("{}/v1", llm.url()), wiki.url());
    let flags =
        ["--model", "openai:mock", "--base-url", &base, "--wiki", "html", "--wiki-url", &site, "--cache", "cache"];
    let first = run(&dir, &flags, "a").ok();
    let (asked, pages) = (llm.requests(), wiki.requests());
    // 24 episodes of four steps, and 24 votes of three samples whose answer is asked for apart or not.
    assert!(asked >= 24 * 4 + 24 * 3, "{asked}");
    // Two searches a question, which the repeat makes again without asking anybody.
    assert_eq!(pages, 24);
    assert!(first.stderr.contains(&format!("cache: 0 hits, {} misses", asked + pages)), "{}", first.stderr);
    let again = run(&dir, &flags, "b").ok();
    assert_eq!((llm.requests(), wiki.requests()), (asked, pages), "{}", again.stderr);
    assert!(again.stderr.contains(&format!("cache: {} hits, 0 misses", asked + pages)), "{}", again.stderr);
}
