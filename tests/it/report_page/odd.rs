//! Pages of odd runs: hostile texts, every protocol, a run that was cut, several runs, a damaged file.

use super::{SIX, page_of, shown};
use crate::browser::Browser;
use crate::common::{WorkDir, read};
use crate::report_command::unpacked;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use std::io::Write as _;

const EVIL: &str =
    "</script><script>window.hit = 1</script><img src=x onerror=\"window.hit = 1\"><!-- \u{202e}gnp\u{0}.exe";

#[test]
fn hostile_texts_are_only_texts() {
    let Some(mut browser) = Browser::open() else { return };
    let dir = WorkDir::new();
    let id = "a/b?c#d%20<i>";
    let line = json!({"id": id, "question": format!("Who? {EVIL}"), "answers": [EVIL], "type": EVIL});
    dir.write("evil.jsonl", format!("{line}\n{}\n", json!({"id": EVIL, "question": "?", "answers": ["a"]})));
    dir.run(&["evil.jsonl", "--method", "react,cot", "--quiet", "--out", "run"]).ok();
    // What a model and a page would have said.
    let path = dir.path("run/trajectories.jsonl");
    let records: Vec<String> = dir
        .records("run")
        .into_iter()
        .map(|mut record| {
            record["answer"] = json!(EVIL);
            for step in record["steps"].as_array_mut().expect("steps") {
                step["thought"] = json!(EVIL);
                step["action_text"] = json!(format!("Search[{EVIL}]"));
                step["observation"] = json!(format!("{EVIL} {}", "x".repeat(1 << 20)));
            }
            format!("{record}\n")
        })
        .collect();
    std::fs::write(path, records.concat()).expect("written");
    dir.wikitrail(&["report", "run", "--out", "page.html"]).ok();
    for width in [1280, 390] {
        browser.size(width, 900);
        browser.page(&dir.path("page.html"), "");
        browser.is_clean();
        browser.is_accessible();
        for place in 0..2 {
            browser.page(&dir.path("page.html"), "");
            browser.click(&format!(".rows tr[data-place='{place}'] a"));
            browser.until("document.querySelectorAll('#question .step').length > 0");
            browser.is_clean();
            let texts = browser.eval("document.querySelector('.thought').textContent");
            assert!(
                texts.as_str().is_some_and(|text| text.contains("<img src=x") && text.contains("\\u{202e}")),
                "{texts}"
            );
            assert_eq!(browser.eval("[window.hit ?? null, document.images.length]"), json!([null, 0]));
            assert!(!browser.eval("document.body.textContent").as_str().expect("a text").contains('\u{202e}'));
            let before = browser.eval("document.querySelector('.observation').textContent.length").as_u64();
            browser.click(".observation button.more");
            let after = browser.eval("document.querySelector('.observation').textContent.length").as_u64();
            assert!(before < Some(10_000) && after > Some(40_000), "a long text is folded: {before:?} {after:?}");
            browser.is_clean();
        }
    }
    browser.page(&dir.path("page.html"), "#/q/a%2Fb%3Fc%23d%2520%3Ci%3E");
    assert!(browser.text("#question .gold").contains(id), "an id with marks of addresses");
    assert_eq!(
        browser.text(".command code"),
        "wikitrail show 'run@react:a/b?c#d%20<i>' 'run@cot:a/b?c#d%20<i>'"
            .replace("'run@react:", "run@react:'")
            .replace("'run@cot:", "run@cot:'")
    );
}

#[test]
fn a_question_with_an_empty_id_opens() {
    let Some(mut browser) = Browser::open() else { return };
    let dir = WorkDir::new();
    let line = |id: &str| json!({"id": id, "question": "Who built it?", "answers": ["a"]});
    dir.write("odd.jsonl", format!("{}\n{}\n", line(""), line("b")));
    dir.run(&["odd.jsonl", "--quiet", "--out", "run"]).ok();
    dir.wikitrail(&["report", "run", "--out", "page.html"]).ok();
    browser.page(&dir.path("page.html"), "#/");
    browser.click(".rows tr[data-place='0'] a");
    browser.until("document.querySelectorAll('#question .step').length > 0");
    browser.page(&dir.path("page.html"), "#/");
    assert_eq!(shown(&mut browser), 2);
}

