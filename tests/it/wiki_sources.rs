//! Live sources in `fixed` mode against the loopback site, and against answers that lie.

use crate::common::server::Server;
use crate::wiki_support::Site;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;
use wikitrail::wiki::ArticleOptions;
use wikitrail::wiki::RetrySettings;
use wikitrail::wiki::{
    ApiSource, Found, HtmlSource, LagSettings, LiveSettings, Session, SessionOptions, Source, SourceError,
};
use wikitrail::wiki::{Compat, Tool};

/// Live settings that do not wait long.
fn quick(attempts: u32) -> LiveSettings {
    let wait = Duration::from_millis(1);
    let retry = RetrySettings { attempts, first_wait: wait, longest_wait: wait, limit_wait: Duration::ZERO };
    LiveSettings { retry: Some(retry), timeout: Some(Duration::from_secs(20)), ..LiveSettings::default() }
}

fn html(base: &str, attempts: u32) -> HtmlSource {
    HtmlSource::new(base, &quick(attempts), ArticleOptions::default()).expect("a source")
}

fn api(base: &str) -> ApiSource {
    let wait = Duration::from_millis(10);
    let lag = LagSettings { attempts: 3, least: wait, longest: wait };
    ApiSource::new(base, &quick(1), ArticleOptions::default(), lag).expect("a source")
}

async fn observed(session: &mut Session, query: &str) -> (String, Option<String>) {
    let observation = session.call(Tool::Search, query).await.expect("an observation");
    (observation.text, observation.note)
}

#[tokio::test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
async fn fixed_html_never_takes_an_error_for_a_page() {
    let site = Site::start();
    let source = html(&site.base, 2);
    for (query, status, requests) in [("server error", 503, 2), ("forbidden ua", 403, 1)] {
        let before = site.log().len();
        let error = source.search(query).await.expect_err("no page");
        assert!(matches!(error, SourceError::Status { status: given, .. } if given == status), "{error}");
        assert_eq!(site.log().len() - before, requests, "{query}");
    }
    let mut session = Session::new(Arc::new(html(&site.base, 1)), Compat::Fixed, SessionOptions::default());
    observed(&mut session, "Dog").await;
    let before = session.state();
    session.call(Tool::Search, "server error").await.expect_err("no page");
    assert_eq!(session.state(), before);
    let (text, note) = observed(&mut session, "no such thing at all").await;
    assert_eq!(text, "Could not find no such thing at all. Similar: [].");
    assert_eq!(note.as_deref(), Some("no page was found; `Dog` stays open"));
    assert_eq!(session.state().page_chars, before.page_chars);
}

#[tokio::test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
async fn fixed_html_tries_a_limited_request_again_and_then_says_so() {
    let site = Site::start();
    let error = html(&site.base, 2).search("ratelimited").await.expect_err("no page");
    assert!(matches!(error, SourceError::Status { status: 429, .. }), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("--contact")));
    assert_eq!(site.log().len(), 2);
}

#[tokio::test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
async fn fixed_html_reads_the_article_only() {
    let site = Site::start();
    let source = html(&site.base, 1);
    let Found::Page { title, blocks, provenance, .. } = source.search("property (philosophy)").await.expect("found")
    else {
        panic!("a page");
    };
    assert_eq!(title, "Property (philosophy)");
    assert_eq!((provenance.source.as_str(), provenance.status, provenance.sha256.len()), ("html", 200, 64));
    let text = blocks.join("\n");
    for skin in ["Main page", "Privacy policy", "[1]", "[by whom?]", "[edit]", "This page was last"] {
        assert!(!text.contains(skin), "{skin}");
    }
    assert!(text.contains("considered to be a more general case of a property"));
    let (text, _) =
        observed(&mut Session::new(Arc::new(source), Compat::Fixed, SessionOptions::default()), "AT&T").await;
    assert_eq!(text, "Could not find AT&T. Similar: [].");
    assert_eq!(site.log().last().expect("a request")[0], "/w/index.php?search=AT%26T");
}

