//! Shards of a run: side by side in one folder, killed and continued anywhere, and read as one run.

use crate::common::{Ran, WorkDir, lines, mockd, read, shared, without_times};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Stdio};

const SAMPLE: &str = "datasets/sample.jsonl";

/// The arguments of a shard.
fn shard<'a>(shard: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", SAMPLE, "--method", "react,act", "--out", "r", "--quiet", "--shard", shard], more].concat()
}

fn begin(dir: &WorkDir, args: &[&str]) -> Child {
    let mut command = dir.command(args);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("wikitrail starts")
}

#[track_caller]
fn ended(child: Child) {
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The files of a folder whose names begin and end so.
fn files(folder: &Path, begin: &str, end: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    let mut names: Vec<String> = names.filter(|name| name.starts_with(begin) && name.ends_with(end)).collect();
    names.sort();
    names
}

/// All recorded episodes of a run by their keys, without times.
#[track_caller]
fn episodes(run: &Path) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for name in files(run, "trajectories", ".jsonl") {
        for mut record in lines(&read(run.join(name))).into_iter().map(without_times) {
            for step in record["steps"].as_array_mut().expect("steps") {
                if step["provenance"].is_object() {
                    step["provenance"]["fetched_at"] = "".into();
                }
            }
            let key = record["key"].as_str().expect("a key").to_owned();
            assert!(found.insert(key, record).is_none(), "an episode is recorded twice");
        }
    }
    found
}

/// What `score --json` says, without what differs from folder to folder.
fn figures(dir: &WorkDir, run: &str) -> Value {
    let mut score = dir.wikitrail(&["score", run, "--json"]).json();
    for key in ["run", "wall_ms"] {
        score.as_object_mut().expect("an object").remove(key);
    }
    for variant in score["variants"].as_array_mut().expect("variants") {
        variant.as_object_mut().expect("an object").remove("episode_ms");
    }
    score
}

#[test]
fn shards_that_begin_at_once_are_one_run() {
    let dir = WorkDir::new();
    let shards: Vec<Child> = (1..=4).map(|n| begin(&dir, &shard(&format!("{n}/4"), &[]))).collect();
    shards.into_iter().for_each(ended);
    dir.run(&[SAMPLE, "--method", "react,act", "--out", "whole", "--quiet"]).ok();
    let (split, whole) = (dir.path("r"), dir.path("whole"));
    assert_eq!(episodes(&split), episodes(&whole));
    assert_eq!(figures(&dir, "r"), figures(&dir, "whole"));
    for name in ["questions.jsonl", "manifest.json"] {
        assert_eq!(files(&split, name, ""), [name], "written once, and nothing is left over");
    }
    assert_eq!(read(split.join("questions.jsonl")), read(whole.join("questions.jsonl")));
    assert_eq!(files(&split, "trajectories", ".jsonl").len(), 4);
    // Both variants of a question are in one shard.
    let mut shards_of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in files(&split, "trajectories", ".jsonl") {
        for record in lines(&read(split.join(&name))) {
            shards_of.entry(record["id"].as_str().expect("an id").to_owned()).or_default().insert(name.clone());
        }
    }
    assert!(shards_of.len() == 60 && shards_of.values().all(|shards| shards.len() == 1), "{shards_of:?}");
    // Every reader reads all.
    assert_eq!(dir.wikitrail(&["export", "r", "--format", "jsonl"]).lines().len(), 120);
    assert_eq!(dir.wikitrail(&["show", "r", "--json"]).lines().len(), 120);
    dir.wikitrail(&["replay", "r"]).ok();
    let compared = dir.wikitrail(&["compare", "r", "--json"]).json();
    assert!(compared["metrics"].is_array());
    assert_eq!(compared["metrics"], dir.wikitrail(&["compare", "whole", "--json"]).json()["metrics"]);
    // Nothing is left to do, in a shard or in all.
    let nothing = dir.wikitrail(&shard("2/4", &[])).ok();
    assert!(nothing.stderr.contains("redo 0, new 0"), "{}", nothing.stderr);
    let nothing = dir.run(&["--resume", "--out", "r"]).ok();
    assert!(nothing.stderr.contains("keep 120, redo 0, new 0"), "{}", nothing.stderr);
}

