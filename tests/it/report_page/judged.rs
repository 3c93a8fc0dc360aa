//! Judgements on the page, and the file that they are saved as.

use super::{TWO, page_of};
use crate::browser::Browser;
use crate::common::{Ran, WorkDir, lines};
use serde_json::json;

/// Fills the form of one side and sends it.
pub(super) fn judge(browser: &mut Browser, side: &str, correct: &str, class: &str) {
    let script = format!(
        "{{ const form = document.querySelector('#judge-{side}').closest('details').querySelector('form');
           form.querySelector('input[value={correct}]').click();
           const [why, step] = form.querySelectorAll('select');
           why.value = '{class}'; step.value = '1';
           const [note, name] = form.querySelectorAll('input[type=text]');
           note.value = 'seen \"it\"'; name.value = 'Ada';
           form.querySelector('button').click(); }}"
    );
    browser.eval(&script);
}

#[test]
fn judgements_are_kept_saved_and_imported() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(TWO);
    browser.page(&page, "#/q/sample-003");
    judge(&mut browser, "right", "no", "hallucination");
    browser.until("document.querySelector('#judge-right').innerText.includes('wrong, hallucination')");
    // The same person thinks again: the later judgement counts.
    judge(&mut browser, "right", "no", "search");
    browser.until("document.querySelector('#judge-right').innerText.includes('wrong, search, from step 1 (Ada)')");
    browser.is_clean();
    browser.is_accessible();
    // Still there when the page is opened again.
    browser.page(&page, "#/q/sample-003");
    assert!(browser.text("#judge-right").contains("wrong, search"));
    assert_eq!(browser.text("#judge-left"), "Judge this episode");
    judge(&mut browser, "left", "yes", "");
    browser.until("document.querySelector('#judge-left').innerText.includes('correct')");
    browser.page(&page, "");
    assert_eq!(browser.count(".rows .judged"), 1);
    assert_eq!(browser.text(".tools button"), "Save my judgements (2)");
    let saved = browser.download("annotations.jsonl", "document.querySelector('.tools button').click()");
    let judgements = lines(&saved);
    let [second, first] = &judgements[..] else { panic!("{saved}") };
    let record = dir
        .records("run")
        .into_iter()
        .find(|record| record["id"] == "sample-003" && record["variant"] == "cot")
        .expect("a record");
    assert_eq!(second["key"], record["key"]);
    assert_eq!(
        (&second["correct"], &second["class"], &second["step"], &second["blind"]),
        (&json!(false), &json!("search"), &json!(1), &json!(false))
    );
    assert_eq!(
        (&first["variant"], &first["correct"], &first["note"]),
        (&json!("react"), &json!(true), &json!("seen \"it\""))
    );
    dir.write("saved.jsonl", &saved);
    let taken = dir.wikitrail(&["annotate", "run", "--import", "saved.jsonl"]).ok();
    assert!(taken.stdout.contains("2 judgements taken"), "{}", taken.stdout);
    browser.eval("localStorage.clear()");
}

#[test]
fn a_blind_judge_sees_what_the_rules_say_only_afterwards() {
    let Some(mut browser) = Browser::open() else { return };
    let (_dir, page) = page_of(TWO);
    browser.page(&page, "");
    browser.click(".tools input");
    let visible = "[...document.querySelectorAll('.rows .mark')].some((own) => /[✓✗]/.test(own.innerText))";
    assert_eq!(browser.eval(visible), false, "the list hides them");
    browser.page(&page, "#/q/sample-003");
    let told = "/[✓✗]|EM [01]|grounding/.test(document.querySelector('#question').innerText)";
    assert_eq!((browser.eval(told), browser.count(".evidence")), (json!(false), 0));
    assert_eq!(browser.eval("document.querySelector('.judge').open"), true, "the form is open");
    let names = "/\\b(react|cot)\\b/.test(document.querySelector('#question').innerText)";
    assert_eq!(browser.eval(names), false, "the variants are hidden too");
    judge(&mut browser, "right", "no", "search");
    browser.until("document.querySelector('#judge-right').innerText.includes('blind')");
    assert_eq!(browser.eval(names), true);
    assert_eq!(browser.eval(told), true, "and now they are shown");
    assert!(browser.text(".side:first-child").contains("hidden until you judge"), "the other side is still hidden");
    browser.eval("localStorage.clear()");
}

/// The questions of the episodes that `annotate` shows, in its order.
fn terminal(dir: &WorkDir, sample: &[&str]) -> Vec<String> {
    dir.write("keys", "-\n".repeat(30));
    let args = [&["annotate", "run", "--by", "x"], sample].concat();
    let keys = std::fs::File::open(dir.path("keys")).expect("a file");
    let shown = Ran::from(&dir.command(&args).stdin(keys).output().expect("it runs")).ok().stdout;
    let id = |line: &str| line.trim().strip_prefix("id ")?.trim().split(' ').next().map(str::to_owned);
    shown.lines().filter_map(id).collect()
}