#[test]
fn every_protocol_and_a_run_that_was_cut_have_a_page() {
    let Some(mut browser) = Browser::open() else { return };
    let all = wikitrail::run::PROTOCOLS.join(",");
    let (dir, page) = page_of(&["--limit", "12", "--protocol", &all]);
    browser.page(&page, "");
    assert_eq!(shown(&mut browser), 12);
    // More variants than there is room for columns.
    assert!(browser.text(".rows tbody tr[data-place] .sum").contains(" of 8 right"));
    assert_eq!(browser.count(".rows thead th.mark"), 2);
    browser.choose("second column", "lagent");
    assert_eq!(browser.text(".rows thead th.mark:last-child"), "lagent");
    for name in wikitrail::run::PROTOCOLS {
        let hash = format!("#/q/sample-003?left={name}&right=lagent");
        browser.page(&page, &hash);
        assert!(browser.count("#question .step") > 0, "{name}");
        browser.is_clean();
    }
    browser.is_accessible();

    let path = dir.path("run/trajectories.jsonl");
    let text = read(&path);
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    std::fs::write(&path, &text[..ends[20] + 40]).expect("written");
    dir.wikitrail(&["report", "run", "--out", "cut.html"]).ok();
    browser.page(&dir.path("cut.html"), "");
    assert!(browser.text("#overview").contains("21 of 96 episodes are recorded"));
    let unasked = browser.eval(
        "[...document.querySelectorAll('.rows .mark')].filter((own) => own.innerText.includes('not asked')).length",
    );
    assert!(unasked.as_u64() > Some(0), "{unasked}");
    browser.click(".rows td a");
    browser.until("document.querySelector('#question h1') !== null");
    browser.is_clean();
    browser.is_accessible();
}

#[test]
fn one_variant_repeats_several_datasets_and_left_out_steps_have_a_page() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(&["--limit", "5", "--repeats", "2"]);
    browser.page(&page, "#/q/sample-003");
    assert_eq!(browser.count("#question .side"), 1);
    assert_eq!(browser.text(".command code"), "wikitrail show run sample-003");
    browser.click("[data-choice='repeat 1']");
    browser.until("location.hash.includes('repeat=1')");
    browser.is_clean();
    browser.is_accessible();

    dir.run(&["datasets/sample-claims.jsonl", "--limit", "5", "--quiet", "--out", "claims"]).ok();
    dir.wikitrail(&["report", "run", "claims", "--out", "both.html"]).ok();
    browser.page(&dir.path("both.html"), "");
    browser.choose("dataset", "1");
    assert_eq!((shown(&mut browser), browser.count(".rows thead th.mark")), (5, 1));
    browser.click(".rows td a");
    browser.until("document.querySelector('#question .step') !== null");
    assert_eq!(browser.count("#question .side"), 1, "variants of another dataset have nothing to say");
    let answers = browser.text("#question .answers");
    assert!(answers.contains("accuracy ") && !answers.contains("EM ") && !answers.contains("F1"), "{answers}");
    browser.is_clean();

    dir.wikitrail(&["report", "run", "--episodes", "none", "--out", "small.html"]).ok();
    browser.page(&dir.path("small.html"), "#/q/sample-003");
    assert!(browser.text("#question .notice").contains("not in this file"));
    assert_eq!(browser.text(".command code"), "wikitrail show run sample-003");
    browser.is_clean();
}

