//! Servers that fail for a reason that lasts: a run notices at once, says what to do, and can be gone on with.

use crate::common::server::{self, Server};
use crate::common::{Ran, WorkDir, unwrapped};
use serde_json::{Value, json};
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Answers with a status and an error.
fn refuse(stream: &mut TcpStream, status: u16, error: &Value) {
    let body = json!({ "error": error }).to_string();
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
}

fn completion(stream: &mut TcpStream, text: &str, reason: &str) {
    server::json(stream, &json!({"choices": [{"message": {"content": text}, "finish_reason": reason}]}));
}

/// 2,000 questions, and a run over them that leaves nothing to chance in how fast it is.
fn bench() -> WorkDir {
    let dir = WorkDir::new();
    let rows = (0..2_000).map(|n| format!("Is it {n}?,yes\n")).collect::<Vec<_>>().concat();
    dir.write("d.csv", format!("question,answer\n{rows}"));
    dir
}

fn run(dir: &WorkDir, base: &str, flags: &[&str]) -> Ran {
    let base = format!("{base}/v1");
    let known = ["--model", "openai:m", "--base-url", &base, "--out", "r", "--quiet", "d.csv"];
    dir.run(&[&known, flags].concat())
}

#[track_caller]
fn assert_given_up(ran: &Ran, words: &[&str]) {
    ran.refused(4, &[words, &["stopped: "]].concat());
    // `next:` names it where a summary is printed.
    assert!(ran.stderr.contains("resume: wikitrail run") || ran.stdout.contains(" --resume"), "{}", ran.stdout);
    assert_eq!(ran.stderr.matches("hint: ").count() + ran.stdout.matches("hint: ").count(), 1, "{}", ran.stderr);
}

#[test]
fn a_dead_key_costs_ten_requests_whatever_is_in_flight() {
    for (status, error, told) in [
        (401, json!({"message": "Incorrect API key"}), "OPENAI_API_KEY"),
        (402, json!({"message": "Insufficient Balance"}), "add credit"),
        (403, json!({"message": "no"}), "OPENAI_API_KEY"),
        (404, json!({"message": "Not Found"}), "usually ends in /v1"),
        (
            404,
            json!({"message": "The model `m` does not exist", "code": "model_not_found"}),
            "check the name after --model",
        ),
        (429, json!({"message": "You exceeded your quota", "code": "insufficient_quota"}), "add credit"),
    ] {
        for flags in [&["--concurrency", "100"][..], &["--concurrency", "100", "--method", "cot-sc"], &[]] {
            let error = error.clone();
            let server = Server::start(move |_, _, stream| refuse(stream, status, &error));
            let dir = bench();
            let ran = run(&dir, &server.url, flags);
            let message = "10 requests in a row failed for the same reason: the model's server refused the request";
            assert_given_up(&ran, &[message, told]);
            assert_eq!(server.requests().len(), 10, "{status} {flags:?}");
            assert!(dir.records("r").len() <= 10, "{status} {flags:?}");
        }
    }
}

