//! Helpers of the tests that need the shared material: where it is, and its loopback site.

use crate::common::shared;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use wikitrail::net::{Client, ClientSettings};

/// The look-alike site over the saved articles, ended with its handle.
pub(crate) struct Site {
    child: Child,
    /// Its address.
    pub(crate) base: String,
    client: Client,
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
        let client = Client::new(ClientSettings::default()).expect("a client");
        Self { child, base: line.trim().to_owned(), client }
    }

    /// The requests served so far, as path and status and perhaps where the redirect led.
    pub(crate) async fn log(&self) -> Vec<serde_json::Value> {
        let answer = self.client.get(&format!("{}/_log", self.base), &[]).await.expect("the log");
        serde_json::from_slice(&answer.body).expect("a list")
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
