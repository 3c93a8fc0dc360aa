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
