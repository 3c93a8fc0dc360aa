//! `ask` as a person uses it: text as it comes.

use crate::common::WorkDir;
use crate::common::server::Server;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::mpsc;

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

fn chunk(text: &str) -> String {
    let choice = serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
    format!("data: {choice}\n\n")
}

fn say(stream: &mut TcpStream, text: &str) {
    // A program that has read enough hangs up.
    let _ = stream.write_all(text.as_bytes());
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
    let (dir, url) = (WorkDir::new(), format!("{}/v1", server.url));
    let mut command = dir.command(&["ask", "What is x?", "--model", "openai:m", "--base-url", &url]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("wikitrail runs");
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
