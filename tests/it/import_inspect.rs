//! `import inspect`: run folders of the answers in a log of Inspect.

use crate::common::WorkDir;
use serde_json::{Value, json};
use std::io::Write as _;

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
    import("packed.eval").refused(3, &["`packed.eval` is not a log of Inspect: it cannot be unpacked"]);
    import("three.json").refused(3, &["not a log of Inspect: its version is 3"]);
    import("empty.json").refused(3, &["holds no answer: it has no samples"]);
    import("deep.json").refused(3, &["not a log of Inspect"]);
    import("none.json").refused(3, &["cannot read `none.json`"]);
    dir.write("zeros.json", "\0".repeat(10_000));
    import("zeros.json").refused(3, &["it does not begin as JSON"]);
    assert!(!dir.path("r").exists());
    dir.write("one.json", log(&[sample(&json!("a"), 1, "Rome", &json!("C"))]));
    import("one.json").ok();
    import("one.json").refused(3, &["`r` holds a run already", "hint: name a new folder with --out\n"]);
}

/// What follows from steps is empty, in runs of older versions too.
#[test]
fn nothing_is_said_of_steps_that_were_not_recorded() {
    let dir = WorkDir::new();
    let mut bare = sample(&json!("b"), 1, "Paris", &json!("I"));
    (bare["model_usage"], bare["total_time"]) = (Value::Null, Value::Null);
    dir.write("log.json", log(&[sample(&json!("a"), 1, "Rome", &json!("C")), bare]));
    dir.wikitrail(&["import", "inspect", "log.json", "--out", "new"]).ok();
    // As an older version would have written it.
    dir.wikitrail(&["import", "inspect", "log.json", "--out", "old"]).ok();
    let records: Vec<String> = dir
        .records("old")
        .into_iter()
        .map(|mut record| {
            record.as_object_mut().expect("an object").remove("steps_recorded").expect("the mark");
            record["compat"] = json!("fixed");
            format!("{record}\n")
        })
        .collect();
    dir.write("old/trajectories.jsonl", records.concat());
    let mut manifest = dir.manifest("old");
    let variant = &mut manifest["variants"][0];
    (variant["max_steps"], variant["compat"], variant["question_label"], variant["endpoint"]) =
        (json!(0), json!("paper"), json!("Question"), json!("none"));
    variant["decoding"] = json!({"temperature": 0.0, "top_p": 1.0, "max_tokens": 100});
    dir.write("old/manifest.json", manifest.to_string());
    for run in ["new", "old"] {
        let score = dir.wikitrail(&["score", run, "--json"]).json()["variants"][0].take();
        for name in ["steps", "calls", "bad_calls", "shortfalls", "trajectory"] {
            assert_eq!(score[name], Value::Null, "{run}: {name}");
        }
        assert_eq!((&score["em"], &score["usage"]["prompt_tokens"]), (&json!(0.5), &json!(5)));
        let shown = dir.wikitrail(&["score", run]).ok().stdout;
        for word in ["hallucination", "ReAct", "wrong"] {
            assert!(!shown.contains(word), "{run}: {word} in {shown}");
        }
        let csv = dir.wikitrail(&["export", run]).ok().stdout;
        let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = rows.next().expect("a header");
        let at = |name: &str| header.iter().position(|column| *column == name).expect(name);
        let rows: Vec<Vec<&str>> = rows.collect();
        for name in [
            "steps",
            "calls",
            "bad_calls",
            "cut_calls",
            "declined_calls",
            "searches",
            "lookups",
            "missed_searches",
            "repairs",
            "samples",
            "gold_pages",
            "empty_lookups",
            "grounding",
            "failure_class",
            "failure_evidence",
            "compat",
            "max_steps",
            "temperature",
            "top_p",
            "max_tokens",
            "seed",
            "wording",
        ] {
            assert!(rows.iter().all(|row| row[at(name)].is_empty()), "{run}: {name}");
        }
        let tokens: Vec<&str> = rows.iter().map(|row| row[at("prompt_tokens")]).collect();
        let times: Vec<&str> = rows.iter().map(|row| row[at("wall_ms")]).collect();
        assert_eq!((tokens, times), (vec!["5", ""], vec!["1500", ""]), "{run}");
        let shown = dir.wikitrail(&["show", run, "b"]).ok().stdout;
        assert!(
            shown.contains("steps not recorded, started 03:04:05\n")
                && !shown.contains("failure")
                && !shown.contains("fixed"),
            "{shown}"
        );
        assert_eq!(dir.wikitrail(&["show", run, "--class", "hallucination"]).ok().stdout, "");
        let listed = dir.wikitrail(&["show", run, "--json"]).ok().stdout;
        assert!(listed.contains(r#""failure":null,"grounding":null"#), "{listed}");
        let atif: Value = serde_json::from_str(
            dir.wikitrail(&["export", run, "--format", "atif"]).ok().stdout.lines().nth(1).expect("b"),
        )
        .expect("JSON");
        assert_eq!(
            (&atif["final_metrics"]["total_prompt_tokens"], &atif["extra"]["wall_ms"]),
            (&Value::Null, &Value::Null)
        );
        dir.wikitrail(&["report", run, "--out", "p.html", "--force"]);
        let kept = dir.wikitrail(&["export", run, "--clean"]).ok().stdout;
        assert_eq!(kept.lines().count(), 1, "{kept}");
    }
}

fn call(function: &str, arguments: &Value, span: &str) -> Value {
    json!({"event": "tool", "function": function, "arguments": arguments, "span_id": span, "error": null})
}

/// `react` of Inspect appends what was submitted to whatever else the model wrote.
#[test]
fn what_was_submitted_is_the_answer() {
    let dir = WorkDir::new();
    let mut plain = sample(&json!("a"), 1, "I looked it up.\n\nRome", &json!("I"));
    plain["events"] = json!([
        call("submit", &json!({"answer": "Milan"}), "main"),
        call("submit", &json!({"answer": "attachment://x"}), "main"),
        call("search", &json!({"answer": "Paris"}), "main")
    ]);
    plain["attachments"] = json!({"x": "Rome"});
    // An agent that is called as a tool submits to its caller, and a call that failed submits nothing.
    let mut nested = sample(&json!("b"), 1, "attachment://y", &json!("I"));
    nested["attachments"] = json!({"y": "ANSWER: Roma"});
    let mut failed = call("submit", &json!({"answer": "Naples"}), "main");
    failed["error"] = json!({"type": "parsing", "message": "no"});
    nested["events"] = json!([{"event": "span_begin", "id": "t", "type": "tool", "parent_id": "main"},
        {"event": "span_begin", "id": "inner", "type": "agent", "parent_id": "t"},
        call("submit", &json!({"answer": "Venice"}), "inner"), failed]);
    let mut number = sample(&json!("c"), 1, "x", &json!("I"));
    number["events"] = json!([call("submit", &json!({"answer": 1943}), "main")]);
    dir.write("log.json", log(&[plain, nested, number]));
    let answers = |args: &[&str], run: &str| {
        dir.wikitrail(&[&["import", "inspect", "log.json", "--out", run], args].concat()).ok();
        dir.records(run).iter().map(|record| record["answer"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(answers(&[], "r"), [json!("Rome"), json!("ANSWER: Roma"), json!("1943")]);
    assert_eq!(answers(&["--answer", "submit"], "s"), [json!("Rome"), Value::Null, json!("1943")]);
    assert_eq!(
        answers(&["--answer", "output"], "o"),
        [json!("I looked it up.\n\nRome"), json!("ANSWER: Roma"), json!("x")]
    );
    let import = |args: &[&str]| dir.wikitrail(&[&["import", "inspect", "log.json", "--out", "n"], args].concat());
    assert_eq!(import(&["--answer", "output", "--scorer", "match"]).code, Some(2));
    import(&["--scorer", "nosuch"]).refused(3, &["`log.json` has no scorer `nosuch`", "hint: its scorers are match"]);
}

/// The transcript is steps, scores are metrics, and what follows from steps is as in the run that the log was made of.
#[test]
fn a_transcript_is_steps_and_scores_are_metrics() {
    let dir = WorkDir::new();
    dir.wikitrail(&["run", "--quiet", "--out", "mine"]).ok();
    let exported = dir.wikitrail(&["export", "mine", "--format", "inspect"]).ok().stdout;
    let mut exported: Value = serde_json::from_str(&exported).expect("JSON");
    for sample in exported["samples"].as_array_mut().expect("samples") {
        sample["scores"]["grader"] = json!({"value": {"fit": "C", "style": 3.5}});
    }
    dir.write("log.json", exported.to_string());
    dir.wikitrail(&["import", "inspect", "log.json", "--out", "theirs", "--like", "mine", "--variant", "other"]).ok();
    let cells = |run: &str, names: &[&str]| {
        let csv = dir.wikitrail(&["export", run, "--format", "jsonl", "--rows", "questions"]).ok().stdout;
        let rows = csv.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let row = |row: Value| {
            std::iter::once("id").chain(names.iter().copied()).map(|name| row[name].clone()).collect::<Vec<_>>()
        };
        let mut rows: Vec<Vec<Value>> = rows.map(row).collect();
        rows.sort_by_key(|row| row[0].to_string());
        rows
    };
    let same = [
        "steps",
        "calls",
        "searches",
        "lookups",
        "missed_searches",
        "gold_pages_opened",
        "sentences_seen",
        "grounding",
        "failure_class",
        "type",
        "level",
        "hops",
    ];
    assert_eq!(cells("theirs", &same), cells("mine", &same));
    assert_eq!(cells("theirs", &["inspect_em"]), cells("mine", &["em"]));
    let score = dir.wikitrail(&["score", "theirs", "--json"]).json();
    let of = |name: &str| {
        score["metrics"].as_array().expect("metrics").iter().find(|one| one["metric"] == name).expect("it")
    };
    assert_eq!((&of("grader_fit")["mean"], &of("grader_style")["mean"]), (&json!(1.0), &json!(3.5)));
    assert_eq!(of("inspect_em")["mean"], score["variants"][0]["em"]);
    let compared = dir.wikitrail(&["compare", "mine", "theirs", "--metric", "em,steps", "--json"]).json();
    assert_eq!(compared["metrics"][1]["pairs"][0]["difference"], json!(0.0), "{compared}");
    let records = dir.records("theirs");
    assert_eq!((&records[0]["variant"], &records[0]["compat"]), (&json!("other"), &Value::Null));
    for args in [
        &["show", "theirs", "sample-001"][..],
        &["report", "mine", "theirs", "--out", "r.html"],
        &["show", "theirs", "--class", "search"],
    ] {
        dir.wikitrail(args).ok();
    }
}

/// Of tools that are not ours only the text counts, whoever serves it.
#[test]
fn tools_of_others_show_text() {
    let dir = WorkDir::new();
    let asked = json!([{"id": "c", "function": "browse\u{1b}[2J", "arguments": {"url": "x"}}]);
    let model = json!({"event": "model", "output": {"choices": [{"stop_reason": "tool_calls",
        "message": {"content": "Let me see.", "tool_calls": asked}}], "usage": {"input_tokens": 3, "output_tokens": 4}}});
    let mut read = sample(&json!("a"), 1, "Rome", &json!("C"));
    read["events"] = json!([model, {"event": "tool", "function": "browse\u{1b}[2J", "arguments": {"url": "x"}, "result": "It is Rome."}]);
    let mut failed = sample(&json!("b"), 1, "Paris", &json!("I"));
    failed["events"] = json!([{"event": "tool", "function": "browse", "arguments": {"url": "x"}, "result": "",
        "error": {"type": "timeout", "message": "no\u{1b}[2J answer"}}]);
    dir.write("log.json", log(&[read, failed]));
    dir.wikitrail(&["import", "inspect", "log.json", "--out", "r"]).ok();
    let records = dir.records("r");
    let step = &records[0]["steps"][0];
    assert_eq!(
        (&step["tool"], &step["input"], &step["thought"]),
        (&json!("other"), &json!("x"), &json!("Let me see."))
    );
    assert_eq!(records[1]["steps"][0]["observation"], "no\u{1b}[2J answer");
    let csv = dir.wikitrail(&["export", "r", "--format", "jsonl", "--rows", "questions"]).ok().stdout;
    let rows: Vec<Value> = csv.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let cells = |name: &str| [rows[0][name].clone(), rows[1][name].clone()];
    assert_eq!((cells("grounding"), cells("steps")), ([json!("grounded"), json!("ungrounded")], [json!(1), json!(1)]));
    assert_eq!((cells("calls"), cells("match")), ([json!(1), Value::Null], [json!(1.0), json!(0.0)]));
    assert!(!dir.wikitrail(&["show", "r", "a"]).ok().stdout.contains('\u{1b}'));
}

/// What only some samples say has no sum; counts and costs below zero are none, and a call of a tool is no answer.
#[test]
fn what_a_sample_does_not_say_is_in_no_figure() {
    let dir = WorkDir::new();
    let mut silent = sample(&json!("b"), 1, "Rome", &json!("C"));
    silent["model_usage"] = json!({"m": {"input_tokens": -5, "output_tokens": 10, "total_cost": -3}});
    silent["total_time"] = json!(-4);
    let mut calling = sample(&json!("c"), 1, "Let me search.", &json!("I"));
    calling["output"]["choices"][0]["stop_reason"] = json!("tool_calls");
    dir.write("log.json", log(&[sample(&json!("a"), 1, "Rome", &json!("C")), silent, calling]));
    dir.wikitrail(&["import", "inspect", "log.json", "--out", "r"]).ok();
    let records = dir.records("r");
    assert_eq!(records[1]["usage"]["completion_tokens"], 0, "{}", records[1]);
    assert!(records[1]["cost_usd"].is_null(), "{}", records[1]);
    assert!(records[2]["answer"].is_null() && records[2]["outcome"] == "format_failure", "{}", records[2]);
    let ran = dir.wikitrail(&["score", "r", "--json"]).ok();
    let score: Value = serde_json::from_str(ran.stdout.lines().next().expect("a line")).expect("JSON");
    assert!(score["spending"].is_null(), "{score}");
    for name in ["tokens_per_question", "tokens_per_correct", "cost_usd", "episode_ms"] {
        assert!(score["variants"][0][name].is_null(), "{name}: {score}");
    }
}

/// Limits, missing samples, the status and the settings are the log's; what it does not say stays unknown.
#[test]
fn a_log_that_broke_off_is_imported_as_what_it_is() {
    let dir = WorkDir::new();
    let mut limited = sample(&json!("a"), 1, "Let me search.", &json!("I"));
    limited["limit"] = json!({"type": "message", "limit": 8});
    limited["output"]["choices"][0]["stop_reason"] = json!("tool_calls");
    let mut answered = sample(&json!("c"), 1, "Rome", &json!("C"));
    answered["limit"] = json!({"type": "token", "limit": 100});
    answered["model_usage"] = json!({"m": {"input_tokens": 10, "output_tokens": 5, "input_tokens_cache_read": 90,
        "reasoning_tokens": 2, "total_tokens": 105, "total_cost": 0.25}});
    let text = log(&[answered, limited]);
    let mut whole: Value = serde_json::from_str(&text).expect("JSON");
    whole["status"] = json!("error");
    whole["error"] = json!({"message": "the server\u{1b}[2J died"});
    whole["eval"]["dataset"] = json!({"name": "caps", "samples": 60, "sample_ids": ["a", "b", "c", "d"]});
    whole["eval"]["config"] = json!({"epochs": 2, "message_limit": 8});
    whole["eval"]["created"] = json!("2026-01-01T01:00:00+01:00");
    whole["eval"]["revision"] = json!({"type": "git", "commit": "abc1234"});
    whole["eval"]["model_generate_config"] = json!({"temperature": 0.7, "max_tokens": 2048, "seed": 7});
    whole["eval"]["task_args"] = json!({"k": 3, "api_key": "hunter2"});
    whole["eval"]["model_args"] = json!({"secret": "hunter2"});
    dir.write("log.json", whole.to_string());
    let ran = dir.wikitrail(&["import", "inspect", "log.json", "--out", "r", "--variant", "theirs"]).ok();
    for said in [
        "warning: log.json: its run ended with status `error`: the server\\u{1b}[2J died",
        "warning: log.json: 2 of 8 episodes are imported",
        "note: log.json: 2 of 2 episodes ended at a limit",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    let records = dir.records("r");
    let fields =
        |record: &Value| ["id", "index", "answer", "outcome", "detail", "variant"].map(|name| record[name].clone());
    assert_eq!(
        fields(&records[0]),
        [json!("c"), json!(2), json!("Rome"), json!("step_limit"), json!("limit: token, 100"), json!("theirs")]
    );
    assert_eq!(
        fields(&records[1]),
        [json!("a"), json!(0), Value::Null, json!("step_limit"), json!("limit: message, 8"), json!("theirs")]
    );
    assert_eq!(
        records[0]["usage"],
        json!({"prompt_tokens": 100, "completion_tokens": 5, "cached_tokens": 90, "reasoning_tokens": 2})
    );
    assert_eq!(records[0]["cost_usd"], json!(0.25));
    let manifest = dir.manifest("r");
    let variant = &manifest["variants"][0];
    assert_eq!(variant["decoding"], json!({"temperature": 0.7, "top_p": null, "max_tokens": 2048, "seed": 7}));
    assert_eq!(
        (&variant["max_steps"], &variant["compat"], &variant["endpoint"]),
        (&Value::Null, &Value::Null, &json!("unknown"))
    );
    assert_eq!(
        (&manifest["git_revision"], &manifest["started_at"], &manifest["ended_at"]),
        (&json!("abc1234"), &json!("2026-01-01T00:00:00Z"), &Value::Null)
    );
    assert_eq!((&manifest["dataset"]["selected"], &manifest["repeats"]), (&json!(4), &json!(2)));
    let kept = &manifest["logs"][0];
    assert_eq!((&kept["status"], &kept["planned"], &kept["samples"]), (&json!("error"), &json!(8), &json!(2)));
    assert_eq!((&kept["said"]["task_args"], &kept["said"]["config"]["message_limit"]), (&json!({"k": 3}), &json!(8)));
    assert!(!manifest.to_string().contains("hunter2"));
    let score = dir.wikitrail(&["score", "r", "--json"]).json();
    assert_eq!((&score["planned"], &score["missing"]), (&json!(8), &json!(6)));
    // And back again.
    let back = dir.wikitrail(&["export", "r", "--format", "inspect"]).ok().stdout;
    let back: Value = serde_json::from_str(&back).expect("JSON");
    let limits: Vec<&Value> =
        back["samples"].as_array().expect("samples").iter().map(|sample| &sample["limit"]).collect();
    assert_eq!(limits, [&json!({"type": "message", "limit": 8.0}), &json!({"type": "token", "limit": 100.0})]);
}

/// A harness wraps the question; the ids are those of the run, or its own.
#[test]
fn samples_are_matched_by_id_and_by_text_inside() {
    let dir = WorkDir::new();
    let line = |id: &str, question: &str| {
        json!({"id": id, "question": question, "answers": ["Rome"], "type": "bridge", "level": "hard",
            "supporting_facts": [["Italy", 0]], "context": [{"title": "Italy", "sentences": ["Its capital is Rome."]}]})
        .to_string()
            + "\n"
    };
    dir.write(
        "q.jsonl",
        line("x", "What is the capital of Italy?") + &line("y", "Which city is the seat of the pope?"),
    );
    dir.wikitrail(&["run", "--quiet", "q.jsonl", "--out", "mine"]).ok();
    let mut wrapped = sample(&json!("x"), 1, "Rome", &json!("C"));
    wrapped["input"] = json!([{"role": "user", "content": "Question: What is the capital of Italy?\nAnswer:"}]);
    let mut own = sample(&json!(1), 1, "Rome", &json!("C"));
    own["input"] = json!("Answer in one word. WHICH city is the seat of the pope?");
    dir.write("log.json", log(&[wrapped, own]));
    let ran = dir.wikitrail(&["import", "inspect", "log.json", "--out", "theirs", "--like", "mine"]).ok();
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let ids: Vec<Value> = dir.records("theirs").iter().map(|record| record["id"].clone()).collect();
    assert_eq!(ids, ["x", "y"]);
    assert_eq!(dir.read("theirs/questions.jsonl"), dir.read("mine/questions.jsonl"));
    let mut other = sample(&json!(5), 1, "Rome", &json!("C"));
    other["input"] = json!("Something else");
    dir.write("other.json", log(&[other.clone()]));
    dir.wikitrail(&["import", "inspect", "other.json", "--out", "n", "--like", "mine"]).refused(
        3,
        &[
            "`other.json` holds no answer: sample 1: the run of --like has no such question",
            "hint: --like matches by id, then by the question's text",
        ],
    );
    other["id"] = json!("x");
    dir.write("other.json", log(&[other]));
    let ran = dir.wikitrail(&["import", "inspect", "other.json", "--out", "by-id", "--like", "mine"]).ok();
    assert!(ran.stderr.contains("note: 1 samples were matched by their id alone"), "{}", ran.stderr);
}

/// A packed log: a zip of a head and of samples.
fn packed(samples: &[Value], method: zip::CompressionMethod, head: &str) -> Vec<u8> {
    let whole: Value = serde_json::from_str(&log(&[])).expect("JSON");
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    let mut add = |name: &str, value: &Value| {
        zip.start_file(name, options).expect("an entry");
        zip.write_all(value.to_string().as_bytes()).expect("its bytes");
    };
    add("_journal/start.json", &json!({"version": 2, "eval": whole["eval"]}));
    for sample in samples {
        add(&format!("samples/{}_epoch_{}.json", sample["id"], sample["epoch"]), sample);
    }
    add("../../summaries.json", &json!([]));
    add(head, &whole);
    zip.finish().expect("a zip").into_inner()
}

#[test]
fn packed_logs_and_folders_of_logs_are_read() {
    let dir = WorkDir::new();
    let samples = [sample(&json!("a"), 1, "Rome", &json!("C")), sample(&json!("b"), 1, "Paris", &json!("I"))];
    dir.write("log.json", log(&samples));
    dir.wikitrail(&["import", "inspect", "log.json", "--out", "plain"]).ok();
    let mut methods = vec![zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated];
    #[cfg(feature = "index")]
    methods.push(zip::CompressionMethod::Zstd);
    for method in methods {
        let run = method.to_string();
        dir.write("log.eval", packed(&samples, method, "header.json"));
        dir.wikitrail(&["import", "inspect", "log.eval", "--out", &run]).ok();
        assert_eq!(dir.records(&run), dir.records("plain"), "{run}");
    }
    // One that broke off has no head.
    dir.write("log.eval", packed(&samples, zip::CompressionMethod::Deflated, "elsewhere.json"));
    let ran = dir.wikitrail(&["import", "inspect", "log.eval", "--out", "broken"]).ok();
    assert!(ran.stderr.contains("warning: log.eval: its run did not end"), "{}", ran.stderr);
    // A damaged sample costs no other; a cut file is refused.
    let bytes = packed(&samples, zip::CompressionMethod::Stored, "header.json");
    let at = bytes.windows(5).position(|window| window == b"Paris").expect("the text");
    dir.write("log.eval", [&bytes[..at], b"Pariz", &bytes[at + 5..]].concat());
    let ran = dir.wikitrail(&["import", "inspect", "log.eval", "--out", "damaged"]).ok();
    assert!(
        ran.stderr.contains("samples/\"b\"_epoch_1.json: it cannot be unpacked") && ran.stdout.contains("1 episode"),
        "{}",
        ran.stderr
    );
    for end in [30, bytes.len() / 2, bytes.len() - 5] {
        dir.write("cut.eval", &bytes[..end]);
        dir.wikitrail(&["import", "inspect", "cut.eval", "--out", "n"])
            .refused(3, &["`cut.eval` is not a log of Inspect"]);
    }
    // Each log of a folder is a variant, named after its task.
    dir.write("logs/1.json", log(&samples));
    dir.write("logs/2.eval", packed(&samples, zip::CompressionMethod::Deflated, "header.json"));
    dir.write("logs/notes.txt", "no log");
    let ran = dir.wikitrail(&["import", "inspect", "logs", "--out", "several"]).ok();
    assert!(
        ran.stdout.contains("several: 4 episodes\nvariants: capitals, capitals-2\ncapitals: right by"),
        "{}",
        ran.stdout
    );
    let compared = dir.wikitrail(&["compare", "several", "--json"]).json();
    assert_eq!(compared["metrics"][0]["pairs"][0]["n"], 2, "{compared}");
    dir.wikitrail(&["import", "inspect", "logs", "--out", "n", "--variant", "x"]).refused(2, &["there are 2 logs"]);
}
