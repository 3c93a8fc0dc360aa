//! `wikitrail serve`: our own sources over it, what clients of Wikipedia get, what is refused.

use crate::common::{WorkDir, lines};
use crate::serve_support::Served;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

const LINES: &str = concat!(
    "{\"title\": \"Ada Byron\", \"text\": \"Ada Byron wrote programs. She knew Babbage.\\nA line more.\\n\\nShe lived in London.\", ",
    "\"redirects\": [\"Countess\"], \"revid\": 77, \"timestamp\": \"2017-10-01T00:00:00Z\"}\n",
    "{\"title\": \"London\", \"text\": \"London is a city.\\n\\nIt has a river, says <Ada> & \\\"co\\\".\"}\n",
    "{\"title\": \"iPod\", \"text\": \"It plays music.\"}\n",
    "{\"title\": \"Ada\", \"entries\": [[\"Ada Byron\", \"a countess\"], \"Ada (language)\"]}\n",
    "{\"title\": \"\\\"><script>alert(1)</script> '\", \"text\": \"hostile <img src=x onerror=alert(2)> words words\"}\n",
    "{\"title\": \"..\", \"text\": \"Two dots are a title.\"}\n",
    "{\"title\": \"AC/DC? 100%1+1\", \"text\": \"A band with a name.\"}\n",
);

fn served(extra: &[&str]) -> (WorkDir, Served) {
    let dir = WorkDir::new();
    dir.write("mine/articles.jsonl", LINES);
    let served = Served::start(dir.root(), &[&["corpus:mine"], extra].concat());
    (dir, served)
}

/// Everything that a run's agent was shown, question by question.
fn observations(records: &[Value]) -> Vec<Value> {
    let mut shown: Vec<Value> = records
        .iter()
        .map(|record| {
            let steps = record["steps"].as_array().expect("steps");
            let shown: Vec<&Value> = steps.iter().map(|step| &step["observation"]).collect();
            json!([record["question"]["id"], shown])
        })
        .collect();
    shown.sort_by_key(Value::to_string);
    shown
}

/// Our own sources get over it what the corpus itself shows, for every question of both samples.
#[test]
fn sources_over_it_show_what_the_corpus_shows() {
    let dir = WorkDir::new();
    let served = Served::start(dir.root(), &["corpus:datasets/sample-wiki", "--quiet"]);
    for (data, count) in [("datasets/sample.jsonl", 30), ("datasets/sample-claims.jsonl", 10)] {
        for compat in ["fixed", "paper"] {
            let run = |name: &str, wiki: &[&str]| {
                let out = format!("{name}-{compat}-{count}");
                dir.run(&[&[data, "--quiet", "--compat", compat, "--out", &out], wiki].concat()).ok();
                observations(&dir.records(&out))
            };
            let corpus = run("corpus", &[]);
            assert!(corpus.len() > count, "{}", corpus.len());
            let over_api = run("api", &["--wiki", "api", "--wiki-url", &served.url]);
            assert_eq!(over_api, corpus, "{data} {compat} api");
            let over_html = run("html", &["--wiki", "html", "--wiki-url", &served.url]);
            assert_eq!(over_html, corpus, "{data} {compat} html");
        }
    }
}