#[test]
fn damaged_data_is_said() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(&["--limit", "3"]);
    let whole = read(page);
    dir.write("table.html", whole.replace("id=\"wt-table\">", "id=\"wt-table\">AAAA"));
    browser.page(&dir.path("table.html"), "");
    assert!(browser.text("[role=alert]").contains("cannot be shown"));
    assert!(browser.count("#scores svg") > 0, "the figures stay");
    dir.write("chunk.html", whole.replace("data-chunk=\"0\">", "data-chunk=\"0\">AAAA"));
    browser.page(&dir.path("chunk.html"), "#/q/sample-003");
    assert!(browser.text("[role=alert]").contains("cannot be read"));
    assert!(browser.text(".command code").starts_with("wikitrail show run"));
}

/// A page with its questions many times over.
pub(super) fn repeated(page: &str, copies: usize) -> String {
    let (head, rest) = page.split_once("id=\"wt-table\">").expect("a table");
    let (table, rest) = rest.split_once("</script>").expect("an end");
    let chunk = |rest: &str| {
        rest.split_once("data-chunk=\"0\">")
            .and_then(|(_, rest)| rest.split_once("</script>"))
            .map(|(text, rest)| (text.to_owned(), rest.to_owned()))
    };
    let (questions, rest) = chunk(rest).expect("a chunk");
    let (mut table, questions) = (unpacked(table), unpacked(&questions));
    let count = table["id"].as_array().expect("ids").len();
    assert_eq!(questions.as_object().map(Map::len), Some(count), "all in one chunk");
    let repeat = |column: &mut Value| {
        let own = column.as_array().expect("a column").clone();
        *column = (0..copies).flat_map(|_| own.clone()).collect();
    };
    for (name, column) in table.as_object_mut().expect("columns") {
        match name.as_str() {
            "variants" => column
                .as_array_mut()
                .expect("variants")
                .iter_mut()
                .flat_map(|own| own.as_object_mut().expect("columns").values_mut())
                .for_each(repeat),
            _ => repeat(column),
        }
    }
    table["id"] = (0..count * copies).map(|at| json!(format!("{at:05}-5a8b57f25542995d"))).collect();
    table["chunk"] = (0..count * copies).map(|at| json!(at / count)).collect();
    let chunks: Vec<String> = (0..copies)
        .map(|copy| {
            let own: Map<String, Value> =
                (0..count).map(|at| ((copy * count + at).to_string(), questions[at.to_string()].clone())).collect();
            format!("<script type=\"text/plain\" data-chunk=\"{copy}\">{}</script>", packed(&Value::Object(own)))
        })
        .collect();
    format!("{head}id=\"wt-table\">{}</script>{}{rest}", packed(&table), chunks.concat())
}

fn packed(value: &Value) -> String {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(value.to_string().as_bytes()).expect("packed");
    STANDARD.encode(packed.finish().expect("packed"))
}

#[test]
fn many_questions_scroll() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(SIX);
    dir.write("many.html", repeated(&read(page), 5));
    for width in [1280, 390] {
        browser.size(width, 844);
        browser.page(&dir.path("many.html"), "");
        browser.eval("document.querySelector('.rows').scrollTop = 1e9");
        browser.until("document.querySelector('tr[data-place=\"299\"]') !== null");
        let sight = browser.eval(
            "(() => { const box = document.querySelector('.rows').getBoundingClientRect(), row = document.querySelector('tr[data-place=\"299\"]').getBoundingClientRect();
               return [Math.round(row.bottom - box.bottom), Math.round(row.height)]; })()",
        );
        assert!(sight[0].as_i64().is_some_and(|gap| (-2..=2).contains(&gap)), "the last row ends the list: {sight}");
        assert_eq!(browser.eval("document.querySelector('.rows table').getAttribute('aria-rowcount')"), "301");
        browser.click("tr[data-place='299'] a");
        browser.until("document.querySelector('.walk .where')?.innerText === '300 of 300'");
        browser.is_clean();
    }
}
