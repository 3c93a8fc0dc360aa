//! The page that `view` serves, while its run goes on.

use super::judged::judge;
use crate::browser::Browser;
use crate::common::{WorkDir, lines, read};
use crate::serve_support::Served;
use serde_json::{Value, json};
use std::io::Write as _;

#[test]
fn a_run_that_goes_on_is_followed_and_judged() {
    let Some(mut browser) = Browser::open() else { return };
    let dir = WorkDir::new();
    dir.run(&["--method", "react,cot", "--limit", "3", "--quiet", "--out", "results/a"]).ok();
    // As it was after the second episode.
    let mut manifest = dir.manifest("results/a");
    manifest["ended_at"] = Value::Null;
    dir.write("results/a/manifest.json", manifest.to_string());
    let path = dir.path("results/a/trajectories.jsonl");
    let text = read(&path);
    let end = text.match_indices('\n').nth(1).expect("two lines").0 + 1;
    std::fs::write(&path, &text[..end]).expect("written");

    let served = Served::of(dir.root(), &["view", "results", "--annotate"]);
    for (width, name) in [(1280, "view-list-1280"), (390, "view-list-390")] {
        browser.size(width, 900);
        browser.go(&served.url);
        browser.is_clean();
        browser.is_accessible();
        browser.picture(name);
    }
    browser.click("main a[href*='run/']");
    browser.until("document.documentElement.dataset.ready !== undefined");
    browser.until("document.querySelector('.live')?.innerText.includes('2 of 6 episodes')");
    assert_eq!(browser.count(".newest li"), 2);
    browser.is_accessible();
    browser.picture("view-run-390");
    assert_eq!(browser.eval("document.querySelector('.live button').checkVisibility()"), false);

    let rest = &text[end..];
    std::fs::OpenOptions::new().append(true).open(&path).expect("opened").write_all(rest.as_bytes()).expect("written");
    browser.until("document.querySelector('.live').innerText.includes('6 of 6 episodes')");
    assert_eq!(browser.eval("document.querySelector('.live button').checkVisibility()"), true, "the page is older");
    browser.eval("window.before = true");
    browser.click(".live button");
    browser.until("window.before === undefined && document.documentElement.dataset.ready !== undefined");
    assert_eq!(browser.text(".count"), "3 of 3 questions");

    browser.click(".rows td a");
    browser.until("document.querySelector('#judge-left') !== null");
    judge(&mut browser, "left", "no", "search");
    browser.until("document.querySelector('#judge-left').innerText.includes('wrong, search')");
    let said: &[String] = &[];
    assert_eq!(browser.said(), said);
    let written = lines(&dir.read("results/a/annotations.jsonl"));
    assert_eq!((&written[0]["class"], &written[0]["by"]), (&json!("search"), &json!("Ada")));
    drop(browser);
}
