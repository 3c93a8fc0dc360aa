//! Judgements on the page, and the file that they are saved as.

use super::{TWO, page_of};
use crate::browser::Browser;
use crate::common::lines;
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
    judge(&mut browser, "right", "no", "search");
    browser.until("document.querySelector('#judge-right').innerText.includes('blind')");
    assert_eq!(browser.eval(told), true, "and now they are shown");
    assert!(browser.text(".side:first-child").contains("hidden until you judge"), "the other side is still hidden");
    browser.eval("localStorage.clear()");
}
