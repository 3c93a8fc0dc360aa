//! What a person has a model told beside its prompt: how much to reason, fields of the body, and headers. It is sent,
//! recorded and compared; secrets are sent only, and only where a key may go.

use crate::common::server::{self, Server};
use crate::common::{Ran, WorkDir};
use serde_json::{Value, json};
use std::path::Path;

/// The value of the variable `TEAM_KEY`.
const SECRET: &str = "tk-Leak-9876543210ZyXwVuTs";

fn folder() -> WorkDir {
    let dir = WorkDir::new();
    dir.write("d.csv", "question,answer\nIs it?,yes\n");
    dir
}

/// A server that answers every chat, and repeats what the request holds.
fn echo() -> Server {
    Server::start(|_, request, stream| {
        let head = request.split("\r\n\r\n").next().expect("a head").replace("\r\n", " ");
        let text = format!("Thought: I was sent {head}\nAction: Finish[yes]");
        let message = json!({"content": text, "reasoning_content": format!("hm, {head}")});
        let details = json!({"reasoning_tokens": 7});
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 9, "completion_tokens_details": details});
        let answer = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage, "model": "m"});
        server::json(stream, &answer);
    })
}

fn flags<'a>(base: &'a str, out: &'a str) -> Vec<&'a str> {
    vec!["--model", "openai:m", "--base-url", base, "--out", out, "--model-attempts", "1", "d.csv"]
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").expect("a body").1).expect("JSON")
}

/// Every file below `dir`, and these outputs, without the secret.
#[track_caller]
fn nowhere(dir: &Path, printed: &[String]) {
    for entry in std::fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            nowhere(&path, &[]);
        } else {
            let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).to_ascii_lowercase();
            assert!(!text.contains(&SECRET.to_ascii_lowercase()), "{}:\n{text}", path.display());
        }
    }
    for text in printed {
        assert!(!text.to_ascii_lowercase().contains(&SECRET.to_ascii_lowercase()), "{text}");
    }
}

#[test]
fn azure_gets_its_key_by_a_header_and_no_other_and_nothing_keeps_it() {
    let (server, dir) = (echo(), folder());
    let run = |base: &str, words: &[&str]| {
        let mut command = dir.command(&[&["run"], &flags(base, "r")[..], words].concat());
        command.env("TEAM_KEY", SECRET).env("OPENAI_API_KEY", "sk-of-somebody-else");
        Ran::from(&command.output().expect("it runs"))
    };
    let key = ["--extra-header", "api-key=env:TEAM_KEY"];
    let kept = ["--record", "tape", "--cache", "cache"];
    let deployment = format!("{}/openai/deployments/d/?api-version=2024-10-21", server.url);
    let first = run(&deployment, &[&key[..], &kept].concat()).ok();
    let again = run(&deployment, &[&key[..], &kept, &["--resume"]].concat()).ok();
    std::fs::rename(dir.path("r"), dir.path("classic")).expect("moved");
    let v1 = run(&format!("{}/openai/v1", server.url), &key).ok();
    let team = run(&format!("{}/v1", server.url), &["--resume", "--extra-header", "authorization=env:TEAM_KEY"]);
    team.refused(3, &["extra_header: was api-key=env:TEAM_KEY, now authorization=env:TEAM_KEY"]);
    let requests = server.requests();
    for (request, path) in requests
        .iter()
        .zip(["/openai/deployments/d/chat/completions?api-version=2024-10-21", "/openai/v1/chat/completions"])
    {
        let head = request.split("\r\n\r\n").next().expect("a head").to_ascii_lowercase();
        assert!(head.starts_with(&format!("post {path} ")), "{head}");
        assert_eq!(head.matches(&format!("api-key: {}", SECRET.to_ascii_lowercase())).count(), 1, "{head}");
        assert!(!head.contains("authorization") && !head.contains("somebody"), "{head}");
    }
    assert_eq!(requests.len(), 2);
    assert_eq!(dir.manifest("r")["variants"][0]["settings"]["extra_header"], json!({"api-key": "env:TEAM_KEY"}));
    let shown = dir.wikitrail(&["show", "classic", "1"]);
    let printed = [first, again, v1, team, shown].map(|ran| ran.stdout + &ran.stderr);
    nowhere(dir.root(), &printed);
    assert!(dir.read("classic/trajectories.jsonl").contains("***"), "the answer did hold it");
}

#[test]
fn a_variable_goes_to_no_server_and_into_no_header_that_a_file_names() {
    let (server, dir) = (echo(), folder());
    let file =
        |settings: &str| format!("name = \"x\"\ndataset = \"d.csv\"\n[settings]\nmodel = \"openai:m\"\n{settings}\n");
    let at = format!("base_url = \"{}/v1\"", server.url);
    let run = |words: &[&str]| {
        let mut command = dir.command(&[&["run", "x.toml", "--out", "r", "--model-attempts", "1"], words].concat());
        Ran::from(&command.env("TEAM_KEY", SECRET).output().expect("it runs"))
    };
    for value in ["env:TEAM_KEY", " env:TEAM_KEY", "\\tenv:TEAM_KEY", "env:TEAM_KEY "] {
        dir.write("x.toml", file(&format!("extra_header = {{ x-team = \"{value}\" }}")));
        run(&["--base-url", &server.url, "--confirm"])
            .refused(3, &["x.toml:5", "which no file may do", "on the command line"]);
    }
    dir.write(
        "x.toml",
        file(&format!("{at}\nextra_header = {{ x-title = \"one\" }}\nextra_body = {{ top_k = 3, a = [1.5, true] }}")),
    );
    let typed = ["--extra-header", "x-team=env:TEAM_KEY"];
    run(&typed)
        .refused(2, &["--extra-header names a key", "was not typed and is not openai's own server", "--confirm"]);
    assert!(server.requests().is_empty());
    run(&[&typed[..], &["--confirm"]].concat()).ok();
    let sent = server.requests().remove(0);
    assert!(sent.contains("x-title: one") && sent.contains(&format!("x-team: {SECRET}")), "{sent}");
    assert_eq!((&body(&sent)["top_k"], &body(&sent)["a"]), (&json!(3), &json!([1.5, true])));
    // A folder from somebody else names it in its command line.
    let resumed = run(&["--resume"]);
    resumed.refused(3, &["extra_header: was x-team=env:TEAM_KEY, x-title=one, now x-title=one"]);
    let foreign = dir.wikitrail(&["run", "--resume", "--out", "r"]);
    foreign.refused(2, &["that you did not name", "--extra-header x-team=env:TEAM_KEY"]);
    assert_eq!(server.requests().len(), 1);
    nowhere(dir.root(), &[resumed.stdout, resumed.stderr, foreign.stderr]);
}
