//! The page that `view` serves, while its run goes on.

use super::judged::judge;
use crate::browser::Browser;
use crate::common::{WorkDir, lines, read};
use crate::serve_support::Served;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write as _;

/// The run in `results/a` with the episodes of its first question alone; the result is the rest of its records.
fn halved(dir: &WorkDir) -> String {
    dir.run(&["--method", "react,cot", "--limit", "3", "--quiet", "--out", "results/a"]).ok();
    let mut manifest = dir.manifest("results/a");
    manifest["ended_at"] = Value::Null;
    dir.write("results/a/manifest.json", manifest.to_string());
    let path = dir.path("results/a/trajectories.jsonl");
    let text = read(&path);
    // Which episode ends first depends on the machine.
    let is_first = |line: &&str| line.contains(r#""id":"sample-001""#);
    let (kept, later): (Vec<&str>, Vec<&str>) = text.split_inclusive('\n').partition(is_first);
    std::fs::write(&path, kept.concat()).expect("written");
    later.concat()
}

/// Locks the run as a process does that writes it.
fn going(dir: &WorkDir) -> File {
    let lock = File::options().write(true).create(true).truncate(false).open(dir.path("results/a/.lock"));
    let lock = lock.expect("opened");
    lock.lock().expect("free");
    lock
}

fn append(dir: &WorkDir, rest: &str) {
    let file = File::options().append(true).open(dir.path("results/a/trajectories.jsonl"));
    file.expect("opened").write_all(rest.as_bytes()).expect("written");
}

/// A run with its first question done, its lock held, and the page that `view` serves of it.
struct Going {
    served: Served,
    /// The records that the run has yet to write.
    rest: String,
    lock: File,
    dir: WorkDir,
}

impl Going {
    fn new(view: &[&str]) -> Self {
        let dir = WorkDir::new();
        let (rest, lock) = (halved(&dir), going(&dir));
        Self { served: Served::of(dir.root(), &[&["view", "results"], view].concat()), rest, lock, dir }
    }

    /// Opens the run's own page, where its first episodes are listed.
    fn open(&self, browser: &mut Browser) {
        browser.go(&format!("{}run/results%2Fa", self.served.url));
        browser.until("document.querySelector('.live')?.innerText.includes('2 of 6 episodes')");
    }
}

#[test]
fn a_run_that_goes_on_is_followed_and_judged() {
    let Some(mut browser) = Browser::open() else { return };
    let Going { served, rest, lock, dir } = Going::new(&["--annotate"]);
    browser.size(390, 900);
    browser.go(&served.url);
    browser.until("document.documentElement.dataset.ready !== undefined");
    assert!(browser.text("main").contains(" of 3, running"), "{}", browser.text("main"));
    browser.click("main a[href*='run/']");
    browser.until("document.documentElement.dataset.ready !== undefined");
    browser.until("document.querySelector('.live')?.innerText.includes('2 of 6 episodes')");
    assert_eq!(browser.count(".newest li"), 2);
    assert!(browser.text("h1").starts_with("Interim, "), "{}", browser.text("h1"));
    assert!(!browser.text("main").contains("--resume"), "a run that is going is not resumed");
    browser.is_accessible();
    browser.picture("view-run-390");

    // The reader has opened a fold, searched and scrolled.
    browser.size(1280, 700);
    browser.eval("window.before = true; document.querySelector('#settings details').open = true");
    browser.eval("document.querySelector('.search input').focus()");
    browser.keys("e");
    browser.until("location.hash.includes('q=e')");
    browser.eval(
        "window.heading = document.querySelector('#scores h2'); document.querySelector('#questions').scrollIntoView({ behavior: 'instant' })",
    );
    let place = browser.eval("Math.round(document.querySelector('#list').getBoundingClientRect().top)");
    append(&dir, &rest);
    browser.until("document.querySelector('.live').innerText.includes('6 of 6 episodes')");
    browser.until("!document.querySelector('h1').innerText.startsWith('Interim')");
    let stays = "[window.before, document.querySelector('#settings details').open, document.activeElement.matches('.search input'),
        document.querySelector('.search input').value, location.hash.includes('q=e'), window.heading.isConnected]";
    assert_eq!(browser.eval(stays), json!([true, true, true, "e", true, true]));
    let now = browser.eval("Math.round(document.querySelector('#list').getBoundingClientRect().top)");
    let moved = now.as_i64().expect("a place") - place.as_i64().expect("a place");
    assert!(moved.abs() <= 2, "the list moved by {moved}");
    assert!(browser.text(".count").ends_with("of 3 questions"), "{}", browser.text(".count"));
    drop(lock);
    browser.until("document.querySelector('.live').innerText.includes('the run has ended')");
    browser.is_accessible();

    browser.click(".rows td a");
    browser.until("document.querySelector('#judge-left') !== null");
    judge(&mut browser, "left", "no", "search");
    browser.until("document.querySelector('#judge-left').innerText.includes('wrong, search')");
    browser.is_silent();
    let written = lines(&dir.read("results/a/annotations.jsonl"));
    assert_eq!((&written[0]["class"], &written[0]["by"]), (&json!("search"), &json!("Ada")));
}

