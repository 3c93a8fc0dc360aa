//! The model and Wikipedia mocks of the benchmark kit, built once and started on ports that the system gives.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// A running mock; ended by its own process id when dropped.
pub(crate) struct Mock {
    child: Child,
    port: u16,
}

/// A model mock that answers the first questions of the paper's file, and a Wikipedia mock.
pub(crate) fn start(shared: &Path) -> (Mock, Mock) {
    let answers = shared.join("data/datasets/hotpot_dev_v1_simplified.json");
    let binary = binary(shared);
    let llm = Mock::start(binary, &["llm", "--answers", answers.to_str().expect("a UTF-8 path")]);
    let wiki = Mock::start(binary, &["wiki", "--page-kb", "150"]);
    (llm, wiki)
}

/// A run of the paper's agent over the first questions of the paper's file, with the naive prompt.
pub(crate) fn paper_run(shared: &Path, (llm, wiki): (&Mock, &Mock), limit: usize, out: &Path) -> Command {
    let data = shared.join("data");
    let mut command = super::command(Path::new("."), &["run", "--limit", &limit.to_string(), "--prompt"]);
    command
        .arg(format!("{}#webthink_simple6", data.join("prompts/prompts_naive.json").display()))
        .args(["--protocol", "react-paper", "--model", "openai:mock", "--base-url", &format!("{}/v1", llm.url())])
        .args(["--wiki", "html", "--wiki-url", &wiki.url(), "--compat", "paper", "--out"])
        .arg(out)
        .arg(data.join("datasets/hotpot_dev_v1_simplified.json"));
    command
}

impl Mock {
    fn start(binary: &Path, args: &[&str]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
        let child = Command::new(binary)
            .args(args)
            .args(["--port", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the mock starts");
        let mock = Self { child, port };
        // It has no ready line that can be relied on; it is ready when it answers.
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return mock;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("the mock did not answer");
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Asks the mock something, such as `/reset` or `/config?latency=5`, and returns the body.
    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the mock answers");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: mock\r\nConnection: close\r\n\r\n").expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it speaks UTF-8");
        answer.split_once("\r\n\r\n").expect("headers end").1.to_owned()
    }

    /// Requests since the last reset.
    pub(crate) fn requests(&self) -> u64 {
        let stats: serde_json::Value = serde_json::from_str(&self.get("/stats")).expect("stats are JSON");
        stats["requests"].as_u64().expect("a count")
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone afterwards.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Builds the kit in our own target folder: its sources are read-only and shared by everybody.
fn binary(shared: &Path) -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let work = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mockd");
        let from = shared.join("tools/mockd");
        std::fs::create_dir_all(work.join("src")).expect("the target folder can be written");
        for entry in std::fs::read_dir(from.join("src")).expect("the kit's sources").map(|e| e.expect("an entry")) {
            copy(&entry.path(), &work.join("src").join(entry.file_name()));
        }
        copy(&from.join("Cargo.toml"), &work.join("Cargo.toml"));
        let manifest = work.join("Cargo.toml");
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--release", "--manifest-path"])
            .arg(&manifest)
            .arg("--target-dir")
            .arg(work.join("target"))
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the kit does not build");
        work.join("target/release/mockd")
    })
}

/// Copies when the content differs, so that an unchanged kit is not built again.
fn copy(from: &Path, to: &Path) {
    let text = std::fs::read_to_string(from).expect("a source of the kit");
    // An empty workspace keeps cargo from taking the kit for a member of ours.
    let text = if to.ends_with("Cargo.toml") { format!("{text}\n[workspace]\n") } else { text };
    if std::fs::read_to_string(to).ok().as_deref() != Some(&text) {
        std::fs::write(to, text).expect("the target folder can be written");
    }
}
