//! Recordings and caches of a made-up source, and of a site with a password.

use super::{Cached, Recording, Replaying, SourceIdentity};
use crate::base::{Compat, Provenance};
use crate::net::recording::{Cache, Player, Recorder, TapeError};
use crate::net::testing::{Server, reply};
use crate::wikipedia::html::{ArticleOptions, ExtractError};
use crate::wikipedia::{Found, HtmlSource, LiveSettings, Retrieval, Source, SourceError};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Finds something of every kind, by query.
#[derive(Default)]
struct Made {
    asked: AtomicU32,
}

fn texts(texts: &[&str]) -> Arc<[String]> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

impl Source for Made {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        let (_, query) = asked.kind_and_text();
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let provenance = Provenance {
            source: "made".to_owned(),
            url: format!("http://h/{number}"),
            pageid: Some(5),
            status: if query == "broken" { 503 } else { 200 },
            fetched_at: format!("2026-01-01T00:00:0{number}Z"),
            ..Provenance::default()
        };
        let (title, blocks) = (query.to_owned(), texts(&["One.", "\u{a0}\"é\"\n"]));
        let found = match query {
            "fail" => Err(SourceError::Status {
                url: "http://h/".to_owned(),
                status: 500,
                message: String::new(),
                wait: None,
            }),
            "dies" => Err(SourceError::Extract { url: "http://u:word@h/x".to_owned(), error: ExtractError::Rejected }),
            "deep" => Err(SourceError::Extract { url: "http://h/x".to_owned(), error: ExtractError::TooDeep }),
            "titles" => Ok(Found::Titles { titles: texts(&["A", "B"]), provenance }),
            "many" => Ok(Found::Disambiguation { title, entries: texts(&["A (a)"]), blocks, provenance }),
            "nothing" => Ok(Found::Nothing { blocks, provenance }),
            "no results" => {
                let blocks = texts(&["There were no results matching the query."]);
                Ok(Found::Page { title, blocks, sentences: None, provenance })
            }
            "empty" => Ok(Found::Page { title, blocks: texts(&[]), sentences: None, provenance }),
            _ => Ok(Found::Page { title, blocks, sentences: None, provenance }),
        };
        std::future::ready(found).boxed()
    }
}

fn identity() -> SourceIdentity {
    SourceIdentity::new("html", Compat::Fixed, Some("http://hidden-user:hidden-word@h/"))
}

/// What each search finds, one after the other; errors as text.
async fn found(source: &dyn Source, queries: &[&str]) -> Vec<Result<Found, String>> {
    let mut found = Vec::new();
    for query in queries {
        found.push(source.search(query).await.map_err(|error| format!("{}: {error}", error.kind())));
    }
    found
}

#[tokio::test]
async fn a_replay_finds_the_same() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("t.jsonl");
    let source = Recording::new(Arc::new(Made::default()), identity(), Arc::new(Recorder::open(&path).expect("opens")));
    let queries = ["page", "titles", "page", "many", "nothing", "broken"];
    let recorded = found(&source, &queries).await;
    let failed = found(&source, &["fail", "dies", "deep"]).await;
    assert!(failed.iter().all(Result::is_err));
    drop(source);
    let replay = Replaying::new(identity(), Player::open(&path).expect("opens"));
    assert_eq!(found(&replay, &queries).await, recorded);
    // A page that the paper's own parser dies on is part of a measurement; other failures are not.
    let again = found(&replay, &["fail", "dies", "deep"]).await;
    assert_eq!(
        again[1].clone().expect_err("dies again").replace("//h", "//u:word@h"),
        failed[1].clone().expect_err("died")
    );
    assert!(again[0].as_ref().is_err_and(|error| error.starts_with("tape: ")), "{again:?}");
    assert!(again[2].as_ref().is_err_and(|error| error.starts_with("tape: ")), "{again:?}");
    let error = replay.search("page").await.expect_err("has run out");
    assert!(matches!(error, SourceError::Tape(TapeError::Miss { .. })) && error.is_infrastructure());
    assert!(error.hint().is_some());
    assert!(!std::fs::read_to_string(&path).expect("reads").contains("word"));
}

