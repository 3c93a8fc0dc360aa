//! `export` in the formats of other tools. Their own packages open them in `scripts/exports.sh`.

use crate::common::{Ran, wikitrail};
use serde_json::{Value, json};
use std::path::Path;

/// Two variants, each with two repeats of three questions.
fn run() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = ["run", "--quiet", "--method", "react,cot", "--limit", "3", "--repeats", "2", "--out", "r"];
    wikitrail(folder.path(), &flags).ok();
    folder
}

fn export(folder: &Path, args: &[&str]) -> Ran {
    wikitrail(folder, &[&["export", "r"], args].concat())
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect(name)
}

#[test]
fn a_log_is_of_one_variant_and_has_its_events() {
    let folder = run();
    export(folder.path(), &["--format", "inspect"]).refused(2, &["one variant", "name one with --variant: ", "react"]);
    wikitrail(folder.path(), &["run", "--quiet", "--limit", "1", "--out", "s"]).ok();
    wikitrail(folder.path(), &["export", "r", "s", "--format", "inspect"]).refused(2, &["one run"]);
    let said = |name: &str| export(folder.path(), &["--variant", "react", "--out", name]).ok().stderr;
    assert!(said("log.json").contains("names begin with a time, such as 20"));
    assert!(!said("2026-01-02T03-04-05_react.json").contains("time"));
    let log: Value = serde_json::from_str(&read(folder.path(), "log.json")).expect("JSON");
    // A reader of the head stops at the samples.
    assert_eq!(log.as_object().expect("an object").keys().next_back().expect("a key"), "samples");
    let results = &log["results"];
    assert_eq!((&log["version"], &log["status"], &results["total_samples"]), (&json!(2), &json!("success"), &json!(6)));
    let episodes = export(folder.path(), &["--format", "jsonl", "--variant", "react"]).lines();
    let samples = log["samples"].as_array().expect("samples");
    assert_eq!(samples.len(), episodes.len());
    for (sample, episode) in samples.iter().zip(&episodes) {
        assert_eq!((&sample["id"], &sample["target"]), (&episode["id"], &episode["answers"]));
        assert_eq!(sample["epoch"].as_u64(), episode["repeat"].as_u64().map(|repeat| repeat + 1));
        assert_eq!(sample["scores"]["em"]["value"].as_f64(), episode["score"]["em"].as_f64());
        let kinds =
            |kind: &str| sample["events"].as_array().expect("events").iter().filter(|e| e["event"] == kind).count();
        assert_eq!((kinds("model"), kinds("score")), (episode["steps"].as_array().expect("steps").len(), 4));
        let first = &sample["events"][0];
        assert_eq!(first["metadata"]["exact_prompt"], true);
        let prefix =
            first["input"][0]["content"].as_str().expect("a text").strip_prefix("attachment://").expect("long");
        assert!(sample["attachments"][prefix].as_str().expect("there").contains("Thought 1"), "{first}");
    }
    // With a filter it is not known how many there should be; otherwise a log that lacks episodes says so.
    let log = |args: &[&str]| -> Value {
        let text = export(folder.path(), &[&["--variant", "react", "--format", "inspect"], args].concat()).ok().stdout;
        serde_json::from_str(&text).expect("JSON")
    };
    let status = |args: &[&str]| log(args)["status"].take();
    // Nor are the means of chosen episodes those of the run.
    let wrong = log(&["--wrong"]);
    assert_eq!((&wrong["status"], &wrong["eval"]["metadata"]["part"]), (&json!("success"), &json!(true)));
    assert_eq!(wrong["results"]["scores"], json!([]));
    assert_eq!(log(&[])["eval"]["metadata"]["part"], json!(false));
    let records = read(folder.path(), "r/trajectories.jsonl");
    let fewer: Vec<&str> =
        records.lines().filter(|line| !line.contains("\"variant\":\"react\",\"repeat\":1")).collect();
    std::fs::write(folder.path().join("r/trajectories.jsonl"), fewer.join("\n") + "\n").expect("written");
    assert_eq!(status(&[]), "cancelled");
}