/// A wrong name is no reason for another folder, as long as nothing was measured or paid for.
#[test]
fn a_folder_without_an_answer_takes_other_settings() {
    let server = Server::start(|_, request, stream| {
        if request.contains("\"right\"") {
            return completion(stream, "Thought 1: so\nAction 1: Finish[yes]", "stop");
        }
        refuse(stream, 404, &json!({"message": "no such model", "code": "model_not_found"}));
    });
    let dir = WorkDir::new();
    dir.write("d.csv", "question,answer\nIs it?,yes\nWas it?,yes\n");
    let base = format!("{}/v1", server.url);
    let run = |model: &str, more: &[&str]| {
        dir.run(&[&["d.csv", "--base-url", &base, "--out", "r", "--model", model], more].concat())
    };
    let ran = run("openai:wrong", &[]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(ran.stdout.contains("nothing was measured: --resume takes other settings too"), "{}", ran.stdout);
    let ran = run("openai:right", &["--resume", "--max-steps", "3"]).ok();
    assert!(
        ran.stderr.contains("note: nothing was measured in `r` before, so it takes the new settings"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("plan: keep 0, redo 0, new 2"), "{}", ran.stderr);
    let records = dir.records("r");
    assert_eq!(records.len(), 2, "{records:?}");
    assert!(records.iter().all(|record| record["answer"] == "yes"), "{records:?}");
    let manifest: Value = serde_json::from_str(&dir.read("r/manifest.json")).expect("JSON");
    assert_eq!(manifest["variants"][0]["model"], "openai:right");
    assert_eq!(manifest.get("retired"), None);
    // Now that there are answers, other settings are another run.
    run("openai:wrong", &["--resume"]).refused(3, &["`r` holds a run with other settings", "model: was openai:right"]);
}

#[test]
fn another_model_than_the_one_that_was_asked_is_told() {
    let server = Server::start(|_, _, stream| {
        let text = "Thought 1: so\nAction 1: Finish[yes]";
        let choices = json!([{"message": {"content": text}, "finish_reason": "stop"}]);
        server::json(stream, &json!({"model": "smollm2", "choices": choices}));
    });
    let dir = WorkDir::new();
    dir.write("d.csv", "question,answer\nIs it?,yes\nWas it?,yes\n");
    let base = format!("{}/v1", server.url);
    for (asked, is_told) in [("openai:smolllm3", true), ("openai:SmolLM2", false)] {
        let ran = dir.run(&["d.csv", "--base-url", &base, "--model", asked, "--quiet"]).ok();
        let told = format!("warning: {asked} was asked, and the server's answers name `smollm2`: check --model");
        assert_eq!(ran.stderr.matches(&told).count(), usize::from(is_told), "{}", ran.stderr);
        let checked = dir.wikitrail(&["models", "check", "--base-url", &base, "--model", asked]).ok().stdout;
        assert_eq!(checked.contains("`smolllm3` was asked and `smollm2` answers"), is_told, "{checked}");
    }
}

/// A server of plain HTTP gets one request for each thing that is asked, and the hint is the address that works.
#[test]
fn https_to_a_plain_server_is_tried_once() {
    let server = Server::start(|_, _, stream| completion(stream, "yes", "stop"));
    let dir = WorkDir::new();
    let base = format!("{}/v1", server.url.replace("http://", "https://"));
    let checked = dir.wikitrail(&["models", "check", "--base-url", &base, "--model", "openai:m"]);
    checked.refused(4, &["write http:// in the URL if the server speaks plain HTTP"]);
    assert!(!checked.stderr.contains("attempts"), "{}", checked.stderr);
    dir.write("d.csv", "question,answer\nIs it?,yes\n");
    let ran = dir.run(&["d.csv", "--base-url", &base, "--model", "openai:m"]);
    let hint = format!("write --base-url {}/v1 if the server speaks plain HTTP", server.url);
    assert!(unwrapped(&ran.stdout).contains(&hint) || ran.stderr.contains(&hint), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn several_dead_models_count_together_and_who_wants_may_go_on() {
    let server = Server::start(|_, _, stream| refuse(stream, 401, &json!({"message": "no"})));
    let dir = bench();
    dir.write(
        "e.toml",
        format!(
            "name = \"e\"\ndataset = \"d.csv\"\n[settings]\nbase_url = \"{}/v1\"\n[matrix]\nmodel = {:?}\n",
            server.url,
            (0..6).map(|n| format!("openai:m{n}")).collect::<Vec<_>>()
        ),
    );
    let ran = dir.run(&["e.toml", "--out", "e", "--quiet", "--concurrency", "100"]);
    assert_given_up(&ran, &["requests failed, and none was answered", "experiment file"]);
    assert!(server.requests().len() <= 20 + 6, "{}", server.requests().len());

    let before = server.requests().len();
    let ran = run(&dir, &server.url, &["--give-up-after", "off", "--limit", "30", "--concurrency", "20"]);
    assert_eq!((ran.code, server.requests().len() - before), (Some(4), 30), "{}", ran.stderr);
    let said = &ran.stderr;
    assert!(said.contains("not measured (30)") && said.contains("hint: the server rejects the key"), "{said}");
    assert!(!ran.stdout.contains("wikitrail export"), "there is nothing to export: {}", ran.stdout);
    let few =
        dir.run(&["--model", "openai:m", "--base-url", &server.url, "--give-up-after", "3", "--out", "f", "d.csv"]);
    assert_given_up(&few, &["3 requests in a row"]);
}

#[test]
fn a_server_that_is_not_there_is_given_up_and_a_run_goes_on_once_it_is() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let gone = format!("http://{port}");
    let dir = bench();
    let ran = run(&dir, &gone, &["--model-attempts", "1", "--concurrency", "100"]);
    assert_given_up(&ran, &[&format!("is the server running at {gone}/v1")]);
    assert_eq!(dir.records("r").len(), 10);

    // A key that dies later stops the run as well, with all that is in flight.
    let dead = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&dead);
    let server = Server::start(move |number, _, stream| {
        if number >= 40 && !flag.load(Ordering::SeqCst) {
            return refuse(stream, 401, &json!({"message": "expired"}));
        }
        completion(stream, "Thought: x\nAction: Finish[yes]", "stop");
    });
    let ran = run(&bench(), &server.url, &["--limit", "200", "--concurrency", "4"]);
    assert_given_up(&ran, &["in a row failed for the same reason"]);
    assert!((50..70).contains(&server.requests().len()), "{}", server.requests().len());
    dead.store(true, Ordering::SeqCst);
}

#[test]
fn a_wiki_that_is_not_there_is_given_up_too() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let gone = format!("http://{port}");
    let dir = WorkDir::new();
    for wiki in ["api", "html"] {
        // The rules ask for nothing but pages.
        let ran = dir.run(&["--wiki", wiki, "--wiki-url", &gone, "--wiki-timeout", "5", "--out", wiki, "--quiet"]);
        assert_given_up(&ran, &[&format!("is the wiki running at {gone}")]);
    }
}

#[test]
fn failures_of_a_wiki_are_one_reason_whatever_was_searched() {
    let portal = |title: &str| {
        let page = format!("<title>{title}</title><p>Please log in.");
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{page}",
            page.len()
        )
    };
    let server = Server::start(move |number, _, stream| {
        let _ = write!(stream, "{}", portal(&format!("Hotel {number}")));
    });
    let dir = WorkDir::new();
    let flags = ["--wiki", "html", "--wiki-url", &server.url, "--limit", "5", "--quiet", "--json", "--out"];
    let ran = dir.run(&[&flags[..], &["fixed"]].concat());
    let reasons: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let reasons = reasons["not_measured_reasons"].as_object().expect("reasons").clone();
    assert_eq!(reasons.values().collect::<Vec<_>>(), [5], "{reasons:?}");
    let reason = reasons.keys().next().expect("one");
    assert!(reason.contains("that MediaWiki did not make (titled `Hotel "), "{reason}");
    for record in dir.records("fixed") {
        assert_eq!(record["failure"], json!({"service": "wikipedia", "cause": "not_the_wiki"}));
    }
    let text = dir.wikitrail(&["score", "fixed"]).ok().stdout;
    assert!(text.contains("hint: open http://127.0.0.1:") && text.contains("does the network want a login"), "{text}");

    // The paper's environment reads it, and the end of the run says what was read.
    let error = Server::start(|_, _, stream| {
        let _ = write!(
            stream,
            "HTTP/1.1 503 X\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<p>Out of order, sorry.</p>"
        );
    });
    let flags =
        ["--wiki", "html", "--wiki-url", &error.url, "--limit", "5", "--quiet", "--compat", "paper", "--out", "p"];
    let ran = dir.run(&flags).ok();
    let observations = dir
        .records("p")
        .iter()
        .flat_map(|record| record["steps"].as_array().expect("steps").clone())
        .filter(|step| step["provenance"]["status"] == 503)
        .count();
    assert!(observations > 0);
    assert!(
        ran.stderr.contains(&format!("(503: {observations}): `--compat paper` reads any answer")),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_falls_short_has_a_cause_and_keeps_its_outcome() {
    let server = Server::start(|number, _, stream| match number {
        0 => completion(stream, "Thought: x\nAction: Finish[yes]", "stop"),
        1 => completion(stream, "Thought: x\nAction: Finish[yes]", "length"),
        2 => server::json(
            stream,
            &json!({"choices": [{"message": {"content": null}, "finish_reason": "content_filter"}]}),
        ),
        3 => server::json(
            stream,
            &json!({"choices": [{"message": {"content": null, "refusal": "No."}, "finish_reason": "stop"}]}),
        ),
        _ => refuse(stream, 400, &json!({"message": "too long", "code": "context_length_exceeded"})),
    });
    let dir = WorkDir::new();
    dir.write("d.csv", "question,answer\na?,yes\nb?,yes\nc?,yes\nd?,yes\ne?,yes\n");
    let base = format!("{}/v1", server.url);
    let flags = [
        "--model",
        "openai:m",
        "--base-url",
        &base,
        "--method",
        "cot",
        "--concurrency",
        "1",
        "--quiet",
        "--out",
        "r",
        "d.csv",
    ];
    dir.run(&flags);
    let causes: Vec<Value> = dir
        .records("r")
        .iter()
        .flat_map(|record| {
            record["steps"]
                .as_array()
                .expect("steps")
                .iter()
                .flat_map(|step| step["calls"].as_array().expect("calls").clone())
                .collect::<Vec<_>>()
        })
        .filter_map(|call| call.get("cause").cloned())
        .collect();
    for cause in ["token_limit", "content_filter", "refusal"] {
        assert!(causes.contains(&json!(cause)), "{cause} in {causes:?}");
    }
    let failed: Vec<Value> =
        dir.records("r").into_iter().filter(|record| record["outcome"] == "not_measured").collect();
    assert!(
        !failed.is_empty() && failed.iter().all(|record| record["failure"]["cause"] == "context_overflow"),
        "{failed:?}"
    );
}

/// A limit on requests, with a header and the words of an error.
fn limit(stream: &mut TcpStream, header: &str, error: &Value) {
    let body = json!({ "error": error }).to_string();
    let _ = write!(
        stream,
        "HTTP/1.1 429 X\r\ncontent-type: application/json\r\nconnection: close\r\n{header}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
}

#[test]
fn a_server_that_asks_for_too_long_a_wait_ends_the_run_at_once() {
    let retry_info =
        json!({"details": [{"@type": "x/google.rpc.RetryInfo", "retryDelay": "900s"}], "message": "quota"});
    for (header, error) in [
        ("retry-after: 900", json!({"message": "slow down"})),
        ("retry-after-ms: 900000", json!({"message": "slow down"})),
        ("llm_provider-retry-after: 900", json!({"message": "slow down"})),
        ("x-ratelimit-reset-requests: 15m0s\r\nx-ratelimit-remaining-requests: 0", json!({"message": "slow down"})),
        ("x: y", retry_info),
        ("x: y", json!({"message": "Rate limit reached. Please try again in 15m0s."})),
    ] {
        let error = error.clone();
        let server = Server::start(move |_, _, stream| limit(stream, header, &error));
        for flags in [&[][..], &["--concurrency", "20"], &["--give-up-after", "off", "--max-wait", "14m59s"]] {
            let dir = bench();
            let before = server.requests().len();
            let ran = run(&dir, &server.url, flags);
            assert_given_up(&ran, &["asked with status 429 to wait 15 minutes", "--max-wait"]);
            assert_eq!(server.requests().len() - before, 1, "{header} {flags:?}");
        }
    }
}

#[test]
fn a_wait_that_is_asked_for_uses_up_no_attempt() {
    let server = Server::start(|n, _, stream| {
        if n < 3 {
            limit(stream, "retry-after-ms: 20", &json!({"message": "slow down"}));
        } else {
            completion(stream, "Thought: I know.\nAction: Finish[yes]", "stop");
        }
    });
    let dir = bench();
    let ran = run(&dir, &server.url, &["--limit", "1", "--model-attempts", "2"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(dir.records("r")[0]["outcome"], "finished");
}
