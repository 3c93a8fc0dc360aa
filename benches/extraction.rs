//! How fast a page becomes what a session shows: from the bytes of the site's answer to the text that lookups read.
//!
//! The pages are the saved articles beside the checkout, and nothing is timed before their texts are the golden ones.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]
#![allow(clippy::print_stdout, reason = "a bench prints")]

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use wikitrail::base::{Compat, Tool};
use wikitrail::net::Answer;
use wikitrail::net::recording::Cache;
use wikitrail::wikipedia::html::ArticleOptions;
use wikitrail::wikipedia::recorded_source::Cached;
use wikitrail::wikipedia::{
    Found, HtmlSource, LiveSettings, Session, SessionOptions, Source, SourceError, SourceIdentity,
};

#[path = "../tests/it/common/shared.rs"]
mod shared;

/// A saved article: the answer that a site gives with it, and the page that the paper's environment made of it.
struct Saved {
    title: String,
    answer: Answer,
    golden: String,
}

/// The saved articles as a source: all that a site is to the program but its answering.
struct Shelf {
    site: HtmlSource,
    answers: BTreeMap<String, Mutex<Answer>>,
}

impl Shelf {
    fn new(articles: &[Saved], compat: Compat) -> Arc<Self> {
        let settings = LiveSettings { compat, ..LiveSettings::default() };
        let site = HtmlSource::new("http://127.0.0.1:9", &settings, ArticleOptions::default()).expect("a source");
        let answers = articles.iter().map(|saved| (saved.title.clone(), Mutex::new(saved.answer.clone())));
        Arc::new(Self { site, answers: answers.collect() })
    }
}

impl Source for Shelf {
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>> {
        async move {
            let answer = self.answers[query].lock().await.clone();
            self.site.read(query, answer).await
        }
        .boxed()
    }
}

/// The articles, sorted by title.
fn articles(shared: &Path) -> Vec<Saved> {
    let text = |path: &str| std::fs::read_to_string(shared.join(path)).expect("a shared file");
    let site: Value = serde_json::from_str(&text("data/wiki-site/site.json")).expect("the site's table");
    let observations = text("golden/wikipedia/observations.jsonl");
    let observations: Vec<Value> = observations.lines().map(|line| line.parse().expect("a vector")).collect();
    let pages = site["pages"].as_object().expect("a table of pages");
    let files = pages.iter().map(|(title, file)| (title, file.as_str().expect("a file name")));
    files
        .filter(|(_, file)| file.starts_with("html/"))
        .map(|(title, file)| {
            let action = format!("search[{title}]");
            let searched = observations.iter().find(|vector| vector["action"] == action.as_str()).expect("a vector");
            let page = searched["state"]["page"].as_str().expect("a page");
            let answer = Answer {
                status: 200,
                url: format!("http://127.0.0.1/wiki/{}", title.replace(' ', "_")),
                body: std::fs::read(shared.join("data/wiki-site").join(file)).expect("a saved page"),
                attempts: 1,
                ..Answer::default()
            };
            Saved { title: title.clone(), answer, golden: text(&format!("golden/wikipedia/pages/{page}.txt")) }
        })
        .collect()
}

/// The program's way with pages of one reading, and what it takes to call it.
struct Reader {
    compat: Compat,
    shelf: Arc<Shelf>,
    runtime: Runtime,
    /// Makes answers differ from all before, so that each is read and none comes from the store of extracted pages.
    count: u64,
}

impl Reader {
    fn new(articles: &[Saved], compat: Compat) -> Self {
        Self { compat, shelf: Shelf::new(articles, compat), runtime: runtime(), count: 0 }
    }

    /// A session that has searched for an article.
    fn searched(&mut self, title: &str, fresh: bool) -> Session {
        self.count += u64::from(fresh);
        let content_type = format!("text/html; charset=UTF-8; n={}", self.count);
        self.runtime.block_on(async {
            self.shelf.answers[title].lock().await.content_type = Some(content_type);
            let mut session = Session::new(self.shelf.clone(), self.compat, SessionOptions::default());
            // On one of the pages the paper's environment raises, and keeps what it has read.
            let _ = session.call(Tool::Search, title).await;
            session
        })
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
}

fn check(articles: &[Saved]) {
    let mut paper = Reader::new(articles, Compat::Paper);
    let mut fixed = Reader::new(articles, Compat::Fixed);
    for saved in articles {
        let page = paper.searched(&saved.title, true).page();
        assert!(page.as_ref() == Some(&saved.golden), "`{}` is not the golden page", saved.title);
        let words = fixed.searched(&saved.title, true).page().map_or(0, |page| page.split(' ').count());
        assert!(words > 100, "`{}` has {words} words", saved.title);
    }
    println!("{} articles give the golden pages", articles.len());
}

fn time(group: &mut BenchmarkGroup<'_, WallTime>, articles: &[Saved], compat: Compat, fresh: bool) {
    let mut reader = Reader::new(articles, compat);
    let all: usize = articles.iter().map(|saved| saved.answer.body.len()).sum();
    group.throughput(Throughput::Bytes(all as u64)).bench_function("all", |bencher| {
        bencher.iter(|| articles.iter().for_each(|saved| drop(black_box(reader.searched(&saved.title, fresh)))));
    });
    for saved in articles {
        group.throughput(Throughput::Bytes(saved.answer.body.len() as u64));
        group.bench_function(&saved.title, |bencher| bencher.iter(|| black_box(reader.searched(&saved.title, fresh))));
    }
}

/// An episode's use of the tool, its pages from the cache of earlier runs: two pages of 130 KB to 150 KB, one lookup.
fn episode(criterion: &mut Criterion, articles: &[Saved]) {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Arc::new(Cache::open(folder.path()).expect("a cache"));
    let (compat, runtime) = (Compat::Paper, runtime());
    let shelf = Shelf::new(articles, compat);
    for answer in shelf.answers.values() {
        answer.blocking_lock().content_type = Some("text/html; charset=UTF-8".to_owned());
    }
    let identity = SourceIdentity::new("html", compat, Some("http://127.0.0.1"));
    let source = Arc::new(Cached::new(shelf, identity, Arc::clone(&cache)));
    let episode = || {
        runtime.block_on(async {
            let mut session = Session::new(source.clone(), compat, SessionOptions::default());
            for (tool, input) in
                [(Tool::Search, "Timeline of computing"), (Tool::Search, "Awareness"), (Tool::Lookup, "named after")]
            {
                session.call(tool, input).await.expect("an observation");
            }
            session
        })
    };
    episode();
    criterion.bench_function("episode from the cache", |bencher| bencher.iter(|| black_box(episode())));
    assert_eq!(cache.counts().misses, 2);
}

#[expect(clippy::print_stderr, reason = "what was not measured is said")]
fn extraction(criterion: &mut Criterion) {
    if !cfg!(shared) {
        eprintln!("skipped: ../shared is not here");
        return;
    }
    let articles = articles(&shared::folder());
    check(&articles);
    for (name, compat, fresh) in
        [("paper", Compat::Paper, true), ("fixed", Compat::Fixed, true), ("again", Compat::Paper, false)]
    {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
        time(&mut group, &articles, compat, fresh);
        group.finish();
    }
    episode(criterion, &articles);
}

criterion_group!(benches, extraction);
criterion_main!(benches);
