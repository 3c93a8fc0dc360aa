//! A model's server on this machine that says exactly what a test tells it to, one connection after the other.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The server; it lives as long as the test program.
pub(crate) struct Server {
    /// `http://127.0.0.1:PORT`.
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each connection by this rule: the number of its request from 0, the request with its head, and where to
    /// answer.
    pub(crate) fn start(mut answer: impl FnMut(usize, &str, &mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                // A program that was killed may have asked only half.
                let Some(request) = read(&mut stream) else { continue };
                let mut requests = seen.lock().expect("no test panics here");
                let number = requests.len();
                requests.push(request.clone());
                drop(requests);
                answer(number, &request, &mut stream);
            }
        });
        Self { url, requests }
    }

    /// The requests so far, heads and bodies, in order of arrival.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no test panics here").clone()
    }
}

/// Answers with a JSON body and hangs up.
pub(crate) fn json(stream: &mut TcpStream, body: &serde_json::Value) {
    answer(stream, "200 OK", body);
}

/// Refuses the request with a JSON body, and hangs up.
pub(crate) fn refuse(stream: &mut TcpStream, body: &serde_json::Value) {
    answer(stream, "400 X", body);
}

/// Answers with a status and a JSON body. A program that has heard enough, or was killed, does not listen.
pub(crate) fn answer(stream: &mut TcpStream, status: &str, body: &serde_json::Value) {
    let body = body.to_string();
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
}

/// A request; absent where the connection ended before it did.
fn read(stream: &mut TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    while reader.read_line(&mut head).is_ok_and(|read| read > 2) {
        let line = head.lines().last().unwrap_or_default().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok().filter(|()| head.ends_with("\r\n\r\n"))?;
    Some(head + &String::from_utf8(body).expect("JSON is UTF-8"))
}
