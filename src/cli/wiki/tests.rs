//! Tests of the command, over a corpus made here.

use super::{Command, execute, starter};
use crate::cli::flags::{OfWiki, TypedSettings};
use crate::cli::wiki;
use clap::{FromArgMatches as _, Parser};
use serde_json::{Value, json};
use std::io::Write as _;

#[derive(Debug, Parser)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

const LINES: &str = concat!(
    r#"{"title": "London", "blocks": ["London is the capital of England. It is old. It is large."]}"#,
    "\n",
    r#"{"title": "Odd", "blocks": ["odd text with \\xi in it"]}"#,
);

/// A folder with a small corpus, and the flag that names it.
fn corpus() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("articles.jsonl"), LINES).expect("a file");
    let flag = format!("corpus:{}", dir.path().display());
    (dir, flag)
}

async fn printed(words: &[&str]) -> String {
    let program = Program::try_parse_from([&["wiki"], words].concat()).expect("sound flags");
    let mut out = Vec::new();
    match execute(program.command, &mut out).await {
        Ok(code) => assert_eq!(code, 0),
        Err(error) => return format!("error: {error:#}"),
    }
    String::from_utf8(out).expect("text")
}

fn wiki_args(flag: &str, compat: &str) -> TypedSettings<OfWiki> {
    let command = <TypedSettings<OfWiki> as clap::Args>::augment_args(clap::Command::new("x"));
    let matches = command.get_matches_from(["x", "--wiki", flag, "--compat", compat]);
    TypedSettings::<OfWiki>::from_arg_matches(&matches).expect("sound flags")
}

async fn rows(flag: &str, compat: &str, input: &[u8]) -> Vec<Value> {
    let start = starter(&wiki_args(flag, compat)).expect("a corpus");
    let mut out = Vec::new();
    wiki::run_script(input, &mut out, start).await.expect("memory does not fail");
    let text = String::from_utf8(out).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

#[tokio::test]
async fn search_and_lookup_print_observations() {
    let (_dir, flag) = corpus();
    assert_eq!(
        printed(&["lookup", "London", "IS", "--all", "--wiki", &flag]).await,
        "(Result 1 / 3) London is the capital of England.\n(Result 2 / 3) It is old.\n(Result 3 / 3) It is large.\n"
    );
    assert_eq!(
        printed(&["lookup", "capital", "x", "--wiki", &flag]).await,
        "error: Could not find capital. Similar: ['London']."
    );
    let object: Value =
        serde_json::from_str(&printed(&["search", "london", "--json", "--wiki", &flag]).await).expect("an object");
    assert_eq!(object["provenance"]["title"], "London");
    assert_eq!((&object["page_chars"], &object["missed"]), (&json!(58), &json!(false)));
    let object: Value =
        serde_json::from_str(&printed(&["search", "zzqx", "--json", "--wiki", &flag]).await).expect("an object");
    assert_eq!(object["missed"], true);
}

#[tokio::test]
async fn unusable_flags_say_what_is_wrong() {
    assert_eq!(printed(&["search", "x", "--wiki", "nowhere"]).await, "error: `--wiki nowhere` is not a source");
    assert_eq!(printed(&["search", "x", "--wiki", "corpus:"]).await, "error: `--wiki corpus:` is not a source");
    let told = printed(&["search", "x", "--wiki", "api"]).await;
    assert_eq!(told, "error: `en.wikipedia.org` is a public site, and no contact was given");
    let told = printed(&["search", "x", "--wiki", "corpus:no/such/folder"]).await;
    assert!(told.starts_with("error: `no/such/folder` does not exist"), "{told}");
}

#[tokio::test]
async fn the_script_form_answers_every_action_and_survives_bad_lines() {
    let (_dir, flag) = corpus();
    let input = b"search[London]\r\nlookup[is]\n\n\xff\nreset\n lookup[is] \nfinish[yes]\nsearch[London]";
    let rows = rows(&flag, "fixed", input).await;
    let observations: Vec<&str> = rows.iter().map(|row| row["observation"].as_str().expect("text")).collect();
    assert_eq!(
        observations,
        [
            "London is the capital of England. It is old. It is large.",
            "(Result 1 / 3) London is the capital of England.",
            "Invalid action: ",
            "Invalid action: ",
            "No more results.\n",
            "Episode finished.\n",
            "Episode finished.\n",
        ]
    );
    assert_eq!(rows[3]["error"], json!({"kind": "input", "type": "encoding", "message": "the line is not UTF-8"}));
    assert_eq!(
        serde_json::to_string(&rows[1]).expect("plain data"),
        concat!(
            r#"{"observation":"(Result 1 / 3) London is the capital of England.","done":false,"error":null,"#,
            r#""state":{"page_chars":58,"lookup_keyword":"is","lookup_len":3,"lookup_cnt":1,"steps":2,"answer":null}}"#
        )
    );
    assert_eq!((&rows[6]["done"], &rows[6]["state"]["steps"]), (&json!(true), &json!(2)));
}

#[tokio::test]
async fn the_script_form_reports_what_the_original_raises() {
    let (_dir, flag) = corpus();
    let rows = rows(&flag, "paper", b"search[Odd]\nlookup[x]\n").await;
    assert_eq!(rows[0]["error"]["kind"], "page");
    assert_eq!(rows[0]["error"]["type"], "UnicodeDecodeError");
    assert_eq!((&rows[0]["state"]["page_chars"], &rows[0]["state"]["steps"]), (&json!(0), &json!(0)));
    assert_eq!(rows[1]["error"], Value::Null);
}

#[tokio::test]
async fn without_a_terminal_the_session_is_plain_text() {
    let (_dir, flag) = corpus();
    let start = starter(&wiki_args(&flag, "fixed")).expect("a corpus");
    let mut out = Vec::new();
    let input = b"state\nSearch[London]\nlookup[old]\nsearch[zzqx]\nstate\nfinish[yes]\nstate\nquit\nsearch[London]\n"
        .as_slice();
    wiki::run_plain(input, &mut out, start).await.expect("memory does not fail");
    assert_eq!(
        String::from_utf8(out).expect("text"),
        "open page: none\nlookup: none\nsteps: 0\n\
         London is the capital of England. It is old. It is large.\n(Result 1 / 1) It is old.\n\
         Could not find zzqx. Similar: [].\n(no page was found; `London` stays open)\n\
         open page: London, 58 characters\nlookup: `old`, 1 of 1 sentence shown\nsteps: 3\n\
         Episode finished.\n\
         open page: London, 58 characters\nlookup: `old`, 1 of 1 sentence shown\nanswer: yes\nsteps: 4\n"
    );
}

#[tokio::test]
async fn footnote_marks_are_dropped_unless_asked_for() {
    let page = "<title>Dog</title><body class=mediawiki><p class=x>Dogs bark a lot.<sup class=reference>[3]</sup></p>";
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n", page.len());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = std::io::Read::read(&mut &stream, &mut [0; 4096]);
            let _ = write!(&stream, "{head}Connection: close\r\n\r\n{page}");
        }
    });
    let live = ["search", "Dog", "--wiki", "html", "--wiki-url", &base];
    assert_eq!(printed(&live).await, "Dogs bark a lot.\n");
    let kept: Vec<&str> = live.iter().copied().chain(["--keep-footnotes"]).collect();
    assert_eq!(printed(&kept).await, "Dogs bark a lot.[3].\n");
}