#[tokio::test]
async fn a_miss_names_the_search_that_is_nearest() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("t.jsonl");
    let recorder = Arc::new(Recorder::open(&path).expect("opens"));
    let source = Recording::new(Arc::new(Made::default()), identity(), recorder);
    found(&source, &["Ada", "Grace Hopper"]).await;
    let missed = async |identity: SourceIdentity, query: &str| {
        let replay = Replaying::new(identity, Player::open(&path).expect("opens"));
        found(&replay, &[query]).await.remove(0).expect_err("a miss")
    };
    let error = missed(identity(), "Grace Kelly").await;
    let expected =
        "the nearest, in line 3, differs in query, character 7: recorded \"Grace Hopper\", asked \"Grace Kelly\"";
    assert!(error.ends_with(expected), "{error}");
    let error = missed(SourceIdentity::new("html", Compat::Paper, None), "Ada").await;
    assert!(error.ends_with("compat, character 1: recorded \"fixed\", asked \"paper\""), "{error}");
    let error = missed(SourceIdentity::new("corpus:some/folder", Compat::Fixed, None), "Ada").await;
    assert!(error.ends_with("source, character 1: recorded \"html\", asked \"corpus\""), "{error}");
}

#[tokio::test]
async fn a_cache_keeps_findings_of_something() {
    let dir = tempfile::tempdir().expect("a folder");
    let queries = ["page", "page", "titles", "many", "nothing", "no results", "empty", "broken", "fail"];
    let inner = Arc::new(Made::default());
    let cached = || {
        let cache = Arc::new(Cache::open(dir.path()).expect("opens"));
        Cached::new(inner.clone(), identity(), cache)
    };
    let first = found(&cached(), &queries).await;
    assert_eq!(first[0], first[1], "a page is asked for once, however often it is searched for");
    assert_eq!(inner.asked.load(Ordering::Relaxed), 8);
    let second = found(&cached(), &queries).await;
    assert_eq!(second[..4], first[..4]);
    assert_eq!(inner.asked.load(Ordering::Relaxed), 8 + 5);
    let cache = Arc::new(Cache::open(dir.path()).expect("opens"));
    let other = SourceIdentity::new("html", Compat::Fixed, Some("http://elsewhere/"));
    found(&Cached::new(inner.clone(), other, cache), &["page"]).await;
    assert_eq!(inner.asked.load(Ordering::Relaxed), 8 + 5 + 1);
}

#[tokio::test]
async fn neither_recording_nor_cache_holds_the_password_of_a_site() {
    let page = b"<title>x</title><div id=mw-content-text><p>It is a page.</p></div>";
    let page = reply(200, "content-type: text/html\r\n", page);
    let server = Server::start(vec![page]).await;
    let base = server.url.replace("http://", "http://hidden-user:hidden-word@");
    let source = HtmlSource::new(&base, &LiveSettings::default(), ArticleOptions::default()).expect("a source");
    let dir = tempfile::tempdir().expect("a folder");
    let identity = SourceIdentity::new("html", Compat::Fixed, Some(&base));
    let cache = Arc::new(Cache::open(&dir.path().join("cache")).expect("opens"));
    let path = dir.path().join("t.jsonl");
    let cached = Arc::new(Cached::new(Arc::new(source), identity.clone(), cache.clone()));
    let source = Recording::new(cached, identity, Arc::new(Recorder::open(&path).expect("opens")));
    source.search("x").await.expect("a page");
    assert!(
        server.requests()[0].to_ascii_lowercase().contains("authorization: basic"),
        "the site was sent the password"
    );
    assert_eq!(cache.counts().stored, 1);
    drop((source, cache));
    for file in [path, dir.path().join("cache/cache.redb")] {
        let bytes = std::fs::read(&file).expect("reads");
        assert!(bytes.windows(13).any(|window| window == b"It is a page."), "{}", file.display());
        for secret in ["hidden-user", "hidden-word"] {
            assert!(!bytes.windows(11).any(|window| window == secret.as_bytes()), "`{secret}` in {}", file.display());
        }
    }
}
