//! Recorded episodes executed again: the 240 that others recorded, and runs of our own.

use crate::common::{self, lines, read, wikitrail};
use serde_json::Value;

/// Every prompt digest, call and bad-call count, step, answer, EM and F1 of 240 real episodes.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn two_hundred_and_forty_real_episodes_replay_without_a_difference() {
    let shared = common::shared();
    let data = shared.join("data");
    let path = |name: &str| data.join(name).display().to_string();
    let (naive, fever) =
        (path("prompts/prompts_naive.json") + "#webthink_simple6", path("prompts/fever.json") + "#webthink_simple3");
    let instruction = path("prompts/hotpotqa_instruction.txt");
    let cases = [
        (
            "trajectories/dev_hotpot_00-39.jsonl",
            vec!["--prompt", &naive, "--instruction", &instruction],
            40,
            10.0,
            71,
            23,
        ),
        (
            "trajectories/dev_fever_000-199.jsonl",
            vec!["--prompt", &fever, "--question-label", "Claim"],
            200,
            110.0,
            0,
            3,
        ),
    ];
    for (file, flags, episodes, em, bad_calls, unanswered) in cases {
        let file = path(file);
        let args = [&["replay", "--import", "react-notebook", &file, "--json"], &flags[..]].concat();
        let rows = wikitrail(&data, &args).lines();
        assert_eq!(rows.len(), episodes);
        assert!(rows.iter().all(|row| row["differences"].as_array().is_some_and(Vec::is_empty)));
        let sum = |field: &str| rows.iter().map(|row| row[field].as_f64().expect("a number")).sum::<f64>();
        assert!((sum("em") - em).abs() < 1e-9);
        assert!((sum("n_badcalls") - f64::from(bad_calls)).abs() < 1e-9);
        assert_eq!(rows.iter().filter(|row| row["answer"] == "").count(), unanswered);
        assert_eq!(rows[0]["id"], 0, "the recorded order is the id");
        let first = &lines(&read(&file))[0];
        let digests: Vec<&Value> =
            first["calls"].as_array().expect("calls").iter().map(|c| &c["prompt_sha256"]).collect();
        assert_eq!(rows[0]["prompt_sha256"].as_array().expect("digests").iter().collect::<Vec<_>>(), digests);
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_changed_recording_is_found_out() {
    let shared = common::shared();
    let data = shared.join("data");
    let text = std::fs::read_to_string(data.join("trajectories/dev_fever_000-199.jsonl")).expect("the recording");
    let mut episodes = lines(&text);
    episodes.truncate(3);
    episodes[1]["steps"][0]["observation"] = "Something else.".into();
    episodes[2]["em"] = (1 - episodes[2]["em"].as_i64().expect("0 or 1")).into();
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("changed.jsonl");
    let changed: Vec<String> = episodes.iter().map(Value::to_string).collect();
    std::fs::write(&file, changed.join("\n")).expect("a file");
    let prompt = format!("{}#webthink_simple3", data.join("prompts/fever.json").display());
    let args = ["replay", "--import", "react-notebook", "changed.jsonl", "--json", "--prompt", &prompt];
    let output = wikitrail(dir.path(), &args);
    assert_eq!(output.code, Some(5));
    let fields: Vec<Vec<String>> = lines(&output.stdout)
        .iter()
        .map(|row| {
            let differences = row["differences"].as_array().expect("a list");
            differences.iter().map(|d| d["field"].as_str().expect("a name").to_owned()).collect()
        })
        .collect();
    assert!(fields[0].is_empty());
    assert_eq!(fields[1][0], "prompt_sha256", "the next prompt is the first place to differ");
    assert_eq!(fields[2], ["em"]);
}

/// Version 2 of `robust` has other stops and reads more; what version 1 recorded replays with its own requests.
#[test]
fn a_run_of_an_earlier_version_of_a_protocol_says_so() {
    let bench = common::WorkDir::new();
    let run = ["--protocol", "robust", "--method", "react,standard", "--limit", "2", "--out", "r"];
    bench.run(&run).ok();
    let mut manifest = bench.manifest("r");
    let versions = |manifest: &Value| -> Vec<Value> {
        manifest["variants"].as_array().expect("variants").iter().map(|one| one["protocol_version"].clone()).collect()
    };
    assert_eq!(versions(&manifest), [Value::from(2), Value::Null], "direct methods do not speak it");
    manifest["variants"][0].as_object_mut().expect("a variant").remove("protocol_version");
    bench.write("r/manifest.json", manifest.to_string());
    let differing = bench.wikitrail(&["replay", "r"]);
    assert_eq!(differing.code, Some(5));
    assert!(differing.stdout.contains("stop: recorded [\"\\nObservation\"], computed"), "{}", differing.stdout);
    let note = "`react` was recorded with version 1 of `robust`, and its replies are read by version 2";
    assert!(differing.stderr.contains(note) && !differing.stderr.contains("`standard`"), "{}", differing.stderr);
    // As version 1 recorded it.
    let mut records = bench.records("r");
    for step in records.iter_mut().flat_map(|record| record["steps"].as_array_mut().expect("steps")) {
        let n = step["n"].as_u64().expect("a number");
        for call in step["calls"].as_array_mut().expect("calls") {
            if call["stop"] == serde_json::json!(["\nObservation"]) {
                let stops =
                    [format!("\nObservation {n}:"), format!("\nThought {}:", n + 1), format!("\nAction {}:", n + 1)];
                call["stop"] = serde_json::json!(stops);
            }
        }
    }
    let records: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    bench.write("r/trajectories.jsonl", records.concat());
    let same = bench.wikitrail(&["replay", "r"]).ok();
    assert!(same.stdout.contains("4 of 4 episodes without a difference") && same.stderr.is_empty(), "{}", same.stderr);
    bench.run(&[&run[..], &["--resume"]].concat()).refused(3, &["protocol_version: was 1, now 2"]);
    bench.wikitrail(&["score", "r"]).ok();
    manifest["variants"][0]["protocol_version"] = 3.into();
    bench.write("r/manifest.json", manifest.to_string());
    let words = "the run was made with protocol `robust, version 3`, which this program does not know";
    bench.wikitrail(&["replay", "r"]).refused(3, &[words]);
}
