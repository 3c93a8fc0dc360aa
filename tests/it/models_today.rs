//! What the models of today answer: settings that they do not take, answers that are cut inside reasoning, refusals, and
//! conversations that outgrow a context. A run works, or says why not.

use crate::common::server::{self, Server};
use crate::common::{WorkDir, calls, unwrapped};
use serde_json::{Value, json};
use std::net::TcpStream;

fn folder(questions: usize) -> WorkDir {
    let dir = WorkDir::new();
    let rows = (0..questions).map(|n| format!("Is it {n}?,yes\n")).collect::<Vec<_>>().concat();
    dir.write("d.csv", format!("question,answer\n{rows}"));
    dir
}

fn refuse(stream: &mut TcpStream, error: &Value) {
    server::refuse(stream, &json!({ "error": error }));
}

fn say(stream: &mut TcpStream, message: &Value, reason: &str) {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5});
    server::json(stream, &json!({"choices": [{"message": message, "finish_reason": reason}], "usage": usage}));
}

fn flags<'a>(base: &'a str, out: &'a str) -> Vec<&'a str> {
    vec!["--model", "openai:m", "--base-url", base, "--out", out, "--concurrency", "1", "d.csv"]
}

/// As GPT-5 answers: <https://github.com/QwenLM/qwen-code/issues/921>, <https://github.com/chatboxai/chatbox/issues/2627>.
fn gpt5() -> Server {
    Server::start(|_, request, stream| {
        let fixed =
            |name: &str, message: &str| json!({"message": message, "param": name, "type": "invalid_request_error"});
        for (sent, error) in [
            (
                "\"max_tokens\":",
                fixed(
                    "max_tokens",
                    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                ),
            ),
            (
                "\"temperature\":",
                fixed(
                    "temperature",
                    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
                ),
            ),
            ("\"top_p\":", fixed("top_p", "Unsupported parameter: 'top_p' is not supported with this model.")),
            ("\"stop\":", fixed("stop", "Unsupported parameter: 'stop' is not supported with this model.")),
        ] {
            if request.contains(sent) {
                return refuse(stream, &error);
            }
        }
        say(stream, &json!({"content": "Thought: x\nAction: Finish[yes]"}), "stop");
    })
}

#[test]
fn a_model_that_takes_no_temperature_works_without_flags_and_the_record_says_so() {
    let (server, dir) = (gpt5(), folder(4));
    let base = format!("{}/v1", server.url);
    let ran = dir.run(&flags(&base, "r")).ok();
    for told in ["does not take temperature: requests are sent without it, and the model uses its own", "not take stop"]
    {
        assert_eq!(ran.stderr.matches(told).count(), 1, "{told}: {}", ran.stderr);
    }
    assert_eq!(server.requests().len(), 4 + 3, "each refusal is learned once");
    let variant = &dir.manifest("r")["variants"][0];
    assert_eq!(
        (&variant["not_sent"], &variant["decoding"]["temperature"]),
        (&json!(["stop", "temperature"]), &json!(0.0))
    );

    // A part of the run that asks nothing forgets nothing.
    dir.run(&[&flags(&base, "r")[..], &["--resume"]].concat()).ok();
    assert_eq!(dir.manifest("r")["variants"][0]["not_sent"], json!(["stop", "temperature"]));
    dir.run(&["--method", "act", "--out", "rules", "d.csv"]).ok();
    let compared = dir.wikitrail(&["compare", "r", "rules"]).ok().stdout;
    let words: Vec<&str> = compared.split_whitespace().collect();
    assert!(words.contains(&"not_sent") && words.contains(&"stop,") && words.contains(&"temperature"), "{compared}");

    let asked = dir.wikitrail(&["ask", "Is it?", "--model", "openai:m", "--base-url", &base]).ok();
    assert!(asked.stderr.contains("does not take temperature"), "{}", asked.stderr);
    let checked = dir.wikitrail(&["models", "check", "--model", "openai:m", "--base-url", &base]).ok();
    assert!(
        checked.stdout.contains("temperature") && checked.stdout.contains("sent without one"),
        "{}",
        checked.stdout
    );
}

#[test]
fn a_setting_that_was_typed_is_not_dropped() {
    let (server, dir) = (gpt5(), folder(40));
    let base = format!("{}/v1", server.url);
    let ran = dir.run(&[&flags(&base, "r")[..], &["--temperature", "0"]].concat());
    ran.refused(4, &["'temperature' does not support 0", "leave out --temperature"]);
    assert!(dir.records("r").len() <= 10, "it fails fast");
    // The model's own value may be typed.
    dir.run(&[&flags(&base, "s")[..], &["--temperature", "1", "--top-p", "1"]].concat()).ok();
    assert_eq!(dir.manifest("s")["variants"][0]["not_sent"], json!(["stop", "temperature", "top_p"]));
}

