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

#[test]
fn the_api_names_pages_as_mediawiki_does() {
    let (_dir, served) = served(&["--quiet"]);
    let query =
        served.api("action=query&prop=info|pageprops|revisions&inprop=url&titles=countess|ada|Nobody_at%20all|london")
            ["query"]
            .clone();
    assert_eq!(query["normalized"][1], json!({"fromencoded": false, "from": "ada", "to": "Ada"}));
    assert_eq!(query["redirects"], json!([{"from": "Countess", "to": "Ada Byron"}]));
    let pages = query["pages"].as_array().expect("pages");
    let titled = |title: &str| pages.iter().find(|page| page["title"] == title).unwrap_or_else(|| panic!("{title}"));
    assert_eq!(titled("Nobody at all")["missing"], true);
    let byron = titled("Ada Byron");
    assert_eq!(byron["fullurl"], format!("{}/wiki/Ada_Byron", served.url));
    assert_eq!(byron["revisions"], json!([{"revid": 77, "parentid": 0, "timestamp": "2017-10-01T00:00:00Z"}]));
    assert_eq!((&titled("Ada")["pageprops"]["disambiguation"], byron.get("pageprops")), (&json!(""), None));
    let id = byron["pageid"].as_u64().expect("a number");
    let by_id = served.api(&format!("action=query&prop=extracts&explaintext=1&pageids={id}|9999|x"));
    assert_eq!(by_id["query"]["pages"][0]["missing"], true);
    assert_eq!(
        by_id["query"]["pages"][2]["extract"],
        "Ada Byron wrote programs. She knew Babbage.\nA line more.\nShe lived in London."
    );
    // The first form, which old clients get.
    let old = served.get("/w/api.php?action=query&prop=revisions|pageprops&rvprop=content&rvparse=&titles=Ada|Nobody");
    let old = old.json();
    assert_eq!((&old["batchcomplete"], &old["query"]["pages"]["-1"]["missing"]), (&json!(""), &json!("")));
    let pages = old["query"]["pages"].as_object().expect("by number");
    let ada = pages.values().find(|page| page["title"] == "Ada").expect("it");
    let html = ada["revisions"][0]["*"].as_str().expect("HTML");
    assert!(html.contains("<li><a href=\"/wiki/Ada_Byron\" title=\"Ada Byron\">Ada Byron</a></li>"), "{html}");
    let lower = served.api("action=query&titles=iPod|London");
    assert_eq!(lower["query"]["pages"].as_array().map(Vec::len), Some(2), "{lower}");
    assert_eq!(lower["query"].get("normalized"), None, "{lower}");
}