#[test]
fn an_episode_that_was_not_measured_has_an_error_and_no_score() {
    let folder = run();
    let records = read(folder.path(), "r/trajectories.jsonl");
    let failed =
        records.replacen("\"outcome\":\"finished\"", "\"outcome\":\"not_measured\",\"detail\":\"no server\"", 1);
    let failed = failed.replacen("\"outcome\":\"finished\"", "\"outcome\":\"step_limit\"", 1);
    std::fs::write(folder.path().join("r/trajectories.jsonl"), failed).expect("written");
    let (mut errors, mut limits) = (0, 0);
    for variant in ["react", "cot"] {
        let text = export(folder.path(), &["--format", "inspect", "--variant", variant]).ok().stdout;
        let log: Value = serde_json::from_str(&text).expect("JSON");
        for sample in log["samples"].as_array().expect("samples") {
            let failed = sample["error"]["message"] == "no server";
            assert_eq!(sample["scores"].as_object().expect("scores").is_empty(), failed, "{sample}");
            assert!(text.contains("\"event\":\"error\"") || !failed);
            (errors, limits) = (errors + usize::from(failed), limits + usize::from(sample["limit"]["type"] == "turn"));
        }
        let results = &log["results"];
        assert_eq!(results["logged_samples"], 6);
    }
    assert_eq!((errors, limits), (1, 1));
}

#[test]
fn a_trajectory_has_the_prompt_the_tools_and_what_was_copied() {
    let folder = run();
    let lines = export(folder.path(), &["--out", "t.jsonl", "--format", "atif"]).ok().stderr;
    assert!(lines.contains("12 episodes written to t.jsonl"), "{lines}");
    let text = read(folder.path(), "t.jsonl");
    for line in text.lines() {
        let one: Value = serde_json::from_str(line).expect("JSON");
        let (steps, agent) = (one["steps"].as_array().expect("steps"), &one["agent"]);
        assert_eq!((&one["schema_version"], &steps[0]["source"]), (&json!("ATIF-v1.8"), &json!("system")));
        assert!(steps.iter().enumerate().all(|(at, step)| step["step_id"] == at + 1), "{one}");
        assert_eq!(agent["tool_definitions"].is_array(), one["extra"]["variant"] == "react");
        assert_eq!(one["final_metrics"]["total_steps"], steps.len());
    }
    wikitrail(folder.path(), &["branch", "r@react:sample-001", "--at", "2", "--with", "empty", "--out", "b"]).ok();
    for line in wikitrail(folder.path(), &["export", "b", "--format", "atif"]).lines() {
        let steps = line["steps"].as_array().expect("steps").clone();
        let own: Vec<&Value> = steps.iter().filter(|step| step["source"] == "agent").collect();
        assert_eq!((&own[0]["is_copied_context"], &own[0]["metrics"]), (&json!(true), &Value::Null));
        assert!(own[1..].iter().all(|step| step["is_copied_context"].is_null()), "{line}");
    }
}

#[test]
fn a_folder_has_both_tables_and_says_what_is_known() {
    let folder = run();
    let said = export(folder.path(), &["--format", "hf", "--out", "hf"]).ok().stderr;
    assert!(said.contains("hf upload USER/NAME hf . --repo-type dataset"), "{said}");
    for rows in ["questions", "steps"] {
        let other = export(folder.path(), &["--format", "jsonl", "--rows", rows]).ok().stdout;
        assert_eq!(read(folder.path(), &format!("hf/{rows}.jsonl")), other);
    }
    let card = read(folder.path(), "hf/README.md");
    for part in [
        "- config_name: steps\n  data_files: steps.jsonl\n",
        "license:\n- apache-2.0\n- mit\n",
        "dtype: int64",
        "`react`",
    ] {
        assert!(card.contains(part), "{part}: {card}");
    }
    // Of a file of one's own nothing is known.
    std::fs::write(folder.path().join("own.csv"), "id,question,answer\n1,Who?,Ada\n").expect("written");
    wikitrail(folder.path(), &["run", "own.csv", "--quiet", "--out", "own"]).ok();
    wikitrail(folder.path(), &["export", "own", "--format", "hf", "--out", "own-hf"]).ok();
    let card = read(folder.path(), "own-hf/README.md");
    assert!(card.contains("license: unknown\n") && card.contains("file `own.csv`"), "{card}");
    export(folder.path(), &["--format", "hf", "--out", "hf"]).refused(2, &["hf is there already", "new folder"]);
    export(folder.path(), &["--format", "hf"]).refused(2, &["is a folder"]);
    export(folder.path(), &["--format", "hf", "--rows", "steps", "--out", "x"]).refused(2, &["both tables"]);
    assert!(!folder.path().join("x").exists());
}
