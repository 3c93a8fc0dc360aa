//! `corpus freeze`: runs over what was frozen, dates, redirects, interruptions.

use crate::common::server::{Server, answer, json, refuse};
use crate::common::{Ran, WorkDir};
use crate::wiki_support::Site;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

/// What a scripted agent does at the look-alike site: pages by several spellings, redirects, lists, disambiguations, nothing.
const ACTIONS: [&str; 22] = [
    "Search[nz]",
    "Lookup[island]",
    "Lookup[island]",
    "Search[T-SNE]",
    "Search[halsey]",
    "Lookup[t]",
    "Search[[Halsey]]",
    "Search[no such thing at all]",
    "Search[Noel Fisher Mickey Milkovich acclaim]",
    "Search[\"dog\"]",
    "Search[property (philosophy)]",
    "Lookup[property]",
    "Search[Li refer]",
    "Search[AT&T]",
    "Search[Bein' Green]",
    "Search[The Beach]",
    "Search[Mathematics]",
    "Lookup[proof]",
    "Search[Esc newline]",
    "Search[list of films]",
    "Search[ Microsoft ]",
    "Finish[done]",
];

/// A model that acts so, whatever it reads.
fn actor() -> Server {
    Server::start(|number, _, stream| {
        let (step, action) = (number % ACTIONS.len() + 1, ACTIONS[number % ACTIONS.len()]);
        let message = json!({"content": format!("Thought {step}: so.\nAction {step}: {action}")});
        json(stream, &json!({"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}));
    })
}

/// Tool, input, observation and note of every step, by question.
fn seen(dir: &WorkDir, run: &str) -> Vec<Value> {
    let mut records = dir.records(run);
    records.sort_by_key(|record| record["id"].to_string());
    let fields = ["tool", "input", "observation", "note"];
    let steps = |record: &Value| {
        record["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .map(|step| fields.map(|field| step[field].clone()))
            .collect::<Vec<_>>()
    };
    records
        .iter()
        .map(|record| json!({"id": record["id"], "steps": steps(record), "answer": record["answer"], "outcome": record["outcome"]}))
        .collect()
}

#[track_caller]
fn same(dir: &WorkDir, live: &str, frozen: &str) -> usize {
    let (live, frozen) = (seen(dir, live), seen(dir, frozen));
    assert_eq!(live.len(), frozen.len());
    for (live, frozen) in live.iter().zip(&frozen) {
        assert_eq!(live, frozen);
    }
    live.iter().map(|record| record["steps"].as_array().expect("steps").len()).sum()
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_run_over_its_own_freeze_sees_what_the_live_run_saw() {
    let site = Site::start();
    let dir = WorkDir::new();
    dir.write("one.jsonl", "{\"id\": \"q\", \"question\": \"What is it?\"}\n");
    let model = actor();
    let base = format!("{}/v1", model.url);
    let acting = ["--model", "openai:m", "--base-url", &base, "--max-steps", "30", "--protocol", "robust", "--quiet"];
    for compat in ["fixed", "paper"] {
        let live = ["--wiki", "api", "--wiki-url", &site.base, "--compat", compat];
        let names = ["live", "frozen", "runs"].map(|name| format!("{name}-{compat}"));
        let [run, corpus, replayed] = [&names[0], &names[1], &names[2]];
        dir.run(&[&["one.jsonl", "--out", run][..], &acting, &live].concat()).ok();
        let freeze = ["corpus", "freeze", corpus, "--run", run, "--wiki-url", &site.base];
        let said = dir.wikitrail(&freeze).ok();
        assert!(said.stderr.contains(&format!("searches from {}", site.base)), "{}", said.stderr);
        dir.wikitrail(&["corpus", "freeze", "other", "--run", run, "--contact", "a@example.org", "--dry-run"]).refused(
            2,
            &[&format!("read {}", site.base), "not https://en.wikipedia.org", &format!("add --wiki-url {}", site.base)],
        );
        let over = format!("corpus:{corpus}");
        dir.run(&[&["one.jsonl", "--out", replayed, "--wiki", &over, "--compat", compat][..], &acting].concat()).ok();
        assert_eq!(same(&dir, run, replayed), ACTIONS.len());
        let info = dir.wikitrail(&["corpus", "info", corpus, "--json"]).json();
        assert_eq!(info["freeze"]["compat"], compat);
        let origin = dir.manifest(replayed)["variants"][0]["wiki_origin"].to_string();
        assert!(origin.contains(&format!("{}+", info["id"].as_str().expect("an id"))), "{origin}");
        dir.wikitrail(&["corpus", "verify", corpus, "--deep"]).ok();
        let log = site.log();
        assert!(Value::from(log).to_string().contains("rvstartid="), "pages are those that the run read");
        let queries = dir.read(&format!("{corpus}/queries.jsonl"));
        assert!(queries.contains("{\"query\":\"nz\",\"page\":\"New Zealand\"}\n"), "{queries}");
        #[cfg(feature = "serve")]
        serves_what_the_site_answered(&dir, &over);
        let urls = dir.records(replayed)[0]["steps"].to_string();
        assert!(urls.contains(&format!("corpus:{corpus}?query=no+such+thing+at+all\"")), "{urls}");
        // The questions of the sample, by the baseline.
        let [run, corpus, replayed] = [&names[0], &names[1], &names[2]].map(|name| format!("sample-{name}"));
        let code = dir.run(&[&["--out", &run, "--quiet"][..], &live].concat()).code;
        dir.wikitrail(&["corpus", "freeze", &corpus, "--run", &run, "--wiki-url", &site.base]).ok();
        // The paper's environment cannot show all of these pages.
        let over = format!("corpus:{corpus}");
        let again = dir.run(&["--out", &replayed, "--quiet", "--wiki", &over, "--compat", compat]);
        assert!(code == again.code && (code == Some(0) || compat == "paper"), "{code:?} {}", again.stderr);
        assert!(same(&dir, &run, &replayed) > 60);
    }
}

/// Other programs get the site's answers too.
#[cfg(feature = "serve")]
fn serves_what_the_site_answered(dir: &WorkDir, over: &str) {
    let served = crate::serve_support::Served::start(dir.root(), &[over]);
    for (what, query, titles) in [
        ("nearmatch", "nz", json!(["New Zealand"])),
        ("text", "%5BHalsey%5D", json!(["Halsey"])),
        ("text", "no+such+thing+at+all", json!([])),
    ] {
        let answer = served.api(&format!("action=query&list=search&srwhat={what}&srsearch={query}"));
        let hits = answer["query"]["search"].as_array().expect("hits").iter().map(|hit| hit["title"].clone());
        assert_eq!(Value::from(hits.collect::<Vec<_>>()), titles, "{query}");
    }
}

/// Pages with their revisions, redirects, and what the site is.
#[derive(Clone, Default)]
struct Wiki {
    pages: HashMap<&'static str, Vec<(u64, &'static str, String)>>,
    redirects: HashMap<&'static str, &'static str>,
    info: Value,
}

impl Wiki {
    fn new() -> Self {
        let mut wiki = Self {
            info: json!({
                "general": {"sitename": "Testopedia", "lang": "en", "server": "//test.example.org", "script": "/w/index.php"},
                "rightsinfo": {"url": "https://creativecommons.org/licenses/by-sa/4.0/deed.en", "text": "CC BY-SA"},
            }),
            ..Self::default()
        };
        let old = "2015-01-02T03:04:05Z";
        for (number, title) in ["Alpha", "Beta", "Gamma", "Delta", "Omega"].into_iter().enumerate() {
            let number = number as u64 * 10 + 10;
            let link = "<a href=/wiki/Omega title=Omega>o</a>";
            let text =
                |age: &str| format!("<p>{title} is {age} here. It has {link} and more<sup class=reference>[1]</sup>.");
            let revisions = [(number, old, text("old")), (number + 1, "2022-02-02T00:00:00Z", text("new"))];
            wiki.pages.insert(title, revisions.into_iter().skip(usize::from(title == "Delta")).collect());
        }
        wiki.redirects = [("Al", "Alf"), ("Alf", "Alpha"), ("Ring", "Rang"), ("Rang", "Ring")].into();
        wiki
    }

    /// So many pages with nothing else, and the list of them.
    fn of(pages: u64) -> (Self, String) {
        let (mut wiki, mut list) = (Self { info: json!({}), ..Self::default() }, String::new());
        for number in 0..pages {
            let title: &'static str = format!("Page {number}").leak();
            let text = format!("<p>{title} is a page.");
            wiki.pages.insert(title, vec![(1000 + number, "2015-01-02T03:04:05Z", text)]);
            list.extend([title, "\n"]);
        }
        (wiki, list)
    }

    /// Answers as `MediaWiki` does.
    fn answer(&self, request: &str, stream: &mut TcpStream) {
        let target = request.split(' ').nth(1).expect("a target");
        let url = url::Url::parse(&format!("http://h{target}")).expect("a target");
        let query: HashMap<String, String> = url.query_pairs().into_owned().collect();
        let get = |name: &str| query.get(name).map_or("", String::as_str);
        if get("meta") == "siteinfo" {
            return json(stream, &json!({"query": self.info}));
        }
        if get("action") == "parse" {
            let wanted: u64 = get("oldid").parse().expect("a number");
            let found = self.pages.iter().flat_map(|(title, all)| all.iter().map(move |one| (title, one)));
            let (title, (revid, _, text)) = found.into_iter().find(|(_, one)| one.0 == wanted).expect("a revision");
            return json(
                stream,
                &json!({"parse": {"title": title, "pageid": 1, "revid": revid, "text": text, "properties": []}}),
            );
        }
        let (mut title, mut followed) = (get("titles").to_owned(), Vec::new());
        while let Some(to) = self.redirects.get(title.as_str()) {
            if followed.iter().any(|one: &Value| one["from"] == title) {
                return json(stream, &json!({"query": {"redirects": followed}}));
            }
            followed.push(json!({"from": title, "to": to}));
            title = (*to).to_owned();
        }
        let page = match self.pages.get(title.as_str()) {
            None => json!({"title": title, "missing": true}),
            Some(all) => {
                let until = query.get("rvstart").map_or("9999", String::as_str);
                let newest = all.iter().rev().find(|(_, at, _)| *at <= until);
                let rows: Vec<Value> =
                    newest.iter().map(|(revid, at, _)| json!({"revid": revid, "timestamp": at})).collect();
                if rows.is_empty() {
                    json!({"title": title, "pageid": 1})
                } else {
                    json!({"title": title, "pageid": 1, "revisions": rows})
                }
            }
        };
        json(stream, &json!({"query": {"redirects": followed, "pages": [page]}}));
    }

    fn serve(self) -> Server {
        Server::start(move |_, request, stream| self.answer(request, stream))
    }

    /// The same, that answers request number `at` only when it is told to.
    fn holding(self, at: usize) -> (Server, Sender<()>) {
        let (go, wait): (_, Receiver<()>) = channel();
        let server = Server::start(move |number, request, stream| {
            if number == at {
                let _ = wait.recv();
            }
            self.answer(request, stream);
        });
        (server, go)
    }
}

fn freeze(dir: &WorkDir, corpus: &str, server: &Server, more: &[&str]) -> Ran {
    let one = ["corpus", "freeze", corpus, "--wiki-url", &server.url, "--wiki-concurrency", "1"];
    dir.wikitrail(&[&one[..], more].concat())
}

fn info(dir: &WorkDir, corpus: &str) -> Value {
    dir.wikitrail(&["corpus", "info", corpus, "--json"]).json()
}

#[test]
fn a_date_leaves_out_later_pages_and_names_what_is_not_there() {
    let (dir, server) = (WorkDir::new(), Wiki::new().serve());
    dir.write("titles.txt", "\u{feff}Alpha\nAl\n\nDelta\nDeleted\nRing\nno|title\n#bad[title\n");
    let plan =
        freeze(&dir, "c", &server, &["--titles", "titles.txt", "--as-of", "2017-10-01", "--dry-run", "--json"]).json();
    assert_eq!((plan["titles"].as_u64(), plan["requests"].as_u64()), (Some(7), Some(15)));
    assert!(server.requests().is_empty() && !dir.path("c.fetched.jsonl").exists());
    let said = freeze(&dir, "c", &server, &["--titles", "titles.txt", "--as-of", "2017-10-01"]).ok();
    for line in [
        "left out, missing or deleted: `Deleted`\n",
        "left out, not a title: `#bad[title`, `no|title`\n",
        "left out, first written later: `Delta`\n",
        "left out, redirects in a circle: `Ring`\n",
    ] {
        assert!(said.stderr.contains(line), "{line}{}", said.stderr);
    }
    assert!(!dir.path("c.fetched.jsonl").exists());
    assert!(dir.read("c/left-out.jsonl").contains("{\"title\":\"Delta\",\"reason\":\"later\"}"));
    let info = info(&dir, "c");
    assert_eq!((info["articles"].as_u64(), info["redirects"].as_u64()), (Some(1), Some(2)), "{info}");
    assert_eq!((&info["as_of"], &info["license"]["id"]), (&json!("2017-10-01T00:00:00Z"), &json!("CC-BY-SA-4.0")));
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    assert_eq!(info["freeze"]["fidelity"], format!("oldid, templates of {today}"));
    assert_eq!(info["freeze"]["left_out"], json!({"missing": 1, "invalid": 2, "later": 1, "circle": 1}));
    for name in ["Alpha", "al", "ALF"] {
        let page = dir.wikitrail(&["wiki", "search", name, "--wiki", "corpus:c"]).ok().stdout;
        assert_eq!(page, "Alpha is old here. It has o and more.\n", "{name}");
    }
    let notice = dir.wikitrail(&["corpus", "info", "c", "--attribution"]).ok().stdout;
    for line in [
        "Authors: Testopedia contributors\nLicense: CC-BY-SA-4.0\nChanges: text extracted, footnotes removed\n",
        "\nAlpha\t2015-01-02T03:04:05Z\thttps://test.example.org/w/index.php?oldid=10\n",
    ] {
        assert!(notice.contains(line), "{notice}");
    }
    let text = dir.wikitrail(&["corpus", "info", "c"]).ok().stdout;
    assert!(
        text.contains("frozen") && text.contains("1 missing or deleted, 2 not a title") && text.contains("Testopedia"),
        "{text}"
    );
    let asked = server.requests();
    let revisions = asked.iter().filter(|request| request.contains("prop=revisions%7Cinfo%7Cpageprops"));
    assert_eq!(revisions.filter(|request| request.contains("rvstart=2017-10-01T00%3A00%3A00Z&rvdir=older")).count(), 5);
    assert_eq!(asked.len(), 1 + 5 + 1, "a page under two names is read once: {asked:?}");
}

#[test]
fn a_dataset_gives_gold_pages_contexts_and_links() {
    let (dir, mut wiki) = (WorkDir::new(), Wiki::new());
    wiki.info = json!({});
    let server = wiki.serve();
    let question = json!({"question": "Which?", "answer": "x", "supporting_facts": [["Beta", 0], ["Al", 0]],
                          "context": [["Beta", ["x"]], ["Gamma", ["y"]]]});
    dir.write("d.jsonl", format!("{question}\n"));
    let said = freeze(&dir, "gold", &server, &["--dataset", "d.jsonl"]).ok();
    assert!(
        said.stderr.contains("warning: these are gold pages only") && said.stderr.contains("--contexts"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("does not say under which license"), "{}", said.stderr);
    assert!(said.stdout.contains("2 of 2 articles (100 %): an agent cannot go wrong here"), "{}", said.stdout);
    assert_eq!(info(&dir, "gold")["license"]["id"], "unknown");
    let said = freeze(&dir, "more", &server, &["--dataset", "d.jsonl", "--contexts", "--links", "1"]).ok();
    assert!(!said.stderr.contains("gold pages only"), "{}", said.stderr);
    let more = info(&dir, "more");
    assert_eq!((more["articles"].as_u64(), more["freeze"]["gold_pages"].as_u64()), (Some(4), Some(2)));
    let notice = dir.wikitrail(&["corpus", "info", "more", "--attribution"]).ok().stdout;
    assert!(notice.contains("Omega\t") && notice.contains(&format!("{}/w/index.php?oldid=51", server.url)), "{notice}");
    freeze(&dir, "more", &server, &["--dataset", "d.jsonl"]).refused(2, &["`more` exists already"]);
    dir.write("none.jsonl", "{\"question\": \"Who?\"}\n");
    freeze(&dir, "none", &server, &["--dataset", "none.jsonl"])
        .refused(3, &["no question of `none.jsonl` names a page"]);
    dir.write("empty.txt", "\n \n");
    freeze(&dir, "none", &server, &["--titles", "empty.txt"]).refused(3, &["no title was named"]);
    dir.write("gone.txt", "Deleted\n");
    freeze(&dir, "none", &server, &["--titles", "gone.txt"]).refused(3, &["the site has none of the titles"]);
}

#[test]
fn what_a_site_says_of_itself_and_of_its_pages_is_shown_escaped() {
    const HOSTILE: &str = "Z\u{1b}c\u{7}\u{9b}31m\u{202e}Y";
    const TIME: &str = "2017-01-01T00:00:00Z";
    let (dir, mut wiki) = (WorkDir::new(), Wiki::new());
    for name in ["sitename", "lang", "server", "script"] {
        wiki.info["general"][name] = HOSTILE.into();
    }
    wiki.info["rightsinfo"]["url"] = format!("https://creativecommons.org/licenses/by-sa/{HOSTILE}").into();
    let texts = vec![(60, TIME, format!("<p>{HOSTILE} is <a title='{HOSTILE}'>here</a> too."))];
    wiki.pages.insert(HOSTILE, texts);
    // A time that is not one says nothing of the revision.
    wiki.pages.insert("Odd", vec![(61, "1\u{1b}c\u{9b}", "<p>Odd things happen here.".to_owned())]);
    let server = wiki.serve();
    dir.write("t.txt", format!("{HOSTILE}\nDeleted {HOSTILE}\nOdd\n"));
    for ran in [
        freeze(&dir, "c", &server, &["--titles", "t.txt", "--links", "2"]).ok(),
        dir.wikitrail(&["corpus", "info", "c"]).ok(),
        dir.wikitrail(&["corpus", "info", "c", "--attribution"]).ok(),
    ] {
        let said = ran.stdout + &ran.stderr;
        assert!(!said.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']) && said.contains("\\u"), "{said:?}");
    }
    assert_eq!(info(&dir, "c")["license"]["id"], "unknown");
}

const TITLES: &str = "Alpha\nBeta\nDelta\nDeleted\nGamma\nOmega\n";

/// A freeze that has asked for a part of the titles, and what lets the server answer on.
struct Begun {
    server: Server,
    go: Sender<()>,
    child: Child,
    said: BufReader<ChildStderr>,
}

/// Begins a freeze whose site holds its answer to request number `at`.
fn begun(dir: &WorkDir, wiki: Wiki, at: usize, concurrency: &str) -> Begun {
    let (server, go) = wiki.holding(at);
    let one = ["corpus", "freeze", "c", "--wiki-url", &server.url, "--titles", "t.txt", "--quiet"];
    let args = [&one[..], &["--wiki-concurrency", concurrency]].concat();
    let mut child = dir.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("wikitrail runs");
    while server.requests().len() <= at {
        assert!(child.try_wait().expect("asked").is_none(), "it ended before its time");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let said = BufReader::new(child.stderr.take().expect("piped"));
    Begun { server, go, child, said }
}

impl Begun {
    /// Presses Ctrl-C, and reads until it is heard.
    fn interrupt(&mut self) {
        let killed = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()));
        let mut line = String::new();
        while !line.starts_with("stopping:") {
            line.clear();
            assert!(self.said.read_line(&mut line).expect("UTF-8") > 0, "it ended without a word");
        }
    }

    /// What it said last, and the server.
    fn end(mut self, code: i32) -> (Server, String) {
        let mut said = String::new();
        self.said.read_to_string(&mut said).expect("UTF-8");
        assert_eq!(self.child.wait().expect("ended").code(), Some(code), "{said}");
        (self.server, said)
    }
}

/// What was asked: the lines of the requests.
fn lines(requests: &[String]) -> Vec<String> {
    requests.iter().filter_map(|request| request.lines().next()).map(str::to_owned).collect()
}

#[test]
fn a_killed_freeze_goes_on_with_what_it_has_and_gives_the_same_corpus() {
    let dir = WorkDir::new();
    dir.write("t.txt", TITLES);
    // The text of the fourth title is on its way.
    let Begun { server, go, mut child, .. } = begun(&dir, Wiki::new(), 7, "1");
    child.kill().and_then(|()| child.wait()).expect("killed");
    go.send(()).expect("the server waits");
    assert!(!dir.path("c").exists());
    let lines = dir.read("c.fetched.jsonl").lines().count();
    assert_eq!(lines, 7, "what was asked for, three titles, one of which is missing, and a revision");
    let mut file = std::fs::File::options().append(true).open(dir.path("c.fetched.jsonl")).expect("a file");
    file.write_all(b"{\"page\":{\"page\":{\"title\":\"Del").expect("a torn line");
    let before = server.requests().len();
    freeze(&dir, "c", &server, &["--titles", "t.txt", "--as-of", "2017-10-01"])
        .refused(2, &["--as-of was today, and is 2017-10-01T00:00:00Z", "to go on, or remove c.fetched.jsonl"]);
    dir.write("u.txt", "Alpha\n");
    freeze(&dir, "c", &server, &["--titles", "u.txt"]).refused(2, &["the titles are others"]);
    assert_eq!(server.requests().len(), before);
    let said = freeze(&dir, "c", &server, &["--titles", "t.txt"]).ok();
    assert!(said.stderr.starts_with("6 titles (3 fetched before) from "), "{}", said.stderr);
    assert!(said.stderr.contains("at most 5 requests"), "{}", said.stderr);
    let rest = server.requests().split_off(before);
    assert!(rest.iter().all(|request| !request.contains("Alpha") && !request.contains("Beta")), "{rest:?}");
    assert_eq!(rest.len(), 2 * 3 - 1, "the revision of one is known: {rest:?}");
    freeze(&dir, "whole", &server, &["--titles", "t.txt"]).ok();
    assert_eq!(info(&dir, "c")["id"], info(&dir, "whole")["id"]);
    dir.wikitrail(&["corpus", "verify", "c", "--deep"]).ok();
    std::fs::write(dir.path("d.fetched.jsonl"), "{\"v\":1}\n").expect("a file");
    freeze(&dir, "d", &server, &["--titles", "t.txt"])
        .refused(3, &["`d.fetched.jsonl`, line 1, is not what this version of `corpus freeze` writes"]);
}

#[test]
fn an_interrupted_freeze_keeps_every_answer() {
    let dir = WorkDir::new();
    let (wiki, titles) = Wiki::of(100);
    dir.write("t.txt", titles);
    // At Ctrl-C, requests for 64 titles are on their way, and the site has answered 90.
    let mut freezing = begun(&dir, wiki, 90, "64");
    freezing.interrupt();
    freezing.go.send(()).expect("the server waits");
    let (server, said) = freezing.end(130);
    let before = lines(&server.requests());
    assert!(before.len() >= 91, "{}", before.len());
    let fetched = before.iter().filter(|line| line.contains("oldid=")).count();
    assert!(fetched > 0 && fetched < 100, "{fetched}");
    assert_eq!(said, format!("interrupted: {fetched} of 100 titles fetched; run the same command to go on\n"));
    let again = freeze(&dir, "c", &server, &["--titles", "t.txt"]).ok();
    assert!(again.stderr.starts_with(&format!("100 titles ({fetched} fetched before) from ")), "{}", again.stderr);
    let all: BTreeSet<String> = lines(&server.requests()).into_iter().collect();
    assert_eq!((server.requests().len(), all.len()), (201, 201), "nothing is asked twice");
    assert_eq!(info(&dir, "c")["articles"], 100);
}

#[test]
fn a_second_interrupt_ends_a_freeze_at_once() {
    let dir = WorkDir::new();
    dir.write("t.txt", TITLES);
    let mut freezing = begun(&dir, Wiki::new(), 5, "1");
    freezing.interrupt();
    let killed = Command::new("kill").args(["-INT", &freezing.child.id().to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    let (go, (_, said)) = (freezing.go.clone(), freezing.end(130));
    assert_eq!(said, "interrupted: 2 of 6 titles fetched; run the same command to go on\n");
    go.send(()).expect("the server waits");
}

#[test]
fn a_site_that_refuses_in_the_middle_costs_nothing_that_was_fetched() {
    let dir = WorkDir::new();
    let (wiki, titles) = Wiki::of(100);
    dir.write("t.txt", titles);
    // Those that arrive after the refusal are answered.
    let server = Server::start(
        move |number, request, stream| {
            if number == 90 { refuse(stream, &json!({})) } else { wiki.answer(request, stream) }
        },
    );
    let many = ["corpus", "freeze", "c", "--wiki-url", &server.url, "--titles", "t.txt", "--wiki-concurrency", "64"];
    let said = dir.wikitrail(&many);
    let before = lines(&server.requests());
    let texts = before.iter().filter(|line| line.contains("oldid=")).count();
    let fetched = texts - usize::from(before[90].contains("oldid="));
    let kept = format!("{fetched} of 100 titles fetched; `c.fetched.jsonl` keeps every answer, and the same command");
    said.refused(1, &["answered with status 400", &kept]);
    assert!(before.len() > 91 && fetched > 0 && fetched < 100, "{} {fetched}", before.len());
    let again = dir.wikitrail(&many).ok();
    assert!(again.stderr.starts_with(&format!("100 titles ({fetched} fetched before) from ")), "{}", again.stderr);
    let all = lines(&server.requests());
    let different: BTreeSet<&String> = all.iter().collect();
    assert_eq!((all.len(), different.len()), (202, 201), "only the refused one is asked twice");
    assert_eq!(all.iter().filter(|line| **line == before[90]).count(), 2);
    dir.wikitrail(&["corpus", "freeze", "d", "--titles", "t.txt"]).refused(2, &["public site", "--contact"]);
}

#[test]
fn a_page_without_text_counts_as_fetched_under_all_of_its_names() {
    let (dir, mut wiki) = (WorkDir::new(), Wiki::new());
    wiki.pages.get_mut("Alpha").expect("a page").last_mut().expect("a revision").2 = String::new();
    dir.write("t.txt", "Al\nAlpha\nBeta\nOmega\n");
    let server = Server::start(
        move |number, request, stream| {
            if number == 5 { refuse(stream, &json!({})) } else { wiki.answer(request, stream) }
        },
    );
    freeze(&dir, "c", &server, &["--titles", "t.txt"]).refused(1, &["2 of 4 titles fetched"]);
    let said = freeze(&dir, "c", &server, &["--titles", "t.txt"]).ok();
    assert!(said.stderr.starts_with("4 titles (2 fetched before) from "), "{}", said.stderr);
    assert!(said.stderr.contains("left out, without text: `Al`, `Alpha`\n"), "{}", said.stderr);
    let all = lines(&server.requests());
    assert_eq!(all.iter().filter(|line| line.contains("oldid=11")).count(), 1, "{all:?}");
}

#[test]
fn an_error_names_the_site_and_how_long_it_asks_to_wait() {
    let dir = WorkDir::new();
    dir.write("t.txt", TITLES);
    for (status, error, hint) in [
        (
            "429 Many",
            "failed: `HOST` asked with status 429 to wait 12 minutes",
            "the site asks to wait 12 minutes; run",
        ),
        ("400 Bad", "`http://HOST/w/api.php?", "the site asks to wait 12 minutes. 1 of 6 titles fetched; "),
    ] {
        let wiki = Wiki::new();
        let server = Server::start(move |number, request, stream| {
            if number < 3 {
                wiki.answer(request, stream);
            } else {
                answer(stream, &format!("{status}\r\nretry-after: 700"), &json!({}));
            }
        });
        let corpus = &status[..3];
        let host = server.url.trim_start_matches("http://");
        freeze(&dir, corpus, &server, &["--titles", "t.txt"]).refused(1, &[&error.replace("HOST", host), hint]);
    }
}
