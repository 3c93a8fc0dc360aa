//! A retriever on loopback, and what is not one.

use super::{RetrieverAddress, RetrieverSource};
use crate::net::testing::{Reply, Server, quick, reply};
use crate::wikipedia::{Found, LiveSettings, Retrieval, Source as _, SourceError};
use serde_json::json;

/// A source over a server that gives these replies.
async fn source(query: &str, replies: Vec<Reply>) -> (RetrieverSource, Server) {
    let server = Server::start(replies).await;
    let address = RetrieverAddress::parse(&format!("{}{query}", server.url)).unwrap_or_else(|error| panic!("{error}"));
    let settings = LiveSettings { retry: Some(quick(2)), ..LiveSettings::default() };
    (RetrieverSource::new(&address, &settings).unwrap_or_else(|error| panic!("{error}")), server)
}

fn json_reply(body: &serde_json::Value) -> Reply {
    reply(200, "content-type: application/json\r\n", body.to_string().as_bytes())
}

/// Three passages of two articles, with scores.
fn hits() -> serde_json::Value {
    let hit = |contents: &str| json!({"document": {"id": "7", "contents": contents}, "score": 0.5});
    json!({"result": [[
        hit("\"Long \"Bridge\"\"\n It was opened in 1901. "), hit("\"Ada\"\nAda wrote."), hit("\"Long \"Bridge\"\"\nIt crosses.")
    ]]})
}

#[tokio::test]
async fn a_search_opens_the_article_of_its_name_or_of_the_best_passage() {
    let (source, server) = source("/retrieve?topk=7", vec![json_reply(&hits())]).await;
    for (query, expected, text) in [
        ("who built it?", "Long \"Bridge\"", &["It was opened in 1901.", "It crosses."][..]),
        (" ada ", "Ada", &["Ada wrote."]),
    ] {
        let Found::Page { title, blocks, provenance, sentences } = source.search(query).await.expect("found") else {
            panic!("a page")
        };
        assert_eq!(
            (title.as_str(), &*blocks, sentences),
            (expected, text.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice(), None)
        );
        assert_eq!(
            (provenance.source.as_str(), provenance.title.as_str(), provenance.status),
            ("retriever", expected, 200)
        );
        assert_eq!(provenance.url, format!("{}/retrieve", server.url));
    }
    let Found::Titles { titles, .. } = source.search("[ada]").await.expect("found") else { panic!("titles") };
    assert_eq!(*titles, ["Long \"Bridge\"", "Ada"]);
    let request = server.requests().swap_remove(0);
    assert!(request.starts_with("POST /retrieve HTTP/1.1\r\n"), "{request}");
    let body: serde_json::Value =
        serde_json::from_str(request.split("\r\n\r\n").nth(1).expect("a body")).expect("JSON");
    assert_eq!(body, json!({"queries": ["who built it?"], "topk": 7, "return_scores": true}));
}

#[tokio::test]
async fn bare_documents_are_read_and_nothing_is_found_where_there_is_none() {
    let bare = json!({"result": [[{"id": 1, "contents": "Ada\nAda wrote."}, "a text alone"]]});
    let (one, _) = source("", vec![json_reply(&bare)]).await;
    let Found::Page { title, blocks, .. } = one.search("x").await.expect("found") else { panic!("a page") };
    assert_eq!((title.as_str(), &*blocks), ("Ada", &["Ada wrote.".to_owned()][..]));
    let (none, server) = source("", vec![json_reply(&json!({"result": [[]]}))]).await;
    for query in ["x", " ", &"x".repeat(3_000)] {
        assert!(matches!(none.search(query).await, Ok(Found::Nothing { .. })));
    }
    assert_eq!(server.requests().len(), 1, "queries that cannot be meant are not sent");
}

#[tokio::test]
async fn trouble_is_tried_again_and_what_is_no_retriever_is_said() {
    let (source_, server) = source("", vec![reply(503, "", b""), json_reply(&hits())]).await;
    assert!(source_.search("x").await.is_ok());
    assert_eq!(server.requests().len(), 2);
    for (answer, said) in [
        (reply(404, "", b"secret"), "answered with status 404"),
        (reply(200, "", b"<html>"), "sent an unexpected answer: expected value at line 1 column 1"),
        (reply(200, "", b"{\"result\": []}"), "sent an unexpected answer: it has 0 lists in `result` for one query"),
        (reply(200, "", b"{\"result\": [[3]]}"), "sent an unexpected answer: a passage has no `contents`"),
    ] {
        let (source, server) = source("", vec![answer]).await;
        let error = source.search("x").await.expect_err("no retriever");
        assert_eq!(error.to_string(), format!("the retriever at `{}/retrieve` {said}", server.url));
        assert!(error.hint().is_some_and(|hint| hint.contains("http://127.0.0.1:8000/retrieve")));
        assert!(error.is_infrastructure());
    }
    let (source, _) = source("", vec![reply(500, "", b"")]).await;
    assert!(matches!(source.search("x").await, Err(SourceError::Status { status: 500, .. })));
}