#[test]
fn an_open_question_stays_while_the_run_goes_on() {
    let Some(mut browser) = Browser::open() else { return };
    let run = Going::new(&[]);
    run.open(&mut browser);
    browser.click(".rows td a");
    browser.until("document.querySelector('#question h1') !== null");
    let asked = browser.text("#question h1");
    browser.eval("window.heading = document.querySelector('#question h1'); undefined");
    append(&run.dir, &run.rest);
    browser.until("document.querySelector('#overview h1').textContent.startsWith('Interim') === false");
    assert_eq!((browser.text("#question h1"), browser.eval("window.heading.isConnected")), (asked, json!(true)));
    browser.click("#question a.next");
    browser.until("document.querySelector('#question h1')?.innerText !== window.heading.innerText");
    browser.is_silent();
}

#[test]
fn text_of_a_run_gets_no_new_way_in_when_the_page_is_renewed() {
    let Some(mut browser) = Browser::open() else { return };
    let run = Going::new(&[]);
    run.open(&mut browser);
    let hostile = "</script></h1><img src=x onerror='window.hit=1'><script>window.hit=1</script>";
    let lines = run.rest.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        record["answer"] = json!(hostile);
        record["outcome"] = json!("not_measured");
        record["detail"] = json!(hostile);
        format!("{record}\n")
    });
    append(&run.dir, &lines.collect::<String>());
    browser.until("document.querySelector('.live').innerText.includes('most often: </script></h1><img')");
    browser.until("document.querySelector('#overview .notice')?.innerText.includes('</script></h1><img')");
    assert_eq!(
        browser.eval("[window.hit ?? null, document.images.length, document.querySelectorAll('main script').length]"),
        json!([null, 0, 0])
    );
    browser.is_silent();
}

#[test]
fn a_tab_finds_its_server_again() {
    let Some(mut browser) = Browser::open() else { return };
    let dir = WorkDir::new();
    let rest = halved(&dir);
    let _lock = going(&dir);
    // The first start only finds a free port.
    let port = Served::of(dir.root(), &["view", "results"]).host().rsplit(':').next().expect("a port").to_owned();
    let serve =
        || Served::with(dir.command(&["view", "results", "--port", &port]).env("XDG_STATE_HOME", dir.path("state")));
    let served = serve();
    let url = served.url.clone();
    browser.go(&format!("{url}run/results%2Fa"));
    browser.until("document.querySelector('.live')?.innerText.includes('2 of 6 episodes')");
    drop(served);
    browser.until("document.querySelector('.live').innerText.includes('the server does not answer')");
    append(&dir, &rest);
    let served = serve();
    assert_eq!(served.url, url, "the address stays");
    browser.until("document.querySelector('.live').innerText.includes('6 of 6 episodes')");
    browser.until("!document.querySelector('h1').innerText.startsWith('Interim')");
}

#[test]
fn the_list_is_sorted_searched_and_compares_two() {
    let Some(mut browser) = Browser::open() else { return };
    let dir = WorkDir::new();
    halved(&dir);
    dir.run(&["--method", "react,cot,act", "--limit", "20", "--quiet", "--out", "results/b"]).ok();
    let served = Served::of(dir.root(), &["view", "results"]);
    for (width, name) in [(1280, "view-list-1280"), (390, "view-list-390")] {
        browser.size(width, 900);
        browser.go(&served.url);
        browser.until("document.documentElement.dataset.ready !== undefined");
        browser.is_clean();
        browser.is_accessible();
        browser.picture(name);
    }
    assert!(
        browser.text(".notice").contains("ago at 2 of 6 episodes; resume with: wikitrail run --out results/a --resume")
    );
    let runs = "[...document.querySelectorAll('tr[data-run]')].filter((row) => row.checkVisibility()).map((row) => row.dataset.run)";
    browser.click("th[data-order=up] button");
    assert_eq!(
        browser.eval(runs),
        json!(["results/a@cot", "results/a@react", "results/b@act", "results/b@cot", "results/b@react"])
    );
    browser.click("th[data-order=up] button");
    assert_eq!(browser.eval(&format!("{runs}[0]")), "results/b@react");
    browser.eval("document.querySelector('input[type=search]').focus()");
    browser.keys("b@ act");
    browser.until("document.querySelector('.count').innerText === '2 of 5 variants'");
    assert_eq!(browser.eval(runs), json!(["results/b@react", "results/b@act"]));
    browser.eval("document.querySelectorAll('tr[data-run*=\"b@\"] input').forEach((box) => box.checkVisibility() && box.click())");
    browser.click("a.compare");
    browser.until("document.querySelector('#differences') !== null");
    assert_eq!(browser.count("#scores tbody tr"), 2);
    browser.click("header nav a");
    browser.until("location.pathname.split('/').length === 3 && document.querySelector('tr[data-run]') !== null");
    browser.click("tr[data-run='results/b@act'] a");
    browser.until("document.querySelector('#list') !== null && location.hash === '#/?variant=act'");
}