#[test]
fn the_shard_of_a_question_does_not_depend_on_the_order() {
    let dir = WorkDir::new();
    let ids = |out: &str, more: &[&str]| {
        let args = [&[SAMPLE, "--out", out, "--quiet", "--shard", "2/3"], more].concat();
        dir.run(&args).ok();
        let records = lines(&dir.read(&format!("{out}/trajectories.2-of-3.jsonl")));
        // As docs/formats.md says, for programs that look for a question.
        for record in &records {
            let text =
                format!(r#"{{"id":{},"text":{},"answers":{}}}"#, record["id"], record["question"], record["answers"]);
            let digest = crate::common::sha256_hex(text.as_bytes());
            assert_eq!(u64::from_str_radix(&digest[..16], 16).expect("digits") % 3 + 1, 2, "{text}");
        }
        records.iter().map(|record| record["id"].as_str().expect("an id").to_owned()).collect::<BTreeSet<_>>()
    };
    let (usual, shuffled, some) = (ids("a", &[]), ids("b", &["--shuffle", "7"]), ids("c", &["--limit", "30"]));
    assert_eq!(usual, shuffled);
    assert!(some.len() < usual.len() && some.is_subset(&usual), "a selection comes before the shards");
}

/// A killed shard goes on where it was, on whatever machine, and its run is the one that was never split.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_shard_that_is_killed_goes_on_and_nothing_is_paid_for_twice() {
    const LIMIT: usize = 120;
    let shared = shared();
    let (llm, wiki) = mockd::start(&shared);
    let dir = WorkDir::new();
    let command = |out: &str, more: &[&str]| {
        let mut command = mockd::paper_run(&shared, (&llm, &wiki), LIMIT, &dir.path(out));
        command.args(["--instruction", shared.join("data/prompts/hotpotqa_instruction.txt").to_str().expect("UTF-8")]);
        command
            .args(["--quiet", "--concurrency", "4", "--price", "1/2"])
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    assert!(command("whole", &[]).status().expect("it runs").success());
    let alone = llm.requests();
    llm.get("/reset");
    llm.get("/config?latency=20");
    let start = |n: u32| command("r", &["--shard", &format!("{n}/4")]).spawn().expect("it starts");
    let mut shards: Vec<Child> = (1..=4).map(start).collect();
    let recorded = || std::fs::read(dir.path("r/trajectories.2-of-4.jsonl")).map_or(0, |text| text.len());
    while recorded() == 0 {
        assert!(shards[1].try_wait().expect("it can be asked").is_none(), "it ended before it was killed");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    // The same shard is not for two; the first must not end before the second has begun.
    llm.get("/config?latency=3000");
    let second = command("r", &["--shard", "2/4"]).stderr(Stdio::piped()).output().expect("it runs");
    Ran::from(&second).refused(1, &["shard 2/4 of", "is being written by another process (process "]);
    shards[1].kill().expect("kill -9");
    llm.get("/config?latency=0");
    for (n, mut shard) in shards.into_iter().enumerate() {
        assert_eq!(shard.wait().expect("it ends").success(), n != 1);
    }
    let before = recorded();
    assert!(command("r", &["--shard", "2/4"]).status().expect("it runs").success());
    assert!(recorded() > before);
    let twice = llm.requests() - alone;
    // Four were in flight, and as many answers may have waited for the disk.
    assert!(twice <= 8, "{twice} requests were sent twice");
    assert_eq!(episodes(&dir.path("r")), episodes(&dir.path("whole")));
    let (split, whole) = (figures(&dir, dir.path("r").to_str().expect("UTF-8")), figures(&dir, "whole"));
    assert_eq!(split["variants"], whole["variants"]);
    assert_eq!(split["spending"], whole["spending"]);
    // So is what becomes of its parts, a copy among them: what was paid once counts once.
    std::fs::create_dir(dir.path("copy")).expect("a folder");
    for name in ["manifest.json", "trajectories.3-of-4.jsonl", "journal.3-of-4.jsonl"] {
        std::fs::copy(dir.path("r").join(name), dir.path("copy").join(name)).expect("a copy");
    }
    dir.wikitrail(&["merge", "r", "copy", "--out", "merged"]).ok();
    let merged = figures(&dir, "merged");
    assert_eq!((&merged["variants"], &merged["spending"]), (&whole["variants"], &whole["spending"]));
}

/// What dead shards have begun is found by whoever does it in the end.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_run_of_everything_finishes_what_its_shards_left() {
    let shared = shared();
    let (llm, wiki) = mockd::start(&shared);
    let dir = WorkDir::new();
    let command = |more: &[&str]| {
        let mut command = mockd::paper_run(&shared, (&llm, &wiki), 30, &dir.path("r"));
        command.args(["--quiet", "--concurrency", "3"]).args(more).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    llm.get("/config?latency=30");
    for n in 1..=3 {
        let mut child = command(&["--shard", &format!("{n}/3")]).spawn().expect("it starts");
        let path = dir.path(&format!("r/journal.{n}-of-3.jsonl"));
        while std::fs::read(&path).map_or(0, |text| memchr::memchr_iter(b'\n', &text).count()) < 4 {
            assert!(child.try_wait().expect("it can be asked").is_none(), "it ended before it was killed");
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        child.kill().expect("kill -9");
        child.wait().expect("it is gone");
    }
    llm.get("/config?latency=0");
    let score = dir.wikitrail(&["score", "r", "--json"]).json();
    let (begun, recorded) = (llm.requests(), 30 - score["missing"].as_u64().expect("a number"));
    assert!(score["spending"]["total"]["calls"].as_u64() > Some(recorded * 4), "{score}");
    assert!(command(&["--resume"]).status().expect("it runs").success());
    assert_eq!(episodes(&dir.path("r")).len(), 30);
    let twice = llm.requests() - 30 * 4;
    // Nine were in flight, and as many answers may have waited for the disk.
    assert!(begun > 12 && twice <= 18, "{twice} requests were sent twice");
    let spending = &dir.wikitrail(&["score", "r", "--json"]).json()["spending"];
    let calls = ["total", "unfinished", "discarded"].map(|part| spending[part]["calls"].as_u64());
    assert_eq!(calls, [Some(120), Some(0), Some(0)]);
}
