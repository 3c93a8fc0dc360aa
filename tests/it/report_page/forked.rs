//! A branch on the page: what is copied once, then control and edited branch side by side.

use crate::browser::Browser;
use crate::common::WorkDir;
use std::path::PathBuf;

/// A run of the sample, one branch of `sample-001` at step 2 under these flags, and its page.
fn forked(flags: &[&str]) -> (WorkDir, PathBuf) {
    let dir = WorkDir::new();
    dir.wikitrail(&["run", "--quiet", "--limit", "3", "--out", "r"]).ok();
    let fixed = ["branch", "r:sample-001", "--at", "2", "--quiet", "--out", "b"];
    dir.wikitrail(&[&fixed[..], flags].concat()).ok();
    dir.wikitrail(&["report", "b", "--out", "page.html"]).ok();
    let page = dir.path("page.html");
    (dir, page)
}

#[test]
fn a_fork_has_what_is_copied_once_and_names_the_edit_as_show_does() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = forked(&["--action", "Search[Carl <b>Nielsen</b>]"]);
    for (width, height) in [(1280, 900), (390, 844)] {
        for scheme in ["light", "dark"] {
            browser.size(width, height);
            browser.media("", scheme);
            browser.page(&page, "#/q/sample-001");
            browser.is_clean();
            browser.is_accessible();
            browser.picture(&format!("fork-{width}-{scheme}"));
        }
    }
    browser.page(&page, "");
    browser.eval("document.querySelector('#branches details').open = true");
    browser.is_accessible();
    for (width, scheme) in [(1280, "light"), (390, "light"), (1280, "dark")] {
        browser.size(width, 900);
        browser.media("", scheme);
        browser.eval("document.querySelector('#branches').scrollIntoView()");
        browser.picture(&format!("repairs-{width}-{scheme}"));
    }
    browser.click("#branches a");
    browser.until("document.querySelector('#question .fork') !== null");
    let (parent, edit) = ("r@main:sample-001, repeat 0", "action edited: search[Carl <b>Nielsen</b>]");
    let said = browser.text(".fork");
    assert!(said.contains(&format!("Both branch off {parent}, at step 2:")), "{said}");
    assert!(said.contains("control: the unedited control") && said.contains(&format!("edited: {edit}")), "{said}");
    assert_eq!(browser.text(".shared summary"), format!("Step 1 is copied from {parent}"));
    assert_eq!(browser.count(".shared .step"), 1);
    let head = |column: usize| format!(".columns > section:nth-child({column}) .step h3");
    assert!(!browser.text(&head(1)).contains("edited"), "{}", browser.text(&head(1)));
    assert!(browser.text(&head(2)).contains("action edited"), "{}", browser.text(&head(2)));
    let command = browser.text(".command code");
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    let shown = dir.wikitrail(&args).ok().stdout;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [
        &format!("both branch off {parent}, at step 2"),
        edit,
        "step 1, copied by both",
        "at step 2, the unedited control",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}

#[test]
fn a_fork_that_changes_nothing_says_what_was_edited() {
    let Some(mut browser) = Browser::open() else { return };
    // The steps of the baseline do not depend on the prompt.
    let (_dir, page) = forked(&["--prompt", "prompts/fever.toml"]);
    browser.page(&page, "#/q/sample-001");
    assert!(browser.text(".fork").contains("edited: another prompt: "), "{}", browser.text(".fork"));
    assert!(browser.text(".divergence").contains("did the same in every step"));
    assert_eq!((browser.count(".shared .step"), browser.count(".columns")), (1, 0));
    assert!(browser.count(".column.alone .step") > 0);
    browser.is_clean();
}
