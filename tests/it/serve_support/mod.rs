//! `wikitrail serve` in a process of its own, and requests to it as they go over the wire.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

/// A server, ended with its handle.
pub(crate) struct Served {
    pub(crate) child: Child,
    /// Its address, as it prints it.
    pub(crate) url: String,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Served {
    /// Starts `serve` in a folder, at a port that the system gives.
    pub(crate) fn start(folder: &Path, args: &[&str]) -> Self {
        Self::of(folder, &[&["serve", "--bind", "127.0.0.1:0"], args].concat())
    }

    /// Starts a command that prints its address.
    pub(crate) fn of(folder: &Path, args: &[&str]) -> Self {
        Self::with(&mut crate::common::command(folder, args))
    }

    pub(crate) fn with(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("wikitrail starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("the address");
        let url = line.trim().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        Self { child, url }
    }

    pub(crate) fn host(&self) -> &str {
        self.url.trim_start_matches("http://").split('/').next().unwrap_or_default()
    }

    /// Sends bytes and reads all that comes back.
    pub(crate) fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.host()).expect("it listens");
        // It may have refused before it has read all.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).expect("UTF-8");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        self.raw(format!("GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.host()).as_bytes())
    }

    pub(crate) fn post(&self, target: &str, content_type: &str, body: &str) -> Answer {
        let head = format!(
            "POST {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
            self.host(),
            body.len()
        );
        self.raw(format!("{head}{body}").as_bytes())
    }

    /// What `/w/api.php` answers, in the second form.
    #[track_caller]
    pub(crate) fn api(&self, query: &str) -> serde_json::Value {
        self.get(&format!("/w/api.php?format=json&formatversion=2&{query}")).json()
    }

    /// What it has written to standard error when it has ended.
    pub(crate) fn stderr(&mut self) -> String {
        let mut text = String::new();
        let stderr: Option<ChildStderr> = self.child.stderr.take();
        stderr.expect("a pipe").read_to_string(&mut text).expect("UTF-8");
        text
    }
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.status, 200, "{}\n{}", self.head, self.body);
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
