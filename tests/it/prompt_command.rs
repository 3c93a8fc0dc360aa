//! `prompt show`, `list` and `check` from outside: what is sent, to the last byte, and what is refused.

use crate::common::sha256_hex;
use crate::common::{WorkDir, repository, shell, wikitrail};
use serde_json::Value;
use std::path::Path;
use wikitrail::run::PROTOCOLS;

const PROMPTS: [&str; 3] = ["prompts/hotpotqa.toml", "prompts/fever.toml", "prompts/hotpotqa-zh.toml"];
const QUESTION: &str = "Which {moon} is {{largest}}?";

/// The output of `prompt show` with `--json`.
fn shown(folder: &Path, prompt: &str, args: &[&str]) -> Value {
    wikitrail(folder, &[&["prompt", "show", prompt, "--json"], args].concat()).json()
}

/// From an empty folder, so that nothing but the program is needed.
#[test]
fn every_protocol_and_method_shows_its_first_request() {
    let dir = tempfile::tempdir().expect("a folder");
    for prompt in PROMPTS {
        for (id, method) in PROTOCOLS.map(|id| (id, "react")).into_iter().chain([("robust", "act"), ("robust", "cot")])
        {
            let shown = shown(dir.path(), prompt, &["--protocol", id, "--method", method, "--question", QUESTION]);
            let what = format!("{prompt} {id} {method}");
            let sent = match &shown["messages"] {
                Value::Null => shown["text"].as_str().expect("a text").to_owned(),
                messages => serde_json::to_string(messages).expect("JSON"),
            };
            assert_eq!(shown["sha256"], sha256_hex(sent.as_bytes()), "{what}");
            assert!(sent.contains(QUESTION), "{what}: {sent}");
            let is_text = id.starts_with("react-") || method == "cot";
            assert_eq!(shown["messages"].is_null(), is_text, "{what}");
            let last = if is_text {
                &sent
            } else {
                shown["messages"].as_array().expect("turns").last().expect("one")["content"].as_str().expect("text")
            };
            let end = match (id, method) {
                (_, "cot") => "?\nThought:",
                ("react-paper" | "react-zh", _) => "?\nThought 1:",
                ("qwen-agent", _) => "?\nThought: ",
                _ => "{{largest}}?",
            };
            assert!(last.ends_with(end), "{what}: {last}");
        }
    }
}

#[test]
fn printed_texts_are_the_bytes_that_are_sent() {
    let dir = tempfile::tempdir().expect("a folder");
    let args = ["--shots", "1", "--question", QUESTION];
    let json = shown(dir.path(), PROMPTS[0], &args);
    let plain = wikitrail(dir.path(), &[&["prompt", "show", PROMPTS[0]], &args[..]].concat());
    assert_eq!(json["text"], plain.stdout);
    let (sha256, chars) = (json["sha256"].as_str().expect("a digest"), &json["chars"]);
    let note = "note: this is protocol react-paper; a chat model is sent --protocol robust\n";
    assert_eq!(plain.stderr, format!("sha256 {sha256}, {chars} characters, stop [\"\\nObservation 1:\"]\n{note}"));

    let plain = wikitrail(dir.path(), &[&["prompt", "show", PROMPTS[0], "--protocol", "go-blog"], &args[..]].concat());
    let printed = plain.stdout;
    let roles: Vec<&str> = printed.lines().filter(|line| line.starts_with('[') && line.ends_with(']')).collect();
    let one = ["[assistant]", "[user]"];
    assert_eq!(roles, [&["[system]", "[user]"][..], &one, &one, &one].concat());
    assert!(printed.ends_with(&format!("[user]\nQuestion: {QUESTION}\n")), "{printed}");

    // Functions are part of what is sent.
    let args = [PROMPTS[0], "--protocol", "tools", "--question", QUESTION];
    let json = shown(dir.path(), args[0], &args[1..]);
    let plain = wikitrail(dir.path(), &[&["prompt", "show"], &args[..]].concat()).ok().stdout;
    let (_, functions) = plain.split_once("\n[functions]\n").expect("a block");
    assert_eq!(serde_json::from_str::<Value>(functions).expect("JSON"), json["functions"]);
    assert!(json["functions"]["list"].is_array(), "{json}");
}