#[test]
fn the_api_searches_parses_and_says_what_it_lacks() {
    let (_dir, served) = served(&["--quiet"]);
    let hits = |query: &str| {
        let hits = served.api(&format!("action=query&list=search&{query}"))["query"]["search"].clone();
        hits.as_array().expect("hits").iter().map(|hit| hit["title"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(hits("srwhat=nearmatch&srsearch=COUNTESS"), ["Ada Byron"]);
    assert_eq!(hits("srwhat=nearmatch&srsearch=%5BLondon%5D"), Vec::<Value>::new());
    // The page of that name comes first, and the rest can be paged.
    let all = hits("srsearch=london");
    assert_eq!(all, ["London", "Ada Byron"]);
    let first = served.api("action=query&list=search&srsearch=london&srlimit=1&srinfo=suggestion");
    assert_eq!((&first["continue"]["sroffset"], &first["query"]["searchinfo"]), (&json!(1), &json!({})));
    assert_eq!(hits("srsearch=london&srlimit=1&sroffset=1"), all[1..]);
    let snippet = served.api("action=query&list=search&srsearch=hostile")["query"]["search"][0]["snippet"].clone();
    assert!(!snippet.as_str().expect("text").contains('<'), "{snippet}");
    let open = served.get("/w/api.php?action=opensearch&search=AD&limit=1&format=json").json();
    assert_eq!(open, json!(["AD", ["Ada"], [""], [format!("{}/wiki/Ada", served.url)]]));
    let prefixed = served.api("action=query&list=prefixsearch&pssearch=ada");
    assert_eq!(prefixed["query"]["prefixsearch"].as_array().map(Vec::len), Some(2));
    let parsed =
        served.api("action=parse&page=countess&prop=text|displaytitle|properties|revid|wikitext")["parse"].clone();
    assert_eq!(
        (&parsed["title"], &parsed["revid"], &parsed["properties"]),
        (&json!("Ada Byron"), &json!(77), &json!({}))
    );
    assert!(parsed["text"].as_str().expect("HTML").contains("<p>Ada Byron wrote programs."), "{parsed}");
    let form =
        served.post("/w/api.php", "application/x-www-form-urlencoded", "action=parse&page=Ada&prop=properties|text");
    let form = form.json();
    assert_eq!(form["parse"]["properties"], json!([{"name": "disambiguation", "*": ""}]));
    assert!(form["parse"]["text"]["*"].is_string(), "{form}");
    let general = served.api("action=query&meta=siteinfo&siprop=general|languages&maxlag=5");
    assert_eq!(general["query"]["general"]["sitename"], "mine");
    let long = "x".repeat(2_049);
    for (query, code) in [
        ("action=edit", "badvalue"),
        ("action=query&generator=links&titles=Ada", "badvalue"),
        ("action=query&list=search", "missingparam"),
        ("action=query&list=search&srsearch=x&srwhat=y", "badvalue"),
        (&format!("action=query&list=search&srsearch={long}"), "cirrussearch-query-too-long"),
        (&format!("action=query&titles={}", "x|".repeat(51)), "toomanyvalues"),
        ("action=parse&page=Nobody", "missingtitle"),
        ("action=parse&pageid=0", "nosuchpageid"),
        ("", "missingparam"),
    ] {
        assert_eq!(served.api(query)["error"]["code"], code, "{query}");
    }
    let extract = |query: &str| {
        let answer = served.api(&format!("action=query&prop=extracts&explaintext=1&titles=Ada_Byron&{query}"));
        answer["query"]["pages"][0]["extract"].as_str().expect("text").to_owned()
    };
    assert_eq!(extract("exintro=1"), "Ada Byron wrote programs. She knew Babbage.\nA line more.");
    assert_eq!(extract("exsentences=1"), "Ada Byron wrote programs.");
    assert_eq!(extract("exchars=4"), "Ada…");
}

/// Clients ask for much at once, and go on with what there is.
#[test]
fn unknown_members_of_lists_are_warnings() {
    let (_dir, served) = served(&["--quiet"]);
    let answer = served.api(
        "action=query&titles=Ada_Byron&prop=extracts|nonsense|categories|%3Cb%3E&explaintext=1&list=geosearch&meta=userinfo|tokens&\
         uiprop=groups|blockinfo|x",
    );
    let page = &answer["query"]["pages"][0];
    assert!(page["extract"].as_str().expect("text").starts_with("Ada Byron wrote programs."), "{answer}");
    assert_eq!(page.get("categories"), None, "a corpus has none");
    assert_eq!(answer["query"]["userinfo"], json!({"id": 0, "name": "127.0.0.1", "anon": true, "groups": ["*"]}));
    assert_eq!(answer["query"]["tokens"], json!({"csrftoken": "+\\"}));
    let warnings = &answer["warnings"];
    assert_eq!(
        warnings["query"]["warnings"],
        "Unrecognized values for parameter \"prop\": nonsense, <b>.\nUnrecognized value for parameter \"list\": geosearch."
    );
    assert_eq!(warnings["userinfo"]["warnings"], "Unrecognized value for parameter \"uiprop\": x.");
    let first_form = served.get("/w/api.php?action=query&meta=siteinfo&siprop=namespaces|namespacealiases|zzz").json();
    assert_eq!(first_form["warnings"]["siteinfo"]["*"], "Unrecognized value for parameter \"siprop\": zzz.");
    assert_eq!(first_form["query"]["namespaces"]["0"]["*"], "");
    assert_eq!(first_form["query"]["namespacealiases"], json!([]));
}

/// The usual request in one: search, and what to show of the pages.
#[test]
fn a_search_generates_pages_and_texts_are_their_content() {
    let (_dir, served) = served(&["--quiet"]);
    let answer =
        served.api("action=query&generator=search&gsrsearch=programs&gsrlimit=1&prop=extracts|info&explaintext=1");
    let pages = answer["query"]["pages"].as_array().expect("pages");
    assert_eq!((pages.len(), &pages[0]["title"], &pages[0]["index"]), (1, &json!("Ada Byron"), &json!(1)));
    assert_eq!(answer["continue"]["gsroffset"], 1);
    assert_eq!(served.api("action=query&generator=search")["error"]["code"], "missingparam");
    let begun = served.api("action=query&generator=prefixsearch&gpssearch=ada");
    assert!(begun["query"]["pages"].as_array().is_some_and(|pages| pages.len() > 1), "{begun}");
    let slots = "action=query&titles=Ada_Byron&prop=revisions&rvprop=ids|timestamp|content&rvslots=main";
    let main = json!({
        "contentmodel": "text", "contentformat": "text/plain",
        "content": "Ada Byron wrote programs. She knew Babbage.\nA line more.\n\nShe lived in London."
    });
    assert_eq!(served.api(slots)["query"]["pages"][0]["revisions"][0]["slots"]["main"], main);
    let first_form = served.get(&format!("/w/api.php?{slots}")).json();
    let page = first_form["query"]["pages"].as_object().expect("pages").values().next().expect("a page");
    assert_eq!(page["revisions"][0]["slots"]["main"]["*"], main["content"]);
    let about = served.api("action=paraminfo&modules=main|query|query%2Bsearch|query%2Bnonsense|nonsense");
    let modules = about["paraminfo"]["modules"].as_array().expect("modules");
    let paths: Vec<&str> = modules.iter().filter_map(|module| module["path"].as_str()).collect();
    assert_eq!(paths, ["main", "query", "query+search"]);
    assert!(about["warnings"]["paraminfo"]["warnings"].as_str().expect("a warning").contains("query+nonsense"));
}

/// The tool of our agents, without a protocol around it.
#[test]
fn the_tool_is_plain_json() {
    let dir = WorkDir::new();
    let served = Served::start(dir.root(), &["corpus:datasets/sample-wiki", "--only", "tool"]);
    let post = |name: &str, body: &str| served.post(&format!("/tool/{name}"), "application/json", body);
    let listed = served.get("/tool").json();
    let names: Vec<&str> =
        listed.as_array().expect("functions").iter().filter_map(|tool| tool["function"]["name"].as_str()).collect();
    assert_eq!(names, ["search", "lookup", "read", "similar", "passages", "document"]);
    let opened = post("search", r#"{"query": "Hafnium"}"#).json();
    assert_eq!(opened["title"], "Hafnium");
    let next = json!({"keyword": "Copenhagen", "session": opened["session"]}).to_string();
    let found = post("lookup", &next).json();
    assert_eq!(found["result"], 1, "{found}");
    let passages = post("passages", r#"{"query": "element named after Copenhagen", "k": 2}"#).json();
    assert_eq!(passages["passages"].as_array().map(Vec::len), Some(2));
    let id = passages["passages"][0]["id"].as_str().expect("an id");
    let document = post("document", &json!({"id": id}).to_string()).json();
    assert_eq!(document["title"], passages["passages"][0]["title"]);
    for (name, body, status, said) in [
        ("search", "[]", 422, "expected a JSON object of arguments"),
        ("search", "{}", 422, "wrong arguments: missing field `query`"),
        ("document", r#"{"id": "1e9"}"#, 422, "There is no document with the id 1e9."),
        ("finish", "{}", 404, "there is no such tool; the tools are search, lookup, read"),
    ] {
        let answer = post(name, body);
        assert!(
            answer.status == status && answer.body.contains(said),
            "{name} {body}: {} {}",
            answer.status,
            answer.body
        );
    }
    assert_eq!(served.get("/retrieve?query=x").status, 404, "only this part is served");
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

/// What the retrievers of `FlashRAG` and `DSPy` ask.
#[test]
fn retrievers_have_their_addresses() {
    let (_dir, served) = served(&["--quiet"]);
    let post = |target: &str, body: &str| served.post(target, "application/json", body);
    let one = post("/search", r#"{"query": "programs babbage", "top_n": 2, "return_score": true}"#).json();
    assert!(one[0][0]["contents"].as_str().expect("text").starts_with("\"Ada Byron\"\nAda Byron wrote"), "{one}");
    assert!(one[1][0].as_f64().is_some_and(|score| score > 0.0), "{one}");
    let many = post("/batch_search", r#"{"query": ["programs", "zzzz"]}"#).json();
    assert_eq!((many.as_array().map(Vec::len), &many[1]), (Some(2), &json!([])));
    for target in ["/retrieve?query=programs+babbage&k=2", "/api/search?query=programs+babbage&k=2"] {
        let top = served.get(target).json()["topk"].clone();
        assert!(top[0]["text"].as_str().expect("text").starts_with("Ada Byron | Ada Byron wrote"), "{top}");
        let sum: f64 = top.as_array().expect("a list").iter().filter_map(|one| one["prob"].as_f64()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{top}");
        assert_eq!(top, post("/api/search", r#"{"query": "programs babbage", "k": 2}"#).json()["topk"]);
    }
    for (target, body, sentence) in [
        ("/search", "{}", "expected {\"query\": str, \"top_n\": 10, \"return_score\": false}: missing field `query`"),
        ("/batch_search", r#"{"query": "x"}"#, "expected {\"query\": [str]"),
        ("/api/search", r#"{"query": "x", "k": 101}"#, "`k` is at most 100"),
        ("/search", r#"{"query": "x", "top_n": 101}"#, "`top_n` is at most 100"),
    ] {
        let refused = post(target, body);
        assert!(refused.status == 422 && refused.body.contains(sentence), "{}: {}", refused.status, refused.body);
    }
    assert_eq!(served.get("/retrieve?k=2").status, 422);
    assert_eq!(served.get("/retrieve?query=x&k=many").status, 422);
}

#[test]
fn pages_and_summaries_are_escaped() {
    let (_dir, served) = served(&["--quiet"]);
    let hostile = "%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E%20%27";
    let page = served.get(&format!("/wiki/{hostile}"));
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.head.contains("content-security-policy: default-src 'none'"), "{}", page.head);
    let results = served.get("/w/index.php?search=hostile+words");
    let disambiguation = served.get("/w/index.php?title=Ada");
    for answer in [&page, &results, &disambiguation] {
        assert!(!answer.body.contains("<script") && !answer.body.contains("<img"), "{}", answer.body);
    }
    assert!(results.body.contains("mw-search-result-heading"), "{}", results.body);
    let moved = served.get("/w/index.php?search=COUNTESS");
    assert!(moved.status == 302 && moved.head.contains("location: /wiki/ada_byron"), "{}", moved.head);
    let dots = served.get("/w/index.php?search=..");
    assert!(dots.head.contains("location: /w/index.php?title=.."), "{}", dots.head);
    let injected = served.get("/w/index.php?search=%0d%0aSet-Cookie:+x");
    assert!(!injected.head.contains("set-cookie"), "{}", injected.head);
    let summary = served.get("/api/rest_v1/page/summary/Countess").json();
    assert_eq!((&summary["title"], &summary["revision"]), (&json!("Ada Byron"), &json!("77")));
    assert_eq!(served.get("/api/rest_v1/page/summary/Nobody").status, 404);
    let found = served.get("/w/rest.php/v1/search/page?q=london&limit=1").json();
    assert_eq!((&found["pages"][0]["key"], found["pages"].as_array().map(Vec::len)), (&json!("London"), Some(1)));
    assert_eq!(served.get("/wiki/Nobody").status, 404);
}

#[test]
fn retrieve_speaks_as_search_r1_does() {
    let (_dir, served) = served(&["--quiet", "--only", "retrieve"]);
    let ask = |body: &Value| served.post("/retrieve", "application/json", &body.to_string());
    let scored = ask(&json!({"queries": ["river", "zzz"], "topk": 1, "return_scores": true})).json();
    let best = &scored["result"][0][0];
    assert!(best["score"].as_f64().is_some_and(|score| score > 0.0), "{scored}");
    assert_eq!(best["document"]["contents"], "\"London\"\nLondon is a city.\nIt has a river, says <Ada> & \"co\".");
    assert_eq!(scored["result"][1], json!([]));
    let bare = ask(&json!({"queries": ["a countess is in the city"], "topk": 0})).json();
    assert_eq!(bare["result"][0].as_array().map(Vec::len), Some(3), "{bare}");
    assert!(bare["result"][0][0]["contents"].is_string() && bare["result"][0][0]["id"].is_string(), "{bare}");
    for (body, status) in [
        (json!({"queries": ["x"], "topk": 101}), 422),
        (json!({"queries": vec!["x"; 33]}), 422),
        (json!({"queries": ["x".repeat(2_049)]}), 422),
        (json!({"query": "x"}), 422),
        (json!({"queries": ["x".repeat(1 << 20)]}), 413),
    ] {
        assert_eq!(ask(&body).status, status);
    }
    // The other part was left out.
    assert_eq!((served.get("/w/api.php?action=query").status, served.get("/search").status), (404, 405));
}

#[test]
fn a_corpus_of_passages_is_retrieved_by_passages() {
    let dir = WorkDir::new();
    let passage =
        |id: &str, title: &str, text: &str| json!({"id": id, "contents": format!("\"{title}\"\n{text}")}).to_string();
    let rows = [
        passage("7", "London", "It has a river."),
        passage("6", "London", "London is a city."),
        passage("8", "Ada Byron", "She lived in London for a while."),
    ];
    dir.write("wiki-18.jsonl", rows.join("\n"));
    dir.wikitrail(&["corpus", "build", "wiki18", "--from", "wiki-18.jsonl", "--quiet"]).ok();
    let served = Served::start(dir.root(), &["corpus:wiki18", "--quiet"]);
    let asked = json!({"queries": ["which river", "london"], "topk": 2, "return_scores": true}).to_string();
    let found = served.post("/retrieve", "application/json", &asked).json();
    let contents = |query: usize| -> Vec<&str> {
        let hits = found["result"][query].as_array().expect("hits").iter();
        hits.map(|hit| hit["document"]["contents"].as_str().expect("a text")).collect()
    };
    assert_eq!(contents(0)[0], "\"London\"\nIt has a river.");
    assert_eq!(contents(1)[0], "\"London\"\nLondon is a city.");
    assert_eq!((contents(0).len(), &found["result"][0][0]["document"]["id"]), (2, &json!("1.1")));
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
fn it_stays_on_this_machine_unless_told_otherwise() {
    let dir = WorkDir::new();
    dir.write("mine/articles.jsonl", LINES);
    dir.wikitrail(&["serve", "corpus:mine", "--bind", "0.0.0.0:0"]).refused(2, &["other machines", "--allow-remote"]);
    dir.wikitrail(&["serve", "mine"]).refused(2, &["`mine` is not a corpus", "did you mean `corpus:mine`?"]);
    dir.wikitrail(&["serve", "corpus:nothing"]).refused(3, &["`nothing` does not exist", "check the path"]);
    let held = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = held.local_addr().expect("bound").to_string();
    dir.wikitrail(&["serve", "corpus:mine", "--bind", &taken]).refused(1, &["cannot listen", &taken]);
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
