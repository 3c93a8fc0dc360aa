//! The list of questions: its columns and their order, the search of the steps, the table that it saves.

use super::odd::repeated;
use super::{SIX, TWO, ids_of, page_of, shown};
use crate::browser::Browser;
use crate::common::read;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const HEADS: &str = "[...document.querySelectorAll('.rows thead button')].map((own) => own.innerText)";
const SORTED: &str =
    "[...document.querySelectorAll('.rows th[aria-sort]')].map((own) => `${own.ariaSort} ${own.innerText}`)";

fn of_column(kind: &str) -> String {
    format!("[...document.querySelectorAll('.rows td.{kind}')].map((own) => own.innerText)")
}

/// A click on the head of a column.
fn sort(browser: &mut Browser, title: &str) {
    let script =
        format!("[...document.querySelectorAll('.rows thead button')].find((own) => own.title === 'Sort by {title}')");
    browser.eval(&format!("{script}.focus()"));
    browser.eval("document.activeElement.click()");
    assert_eq!(browser.eval("document.activeElement.title"), format!("Sort by {title}"), "the head keeps the focus");
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().expect("texts").iter().map(|text| text.as_str().expect("a text")).collect()
}

#[test]
fn every_column_sorts_and_the_reader_chooses_them() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(TWO);
    browser.page(&page, "#/");
    let heads = browser.eval(HEADS);
    assert_eq!(heads, json!(["id", "question", "gold answer", "react", "react answer", "cot", "cot answer"]));
    for title in texts(&heads) {
        sort(&mut browser, title);
        assert_eq!(browser.eval(SORTED), json!([format!("ascending {title} ▲")]));
        sort(&mut browser, title);
        assert_eq!(browser.eval(SORTED), json!([format!("descending {title} ▼")]));
        sort(&mut browser, title);
        assert_eq!((browser.eval(SORTED), browser.eval("location.hash")), (json!([]), json!("#/")));
    }
    assert_eq!(browser.text(".rows td.id"), "sample-001", "the order of the dataset");

    // Steps, as numbers; a link keeps columns and order.
    browser.click(".menu summary");
    browser.click(".menu input[value=steps]");
    browser.click(".menu input[value=gold]");
    sort(&mut browser, "react steps");
    let hash = browser.eval("location.hash");
    let hash = hash.as_str().expect("an address");
    assert_eq!(hash, "#/?order=steps%3Areact&columns=id%2Cmarks%2Canswers%2Csteps");
    browser.page(&page, hash);
    let records = dir.records("run").into_iter().filter(|record| record["variant"] == "react");
    let mut steps: Vec<usize> = records.map(|record| record["steps"].as_array().map_or(0, Vec::len)).collect();
    steps.sort_unstable();
    let listed = browser.eval(&of_column("steps"));
    let listed: Vec<usize> = texts(&listed).iter().step_by(2).filter_map(|n| n.parse().ok()).collect();
    assert!(listed.len() > 20, "{listed:?}");
    assert_eq!(listed, steps[..listed.len()]);
    assert_eq!(browser.count(".rows td.gold"), 0);
    browser.is_accessible();
    // A number of the tables above keeps the columns.
    browser.click("#flips button.cell");
    browser.until("location.hash.includes('show=flip') && location.hash.includes('columns=')");
    browser.click(".menu summary");
    browser.is_accessible();
    browser.key("Escape", "");
    browser.click(".menu button");
    assert_eq!(browser.eval(HEADS), heads);
    browser.page(&page, "#/?columns=none&order=mark:nobody");
    assert_eq!(browser.eval(HEADS), json!(["question"]));
    assert!(browser.text("#list .notice").contains("mark:nobody"));
    browser.is_clean();
}

#[test]
fn six_variants_and_long_ids_fit() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(SIX);
    dir.write("long.html", repeated(&read(page), 2));
    browser.page(&dir.path("long.html"), "#/?columns=id,gold,marks,right");
    let sideways =
        "(() => { const box = document.querySelector('.rows'); return box.scrollWidth - box.clientWidth; })()";
    assert_eq!(browser.eval(sideways), 0);
    assert_eq!(browser.eval("document.querySelector('.rows td.question').clientWidth > 300"), true);
    let cut = "[...document.querySelectorAll('.rows :is(td.id, td.mark, th)')].filter((own) => own.scrollWidth > own.clientWidth).map((own) => own.innerText)";
    assert_eq!(browser.eval(cut), json!([]), "ids, marks and heads are whole");
    let id = "00000-5a8b57f25542995d";
    let copied = "(() => { getSelection().selectAllChildren(document.querySelector('.rows td.id')); return String(getSelection()); })()";
    assert_eq!(browser.eval(copied), id);
    assert_eq!(browser.eval("document.querySelector('.rows td.id span').title"), id);
    browser.is_accessible();
    browser.size(390, 844);
    browser.page(&dir.path("long.html"), "#/?columns=id,gold,marks,answers,steps,type,right");
    assert_eq!(browser.eval(sideways), 0);
    browser.click(".menu summary");
    browser.is_clean();
    browser.is_accessible();
    browser.picture("six-list-390");
}

