//! Helpers of the tests that need the shared material: where it is, and its loopback site.

use crate::common::shared;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// The look-alike site over the saved articles, ended with its handle.
pub(crate) struct Site {
    child: Child,
    /// Its address.
    pub(crate) base: String,
}

impl Site {
    /// Starts it at a port of the system's choice.
    pub(crate) fn start() -> Self {
        let shared = shared();
        let mut child = Command::new("python3")
            .arg(shared.join("tools/wiki_site.py"))
            .arg(shared.join("data/wiki-site"))
            .arg("0")
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("the address");
        Self { child, base: line.trim().to_owned() }
    }

    /// The requests served so far, as path and status and perhaps where the redirect led.
    pub(crate) fn log(&self) -> Vec<serde_json::Value> {
        let host = self.base.strip_prefix("http://").expect("an address");
        let mut stream = TcpStream::connect(host).expect("the site");
        write!(stream, "GET /_log HTTP/1.0\r\nhost: {host}\r\n\r\n").expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the log");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        serde_json::from_str(body).expect("a list")
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
