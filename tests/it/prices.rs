//! Which price a call is charged at, in `run` and in `ask`, and that the run's manifest says so.

use crate::common::server::{self, Server};
use crate::common::{self, Ran};
use serde_json::{Value, json};
use std::path::Path;

/// A million tokens in and half a million out, whatever is asked.
fn server() -> Server {
    Server::start(|_, _, stream| {
        let completion = json!({
            "choices": [{"message": {"content": " I know.\nAction 1: Finish[yes]"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 500_000},
        });
        server::json(stream, &completion);
    })
}

fn wikitrail(dir: &Path, server: &Server, args: &[&str]) -> Ran {
    let url = format!("{}/v1", server.url);
    let flags = ["--protocol", "react-paper", "--model", "openai:m", "--base-url", &url];
    common::wikitrail(dir, &[args, &flags].concat())
}

#[test]
fn the_price_that_was_used_is_recorded_and_ask_takes_what_run_takes() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = server();
    let entry = "[[model]]\nname = \"m\"\nprompt = 3\ncompletion = 8\nas_of = \"2026-01-31\"\nsource = \"https://example.org/p\"\n";
    std::fs::write(dir.path().join("prices.toml"), entry).expect("a file");
    let from_file = json!({"prompt": 3.0, "completion": 8.0, "as_of": "2026-01-31", "source": "https://example.org/p"});
    for (name, flags, price, cost) in [
        ("typed", &["--price", "1/2"][..], json!({"prompt": 1.0, "completion": 2.0}), json!(2.0)),
        ("file", &["--prices", "prices.toml"], from_file, json!(7.0)),
        ("none", &[], Value::Null, Value::Null),
    ] {
        let run = [&["run", "--limit", "1", "--quiet", "--json", "--out", name], flags].concat();
        let summary = wikitrail(dir.path(), &server, &run).json();
        assert_eq!(summary["variants"][0]["cost_usd"], cost, "{name}");
        let manifest = common::manifest(dir.path().join(name));
        assert_eq!(manifest["variants"][0]["price"], price, "{name}");
        let trajectory = wikitrail(dir.path(), &server, &[&["ask", "--json", "Is it?"], flags].concat()).json();
        assert_eq!(trajectory["cost_usd"], cost, "{name}");
    }
    assert_eq!(server.requests().len(), 6);
    let missing = wikitrail(dir.path(), &server, &["ask", "Is it?", "--prices", "absent.toml"]);
    missing.refused(3, &["absent.toml"]);
}

/// 900 of 1,000 prompt tokens come from the provider's cache.
#[test]
fn tokens_from_the_providers_cache_have_their_own_price_everywhere() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = Server::start(|_, _, stream| {
        let usage = json!({"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 900},
            "completion_tokens_details": {"reasoning_tokens": 80}});
        let message = json!({"content": " I know.\nAction 1: Finish[yes]"});
        server::json(stream, &json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}));
    });
    let entry = "[[model]]\nname = \"m\"\nprompt = 10\ncompletion = 20\ncached = 1\ncache_write = 12.5\nas_of = \"2026-01-31\"\n";
    std::fs::write(dir.path().join("prices.toml"), entry).expect("a file");
    let recorded = json!({"prompt": 10.0, "completion": 20.0, "cached": 1.0});
    let listed = json!({"prompt": 10.0, "completion": 20.0, "cached": 1.0, "cache_write": 12.5, "as_of": "2026-01-31"});
    for (name, flags, price, cost) in [
        ("full", &["--price", "10/20"][..], json!({"prompt": 10.0, "completion": 20.0}), 0.012),
        ("typed", &["--price", "10/20/1"], recorded, 0.0039),
        ("listed", &["--prices", "prices.toml"], listed, 0.0039),
    ] {
        let same = |found: &Value| assert!((found.as_f64().expect("a cost") - cost).abs() < 1e-12, "{name}: {found}");
        let run = [&["run", "--limit", "1", "--json", "--out", name], flags].concat();
        let ran = wikitrail(dir.path(), &server, &run);
        if name == "listed" {
            assert!(
                ran.stderr.contains("USD per million tokens: 10 prompt, 1 cache read, 12.5 cache write, 20 completion"),
                "{}",
                ran.stderr
            );
        }
        let summary = ran.json();
        same(&summary["variants"][0]["cost_usd"]);
        assert_eq!(common::manifest(dir.path().join(name))["variants"][0]["price"], price, "{name}");
        same(&common::records(dir.path().join(name))[0]["cost_usd"]);
        let scored = common::wikitrail(dir.path(), &["score", name, "--json"]).json();
        same(&scored["variants"][0]["cost_usd"]);
        same(&scored["spending"]["total"]["cost_usd"]);
    }
    // The counts are shown wherever tokens are.
    let id = common::records(dir.path().join("full"))[0]["id"].as_str().expect("an id").to_owned();
    let of = |args: &[&str]| common::wikitrail(dir.path(), args).ok().stdout;
    assert!(of(&["score", "full"]).contains("main: 900 prompt tokens came from the provider's cache"));
    assert_eq!(of(&["show", "full", &id]).matches("1000 + 100 tokens (900 cached, 80 of reasoning)").count(), 2);
    let scored = common::wikitrail(dir.path(), &["score", "full", "--json"]).json();
    assert_eq!(scored["variants"][0]["usage"]["cached_tokens"], 900);
    for rows in ["questions", "steps"] {
        let table = of(&["export", "full", "--format", "csv", "--rows", rows]);
        let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let at = lines.next().expect("a header").iter().position(|name| *name == "cached_tokens").expect("a column");
        assert!(table.starts_with('\u{feff}') || at > 20, "after all older ones");
        // The origin follows.
        let row = table.lines().last().expect("a row");
        assert!(row.contains(",900,,80,"), "{rows}: {row}");
    }
    let compared = of(&["compare", "full", "typed", "--metric", "cached_tokens,reasoning_tokens"]);
    assert!(compared.contains("cached_tokens") && compared.contains("900"), "{compared}");
}

#[test]
fn what_the_cache_answers_is_not_told_as_paid() {
    let server = crate::common::server::Server::start(|_, _, stream| {
        let text = "Thought 1: so\nAction 1: Finish[yes]";
        let choices = serde_json::json!([{"message": {"content": text}, "finish_reason": "stop"}]);
        let usage = serde_json::json!({"prompt_tokens": 1000, "completion_tokens": 500});
        crate::common::server::json(stream, &serde_json::json!({"choices": choices, "usage": usage}));
    });
    let dir = crate::common::WorkDir::new();
    dir.write("one.csv", "question,answer\nIs it?,yes\n");
    dir.write("three.csv", "question,answer\nIs it?,yes\nWas it?,yes\nWill it?,yes\n");
    let base = format!("{}/v1", server.url);
    let run = |file: &str| {
        let flags = ["--base-url", &base, "--model", "openai:m", "--price", "1/2", "--cache", "c"];
        dir.run(&[&[file], &flags[..]].concat()).ok().stdout
    };
    let first = run("one.csv");
    assert!(first.contains("0.0020") && !first.contains("paid: "), "{first}");
    let second = run("three.csv");
    let told = "paid: 0.0040 USD of the 0.0060 USD; the cache's answers would have cost 0.0020 USD";
    assert!(crate::common::unwrapped(&second).contains(told), "{second}");
}