#[test]
fn the_search_reads_the_steps_and_says_so() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(TWO);
    let search = |browser: &mut Browser, text: &str| {
        let script = format!(
            "{{ const field = document.querySelector('#search'); field.value = {}; field.dispatchEvent(new Event('input')); }}",
            json!(text)
        );
        browser.eval(&script);
        browser.until("document.querySelector('.found').innerText.includes('The steps were searched')");
        browser.eval(&of_column("id")).as_array().expect("ids").clone()
    };
    browser.page(&page, "#/");
    // By hand: whose steps have the text.
    let of_step = |step: &Value| {
        let parts = ["thought", "action_text", "observation"];
        parts.iter().any(|part| step[part].as_str().is_some_and(|text| text.contains("Ghislanzoni")))
    };
    let records = dir.records("run").into_iter();
    let found = records.filter(|record| record["steps"].as_array().is_some_and(|steps| steps.iter().any(of_step)));
    let known: BTreeSet<String> = found.map(|record| record["id"].as_str().expect("an id").to_owned()).collect();
    let known: Vec<String> = known.into_iter().collect();
    assert!(!known.is_empty());
    assert_eq!(search(&mut browser, "GHISLANZONI"), known);
    assert!(browser.text(".rows td.question").starts_with("react, step 1"), "where it was found");
    for text in ["Târgu", "Ta\u{302}rgu", "targu"] {
        assert!(search(&mut browser, text).contains(&json!("sample-008")), "{text}");
    }
    assert!(search(&mut browser, "jorn UTZON").contains(&json!("sample-007")));
    assert!(search(&mut browser, "zzz").is_empty());
    assert!(browser.text(".found").contains("they add none"));
    browser.is_accessible();
    // A question that was opened cold knows its place in what was found.
    browser.page(&page, &format!("#/q/{}?q=ghislanzoni", known[0]));
    browser.until(&format!("document.querySelector('.walk .where')?.innerText === '1 of {}'", known.len()));
    browser.is_clean();

    dir.wikitrail(&["report", "run", "--episodes", "none", "--out", "small.html"]).ok();
    browser.page(&dir.path("small.html"), "#/?q=ghislanzoni");
    assert_eq!(shown(&mut browser), 0);
    assert!(browser.text(".found").contains("The steps of 60 questions are not in this file"));
}

#[test]
fn the_rows_of_the_filter_are_saved_as_a_table() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(TWO);
    browser.page(&page, "#/?show=wrong&variant=cot&order=-id");
    let saved = browser.download("questions.csv", "document.querySelector('.found button').click()");
    let mut table = csv::Reader::from_reader(saved.as_bytes());
    let heads: Vec<String> = table.headers().expect("heads").iter().map(str::to_owned).collect();
    assert_eq!(heads[..4], ["id", "question", "gold answer", "react: answer"]);
    assert_eq!(heads[7..], ["cot: answer", "cot: right", "cot: class", "cot: steps"]);
    let rows: Vec<csv::StringRecord> = table.records().collect::<Result<_, _>>().expect("rows");
    let known = dir.wikitrail(&["show", "run@cot", "--wrong", "--json"]).ok().lines();
    assert_eq!(rows.len(), known.len());
    for (row, line) in rows.iter().zip(known.iter().rev()) {
        assert_eq!([&row[0], &row[8]], [line["id"].as_str().expect("an id"), "0"]);
        assert_eq!(&row[9], line["failure"]["class"].as_str().expect("a class"));
    }
    let ids: Vec<&str> = rows.iter().map(|row| &row[0]).collect();
    let mut listed = ids_of(&dir, &["--variant", "cot", "--wrong"]);
    listed.reverse();
    assert_eq!(ids, listed);
}

#[test]
fn repeats_are_shares_and_the_unstable_ones_are_those_of_show() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, _) = page_of(&["--limit", "10", "--repeats", "3"]);
    let path = dir.path("run/trajectories.jsonl");
    let changed: Vec<String> = dir
        .records("run")
        .into_iter()
        .map(|mut record| {
            // No, one, two or all of three repeats are right.
            let (at, repeat) =
                (record["index"].as_u64().expect("a number"), record["repeat"].as_u64().expect("a number"));
            record["answer"] = if repeat < at % 4 { record["answers"][0].clone() } else { json!("something else") };
            format!("{record}\n")
        })
        .collect();
    std::fs::write(path, changed.concat()).expect("written");
    dir.wikitrail(&["report", "run", "--out", "page.html"]).ok();
    browser.page(&dir.path("page.html"), "#/?order=-mark:main");
    let marks = browser.eval(&of_column("mark"));
    let shares: Vec<&str> = texts(&marks).iter().map(|text| &text[..3]).collect();
    assert_eq!(shares, ["3/3", "3/3", "2/3", "2/3", "1/3", "1/3", "1/3", "0/3", "0/3", "0/3"], "{marks}");
    browser.choose("show", "unstable");
    let listed: BTreeSet<String> = texts(&browser.eval(&of_column("id"))).iter().map(|id| (*id).to_owned()).collect();
    let known: BTreeSet<String> = ids_of(&dir, &["--unstable"]).into_iter().collect();
    assert_eq!((listed.len(), &listed), (5, &known));
    browser.is_clean();
    browser.is_accessible();
}
