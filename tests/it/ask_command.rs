//! `ask` as a person and as a program use it: steps as they come, the answer last, a conversation, what is saved.

use crate::common::server::Server;
use crate::common::{self, Ran, command};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;

fn ask(dir: &Path) -> Command {
    let mut command = command(dir, &["ask"]);
    command.stdin(Stdio::null());
    command
}

fn ran(command: &mut Command) -> Ran {
    Ran::from(&command.output().expect("wikitrail runs"))
}

/// Runs with these lines typed.
fn typed(command: &mut Command, lines: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("wikitrail runs");
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("it reads");
    Ran::from(&child.wait_with_output().expect("it ends"))
}

fn lines(path: &Path) -> Vec<Value> {
    common::lines(&common::read(path))
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

fn flags(server: &Server) -> [String; 4] {
    ["--model", "openai:m", "--base-url", &format!("{}/v1", server.url)].map(str::to_owned)
}

fn chunk(text: &str) -> String {
    let choice = serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
    format!("data: {choice}\n\n")
}

fn say(stream: &mut TcpStream, text: &str) {
    // A program that has read enough hangs up.
    let _ = stream.write_all(text.as_bytes());
}

fn finish(stream: &mut TcpStream, answer: &str) {
    let pieces = [chunk("Thought 1: I know.\n"), chunk(&format!("Action 1: Finish[{answer}]"))].concat();
    say(stream, &format!("{HEAD}{pieces}data: [DONE]\n\n"));
}

#[test]
fn steps_come_first_and_the_answer_last() {
    let dir = tempfile::tempdir().expect("a folder");
    let Ran { stdout, stderr, .. } = ran(ask(dir.path()).arg("Where did Mikhail Bulgakov die?")).ok();
    assert_eq!(stderr, "");
    assert!(stdout.starts_with("\n── step 1 ─"), "{stdout}");
    assert!(stdout.contains("\nobservation  ") && stdout.contains("\nAction 1: "), "{stdout}");
    assert!(stdout.lines().last().is_some_and(|line| line.starts_with("answer       ")), "{stdout}");
    let trajectory = ran(ask(dir.path()).args(["--json", "Where did Mikhail Bulgakov die?"])).json();
    assert_eq!((&trajectory["outcome"], &trajectory["v"]), (&Value::from("finished"), &Value::from(1)));
}

#[test]
fn text_is_on_the_screen_before_the_model_has_ended_and_obeys_nobody() {
    let (go, wait) = mpsc::channel::<()>();
    let server = Server::start(move |_, _, stream| {
        say(stream, HEAD);
        say(stream, &chunk("Thought 1: I am \u{1b}[31mthinking"));
        wait.recv().expect("the test goes on");
        say(stream, &(chunk(".\nAction 1: Finish[x\u{202e}y]") + "data: [DONE]\n\n"));
    });
    let dir = tempfile::tempdir().expect("a folder");
    let mut child =
        ask(dir.path()).args(flags(&server)).arg("What is x?").stdout(Stdio::piped()).spawn().expect("wikitrail runs");
    let mut stdout = child.stdout.take().expect("a pipe");
    let (mut seen, mut buffer) = (Vec::new(), [0; 64]);
    while !seen.ends_with(b"thinking") {
        let read = stdout.read(&mut buffer).expect("a pipe");
        assert!(read > 0, "{:?}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&buffer[..read]);
    }
    go.send(()).expect("the server waits");
    stdout.read_to_end(&mut seen).expect("a pipe");
    assert!(child.wait().expect("it ends").success());
    let shown = String::from_utf8(seen).expect("UTF-8");
    assert!(shown.contains("I am \\u{1b}[31mthinking.\nAction 1: Finish[x\\u{202e}y]\n"), "{shown}");
    assert!(shown.ends_with("\nanswer       x\\u{202e}y\n") && !shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn a_conversation_is_remembered_and_saved() {
    let server = Server::start(|number, _, stream| finish(stream, &format!("answer {number}")));
    let dir = tempfile::tempdir().expect("a folder");
    let chat = ["--chat", "--json", "--save", "deep/saved.jsonl", "Who is the first?"];
    let input = "  And the second?\n\nWho is never asked?\n";
    let stdout = typed(ask(dir.path()).args(flags(&server)).args(chat), input).ok().stdout;
    assert_eq!(stdout.lines().count(), 2, "{stdout}");
    let saved = lines(&dir.path().join("deep/saved.jsonl"));
    let told: Vec<(&str, &str)> =
        saved.iter().map(|t| (t["question"].as_str().expect("text"), t["answer"].as_str().expect("text"))).collect();
    assert_eq!(told, [("Who is the first?", "answer 0"), ("And the second?", "answer 1")]);
    assert!(saved[0]["id"] != saved[1]["id"] && saved[0]["key"] != saved[1]["key"]);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(!requests[0].contains("second") && requests[1].contains("Who is the first?"), "{}", requests[1]);
    assert!(requests[1].contains("Finish[answer 0]") && requests[1].contains("And the second?"), "{}", requests[1]);

    // Another start goes on with the same file; a foreign file is left alone, and nothing is asked.
    let again = ["--save", "deep/saved.jsonl", "Who is the third?"];
    ran(ask(dir.path()).args(again)).ok();
    assert_eq!(lines(&dir.path().join("deep/saved.jsonl")).len(), 3);
    std::fs::write(dir.path().join("notes.txt"), "my notes").expect("a file");
    let foreign = ran(ask(dir.path()).args(flags(&server)).args(["--save", "notes.txt", "x?"]));
    assert_eq!((foreign.code, foreign.stdout.as_str(), server.requests().len()), (Some(3), "", 2));
    let said = "error: `notes.txt` is not a trajectory file: line 1 is not a trajectory\nhint: ";
    assert!(foreign.stderr.starts_with(said), "{}", foreign.stderr);
    assert_eq!(std::fs::read_to_string(dir.path().join("notes.txt")).expect("there"), "my notes");
}

#[test]
fn a_question_that_cannot_be_answered_says_why_and_the_next_one_can() {
    let server = Server::start(|number, _, stream| match number {
        0 => {
            let body = r#"{"error":{"message":"This model's maximum context length is 10"}}"#;
            say(
                stream,
                &format!("HTTP/1.1 400 X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len()),
            );
        }
        _ => finish(stream, "yes"),
    });
    let dir = tempfile::tempdir().expect("a folder");
    let command = &mut ask(dir.path());
    let Ran { code, stdout, stderr } =
        typed(command.args(flags(&server)).args(["--chat", "--save", "s.jsonl"]), "First?\nSecond?");
    assert_eq!(code, Some(4));
    assert!(stderr.starts_with("error: there is no answer: model: the model's server refused the request with status 400: This model's maximum"), "{stderr}");
    assert!(stderr.contains("\nhint: the prompt is too long for the model"), "{stderr}");
    assert!(stdout.ends_with("\nanswer       yes\n"), "{stdout}");
    let outcomes: Vec<Value> = lines(&dir.path().join("s.jsonl")).iter().map(|t| t["outcome"].clone()).collect();
    assert_eq!(outcomes, ["not_measured", "finished"]);
}

#[test]
fn a_claim_is_judged() {
    let dir = tempfile::tempdir().expect("a folder");
    let claim = "Mikhail Bulgakov was a Russian writer.";
    let stdout = ran(ask(dir.path()).args(["--claim", claim])).ok().stdout;
    let answer = stdout.lines().last().expect("an answer").trim_start_matches("answer").trim();
    assert!(["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"].contains(&answer), "{stdout}");
}

#[test]
fn a_plain_text_is_a_prompt_of_a_question() {
    let dir = common::WorkDir::new();
    dir.write(
        "my.txt",
        "\u{feff}Find it, as {\"json\": 1} or {{x}}.\r\n{tools}\r\n\r\nQuestion: {question}\r\nBe brief.",
    );
    let asked = dir.wikitrail(&["ask", "Who was Blaise Pascal?", "--prompt", "my.txt", "--json"]).json();
    assert_eq!(asked["outcome"], "finished");
}
