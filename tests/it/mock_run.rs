//! The main job against the benchmark kit's mocks: the paper's prompt over 500 questions gives the kit's figures,
//! through both endpoints, and a run that is killed again and again loses and repeats nothing.

use crate::common::mockd::{self, Mock};
use crate::common::{self, calls, killed, manifest, recorded, records};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const QUESTIONS: usize = 500;
/// Requests at once of runs that are killed.
const SLOTS: usize = 32;
/// Episodes in progress at once: a run begins two for each slot.
const EPISODES: usize = 2 * SLOTS;

fn command(shared: &Path, llm: &Mock, wiki: &Mock, out: &Path) -> Command {
    let mut command = mockd::paper_run(shared, (llm, wiki), QUESTIONS, out);
    command.arg("--json").arg("--instruction").arg(shared.join("data/prompts/hotpotqa_instruction.txt"));
    command
}

fn summary(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}\n{errors}", output.status);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {:?}\n{errors}", output.stdout))
}

fn assert_the_kits_figures(summary: &Value, out: &Path) {
    let row = &summary["variants"][0];
    assert_eq!(row["measured"], 500);
    assert!((row["em"].as_f64().expect("em") - 0.338).abs() < 1e-12, "{row}");
    assert!((row["f1"].as_f64().expect("f1") - 0.4568).abs() < 5e-5, "{row}");
    let records = records(out);
    assert_eq!(records.len(), QUESTIONS);
    let ids: HashSet<&str> = records.iter().map(|r| r["id"].as_str().expect("id")).collect();
    assert_eq!(ids.len(), QUESTIONS);
    for record in &records {
        let steps = record["steps"].as_array().expect("steps");
        assert_eq!(steps.len(), 4);
        assert_eq!(calls([record]), 4);
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn five_hundred_questions_give_the_kits_figures_by_chat_and_completions() {
    let shared = common::shared();
    let (llm, wiki) = mockd::start(&shared);
    let dir = tempfile::tempdir().expect("a folder");
    for (name, flags) in [("chat", &[][..]), ("completions", &["--completions"][..])] {
        let out = dir.path().join(name);
        llm.get("/reset");
        let output = command(&shared, &llm, &wiki, &out).args(flags).output().expect("wikitrail runs");
        assert_the_kits_figures(&summary(&output), &out);
        assert_eq!(llm.requests(), 4 * QUESTIONS as u64, "{name}");
    }
    assert_the_export_opens_in_python(&dir.path().join("chat"));
}

/// 500 rows of questions and 2,000 of steps, every cell as it is in the record, in Python's csv module and in pandas.
fn assert_the_export_opens_in_python(out: &Path) {
    for (rows, count) in [("questions", QUESTIONS), ("steps", 4 * QUESTIONS)] {
        let file = out.join(format!("{rows}.csv"));
        let file_name = file.to_str().expect("UTF-8");
        common::wikitrail(out, &["export", ".", "--format", "csv", "--raw", "--rows", rows, "--out", file_name]).ok();
        for module in ["csv", "pandas"] {
            assert_python_reads(module, &file, &out.join("trajectories.jsonl"), count);
        }
    }
}

const READ_BACK: &str = r#"
import json, sys
module, table, record, count = sys.argv[1:]
if module == "csv":
    import csv
    csv.field_size_limit(sys.maxsize)
    rows = list(csv.DictReader(open(table, newline="", encoding="utf-8"), strict=True))
else:
    try:
        import pandas
    except ImportError:
        sys.exit(77)
    rows = pandas.read_csv(table, dtype=str, keep_default_na=False).to_dict("records")
assert len(rows) == int(count), len(rows)
episodes = {e["id"]: e for e in map(json.loads, open(record, encoding="utf-8"))}
multi_line = 0
for row in rows:
    episode = episodes[row["id"]]
    if "step" in row:
        step = episode["steps"][int(row["step"]) - 1]
        assert row["observation"] == step["observation"], row["id"]
        assert row["action_text"] == step["action_text"], row["id"]
        multi_line += "\n" in step["observation"]
    else:
        assert row["question"] == episode["question"] and row["prediction"] == episode["answer"], row["id"]
assert "step" not in rows[0] or multi_line > 0, "no cell with a line end was tried"
"#;

#[expect(clippy::print_stderr, reason = "a skipped check says so")]
fn assert_python_reads(module: &str, table: &Path, record: &Path, count: usize) {
    let output = Command::new("python3")
        .args(["-c", READ_BACK, module])
        .args([table, record])
        .arg(count.to_string())
        .output()
        .expect("python3 runs");
    if output.status.code() == Some(77) && std::env::var_os("CI").is_none() {
        eprintln!("skipped: {module} is not installed");
        return;
    }
    assert!(output.status.success(), "{module}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_run_killed_three_times_loses_nothing_and_repeats_nothing() {
    let shared = common::shared();
    let (llm, wiki) = mockd::start(&shared);
    // Slow enough that a kill always falls into the run.
    llm.get("/config?latency=20");
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("run");
    let kills = [5, 35, 70];
    for (attempt, share) in kills.into_iter().enumerate() {
        let mut command = command(&shared, &llm, &wiki, &out);
        command.args(["--concurrency", &SLOTS.to_string()]);
        if attempt > 0 {
            command.arg("--resume");
        }
        let finished = killed(command.stderr(Stdio::null()), &out, QUESTIONS * share / 100);
        assert!(finished < QUESTIONS);
        let spending = &common::wikitrail(dir.path(), &["score", "--json", "run"]).json()["spending"];
        let calls =
            ["measured", "unfinished", "discarded"].map(|part| spending[part]["calls"].as_u64().expect("a count"));
        assert_eq!(spending["total"]["calls"], calls.iter().sum::<u64>());
        assert_eq!((calls[0], calls[2]), (4 * finished as u64, 0));
        // Each episode in progress loses its last call at most: it was in flight, or on its way to the journal.
        let (known, lost) = (calls[0] + calls[1], ((attempt + 1) * EPISODES) as u64);
        assert!((known..=known + lost).contains(&llm.requests()), "{}: {spending}", llm.requests());
    }
    let output = command(&shared, &llm, &wiki, &out).arg("--resume").output().expect("wikitrail runs");
    let summary = summary(&output);
    assert_the_kits_figures(&summary, &out);
    // Only those calls are asked again, and nothing that is known is forgotten.
    let (all, most) = (4 * QUESTIONS as u64, (kills.len() * EPISODES) as u64);
    assert!((all..=all + most).contains(&llm.requests()), "{}", llm.requests());
    assert_eq!(summary["spending"]["total"]["calls"], all);
    assert_eq!(summary["spending"]["measured"], summary["spending"]["total"]);
}

fn interrupt(child: &std::process::Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(status.success());
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn ctrl_c_once_finishes_what_is_in_flight_and_twice_stops_at_once() {
    let shared = common::shared();
    let (llm, wiki) = mockd::start(&shared);
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("run");
    llm.get("/config?latency=30");
    let start = |resume: &[&str]| {
        let mut command = command(&shared, &llm, &wiki, &out);
        command.args(resume).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("wikitrail starts")
    };

    let mut child = start(&[]);
    while recorded(&out) < 40 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let kept = records(&out);
    assert!((40..QUESTIONS).contains(&kept.len()), "{}", kept.len());
    assert!(kept.iter().all(|record| record["outcome"] == "finished"), "an episode in flight was not finished");
    assert!(manifest(&out)["ended_at"].is_string(), "a clean stop is an end");

    // Now every call takes longer than anybody waits: only the second signal ends the run, and at once.
    llm.get("/config?latency=60000");
    llm.get("/reset");
    let mut child = start(&["--resume"]);
    while llm.requests() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    interrupt(&child);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(child.try_wait().expect("the child can be asked").is_none(), "one signal lets calls in flight finish");
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(records(&out).len(), kept.len(), "nothing was finished, nothing is lost");

    llm.get("/config?latency=0");
    let output = command(&shared, &llm, &wiki, &out).arg("--resume").output().expect("wikitrail runs");
    assert_the_kits_figures(&summary(&output), &out);
}