#[test]
fn answers_that_are_cut_inside_reasoning_are_no_silent_zero() {
    let cases = [
        (
            json!({"content": null, "reasoning_content": "Let me think"}),
            "length",
            "cut",
            "2 of 2 calls cut at the limit of tokens, all inside reasoning: raise --max-tokens (now",
        ),
        (json!({"content": "Thought: The ans"}), "length", "cut", "cut at the limit of tokens: raise --max-tokens"),
        (json!({"content": null, "refusal": "I can't help."}), "stop", "declined", "declined by the model: "),
        (json!({"content": ""}), "content_filter", "declined", "withheld by a filter of the provider: "),
    ];
    for (message, reason, class, told) in cases {
        let server = Server::start(move |_, _, stream| say(stream, &message, reason));
        let (dir, base) = (folder(1), format!("{}/v1", server.url));
        let ran = dir.run(&flags(&base, "r")).ok();
        let text = unwrapped(&ran.stdout);
        assert!(text.contains(told) && text.contains(&format!("{class}, 1 of 1")), "{reason}: {}", ran.stdout);
        let summary = dir.wikitrail(&["score", "r", "--json"]).json();
        assert_eq!(summary["variants"][0]["trajectory"]["failures"]["format"], json!(0), "{reason}");
        let short = &summary["variants"][0]["shortfalls"];
        assert_eq!(short["calls"], json!(calls(&dir.records("r"))), "{short}");
        let exported = dir.wikitrail(&["export", "r", "--format", "csv", "--rows", "steps"]).ok();
        let cause = ["token_limit", "refusal", "content_filter"].iter().any(|cause| exported.stdout.contains(cause));
        assert!(cause, "{}", exported.stdout);
    }
}

/// Without a sign that the model answered, the answer is not counted as wrong.
#[test]
fn neither_an_answer_nor_a_reason_is_no_measurement() {
    for reason in [Value::Null, json!("")] {
        let choice = json!({"message": {"role": "assistant", "content": null}, "finish_reason": reason});
        let server = Server::start(move |_, _, stream| server::json(stream, &json!({"choices": [choice]})));
        let (dir, base) = (folder(1), format!("{}/v1", server.url));
        let ran = dir.run(&flags(&base, "r"));
        assert_eq!(ran.code, Some(4), "{}", ran.stderr);
        assert!(ran.stdout.contains("1 call ended with neither an answer nor a reason: "), "{}", ran.stdout);
        let record = &dir.records("r")[0];
        assert_eq!(
            (&record["outcome"], &record["failure"]["cause"]),
            (&json!("not_measured"), &json!("unknown_reason"))
        );
        assert_eq!(server.requests().len(), 2, "it is asked once more");
    }
}