#[tokio::test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
async fn both_live_sources_list_the_entries_of_disambiguation_pages() {
    let site = Site::start();
    let sources: [Arc<dyn Source>; 2] = [Arc::new(html(&site.base, 1)), Arc::new(api(&site.base))];
    for source in sources {
        let mut session = Session::new(source, Compat::Fixed, SessionOptions::default());
        let (text, note) = observed(&mut session, "halsey").await;
        assert_eq!(
            text,
            "Could not find halsey. Similar: ['Halsey (singer)', 'Halsey', 'William Halsey Jr.', \
             'Manic (Halsey album)', 'Richard Halsey Best']."
        );
        assert_eq!((note, session.state().page_chars), (None, None));
        // Text alone marks no article whose lists lead nowhere.
        assert_eq!(
            observed(&mut session, "Li refer").await.0.split(". ").next(),
            Some("Normal article text goes here")
        );
    }
}

#[tokio::test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
async fn the_api_finds_follows_and_searches() {
    let site = Site::start();
    let source = api(&site.base);
    let Found::Page { title, blocks, provenance, .. } = source.search("nz").await.expect("found") else {
        panic!("a page");
    };
    assert_eq!(title, "New Zealand");
    assert!(blocks.iter().any(|block| block.starts_with("New Zealand (")), "{:?}", &blocks[..3]);
    assert_eq!(provenance.source, "api");
    let pageid = provenance.pageid.expect("a number");
    assert_eq!(provenance.revid, Some(pageid * 10 + 2));
    let Found::Titles { titles, .. } = source.search("Noel Fisher Mickey Milkovich acclaim").await.expect("found")
    else {
        panic!("titles");
    };
    assert_eq!(*titles, ["Noel Fisher", "2000 in film"]);
    let nothing = source.search("zzqx").await.expect("an answer");
    assert!(matches!(nothing, Found::Nothing { .. }), "{nothing:?}");
    let before = site.log().len();
    assert!(matches!(source.search(" ").await.expect("an answer"), Found::Nothing { .. }));
    assert_eq!(site.log().len(), before);
}

#[tokio::test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
async fn provenance_never_holds_the_user_part_of_the_address() {
    let site = Site::start();
    let base = site.base.replace("://", "://user:SECRET@");
    let sources: [Box<dyn Source>; 2] = [Box::new(html(&base, 1)), Box::new(api(&base))];
    for source in sources {
        for query in ["Dog", " ", "zzqx", "halsey", "Noel Fisher Mickey Milkovich acclaim"] {
            let found = source.search(query).await.expect("an answer");
            let url = &found.provenance().url;
            assert!(url.starts_with(&site.base), "{query:?}: {url}");
            assert!(!format!("{found:?}").contains("SECRET"), "{query:?}");
        }
        let error = source.search("server error").await;
        assert!(!format!("{error:?}").contains("SECRET"));
    }
}

#[tokio::test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
async fn the_api_waits_for_a_site_that_lags() {
    let site = Site::start();
    let found = api(&site.base).search("maxlagged").await.expect("an answer in the end");
    assert!(matches!(found, Found::Nothing { .. }), "{found:?}");
    // Near match, the same again, then the text search.
    let log = site.log();
    assert_eq!(log.len(), 3);
    assert!(log.iter().all(|entry| entry[0].as_str().is_some_and(|path| path.contains("maxlag=5"))));
}

#[tokio::test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
async fn a_page_asked_for_twice_is_in_memory_once() {
    let site = Site::start();
    let sources: [Box<dyn Source>; 2] = [Box::new(html(&site.base, 1)), Box::new(api(&site.base))];
    for source in sources {
        let mut pages = Vec::new();
        for query in ["Dog", "dog"] {
            let Found::Page { blocks, .. } = source.search(query).await.expect("an answer") else { panic!("a page") };
            pages.push(blocks);
        }
        assert!(Arc::ptr_eq(&pages[0], &pages[1]));
    }
}