/// Without a question, what is shown is what a run stores.
#[test]
fn frames_are_shown_in_their_stored_form() {
    let dir = tempfile::tempdir().expect("a folder");
    for id in PROTOCOLS {
        let plain = wikitrail(dir.path(), &["prompt", "show", PROMPTS[1], "--protocol", id]);
        let said = plain.stderr;
        assert!(said.starts_with(&format!("sha256 {}, ", sha256_hex(plain.stdout.as_bytes()))), "{id}: {said}");
        assert!(said.ends_with(" characters, 3 exemplars\n"), "{id}: {said}");
    }
}

/// From an empty folder: nobody who installed only the program has the files.
#[test]
fn the_source_of_a_prompt_is_printed_as_it_is() {
    let dir = tempfile::tempdir().expect("a folder");
    for prompt in PROMPTS.into_iter().chain(["prompts/protocols/en.toml"]) {
        let printed = wikitrail(dir.path(), &["prompt", "show", prompt, "--source"]).ok();
        assert_eq!((printed.stdout, printed.stderr), (repository(prompt), String::new()), "{prompt}");
    }
    // Line ends, a mark at the beginning and mistakes stay.
    let own = "\u{feff}name = 1\r\nnam = 'x'\t# \u{1b}[2J é\r";
    std::fs::write(dir.path().join("own.toml"), own).expect("written");
    assert_eq!(wikitrail(dir.path(), &["prompt", "show", "own.toml", "--source"]).ok().stdout, own);
    std::fs::write(dir.path().join("k.json"), r#"{"a\u0062": "x\u00e9\n", "other": "y"}"#).expect("written");
    let entry = wikitrail(dir.path(), &["prompt", "show", "k.json#ab", "--source"]).ok().stdout;
    assert_eq!(entry, "{\"ab\": \"x\\u00e9\\n\"}\n");
    for (spec, message) in [
        ("nowhere.toml", "cannot read prompt file `nowhere.toml`"),
        ("k.json#abc", "has no key `abc`"),
        ("own.md", "is not a .toml file"),
    ] {
        let refused = wikitrail(dir.path(), &["prompt", "show", "--source", spec]);
        assert!(refused.code == Some(3) && refused.stderr.contains(message), "{}", refused.stderr);
    }
    let both = wikitrail(dir.path(), &["prompt", "show", PROMPTS[0], "--source", "--shots", "2"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
}

#[test]
fn a_new_prompt_is_sound_and_explains_itself() {
    let dir = WorkDir::new();
    for (from, exemplars) in [(None, "6"), (Some("prompts/fever.toml"), "0"), (Some("prompts/hotpotqa-zh.toml"), "2")] {
        let file = format!("it's {exemplars}.toml");
        let mut args = vec!["prompt", "new", &file, "--exemplars", exemplars];
        args.extend(from.iter().flat_map(|from| ["--from", from]));
        let said = dir.wikitrail(&args).ok().stderr;
        let (_, next) = said.split_once("next:\n").expect("commands");
        assert_eq!(next.lines().count(), 2, "{next}");
        let check = shell(dir.root(), next.lines().next().expect("a command").trim()).ok().stdout;
        let count = if exemplars == "1" { "exemplar" } else { "exemplars" };
        assert_eq!(check, format!("{file}: ok, {exemplars} {count}\n"));
        let text = dir.read(&file);
        assert!(
            text.contains(&format!("\nname = \"it's {exemplars}\"\n")) && text.contains("# [[exemplar]] "),
            "{text}"
        );
    }
    let run = dir.wikitrail(&["prompt", "new", "mine.toml"]).ok().stderr;
    assert!(run.ends_with("next:\n  wikitrail prompt check mine.toml\n  wikitrail run --prompt mine.toml\n"), "{run}");
    assert_eq!(dir.read("mine.toml"), repository(PROMPTS[0]).replace("name = \"hotpotqa\"", "name = \"mine\""));
    let claims = dir.wikitrail(&["prompt", "new", "claims.toml", "--from", PROMPTS[1]]).ok().stderr;
    assert!(claims.ends_with("wikitrail run datasets/sample-claims.jsonl --prompt claims.toml\n"), "{claims}");
    assert_eq!(dir.run(&["--prompt", "mine.toml", "--limit", "2", "--out", "r"]).ok().code, Some(0));
}