/// Every page of a corpus comes back the same, whatever it is called, and so do titles and lists.
#[test]
fn every_page_comes_back_as_it_is() {
    let (dir, served) = served(&["--quiet"]);
    let titles = ["ada byron", "COUNTESS", "London", "ipod", "Ada", "..", "\"><script>alert(1)</script> '"];
    let queries = ["AC/DC? 100%1+1", "river", "[Ada Byron]", "zzz", "music words", "", "   ", "/wiki/London"];
    let script: String = titles.iter().chain(&queries).flat_map(|query| ["search[", query, "]\nlookup[a]\n"]).collect();
    let told = |compat: &str, wiki: &[&str]| {
        let args = [&["wiki", "session", "--json", "--compat", compat], wiki].concat();
        let mut child = dir.command(&args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        let told = lines(std::str::from_utf8(&output.stdout).expect("UTF-8"));
        told.into_iter().map(|line| line["observation"].clone()).collect::<Vec<_>>()
    };
    for compat in ["fixed", "paper"] {
        let corpus = told(compat, &["--wiki", "corpus:mine"]);
        assert_eq!(corpus.len(), 2 * (titles.len() + queries.len()));
        assert_eq!(told(compat, &["--wiki", "api", "--wiki-url", &served.url]), corpus, "{compat} api");
        let mut html = told(compat, &["--wiki", "html", "--wiki-url", &served.url]);
        if compat == "paper" {
            // The paper's client sends a plus as it is, which is a space then.
            let cut = 2 * titles.len();
            html.splice(cut..cut + 2, corpus[cut..cut + 2].iter().cloned());
        }
        assert_eq!(html, corpus, "{compat} html");
    }
}

/// All titles of a list or of the pages that a generator names, part by part, and how many parts there were.
fn walked(served: &Served, asked: &str, list: &str, parameter: &str) -> (Vec<String>, usize) {
    let (mut titles, mut parts, mut next) = (Vec::new(), 0, String::new());
    loop {
        let answer = served.api(&format!("action=query&{asked}{next}"));
        let rows = answer["query"][list].as_array().unwrap_or_else(|| panic!("{answer}"));
        titles.extend(rows.iter().map(|row| row["title"].as_str().expect("a title").to_owned()));
        parts += 1;
        let Some(value) = answer["continue"][parameter].as_str() else { return (titles, parts) };
        assert_eq!(answer["continue"]["continue"], "-||");
        next = url::form_urlencoded::Serializer::new(String::from("&")).append_pair(parameter, value).finish();
        assert!(parts < 20, "{next}");
    }
}

#[test]
fn all_pages_are_listed_in_order_and_some_by_chance() {
    const ALL: [&str; 7] =
        ["\"><script>alert(1)</script> '", "..", "AC/DC? 100%1+1", "Ada", "Ada Byron", "London", "iPod"];
    let (dir, in_memory) = served(&["--quiet"]);
    dir.wikitrail(&["corpus", "build", "built", "--from", "mine/articles.jsonl", "--quiet"]).ok();
    let built = Served::start(dir.root(), &["corpus:built", "--quiet"]);
    for served in [&in_memory, &built] {
        let list = |asked: &str| walked(served, &format!("list=allpages&{asked}"), "allpages", "apcontinue");
        assert_eq!(list("aplimit=3"), (ALL.map(str::to_owned).to_vec(), 3));
        assert_eq!(list("aplimit=max"), (ALL.map(str::to_owned).to_vec(), 1));
        for (asked, titles) in [
            ("apprefix=ada", &ALL[3..5]),
            ("apfrom=ada_Byron", &ALL[4..]),
            ("apfrom=Ad&apto=Ada_C", &ALL[3..5]),
            ("apnamespace=0|4&aplimit=1&apprefix=Lon", &ALL[5..6]),
            ("apnamespace=4", &[]),
            ("apfilterredir=redirects", &[]),
        ] {
            assert_eq!(list(asked).0, titles, "{asked}");
        }
        let (pages, parts) = walked(served, "generator=allpages&gaplimit=4&prop=info", "pages", "gapcontinue");
        assert_eq!((pages.iter().map(String::as_str).collect::<BTreeSet<_>>(), parts), (BTreeSet::from(ALL), 2));
        for asked in
            [("list=random&rnlimit=2", "random", "rncontinue"), ("generator=random&grnlimit=2", "pages", "grncontinue")]
        {
            let (titles, parts) = walked(served, asked.0, asked.1, asked.2);
            let different: BTreeSet<&str> = titles.iter().map(String::as_str).collect();
            assert_eq!((titles.len(), parts, different), (7, 4, BTreeSet::from(ALL)), "{asked:?}");
        }
        let begins = |_| served.api("action=query&list=random&rnnamespace=0")["query"]["random"][0]["id"].to_string();
        let ids: BTreeSet<String> = (0..60).map(begins).collect();
        assert!(ids.len() > 3, "{ids:?}");
        assert_eq!(served.api("action=query&list=random&rnnamespace=1")["query"]["random"], json!([]));
        for asked in ["list=random&rncontinue=x", "generator=random&grncontinue=1|-1", "list=random&rncontinue=|"] {
            assert_eq!(served.api(&format!("action=query&{asked}"))["error"]["code"], "badcontinue", "{asked}");
        }
        let beyond = served.api("action=query&list=random&rncontinue=1|4294967295");
        assert_eq!((&beyond["query"]["random"], beyond.get("continue")), (&json!([]), None));
        assert_eq!(served.api("action=query&list=allpages&apdir=descending")["error"]["code"], "badvalue");
        let both = served.api("action=query&list=allpages|search&aplimit=1&srsearch=ada&srlimit=1");
        assert_eq!((&both["continue"]["apcontinue"], &both["continue"]["sroffset"]), (&json!(".."), &json!(1)));
        let about = served.api("action=paraminfo&modules=query%2Ballpages|query%2Brandom");
        assert_eq!(about["paraminfo"]["modules"].as_array().map(Vec::len), Some(2), "{about}");
    }
}

#[test]
fn it_answers_for_wikipedia_through_a_proxy_and_for_nobody_else() {
    let (_dir, served) = served(&["--quiet"]);
    let via = |target: &str, host: &str| {
        served.raw(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes())
    };
    let wikipedia = "http://en.wikipedia.org/w/api.php?action=query&prop=info&inprop=url&titles=London&formatversion=2";
    let answer = via(wikipedia, "en.wikipedia.org").json();
    assert_eq!(answer["query"]["pages"][0]["fullurl"], "http://en.wikipedia.org/wiki/London");
    for (target, host, status) in [
        ("http://example.org/w/api.php", "example.org", 502),
        ("http://example.org/w/api.php", "127.0.0.1", 502),
        ("/healthz", "evil.example.org", 403),
        ("/healthz", "en.wikipedia.org", 403),
        ("/healthz", "localhost", 200),
    ] {
        let answer = via(target, host);
        assert_eq!((answer.status, answer.body.lines().count()), (status, 1), "{target} {host}: {}", answer.body);
    }
    let tunnel =
        served.raw(b"CONNECT en.wikipedia.org:443 HTTP/1.1\r\nHost: en.wikipedia.org:443\r\nConnection: close\r\n\r\n");
    assert_eq!(tunnel.status, 502);
    let page = served.raw(
        format!(
            "GET /corpus.json HTTP/1.1\r\nHost: {}\r\nOrigin: https://evil.example.org\r\nConnection: close\r\n\r\n",
            served.host()
        )
        .as_bytes(),
    );
    assert!(page.status == 403 && !page.head.contains("access-control"), "{}", page.head);
    let about = served.get("/corpus.json").json();
    assert_eq!((about["articles"].as_u64(), about["name"].as_str()), (Some(7), Some("mine")));
}

#[test]
fn an_odd_title_is_found_at_the_address_that_a_search_leads_to() {
    let dir = WorkDir::new();
    let titles = ["A  b", "C_d e"];
    let lines: String = titles.map(|title| json!({"title": title, "text": "Words of it."}).to_string() + "\n").concat();
    dir.write("mine/articles.jsonl", &lines);
    let served = Served::start(dir.root(), &["corpus:mine", "--quiet"]);
    for (query, escaped) in [("A++b", "A%20%20b"), ("C_d+e", "C_d%20e")] {
        let moved = served.get(&format!("/w/index.php?search={query}"));
        let path = format!("/wiki/{escaped}");
        assert!(
            moved.status == 302 && moved.head.contains(&format!("location: {}", path.to_lowercase())),
            "{}",
            moved.head
        );
        assert_eq!(served.get(&path).status, 200, "{path}");
    }
    assert_eq!(served.get("/wiki/A__b").status, 200, "as clients write it");
}

/// A request that is under way is answered, connections that wait are closed, and the log has no texts.
#[test]
fn it_ends_gracefully_and_logs_no_texts() {
    let (_dir, mut served) = served(&[]);
    assert_eq!(served.get("/w/index.php?search=SECRET").status, 200);
    assert_eq!(served.get("/wiki/SECRET").status, 404);
    assert_eq!(served.get("/SECRET").status, 404);
    let idle = TcpStream::connect(served.host()).expect("it listens");
    let mut slow = TcpStream::connect(served.host()).expect("it listens");
    let head = format!("POST /retrieve HTTP/1.1\r\nHost: {}\r\nContent-Length: 21\r\n\r\n", served.host());
    slow.write_all(head.as_bytes()).expect("it reads");
    // It has read the head when it has answered what was asked later.
    assert_eq!(served.get("/healthz").status, 200);
    let ended = Command::new("kill").args(["-TERM", &served.child.id().to_string()]).status().expect("kill");
    assert!(ended.success());
    let mut closed = Vec::new();
    (&idle).read_to_end(&mut closed).expect("it is closed");
    slow.write_all(b"{\"queries\":[\"river\"]}").expect("it still reads");
    let mut answer = String::new();
    slow.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("London"), "{answer}");
    assert_eq!(served.child.wait().expect("it ends").code(), Some(0));
    let log = served.stderr();
    assert!(!log.contains("SECRET"), "{log}");
    for line in ["GET /w/index.php 200 ", "GET /wiki/* 404 ", "GET (other) 404 ", "POST /retrieve 200 "] {
        assert!(log.contains(line), "{line}: {log}");
    }
}

