//! One line for each request, without its texts: neither queries nor the titles in paths.

use axum::http::Method;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Takes the lines.
pub(crate) type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// What is said of a request.
pub(super) struct Entry<'a> {
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) status: u16,
    pub(super) took: Duration,
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, path, status, took } = self;
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        // A client may invent methods, too.
        let method = match method.as_str() {
            known @ ("GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "CONNECT" | "PATCH" | "TRACE") => known,
            _ => "OTHER",
        };
        write!(f, "{now} {method} {} {status} {} us", place(path), took.as_micros())
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
            let entry = Entry { method: &method, path, status: 200, took: Duration::from_micros(7) };
            entry.to_string().split_once(' ').expect("a time").1.to_owned()
        };
        assert_eq!(line("GET", "/w/api.php"), "GET /w/api.php 200 7 us");
        assert_eq!(line("GET", "/wiki/Secret"), "GET /wiki/* 200 7 us");
        assert_eq!(line("SECRET", "/secret"), "OTHER (other) 200 7 us");
    }
}