#[test]
fn a_conversation_that_outgrows_the_context_is_wrong_and_a_prompt_that_does_not_fit_is_no_measurement() {
    let long = json!({"message": "request (9102 tokens) exceeds the available context size (8192 tokens)", "type": "exceed_context_size_error"});
    let error = long.clone();
    let server = Server::start(move |_, request, stream| {
        if request.contains("Is it 0?") || !request.contains("Vienna Waltz") {
            return say(stream, &json!({"content": "Thought: x\nAction: Search[Vienna Waltz]"}), "stop");
        }
        refuse(stream, &error);
    });
    let (dir, base) = (folder(3), format!("{}/v1", server.url));
    let flags = [&flags(&base, "r")[..], &["--max-steps", "2"]].concat();
    let ran = dir.run(&flags).ok();
    let mut records = dir.records("r");
    records.sort_by_key(|record| record["index"].as_u64());
    let outcomes: Vec<&Value> = records.iter().map(|record| &record["outcome"]).collect();
    assert_eq!(outcomes, ["step_limit", "context_overflow", "context_overflow"], "{}", ran.stdout);
    assert_eq!(records[1]["steps"][1]["calls"][0]["cause"], "context_overflow");
    assert!(records[1]["detail"].as_str().is_some_and(|detail| detail.contains("9102 tokens")));
    let scored = unwrapped(&dir.wikitrail(&["score", "r"]).ok().stdout);
    assert!(scored.contains("2 context_overflow") && scored.contains("2 cut"), "{scored}");
    let text = unwrapped(&ran.stdout);
    assert!(text.contains("did not fit into the model's context: lower --max-steps"), "{}", ran.stdout);
    let summary = dir.wikitrail(&["score", "r", "--json"]).json();
    assert_eq!((&summary["variants"][0]["scored"], &summary["variants"][0]["em"]), (&json!(3), &json!(0.0)));
    // It is done: a resumed run asks for nothing, and a replay goes as far.
    let before = server.requests().len();
    dir.run(&[&flags[..], &["--resume"]].concat()).ok();
    assert_eq!(server.requests().len(), before);
    let replayed = dir.wikitrail(&["replay", "r"]).ok();
    assert!(replayed.stdout.contains("3 of 3"), "{}", replayed.stdout);

    // The person's own prompt: nothing of the agent was measured.
    let server = Server::start(move |_, _, stream| refuse(stream, &long));
    let base = format!("{}/v1", server.url);
    let ran = dir.run(&["--model", "openai:m", "--base-url", &base, "--out", "s", "d.csv"]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(dir.records("s").iter().all(|record| record["outcome"] == "not_measured"));
    assert!(ran.stdout.contains("hint: the prompt is too long for the model"), "{}", ran.stdout);
}

#[test]
fn a_method_without_a_protocol_names_none_and_slow_variants_have_their_own_times() {
    let server = Server::start(|_, request, stream| {
        if request.contains("Action") {
            std::thread::sleep(std::time::Duration::from_millis(150));
        }
        say(stream, &json!({"content": "Thought: x\nAction: Finish[yes]\nAnswer: yes"}), "stop");
    });
    let (dir, base) = (folder(2), format!("{}/v1", server.url));
    let ran = dir.run(&[&flags(&base, "s")[..], &["--method", "standard"]].concat()).ok();
    assert!(ran.stderr.contains("of d.csv, standard with openai:m"), "{}", ran.stderr);
    dir.run(&[&flags(&base, "b")[..], &["--method", "standard,react"]].concat()).ok();
    let ran = dir.wikitrail(&["score", "b"]).ok();
    let rows: Vec<&str> = ran.stdout.lines().skip_while(|line| !line.contains("tokens out")).collect();
    let time = |name: &str| {
        let row = rows.iter().find(|row| row.trim().starts_with(name)).expect("a row");
        row.split("  ").last().map(str::trim).map(str::to_owned)
    };
    assert_ne!(time("standard"), time("react"), "{}", ran.stdout);
    assert!(ran.stdout.contains("time: mean per episode; the run took "), "{}", ran.stdout);
    let compared = dir.wikitrail(&["compare", "b"]).ok().stdout;
    let differing = compared.split("EM of").next().expect("a head");
    assert!(differing.contains("method") && !differing.contains("protocol"), "{compared}");
}

#[test]
fn a_server_that_parses_no_calls_is_no_silent_zero() {
    let server = Server::start(|_, _, stream| {
        say(stream, &json!({"content": "<tool_call>{\"name\": \"search\"}</tool_call>"}), "stop");
    });
    let (dir, base) = (folder(3), format!("{}/v1", server.url));
    let ran = dir.run(&[&flags(&base, "r")[..], &["--protocol", "tools"]].concat()).ok();
    let told = "6 of 6 replies called no function: does the server parse tool calls (llama.cpp: --jinja";
    let text = unwrapped(&ran.stdout);
    assert!(text.contains(told) && text.contains("format, 3 of 3"), "{}", ran.stdout);
    let summary = dir.wikitrail(&["score", "r", "--json"]).json();
    assert_eq!(summary["variants"][0]["shortfalls"]["no_call"], json!(6));
}

#[test]
fn a_check_without_an_answer_ends_as_a_run_does_and_says_what_to_do() {
    let dir = WorkDir::new();
    let check = |model: &str, base: &str, more: &[&str]| {
        dir.wikitrail(&[&["models", "check", "--model", model, "--base-url", base], more].concat())
    };
    let server = Server::start(|_, _, stream| refuse(stream, &json!({"message": "no"})));
    check("openai:m", &server.url, &[]).refused(4, &["status 400", "leave out the setting that it names"]);
    let server = Server::start(|_, _, stream| server::answer(stream, "401 X", &json!({"error": {"message": "no"}})));
    let refused = check("anthropic:m", &server.url, &[]);
    refused.refused(4, &["status 401", "read from the variable ANTHROPIC_API_KEY; --key-env"]);
    assert!(!refused.stderr.contains("OPENAI_API_KEY"), "{}", refused.stderr);
    dir.write("k", "secret\n");
    check("openai:m", &server.url, &["--key-file", "k"]).refused(4, &["check the key in `k` (--key-file)"]);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    check("openai:m", &format!("http://{closed}/v1"), &["--model-attempts", "1"]).refused(4, &["is the server up"]);
}
