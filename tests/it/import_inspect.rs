//! `import inspect`: run folders of the answers in a log of Inspect.

use crate::common::WorkDir;
use serde_json::{Value, json};

fn sample(id: &Value, epoch: u64, output: &str, value: &Value) -> Value {
    json!({"id": id, "epoch": epoch, "input": [{"role": "system", "content": "s"}, {"role": "user", "content": format!("Capital {id}?")}],
        "target": ["Rome", "Roma"], "messages": [{"role": "user", "content": "x"}],
        "output": {"model": "m", "choices": [{"message": {"role": "assistant", "content": [{"type": "text", "text": output}]}}]},
        "scores": {"match": {"value": value, "answer": "Roma"}}, "model_usage": {"m": {"input_tokens": 5, "output_tokens": 2}},
        "total_time": 1.5, "started_at": "2026-01-02T03:04:05+00:00"})
}

fn log(samples: &[Value]) -> String {
    json!({"version": 2, "status": "success", "eval": {"task": "capitals", "model": "openai/m", "dataset": {"name": "caps"}},
        "samples": samples})
    .to_string()
}

#[test]
fn answers_of_others_are_a_run_like_any_other() {
    let dir = WorkDir::new();
    let mut failed = sample(&json!("c"), 1, "", &json!("I"));
    failed["error"] = json!({"message": "no\u{1b}[2J server", "traceback": "", "traceback_ansi": ""});
    failed["scores"] = Value::Null;
    let mut other = sample(&json!(7), 2, "Rome", &json!("C"));
    other["input"] = json!("Another?");
    let samples = [
        sample(&json!(7), 1, "Rome", &json!("C")),
        sample(&json!("b"), 1, "ANSWER: Roma", &json!("C")),
        failed,
        sample(&json!(7), 1, "Paris", &json!("I")),
        other,
        json!({"id": "d"}),
        sample(&json!("e"), 0, "Rome", &json!("C")),
    ];
    // Python writes constants that JSON does not have.
    let text = log(&samples).replace("\"total_time\":1.5", "\"total_time\":-Infinity,\"x\":[NaN,\"\\\"NaN\"]");
    dir.write("log.json", text);
    let ran = dir.wikitrail(&["import", "inspect", "log.json", "--out", "r"]).ok();
    assert_eq!(
        ran.stdout,
        "r: 3 episodes, 1 of them not measured\nright by the log's `match`: 2\nnext:\n  wikitrail score r\n"
    );
    for said in [
        "log.json: sample 4: another sample has its id and epoch: 7, 1; left out",
        "log.json: sample 5: another sample with the id 7 has another question; left out",
        "log.json: sample 6: field `epoch` is missing at column 10; left out",
        "log.json: sample 7: its epoch is 0, not 1 to 1000; left out",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    let records = dir.records("r");
    assert_eq!((&records[0]["id"], &records[0]["question"]), (&json!("7"), &json!("Capital 7?")));
    assert_eq!((&records[1]["answer"], &records[2]["outcome"]), (&json!("ANSWER: Roma"), &json!("not_measured")));
    assert_eq!(records[0]["usage"]["prompt_tokens"], 5);
    // Nothing here can run the missing one again.
    let shown = dir.wikitrail(&["score", "r"]).ok();
    assert!(!shown.stdout.contains("--resume --out"), "{}", shown.stdout);
    dir.wikitrail(&["run", "--resume", "--out", "r"]).refused(2, &["import them again into a new folder"]);
    let score = dir.wikitrail(&["score", "r", "--json"]).json();
    assert_eq!(score["variants"][0]["em"], json!(0.5));
    assert_eq!(dir.manifest("r")["variants"][0]["model"], "openai/m");
    for args in
        [&["show", "r"][..], &["show", "r", "b"], &["export", "r"], &["list", "."], &["report", "r", "--out", "r.html"]]
    {
        dir.wikitrail(args).ok();
    }
    // The answer that a scorer read.
    dir.wikitrail(&["import", "inspect", "log.json", "--out", "s", "--scorer", "match"]).ok();
    assert_eq!(dir.wikitrail(&["score", "s", "--json"]).json()["variants"][0]["em"], json!(1.0));
}

/// What this program exports comes back with the same answers, and is compared question by question.
#[test]
fn a_log_is_matched_with_a_run_over_the_same_questions() {
    let dir = WorkDir::new();
    dir.wikitrail(&["run", "--quiet", "--limit", "6", "--out", "mine"]).ok();
    let exported = dir.wikitrail(&["export", "mine", "--format", "inspect"]).ok().stdout;
    let mut log: Value = serde_json::from_str(&exported).expect("JSON");
    for (at, sample) in log["samples"].as_array_mut().expect("samples").iter_mut().enumerate() {
        // Others have ids of their own, and targets in other words.
        (sample["id"], sample["target"]) = (json!(at + 1), json!("else"));
    }
    dir.write("log.json", log.to_string());
    dir.wikitrail(&["import", "inspect", "log.json", "--out", "theirs", "--like", "mine"]).ok();
    let fields = |run: &str| {
        let of = |record: &Value| ["id", "index", "answers", "answer"].map(|field| record[field].clone());
        let mut fields = dir.records(run).iter().map(of).collect::<Vec<_>>();
        fields.sort_by_key(|fields| fields[0].to_string());
        fields
    };
    assert_eq!(fields("theirs"), fields("mine"));
    let compared = dir.wikitrail(&["compare", "mine", "theirs", "--json"]).json();
    assert_eq!(compared["metrics"][0]["pairs"][0]["n"], 6, "{compared}");
    log["samples"][0]["input"] = json!("What else?");
    dir.write("log.json", log.to_string());
    let ran = dir.wikitrail(&["import", "inspect", "log.json", "--out", "fewer", "--like", "mine"]).ok();
    assert!(ran.stderr.contains("sample 1: the run of --like has no such question; left out"), "{}", ran.stderr);
}

#[test]
fn what_is_no_log_is_refused_and_nothing_is_written() {
    let dir = WorkDir::new();
    dir.write("packed.eval", "PK\u{3}\u{4}");
    dir.write("three.json", log(&[]).replace("\"version\":2", "\"version\":3"));
    dir.write("empty.json", log(&[]));
    dir.write("deep.json", "[".repeat(100_000));
    let import = |file: &str| dir.wikitrail(&["import", "inspect", file, "--out", "r"]);
    import("packed.eval").refused(3, &["packed log", "inspect log convert packed.eval --to json"]);
    import("three.json").refused(3, &["not a log of Inspect: its version is 3"]);
    import("empty.json").refused(3, &["holds no answer: it has no samples"]);
    import("deep.json").refused(3, &["not a log of Inspect"]);
    import("none.json").refused(3, &["cannot read `none.json`"]);
    assert!(!dir.path("r").exists());
}