/// The address of a server that gives the same bytes to everybody, `times` times over after the head.
fn liar(head: &'static str, piece: &'static [u8], times: usize) -> String {
    let server = Server::start(move |_, _, stream| {
        let sent = stream.write_all(head.as_bytes());
        let _ = (0..times).fold(sent, |sent, _| sent.and_then(|()| stream.write_all(piece)));
    });
    server.url
}

#[tokio::test]
async fn answers_that_lie_are_typed_errors() {
    const HTML: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n";
    let cases: [(&str, &[u8], usize, &str); 5] = [
        ("Content-Length: 9999999999\r\n\r\n", b"x", 1, "net"),
        ("Content-Length: 100\r\nConnection: close\r\n\r\n", b"short", 1, "net"),
        ("Connection: close\r\n\r\n", &[b'x'; 4096], 16384, "net"),
        ("Content-Length: 4\r\n\r\n", b"\xff\xfe\xfd\xfc", 1, "encoding"),
        ("Content-Type: x\r\nContent-Length: 0\r\n\r\n", b"", 0, "not_the_wiki"),
    ];
    for (head, piece, times, kind) in cases {
        let base = liar(format!("{HTML}{head}").leak(), piece, times);
        let told = html(&base, 1).search("x").await.map_or_else(|error| error.kind(), |_| "ok");
        assert_eq!(told, kind, "{head:?}");
    }
    let binary = liar("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 1\r\n\r\n", b"x", 1);
    assert_eq!(html(&binary, 1).search("x").await.expect_err("no page").kind(), "content_type");
    assert_eq!(api(&binary).search("x").await.expect_err("no page").kind(), "content_type");
    let shapeless = liar("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n", b"{}", 1);
    assert_eq!(api(&shapeless).search("x").await.expect_err("no page").kind(), "shape");
}