#[test]
fn one_client_may_ask_so_often_and_no_more() {
    let (_dir, served) = served(&["--quiet", "--per-client", "1"]);
    let answers: Vec<_> = (0..40).map(|_| served.get("/w/api.php?action=query&titles=London")).collect();
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert!(answers[0].status == 200 && !refused.is_empty(), "{}", refused.len());
    assert!(refused.iter().all(|answer| answer.head.contains("\r\nretry-after: 1")), "{}", refused[0].head);
    assert_eq!(refused[0].body, "you ask too often; wait, then ask again\n");
}

#[test]
fn the_log_has_what_was_asked_only_if_that_was_asked_for() {
    for asked in [false, true] {
        let (_dir, mut served) = served(if asked { &["--log-queries"] } else { &[] });
        served.get("/w/api.php?action=query&titles=Secret%0a1");
        let found = served.post("/retrieve", "application/json", "{\"queries\": [\"secret\n\u{1b}[2J\u{202e} two\"]}");
        assert_eq!(served.post("/retrieve", "application/json", "{\"queries\": [\"secret three\"]}").status, 200);
        assert_eq!(found.status, 422, "{}", found.body);
        served.child.kill().expect("killed");
        served.child.wait().expect("ended");
        let log = served.stderr();
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(" us")).collect();
        assert_eq!(lines.len(), 3, "{log}");
        assert_eq!(log.to_lowercase().contains("secret"), asked, "{log}");
        if asked {
            assert!(lines[0].ends_with("us /w/api.php?action=query&titles=Secret%0a1"), "{log}");
            assert!(lines[1].ends_with("us /retrieve {\"queries\": [\"secret\\n\\u{1b}[2J\\u{202e} two\"]}"), "{log}");
        }
    }
}
/// The rest of what it answers is in `transcripts/served.txt`.
#[test]
fn a_large_body_a_taken_port_and_a_session_of_the_tool() {
    let dir = WorkDir::new();
    let served = Served::start(dir.root(), &["corpus:datasets/sample-wiki", "--quiet"]);
    let post = |target: &str, body: &Value| served.post(target, "application/json", &body.to_string());
    assert_eq!(post("/retrieve", &json!({"queries": ["x".repeat(1 << 20)]})).status, 413);
    let opened = post("/tool/search", &json!({"query": "Hafnium"})).json();
    let found = post("/tool/lookup", &json!({"keyword": "Copenhagen", "session": opened["session"]})).json();
    assert_eq!(found["result"], 1, "{found}");
    let passages = post("/tool/passages", &json!({"query": "element named after Copenhagen", "k": 2})).json();
    let document = post("/tool/document", &json!({"id": passages["passages"][0]["id"]})).json();
    assert_eq!(document["title"], passages["passages"][0]["title"]);
    dir.wikitrail(&["serve", "corpus:datasets/sample-wiki", "--bind", served.host()])
        .refused(1, &["cannot listen", served.host()]);
}
