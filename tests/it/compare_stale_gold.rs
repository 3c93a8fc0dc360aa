//! `compare --stale-gold`: flipped answers whose gold left its pages between the dates of two corpora.

use crate::common::WorkDir;
use serde_json::{Value, json};

/// Builds a corpus from titles and texts.
fn corpus(dir: &WorkDir, name: &str, date: &str, extent: &str, pages: &[(&str, &str)]) {
    let lines = pages.iter().map(|(title, text)| json!({"title": title, "text": text}).to_string());
    let lines = lines.collect::<Vec<_>>().join("\n");
    dir.write("pages.jsonl", lines);
    let _ = std::fs::remove_dir_all(dir.path(name));
    dir.wikitrail(&["corpus", "build", name, "--from", "pages.jsonl", "--as-of", date, "--extent", extent, "--quiet"])
        .ok();
}

/// The same corpus with a search that was frozen, which is not part of its id.
fn with_searches(dir: &WorkDir, plain: &str, name: &str) {
    let pack = format!("{name}.jsonl");
    dir.wikitrail(&["corpus", "pack", plain, "--out", &pack]).ok();
    let text = dir.read(&pack);
    let (head, articles) = text.split_once('\n').expect("lines");
    let mut head: Value = serde_json::from_str(head).expect("JSON");
    head["corpus"]["freeze"] = json!({
        "site": "https://wiki.example.org", "permalink": "https://wiki.example.org/?oldid=", "compat": "fixed", "fidelity": "made up",
        "gold_pages": 1, "searches": 1, "left_out": {},
    });
    head["searches"] = json!([{"query": "mayor", "titles": ["Oslo"]}]);
    dir.write(&pack, format!("{head}\n{articles}"));
    dir.wikitrail(&["corpus", "build", name, "--from", &pack, "--quiet"]).ok();
}

const OLD: [(&str, &str); 3] = [
    ("Oslo", "Oslo is a city by the sea.\n\nIts mayor is Ann B. Cook of Oslo."),
    ("Bergen", "Bergen is a city with a lot of rain."),
    ("Gone", "The page of Ulf Berg that nobody kept."),
];
const NEW: [(&str, &str); 2] =
    [("Oslo", "Oslo is a city by the sea.\n\nIts mayor is Dan Eek of Oslo."), ("Bergen", "Bergen has a lot of rain.")];

/// A run over a corpus in which the answers of these questions are wrong and all others right.
fn run(dir: &WorkDir, name: &str, corpus: &str, wrong: &[&str]) {
    dir.run(&["q.jsonl", "--wiki", &format!("corpus:{corpus}"), "--quiet", "--out", name]).ok();
    let mut records = dir.records(name);
    for record in &mut records {
        let right = !wrong.contains(&record["id"].as_str().expect("an id"));
        record["answer"] = if right { record["answers"][0].clone() } else { json!("nobody at all") };
    }
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    dir.write(&format!("{name}/trajectories.jsonl"), lines.concat());
}

fn bench() -> WorkDir {
    let dir = WorkDir::new();
    let question = |id: &str, answer: &str, page: Option<&str>| {
        let facts: Vec<Value> = page.iter().map(|page| json!([page, 0])).collect();
        format!(
            "{}\n",
            json!({"id": id, "question": format!("Who, {id}?"), "answers": [answer], "supporting_facts": facts})
        )
    };
    let questions = [
        question("mayor", "Ann B Cook", Some("Oslo")),
        question("rain", "a lot of rain", Some("Bergen")),
        question("sea", "yes", Some("Oslo")),
        question("page", "Ulf Berg", Some("Gone")),
        question("bare", "Ann B Cook", None),
        question("same", "Ann B Cook", Some("Oslo")),
    ];
    dir.write("q.jsonl", questions.concat());
    corpus(&dir, "plain", "2017-10-01", "lead", &OLD);
    with_searches(&dir, "plain", "w17");
    corpus(&dir, "w26", "2026-11-22", "lead", &NEW);
    // The answer to `same` is right over both.
    run(&dir, "r17", "w17", &["rain"]);
    run(&dir, "r26", "w26", &["mayor", "sea", "page", "bare"]);
    dir
}