/// Pages of many skins, versions and copies of wikis.
#[tokio::test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
async fn fixed_html_believes_every_saved_page() {
    let (site, shared) = (Site::start(), crate::common::shared());
    let saved: serde_json::Value =
        serde_json::from_str(&crate::common::read(shared.join("data/wiki-site/site.json"))).expect("JSON");
    let (source, mut read) = (html(&site.base, 1), 0);
    for kind in ["pages", "redirects", "searches"] {
        for query in saved[kind].as_object().expect("an object").keys() {
            // A scrap of markup without a head, made for the decoding of the paper's client.
            if query != "Charset none" {
                source.search(query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
                read += 1;
            }
        }
    }
    assert!(read > 60, "{read}");
}

/// A proxy or portal answers in place of a site: none of it is a page of the site.
#[tokio::test]
async fn fixed_html_believes_the_wiki_only() {
    let page = |body: &str| format!("Connection: close\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{body}");
    let portal = page(
        "<html><head><title>Hotel \u{1b}[2J Wi-Fi</title></head><body><h1>Welcome!</h1><script>x</script><p>Log in</p>",
    );
    let wiki = page("<title>Dog - Wikipedia</title><body class=mediawiki><div id=mw-content-text><p>Dogs.</div>");
    for (status, body, told) in [
        (
            "200 OK",
            &portal,
            r#"` answered with status 200 with a page that MediaWiki did not make (titled `Hotel \u{1b}[2J Wi-Fi`: "Welcome! Log in")"#,
        ),
        (
            "200 OK",
            &page("<title>Wikimedia Error</title><p>Our servers are down"),
            r#"(titled `Wikimedia Error`: "Our servers are down")"#,
        ),
        ("200 OK", &page(""), "a page that MediaWiki did not make (nothing)"),
        ("206 Partial Content", &wiki, r#"` answered with status 206 (titled `Dog - Wikipedia`: "Dogs.")"#),
        ("203 Non-Authoritative", &wiki, "` answered with status 203 (titled"),
        ("204 No Content", &page(""), "` answered with status 204 (nothing)"),
        ("404 Not Found", &portal, "` answered with status 404 (titled"),
    ] {
        let base = liar(format!("HTTP/1.1 {status}\r\n{body}").leak(), b"", 0);
        let error = html(&base, 1).search("dog").await.expect_err(status);
        assert!(error.to_string().contains(told) && error.is_infrastructure(), "{error}");
        // The paper's environment read whatever came.
        let paper = LiveSettings { compat: Compat::Paper, ..quick(1) };
        let paper = HtmlSource::new(&base, &paper, ArticleOptions::default()).expect("a source");
        let status: u16 = status[..3].parse().expect("a number");
        assert_eq!(paper.search("dog").await.expect("an observation").provenance().status, status);
    }
    let other = liar(format!("HTTP/1.1 200 OK\r\n{wiki}").leak(), b"", 0);
    html(&other, 1).search("dog").await.expect("a page of its own wiki");
    let away = format!("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: {other}/wiki/Dog\r\n\r\n");
    let error = html(&liar(away.leak(), b"", 0), 1).search("dog").await.expect_err("another site");
    assert!(
        error.to_string().starts_with(&format!("`{other}` answered with status 200 in place of the site")),
        "{error}"
    );
    assert!(error.hint().is_some_and(|hint| hint.contains("open the site in a browser")));
}

#[tokio::test]
async fn the_api_believes_the_wiki_only() {
    const HITS: &str = r#"{"query": {"search": []}}"#;
    let json = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n";
    let other = liar(json, HITS.as_bytes(), 1);
    api(&other).search("dog").await.expect("the answer of its own wiki");
    let away = format!("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: {other}/w/api.php\r\n\r\n");
    let error = api(&liar(away.leak(), b"", 0)).search("dog").await.expect_err("another site");
    assert_eq!(error.kind(), "not_the_wiki");
    assert!(error.to_string().starts_with(&format!("`{other}` answered with status 200 in place of")), "{error}");
}

#[tokio::test]
async fn a_query_that_the_site_refuses_finds_nothing_and_is_no_failure() {
    const JSON: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n";
    let told = |code: &str| liar(JSON, format!("{{\"error\": {{\"code\": \"{code}\"}}}}").leak().as_bytes(), 1);
    let long = "word ".repeat(80);
    let nothing = format!("Could not find {long}. Similar: [].");
    let too_long = liar("HTTP/1.1 414 X\r\nConnection: close\r\n\r\n", b"", 0);
    let sources: [Arc<dyn Source>; 4] = [
        Arc::new(api(&told("cirrussearch-query-too-long"))),
        Arc::new(api(&told("cirrussearch-regex-syntax-error"))),
        Arc::new(api(&too_long)),
        Arc::new(html(&too_long, 1)),
    ];
    for source in sources {
        let mut session = Session::new(source, Compat::Fixed, SessionOptions::default());
        assert_eq!(observed(&mut session, &long).await, (nothing.clone(), None));
    }
    let broken = api(&told("internal_api_error_DBQueryError")).search(&long).await.expect_err("a failure");
    assert!(matches!(&broken, SourceError::Api { code, .. } if code == "internal_api_error_DBQueryError"));
    assert!(broken.is_infrastructure());
}

#[tokio::test]
async fn a_query_that_no_site_takes_is_not_sent() {
    let nobody = "http://127.0.0.1:9";
    let sources: [Box<dyn Source>; 2] = [Box::new(html(nobody, 1)), Box::new(api(nobody))];
    for source in sources {
        let found = source.search(&"é".repeat(40_000)).await.expect("an answer");
        assert!(matches!(&found, Found::Nothing { provenance, .. } if provenance.status == 200));
    }
}
