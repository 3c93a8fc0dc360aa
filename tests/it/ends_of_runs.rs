//! Runs that are ended from outside: by a terminal that goes away, by a disk that is full. What is in flight is finished.

use crate::common::server::{self, Server};
use crate::common::{Ran, WorkDir, lines, read, recorded};
use serde_json::json;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that answers each request after a while.
fn slow() -> Server {
    Server::start(|_, _, stream| {
        std::thread::sleep(Duration::from_millis(20));
        let text = "Thought: I know it.\nAction: Finish[yes]";
        server::json(stream, &json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}));
    })
}

/// The flags of a run against it.
fn flags(server: &Server) -> Vec<String> {
    let url = format!("{}/v1", server.url);
    ["run", "--model", "openai:m", "--base-url", &url, "--concurrency", "2", "--out", "r", "d.csv"]
        .map(str::to_owned)
        .to_vec()
}

fn folder(questions: usize) -> WorkDir {
    let dir = WorkDir::new();
    let rows = (0..questions).map(|n| format!("Is it {n}?,yes\n")).collect::<Vec<_>>().concat();
    dir.write("d.csv", format!("question,answer\n{rows}"));
    dir
}

fn hang_up(child: &Child) {
    let status = Command::new("kill").args(["-HUP", &child.id().to_string()]).status().expect("kill runs");
    assert!(status.success());
}

#[test]
fn a_terminal_that_goes_away_stops_a_run_as_sigterm_does_unless_it_was_told_to_stay() {
    // Only Linux says whether a signal is ignored.
    for (stays, code) in [(false, 130), (true, 0)].into_iter().take(if cfg!(target_os = "linux") { 2 } else { 1 }) {
        // So many that a run which stops cannot have ended before, however busy the machine is.
        let (server, dir) = (slow(), folder(if stays { 60 } else { 3_000 }));
        let before = if stays { "trap '' HUP; " } else { "" };
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{before}exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_wikitrail")]);
        command.args(flags(&server)).current_dir(dir.root()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("a shell");
        while recorded(&dir.path("r")) < 3 {
            std::thread::sleep(Duration::from_millis(2));
        }
        // The shell says it, and the system again.
        hang_up(&child);
        std::thread::sleep(Duration::from_millis(10));
        hang_up(&child);
        assert_eq!(child.wait().expect("it ends").code(), Some(code), "{stays}");
        assert_eq!(server.requests().len(), dir.records("r").len(), "every answer that was paid for is kept");
        assert!(dir.manifest("r")["ended_at"].is_string());
    }
}

#[test]
fn a_full_disk_ends_a_run_with_every_answer_kept_somewhere() {
    let (server, dir) = (slow(), folder(60));
    std::fs::create_dir(dir.path("tmp")).expect("a folder");
    let mut command = Command::new("sh");
    // Files of at most 64 blocks: the records are too long after some episodes, but a new file has room for a few.
    command.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_wikitrail")]);
    command.args(flags(&server)).current_dir(dir.root()).env("TMPDIR", dir.path("tmp"));
    let ran = Ran::from(&command.output().expect("a shell"));
    ran.refused(1, &["cannot append to", "finishing what is in flight", "that the folder did not take: kept in `"]);
    let kept: Vec<_> =
        std::fs::read_dir(dir.path("tmp")).expect("a folder").map(|e| e.expect("a file").path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let rescued = lines(&read(&kept[0]));
    assert_eq!(
        recorded(&dir.path("r")) + rescued.len(),
        server.requests().len(),
        "an answer that was paid for is lost"
    );

    // The command that the hint names brings them back.
    let hint = ran.stderr.split('`').find(|part| part.starts_with("cat ")).expect("a command").to_owned();
    assert!(Command::new("sh").args(["-c", &hint]).current_dir(dir.root()).status().expect("a shell").success());
    let before = server.requests().len();
    dir.run(&["--resume", "--out", "r", "--confirm"]).ok();
    assert_eq!((dir.records("r").len(), server.requests().len()), (60, 60), "{before} before");
}