/// What the only pair says of its flipped answers, by id.
fn gold(dir: &WorkDir, args: &[&str]) -> (Value, Vec<(String, Value)>) {
    let compared = dir.wikitrail(&[&["compare", "--stale-gold", "--json"], args].concat()).ok().json();
    let flips = &compared["flips"][0];
    let lists = ["gained", "lost"].map(|list| flips[list].as_array().expect("a list").clone()).concat();
    let gold = lists.iter().map(|flip| (flip["id"].as_str().expect("an id").to_owned(), flip["gold"].clone()));
    (flips["editions"].clone(), gold.collect())
}

#[test]
fn gold_that_left_its_page_is_named_and_what_cannot_be_told_is_not_counted() {
    let dir = bench();
    let open = |reason: &str| json!({"state": "undecidable", "reason": reason});
    let expected = [
        ("rain", json!({"state": "still"})),
        ("mayor", json!({"state": "stale", "page": "Oslo"})),
        ("sea", open("the answer is yes, no, a label or free text")),
        ("page", open("the newer corpus lacks the page")),
        ("bare", open("no gold pages")),
    ];
    let expected: Vec<(String, Value)> = expected.map(|(id, gold)| (id.to_owned(), gold)).to_vec();
    let (editions, found) = gold(&dir, &["r17", "r26"]);
    assert_eq!(found, expected);
    assert_eq!((&editions[0][0]["wiki"], &editions[0][1]["as_of"]), (&json!("corpus:w17"), &json!("2026-11-22")));
    // The later date is the newer corpus, whichever run is named first.
    let (mut turned_editions, mut turned) = gold(&dir, &["r26", "r17"]);
    let (mut expected, mut editions) = (expected, editions);
    for list in [&mut turned, &mut expected] {
        list.sort_by_key(|(id, _)| id.clone());
    }
    for editions in [&mut turned_editions, &mut editions] {
        editions[0].as_array_mut().expect("two").iter_mut().for_each(|one| one["variant"] = Value::Null);
    }
    assert_eq!((turned, turned_editions), (expected, editions));
    let shown = dir.wikitrail(&["compare", "r17", "r26", "--stale-gold"]).ok().stdout;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "older r17/main (corpus:w17, 2017-10-01), newer r26/main (corpus:w26, 2026-11-22)",
        "1 of 5 flipped answers: the answer was in this gold page, and is in no gold page of the newer corpus",
        "mayor: Oslo",
        "1 with the answer in a gold page of both",
        "1 cannot be told: the newer corpus lacks the page",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // Nothing is looked for that nobody asked for.
    let plain = dir.wikitrail(&["compare", "r17", "r26", "--flips", "--json"]).ok().stdout;
    assert!(!plain.contains("\"gold\"") && !plain.contains("editions"), "{plain}");
}

#[test]
fn where_gold_cannot_be_told_at_all_the_reason_is_said() {
    let dir = bench();
    let said = |args: &[&str]| {
        let (editions, gold) = gold(&dir, args);
        assert!(gold.iter().all(|(_, gold)| gold.is_null()), "{gold:?}");
        editions[1].as_str().expect("a reason").to_owned()
    };
    run(&dir, "again", "w17", &["sea"]);
    assert_eq!(said(&["r17", "again"]), "both read the same corpus");
    let pages: Vec<(&str, &str)> = NEW.to_vec();
    corpus(&dir, "whole", "2026-11-22", "page", &pages);
    run(&dir, "pages", "whole", &["mayor"]);
    assert!(said(&["r17", "pages"]).starts_with("one corpus has articles of the extent `lead` and the other `page`"));
    corpus(&dir, "w26", "2026-11-23", "lead", &OLD[..2]);
    assert_eq!(said(&["r17", "r26"]), "`corpus:w26` is not the corpus any more that the run read");
    std::fs::remove_dir_all(dir.path("w17")).expect("removed");
    assert!(said(&["r17", "pages"]).starts_with("cannot read `corpus:w17`: "));
    dir.write("a.csv", "id,em\nx,1\n");
    let refused = dir.wikitrail(&["compare", "--from-csv", "a.csv", "a.csv", "--stale-gold"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
}
