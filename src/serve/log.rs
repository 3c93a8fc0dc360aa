//! One line for each request, without its texts, neither queries nor the titles in paths, unless somebody asks for them.

use super::reply::{self, Refusal};
use crate::types::text::printable;
use axum::body::Body;
use axum::extract::Request;
use axum::http::Method;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Takes the lines.
pub(crate) type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Characters of a target and of a body that a line shows.
const SHOWN: usize = 1_000;

/// What is said of a request.
pub(super) struct Entry<'a> {
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) status: u16,
    pub(super) took: Duration,
    /// What was asked, where that is to be said.
    pub(super) texts: Option<String>,
}

/// Everything that a request says: its target and its body, which is read for that and put back.
pub(super) async fn texts(request: &mut Request) -> Result<String, Refusal> {
    let body = reply::body(std::mem::take(request.body_mut())).await?;
    let mut said = printable(&request.uri().to_string(), SHOWN);
    if !body.is_empty() {
        said.push(' ');
        said.push_str(&printable(&String::from_utf8_lossy(&body), SHOWN));
    }
    *request.body_mut() = Body::from(body);
    Ok(said)
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, path, status, took, texts } = self;
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        // A client may invent methods, too.
        let method = match method.as_str() {
            known @ ("GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "CONNECT" | "PATCH" | "TRACE") => known,
            _ => "OTHER",
        };
        write!(f, "{now} {method} {} {status} {} us", place(path), took.as_micros())?;
        texts.iter().try_for_each(|texts| write!(f, " {texts}"))
    }
}

/// The path as far as this server gives it its name.
fn place(path: &str) -> &'static str {
    const WHOLE: [&str; 9] = [
        "/",
        "/healthz",
        "/corpus.json",
        "/retrieve",
        "/mcp",
        "/w/api.php",
        "/w/index.php",
        "/w/rest.php/v1/search/page",
        "/w/rest.php/v1/search/title",
    ];
    const BEGUN: [(&str, &str); 2] =
        [("/wiki/", "/wiki/*"), ("/api/rest_v1/page/summary/", "/api/rest_v1/page/summary/*")];
    let whole = WHOLE.into_iter().find(|known| *known == path);
    let begun = || BEGUN.into_iter().find(|(known, _)| path.starts_with(known)).map(|(_, shown)| shown);
    whole.or_else(begun).unwrap_or("(other)")
}

#[cfg(test)]
mod tests {
    use super::Entry;
    use axum::http::Method;
    use std::time::Duration;

    #[test]
    fn lines_have_no_texts() {
        let line = |method: &str, path: &str| {
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            let entry = Entry { method: &method, path, status: 200, took: Duration::from_micros(7), texts: None };
            entry.to_string().split_once(' ').expect("a time").1.to_owned()
        };
        assert_eq!(line("GET", "/w/api.php"), "GET /w/api.php 200 7 us");
        assert_eq!(line("GET", "/wiki/Secret"), "GET /wiki/* 200 7 us");
        assert_eq!(line("SECRET", "/secret"), "OTHER (other) 200 7 us");
    }
}