#[test]
fn the_queue_is_the_sample_of_the_terminal_and_takes_its_keys() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(TWO);
    let expected = terminal(&dir, &["--sample", "20", "--seed", "7"]);
    assert_eq!(expected.len(), 20);
    browser.page(&page, "#/?sample=20&seed=7");
    let id = "decodeURIComponent(location.hash.slice(4).split('?')[0])";
    for (at, id_of) in (1..).zip(&expected) {
        browser.until(&format!("document.querySelector('.queue b')?.innerText === '{at} of 20'"));
        assert_eq!(browser.eval(id), id_of.as_str());
        let told = "/[✓✗]|EM [01]|grounding|\\b(react|cot)\\b/.test(document.querySelector('#question').innerText)";
        assert_eq!(browser.eval(told), false, "{id_of}");
        browser.keys("-");
    }
    browser.until("!document.querySelector('#overview').hidden");

    // A key judges and goes on, with the number of a step before it; a name is needed first.
    browser.page(&page, "#/?sample=20&seed=7");
    browser.keys("s");
    browser.keys("Ada");
    browser.eval("document.activeElement.blur()");
    browser.keys("1s");
    browser.until("document.querySelector('.queue b')?.innerText === '2 of 20'");
    assert!(browser.text(".queue .facts").contains("you say wrong, search, from step 1; the rules: "));
    browser.keys("y");
    browser.until("document.querySelector('.queue b')?.innerText === '3 of 20'");
    browser.is_accessible();
    browser.picture("queue");
    // The last judgement is taken back, and its episode is there again; it is not blind any more.
    browser.keys("z");
    browser.until("document.querySelector('.queue b')?.innerText === '2 of 20'");
    assert_eq!(browser.text("#judge-left"), "Judge this episode");
    browser.keys("g");
    browser.until("document.querySelector('.queue b')?.innerText === '3 of 20'");
    browser.keys("q");
    browser.until("!document.querySelector('#overview').hidden");
    let save = "[...document.querySelectorAll('.tools button')].find((own) => own.innerText.startsWith('Save'))";
    assert_eq!(browser.eval(&format!("{save}.innerText")), "Save my judgements (2)");
    let saved = browser.download("annotations.jsonl", &format!("{save}.click()"));
    let said: Vec<_> = lines(&saved)
        .iter()
        .map(|one| json!([one["id"], one["correct"], one["class"], one["step"], one["blind"]]))
        .collect();
    assert_eq!(said[0], json!([expected[0], false, "search", 1, true]));
    assert_eq!(said[1], json!([expected[1], null, "gold-wrong", null, false]));
    // What is judged is passed over.
    browser.page(&page, "#/?sample=20&seed=7");
    browser.until("document.querySelector('.queue b')?.innerText === '3 of 20'");
    browser.page(&page, "#/?sample=none");
    browser.until("document.querySelector('#list .notice')?.innerText.includes('whole numbers')");
    browser.eval("localStorage.clear()");
    browser.is_clean();
}

#[test]
fn labels_of_others_and_the_agreement_are_shown_afterwards() {
    let Some(mut browser) = Browser::open() else { return };
    let dir = WorkDir::new();
    dir.run(&["--quiet", "--method", "react,cot", "--out", "run"]).ok();
    dir.write(
        "ben.csv",
        "id,variant,correct,class,note\nsample-003,cot,no,search,<i>seen</i>\nsample-003,react,no,lookup,\n",
    );
    dir.wikitrail(&["annotate", "run", "--import", "ben.csv", "--by", "ben"]).ok();
    dir.wikitrail(&["report", "run", "--out", "page.html"]).ok();
    browser.page(&dir.path("page.html"), "");
    browser.click(".tools input");
    browser.page(&dir.path("page.html"), "#/q/sample-003?left=react&right=cot");
    assert_eq!(browser.count(".opinion"), 0, "not before a blind judgement");
    judge(&mut browser, "right", "no", "search");
    browser.until("document.querySelector('.opinion') !== null");
    assert_eq!(browser.text(".opinion"), "ben: wrong, search, “<i>seen</i>”");
    assert_eq!(browser.count(".opinion"), 1, "the other side is not judged");
    judge(&mut browser, "left", "yes", "");
    browser.until("document.querySelectorAll('.opinion').length === 2");
    browser.keys("u");
    browser.until("!document.querySelector('#overview').hidden");
    let tools = browser.text(".tools");
    assert!(
        tools.contains("You and ben: right or wrong alike on 1 of 2 episodes and the same class on 1 of 1."),
        "{tools}"
    );
    browser.eval("localStorage.clear()");
}
