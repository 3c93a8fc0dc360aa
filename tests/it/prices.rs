//! Which price a call is charged at, in `run` and in `ask`, and that the run's manifest says so.

use crate::common::server;
use crate::common::server::Server;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

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

fn wikitrail(dir: &Path, server: &Server, args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_wikitrail"))
        .args(args)
        .args(["--protocol", "react-paper", "--model", "openai:m", "--base-url", &format!("{}/v1", server.url)])
        .current_dir(dir)
        .env_remove("OPENAI_API_KEY")
        .output()
        .expect("wikitrail runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
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
        let (code, stdout, stderr) = wikitrail(dir.path(), &server, &run);
        assert_eq!(code, Some(0), "{stderr}");
        let summary: Value = serde_json::from_str(&stdout).expect("a summary");
        assert_eq!(summary["variants"][0]["cost_usd"], cost, "{name}");
        let manifest = std::fs::read_to_string(dir.path().join(name).join("manifest.json")).expect("a manifest");
        let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
        assert_eq!(manifest["variants"][0]["price"], price, "{name}");
        let (code, stdout, stderr) = wikitrail(dir.path(), &server, &[&["ask", "--json", "Is it?"], flags].concat());
        assert_eq!(code, Some(0), "{stderr}");
        let trajectory: Value = serde_json::from_str(&stdout).expect("a trajectory");
        assert_eq!(trajectory["cost_usd"], cost, "{name}");
    }
    assert_eq!(server.requests().len(), 6);
    let (code, _, stderr) = wikitrail(dir.path(), &server, &["ask", "Is it?", "--prices", "absent.toml"]);
    assert!(code == Some(3) && stderr.contains("absent.toml"), "{stderr}");
}
