//! The paper's environment, observation for observation: golden vectors recorded from it against the same site.

use crate::common::{lines, read, shared};
use crate::wiki_support::Site;
use serde_json::{Value, json};
use std::sync::Arc;
use wikitrail::wiki::ArticleOptions;
use wikitrail::wiki::{Compat, Tool};
use wikitrail::wiki::{HtmlSource, LiveSettings, Session, SessionError, SessionOptions, clean_str};

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// Class and message of the exception that the environment would have raised.
fn exception(error: &SessionError) -> Value {
    match error {
        SessionError::Page(error) => json!({"type": error.kind(), "msg": error.message()}),
        SessionError::Source(error) => panic!("the source failed: {error}"),
    }
}

/// Requests with quoted apostrophes as plain ones: the paper's client sent them plain in a query, the standard for URLs
/// that ours follows quotes them, and every server reads both alike.
fn unquoted(requests: &[Value]) -> Value {
    let text = Value::from(requests.to_vec()).to_string();
    text.replace("%27", "'").parse().expect("still JSON")
}

#[tokio::test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
async fn all_recorded_observations_come_out_to_the_last_byte() {
    let (shared, site) = (shared(), Site::start());
    let settings = LiveSettings { compat: Compat::Paper, ..LiveSettings::default() };
    let source = Arc::new(HtmlSource::new(&site.base, &settings, ArticleOptions::default()).expect("a source"));
    let start = || Session::new(source.clone(), Compat::Paper, SessionOptions::default());
    let mut session = start();
    let (mut sequence, mut served, mut checked) = (String::new(), 0, 0);
    for vector in lines(&read(shared.join("golden/wikipedia/observations.jsonl"))) {
        // Each recorded trace is one action in an environment of its own.
        if sequence != text(&vector["seq"]) || sequence.starts_with("trace:") {
            text(&vector["seq"]).clone_into(&mut sequence);
            session = start();
        }
        let place = format!("{sequence} step {}: {}", vector["n"], vector["action"]);
        let (tool, input) = Tool::parse_action(text(&vector["action"]));
        let called = session.call(tool, input).await;
        if let Ok(observation) = &called {
            let told = text(&vector["obs"]);
            let missed = told.starts_with("Could not find ") || told.starts_with("There were no results");
            assert_eq!(observation.missed, tool == Tool::Search && missed, "{place}");
        }
        let raised = called.err().map_or(Value::Null, |error| exception(&error));
        assert_eq!(raised, vector["exception"], "{place}");
        assert_eq!(session.observation(), text(&vector["obs"]), "{place}");
        assert_eq!(session.done(), vector["done"], "{place}");
        let state = serde_json::to_value(session.state()).expect("plain data");
        for (field, value) in state.as_object().expect("fields") {
            assert_eq!(value, &vector["state"][field], "{place}: {field}");
        }
        if let Some(page) = vector["state"]["page"].as_str() {
            let path = shared.join(format!("golden/wikipedia/pages/{page}.txt"));
            if path.is_file() {
                let golden = std::fs::read(path).expect("a page");
                assert!(session.page().map(String::into_bytes) == Some(golden), "{place}: page {page}");
            }
        }
        let log = site.log();
        assert_eq!(unquoted(&log[served..]), unquoted(vector["requests"].as_array().expect("a list")), "{place}");
        served = log.len();
        checked += 1;
    }
    assert_eq!(checked, 371);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn clean_str_gives_what_python_gives_or_raises_what_it_raises() {
    let shared = shared();
    let mut checked = 0;
    for vector in lines(&read(shared.join("golden/wikipedia/clean_str.jsonl"))) {
        let given = match clean_str(text(&vector["i"])) {
            Ok(cleaned) => json!({"i": vector["i"], "o": cleaned}),
            Err(error) => json!({"i": vector["i"], "e": error.kind, "m": error.message}),
        };
        assert_eq!(given, vector);
        checked += 1;
    }
    assert!(checked > 600, "{checked}");
}
