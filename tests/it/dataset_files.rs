//! The readers on real dataset files, and the paper's order of the `HotpotQA` development set.

use crate::common;
use std::path::Path;
use wikitrail::score::Metric;
use wikitrail::score::{Dataset, ReadOptions, load_file, select};
use wikitrail::score::{Selection, SupportingFact};

fn load(path: &Path) -> Dataset {
    load_file(path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn real_files_load_with_the_counts_of_their_sources() {
    let shared = common::shared();
    for (file, format, count, answered) in [
        ("hotpot_dev_v1_simplified.json", "hotpotqa", 7405, 7405),
        ("hotpot_test_v1_simplified.json", "hotpotqa", 7405, 0),
        ("hotpot_dev_distractor_v1.partial.json", "hotpotqa", 489, 489),
        ("fever_paper_dev.jsonl", "fever", 9999, 9999),
        ("2wiki_dev.migres200.json", "2wiki", 200, 200),
        ("musique_dev.migres200.json", "musique", 200, 200),
        ("musique_full.cas20.json", "musique", 20, 20),
        ("strategyqa_dev.json", "strategyqa", 229, 229),
        ("bamboogle.json", "bamboogle", 125, 125),
        ("nq_open_dev.jsonl", "nq-open", 3610, 3610),
        ("triviaqa_sample.clivia.json", "triviaqa", 150, 150),
        ("popqa_test.corver.json", "popqa", 14267, 14267),
        ("webquestions_test.json", "webquestions", 2032, 2032),
        ("simpleqa.corver.json", "simpleqa", 4326, 4326),
        ("frames.json", "frames", 824, 824),
    ] {
        let dataset = load(&shared.join("data/datasets").join(file));
        assert_eq!((dataset.format.name(), dataset.questions.len()), (format, count), "{file}");
        assert_eq!(dataset.questions.iter().filter(|q| !q.answers.is_empty()).count(), answered, "{file}");
    }
}

/// The table of sources lists more files than there are here; each that is here has the records that it says.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn every_listed_file_has_its_listed_records() {
    let shared = common::shared();
    let folder = shared.join("data/datasets");
    let table = std::fs::read_to_string(folder.join("SOURCES.md")).expect("the table");
    let mut checked = 0;
    for line in table.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [file, bytes, records, ..] = cells[..] else { continue };
        let (Ok(bytes), Ok(records)) = (bytes.parse::<u64>(), records.parse::<usize>()) else { continue };
        let path = folder.join(file);
        if !path.exists() {
            continue;
        }
        assert_eq!(path.metadata().expect("a file").len(), bytes, "{file}");
        let dataset = load(&path);
        assert_eq!((dataset.questions.len(), dataset.skipped.len()), (records, 0), "{file}");
        checked += 1;
    }
    let data = |name: &str| name != "SOURCES.md";
    let entries = std::fs::read_dir(&folder).expect("the folder").map(|entry| entry.expect("an entry").file_name());
    assert_eq!(checked, entries.filter(|name| data(&name.to_string_lossy())).count());
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_papers_order_is_the_recorded_one() {
    let shared = common::shared();
    let text = common::read(shared.join("golden/scoring/react_seed233_indices.json"));
    let golden: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let expected = indices(&golden["all"]);
    assert_eq!(expected.len(), 7405);
    // The paper shuffles the same range for FEVER, whose file is longer.
    for (file, count) in [("hotpot_dev_v1_simplified.json", 7405), ("fever_paper_dev.jsonl", 9999)] {
        let dataset = load(&shared.join("data/datasets").join(file));
        let selection = Selection { shuffle_like_paper: Some(233), ..Selection::default() };
        let selected = select(dataset.questions.clone(), &selection).expect("a selection");
        let order: Vec<u64> = selected.iter().map(|question| question.index as u64).collect();
        assert_eq!(order.len(), count);
        assert_eq!(order[..7405], expected);
    }
}

fn indices(list: &serde_json::Value) -> Vec<u64> {
    list.as_array().expect("a list").iter().map(|i| i.as_u64().expect("an index")).collect()
}

fn ours(name: &str) -> Dataset {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets").join(name))
}

/// How many bridges, comparisons and questions of yes or no there are.
fn kinds(dataset: &Dataset) -> [usize; 3] {
    ["bridge", "comparison", "yesno"]
        .map(|kind| dataset.questions.iter().filter(|question| question.kind.as_deref() == Some(kind)).count())
}

#[test]
fn our_own_sample_is_what_its_documentation_says() {
    assert_eq!(kinds(&ours("sample.jsonl")), [40, 15, 5]);
    assert_eq!(ours("sample-claims.jsonl").questions.len(), 30);
}

#[test]
fn our_chinese_sample_is_answered_by_its_corpus() {
    let sample = ours("sample-zh.jsonl");
    assert_eq!(kinds(&sample), [16, 5, 3]);
    let articles = common::lines(&common::repository("datasets/sample-wiki-zh/articles.jsonl"));
    assert_eq!(articles.len(), 67);
    for question in &sample.questions {
        assert_eq!(Metric::for_question(question), Metric::Characters, "{}", question.id);
        assert!(!question.supporting_facts.is_empty(), "{}", question.id);
        for page in &question.context {
            let article = articles.iter().find(|article| article["title"] == page.title).expect("its article");
            assert_eq!(article["blocks"][0], page.sentences.concat(), "{}", question.id);
        }
        for SupportingFact(title, sentence) in &question.supporting_facts {
            let page = question.context.iter().find(|page| page.title == *title).expect("its page");
            assert!(usize::try_from(*sentence).is_ok_and(|at| at < page.sentences.len()), "{}: {title}", question.id);
        }
    }
}
