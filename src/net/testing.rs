//! A server for tests that sends given bytes, well-formed or not.

use super::RetrySettings;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with one request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Sends these bytes and closes the connection.
    Raw(Vec<u8>),
    /// Closes the connection.
    Close,
    /// Never answers.
    Hang,
    /// Sends these bytes and then nothing.
    Stall(Vec<u8>),
    /// Sends these pieces one by one, then waits for the client to close the connection.
    Pieces(Vec<Vec<u8>>),
}

/// A running server. The n-th request gets the n-th reply, later ones the last.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// `http://127.0.0.1:PORT`.
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
    closed: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let server = Self { url, requests: Arc::default(), closed: Arc::default() };
        let all = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, replies.clone(), all.clone()));
            }
        });
        server
    }

    /// How often the client closed the connection of a [`Reply::Pieces`].
    pub(crate) fn closed(&self) -> usize {
        self.closed.load(Ordering::SeqCst)
    }

    /// The requests so far, heads and bodies, in order of arrival.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no test panics here").clone()
    }
}

async fn answer(mut stream: TcpStream, replies: Vec<Reply>, server: Server) {
    let request = read(&mut stream).await;
    let n = {
        let mut seen = server.requests.lock().expect("no test panics here");
        seen.push(request);
        seen.len() - 1
    };
    match replies.get(n).or(replies.last()) {
        Some(Reply::Raw(bytes)) => {
            let _ = stream.write_all(bytes).await;
            let _ = stream.shutdown().await;
        }
        Some(Reply::Stall(bytes)) => {
            let _ = stream.write_all(bytes).await;
            std::future::pending::<()>().await;
        }
        Some(Reply::Pieces(pieces)) => {
            for piece in pieces {
                if stream.write_all(piece).await.is_err() {
                    break;
                }
                // Without a pause the system would send several pieces as one.
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
            let _ = stream.read(&mut [0; 16]).await;
            server.closed.fetch_add(1, Ordering::SeqCst);
        }
        Some(Reply::Hang) => std::future::pending::<()>().await,
        Some(Reply::Close) | None => {}
    }
}

/// Reads one request, with its body.
async fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text.into_owned();
            }
        }
        if !matches!(stream.read_buf(&mut bytes).await, Ok(1..)) {
            return String::from_utf8_lossy(&bytes).into_owned();
        }
    }
}

/// A whole answer with `extra` header lines, each ended by `\r\n`.
pub(crate) fn reply(status: u16, extra: &str, body: &[u8]) -> Reply {
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{extra}\r\n", body.len());
    Reply::Raw([head.as_bytes(), body].concat())
}

/// An answer whose body is shorter than announced.
pub(crate) fn short(status: u16, announced: usize, body: &[u8]) -> Reply {
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {announced}\r\nconnection: close\r\n\r\n");
    Reply::Raw([head.as_bytes(), body].concat())
}

/// So many attempts, with hardly any wait between them.
pub(crate) fn quick(attempts: u32) -> RetrySettings {
    RetrySettings {
        attempts,
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(4),
        limit_wait: Duration::ZERO,
    }
}