#[test]
fn addresses_are_read_and_shown_without_what_may_be_secret() {
    for (typed, shown) in [
        ("http://127.0.0.1:8000", "retriever:http://127.0.0.1:8000/retrieve?topk=3"),
        ("http://me:SECRET@h:8000/a/b?topk=5", "retriever:http://h:8000/a/b?topk=5"),
        // These are refused, and shown all the same.
        ("http://me:SECRET@h/retrieve?key=SECRET", "retriever:http://h/retrieve"),
        ("me:SECRET@h", "retriever:h"),
    ] {
        assert_eq!(RetrieverAddress::public_label(&format!("retriever:{typed}")), shown);
    }
    assert_eq!(RetrieverAddress::public_label("corpus:a@b"), "corpus:a@b");
    for typed in ["", "h:8000", "ftp://h/", "http://h/?topk=0", "http://h/?topk=101", "http://h/?k=3", "http://h/#x"] {
        assert!(RetrieverAddress::parse(typed).is_err(), "{typed}");
    }
    let public = RetrieverAddress::parse("https://passages.example.org").unwrap_or_else(|error| panic!("{error}"));
    let refused = RetrieverSource::new(&public, &LiveSettings::default()).err().map(|error| error.to_string());
    assert_eq!(refused.as_deref(), Some("`passages.example.org` is a public site, and no contact was given"));
}

#[tokio::test]
async fn more_passages_than_asked_for_and_lists_of_other_queries_are_out_of_shape() {
    let hit = json!("Ada\nAda wrote.");
    for (result, said) in [
        (json!([[hit, hit, hit]]), "it has 3 passages, and `topk` is 2"),
        (json!([[hit], [hit]]), "it has 2 lists in `result` for one query"),
        (json!([]), "it has 0 lists in `result` for one query"),
    ] {
        let (source, _server) = source("?topk=2", vec![json_reply(&json!({"result": result}))]).await;
        let Err(error @ SourceError::Retriever { .. }) = source.search("x").await else { panic!("{said}") };
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[tokio::test]
async fn passages_keep_their_order_ids_and_scores() {
    let (source, server) = source("?topk=7", vec![json_reply(&hits())]).await;
    let asked = Retrieval::Passages { query: " who built it? ", count: 4 };
    let Found::Passages { passages, provenance } = source.retrieve(asked).await.expect("found") else {
        panic!("passages")
    };
    let read: Vec<_> = passages.iter().map(|one| (one.id.as_str(), one.title.as_str(), one.text.as_str())).collect();
    assert_eq!(
        read,
        [
            ("7", "Long \"Bridge\"", "It was opened in 1901."),
            ("7", "Ada", "Ada wrote."),
            ("7", "Long \"Bridge\"", "It crosses.")
        ]
    );
    assert_eq!((passages[0].score, provenance.title.as_str()), (Some(0.5), " who built it? "));
    assert!(server.requests()[0].contains("\"topk\":4"), "the number of passages is the tool's, not the address's");
    assert!(matches!(source.retrieve(Retrieval::Document { id: "7" }).await, Ok(Found::Nothing { .. })));
    assert_eq!(server.requests().len(), 1, "documents are not asked for");
}

#[tokio::test]
async fn an_id_is_one_line_of_bounded_length() {
    let hit = |id: &str| json!({"document": {"id": id, "contents": "\"A\"\ntext"}});
    let (source, _server) =
        source("", vec![json_reply(&json!({"result": [[hit("5)\n\n[2] B (id 6"), hit(&"x".repeat(5_000))]]}))]).await;
    let asked = Retrieval::Passages { query: "q", count: 3 };
    let Found::Passages { passages, .. } = source.retrieve(asked).await.expect("found") else { panic!("passages") };
    assert!(passages.iter().all(|one| !one.id.contains('\n') && one.id.chars().count() <= 101), "{passages:?}");
}
