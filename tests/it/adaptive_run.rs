//! How many requests a server is sent at once, against a model mock that refuses what is too much.

use crate::common::mockd::{self, Mock};
use crate::common::{self, manifest};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The command that runs 150 questions.
fn command(shared: &Path, llm: &Mock, wiki: &Mock, out: &Path) -> Command {
    let mut command = mockd::paper_run(shared, (llm, wiki), 150, out);
    command.args(["--quiet", "--model-attempts", "20"]);
    command
}

/// Runs them and returns the manifest.
fn run(shared: &Path, llm: &Mock, wiki: &Mock, flags: &[&str]) -> Value {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("run");
    let output = command(shared, llm, wiki, &out).args(flags).output().expect("wikitrail runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    manifest(&out)
}

fn reasons(history: &Value) -> Vec<&str> {
    history["changes"].as_array().expect("changes").iter().map(|c| c["reason"].as_str().expect("a reason")).collect()
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_number_is_learned_and_recorded_and_a_fixed_one_stays() {
    let shared = common::shared();
    let (llm, wiki) = mockd::start(&shared);
    llm.get("/config?latency=20&rps=150&burst=30&retry_after=1");
    let learned = run(&shared, &llm, &wiki, &["--concurrency", "auto:64"]);
    let history = learned["limit_history"].as_array().expect("a history");
    let model: Vec<&Value> = history.iter().filter(|entry| entry["service"] == "model").collect();
    assert_eq!(model.len(), 1, "one server");
    assert_eq!(model[0]["server"], format!("{}/v1", llm.url()));
    let reasons = reasons(model[0]);
    assert!(reasons.contains(&"rate_limit"), "{reasons:?}");
    let mut last = 1;
    for change in model[0]["changes"].as_array().expect("changes") {
        let (from, to) = (change["from"].as_u64().expect("a limit"), change["to"].as_u64().expect("a limit"));
        assert!((1..=64).contains(&to) && from == last, "{change}");
        assert_eq!(change["reason"] == "growth", to > from, "{change}");
        last = to;
    }

    llm.get("/config?rps=0");
    let calm = run(&shared, &llm, &wiki, &[]);
    let growth = calm["limit_history"].as_array().expect("a history");
    let model = growth.iter().find(|entry| entry["service"] == "model").expect("it grew");
    assert_eq!((&model["changes"][0]["from"], &model["changes"][0]["to"]), (&1.into(), &2.into()), "{model}");
    assert_eq!(model["changes"][0]["reason"], "growth");

    let fixed = run(&shared, &llm, &wiki, &["--concurrency", "8", "--wiki-concurrency", "4"]);
    assert!(fixed["limit_history"].is_null(), "{}", fixed["limit_history"]);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_run_that_is_killed_keeps_what_it_had_learned() {
    let shared = common::shared();
    let (llm, wiki) = mockd::start(&shared);
    llm.get("/config?latency=300");
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("run");
    let mut killed = command(&shared, &llm, &wiki, &out);
    let mut killed = killed.arg("--concurrency").arg("auto:64").stderr(Stdio::null()).spawn().expect("it starts");
    let deadline = Instant::now() + Duration::from_mins(1);
    while !out.join("manifest.json").exists() || manifest(&out)["limit_history"].is_null() {
        assert!(Instant::now() < deadline, "nothing is written down");
        assert!(killed.try_wait().expect("it can be asked").is_none(), "it ended before it was killed");
        std::thread::sleep(Duration::from_millis(20));
    }
    killed.kill().expect("kill -9");
    killed.wait().expect("it is gone");
    let first = manifest(&out);
    assert!(first["ended_at"].is_null(), "it did not end by itself");

    llm.get("/config?latency=0");
    let output = command(&shared, &llm, &wiki, &out).arg("--resume").output().expect("wikitrail runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (both, before) = (manifest(&out), first["limit_history"].as_array().expect("a history"));
    let history = both["limit_history"].as_array().expect("a history");
    assert!(history.starts_with(before), "{history:?}");
}
