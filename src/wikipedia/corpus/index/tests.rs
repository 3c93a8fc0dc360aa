//! Which words of a query count, and what that changes.

use super::{IndexWriter, MAX_RARE_WORDS, Rule, TextIndex};
use crate::tests::shared;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// How many titles a search gives.
const SHOWN: usize = 20;

/// Titles and their texts.
type Articles = BTreeMap<String, String>;

/// The index of these articles under each rule.
fn indexes(articles: &Articles) -> [TextIndex; 2] {
    let mut writer = IndexWriter::in_memory().expect("a writer");
    for (title, text) in articles {
        writer.add(title, std::iter::once(text.as_str())).expect("memory");
    }
    let index = writer.finish().expect("an index");
    [Rule::All, Rule::Rare].map(|rule| TextIndex::over(&index, rule).expect("an index"))
}

#[test]
fn common_words_give_way_to_two_rarer_ones() {
    let numbers = (0..100).map(|n| {
        let rare = if n < 5 { "rare" } else { "" };
        let half = if n % 2 == 0 { "half" } else { "" };
        (format!("Page {n:02}"), format!("the word{n} {rare} {half} uncommon{}", n / 6))
    });
    let [all, rare] = indexes(&numbers.collect());
    let kept = |query: &str| rare.rarest(query.split(' ').collect()).expect("an index").join(" ");
    for (query, counting) in [
        ("the half page", "the half page"),
        ("the page", "the page"),
        ("the", "the"),
        ("the half", "the half"),
        ("the rare half", "rare half"),
        ("the word1 half rare", "word1 rare"),
        ("half nowhere the never", "half the"),
        ("the half uncommon3 uncommon4", "uncommon3 uncommon4"),
        ("nowhere", ""),
        ("", ""),
    ] {
        assert_eq!(kept(query), counting, "{query}");
    }
    let long: Vec<String> =
        (0..30).map(|n| format!("uncommon{}", n % 10)).chain((0..20).map(|n| format!("word{n}"))).collect();
    let expected: Vec<String> = (0..20).take(MAX_RARE_WORDS).map(|n| format!("word{n}")).collect();
    assert_eq!(kept(&long.join(" ")), expected.join(" "), "the rarest, the first of equally rare ones");
    for query in ["the", "word7", "uncommon3 rare", "nothing like it"] {
        assert_eq!(rare.search(query, SHOWN).expect("hits"), all.search(query, SHOWN).expect("hits"), "{query}");
    }
}

/// CPU time of this thread in microseconds, as Linux counts it.
fn cpu_us() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).map_or(f64::NAN, |ns: f64| ns / 1_000.0)
}

/// Compares the rules over one corpus: `golds` has a question's gold titles, or none.
#[expect(clippy::print_stdout, reason = "the figures")]
#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn compare(name: &str, articles: &Articles, questions: &[(String, HashSet<String>)]) {
    let titles: Vec<&String> = articles.keys().collect();
    let [all, rare] = indexes(articles);
    let mut same = 0;
    let mut common = 0;
    let mut golds = 0;
    let mut found = [[0; 2]; 2];
    let mut time = [0.0; 2];
    let mut short = [0; 2];
    for (question, gold) in questions {
        let lists = [(&all, 0), (&rare, 1)].map(|(index, at)| {
            let before = cpu_us();
            let hits: Vec<u32> = index.search(question, SHOWN).expect("hits").iter().map(|hit| hit.number).collect();
            time[at] += cpu_us() - before;
            short[at] += usize::from(hits.len() < 5);
            hits
        });
        same += usize::from(lists[0].iter().take(5).eq(lists[1].iter().take(5)));
        common += lists[1].iter().filter(|hit| lists[0].contains(hit)).count();
        golds += gold.len();
        for (list, found) in lists.iter().zip(&mut found) {
            for (shown, found) in [5, SHOWN].into_iter().zip(found) {
                *found += list.iter().take(shown).filter(|&&hit| gold.contains(titles[hit as usize])).count();
            }
        }
    }
    let share = |count: usize, of: usize| if of == 0 { f64::NAN } else { 100.0 * count as f64 / of as f64 };
    let n = questions.len();
    println!("{name}: {} articles, {n} questions, rule before -> rule now", titles.len());
    println!("  same first 5 {:.1} %, of the 20 in both {:.1} %", share(same, n), share(common, SHOWN * n));
    println!("  fewer than 5 titles {:.1} -> {:.1} %", share(short[0], n), share(short[1], n));
    println!("  gold titles in 5 {:.1} -> {:.1} %", share(found[0][0], golds), share(found[1][0], golds));
    println!("  gold titles in 20 {:.1} -> {:.1} %", share(found[0][1], golds), share(found[1][1], golds));
    println!("  CPU us a search {:.0} -> {:.0}", time[0] / n as f64, time[1] / n as f64);
    assert!(found[1][0] * 100 >= found[0][0] * 99, "gold titles in 5: {found:?}");
    assert!(found[1][1] >= found[0][1], "gold titles in 20: {found:?}");
}

/// Prints the figures of `docs/corpora.md`, and holds that the rule loses no gold titles. `LEADS` may name a file of `scripts/synthetic_leads.py`.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn what_the_rule_changes() {
    let text = shared::text("data/datasets/hotpot_dev_distractor_v1.partial.json");
    let questions: Vec<Value> = serde_json::from_str(&text).expect("questions");
    let mut articles = Articles::new();
    let mut asked = Vec::new();
    for question in &questions {
        for pair in question["context"].as_array().expect("a list") {
            let (title, sentences): (String, Vec<String>) = serde_json::from_value(pair.clone()).expect("a paragraph");
            articles.insert(title, sentences.concat());
        }
        let facts = question["supporting_facts"].as_array().expect("a list");
        let gold = facts.iter().map(|fact| fact[0].as_str().expect("a title").to_owned()).collect();
        asked.push((question["question"].as_str().expect("a text").to_owned(), gold));
    }
    let text = shared::text("data/datasets/hotpot_dev_v1_simplified.json");
    let others: Vec<Value> = serde_json::from_str(&text).expect("questions");
    let others = others
        .iter()
        .take(500)
        .map(|question| (question["question"].as_str().expect("a text").to_owned(), HashSet::new()));
    let others: Vec<_> = others.collect();
    compare("contexts, their questions", &articles, &asked);
    compare("contexts, other questions", &articles, &others);
    if let Some(leads) = std::env::var_os("LEADS") {
        let lines = std::fs::read_to_string(Path::new(&leads)).expect("leads");
        for line in lines.lines() {
            let line: Value = serde_json::from_str(line).expect("a line");
            let title = line["title"].as_str().expect("a title").to_owned();
            articles.insert(title, line["blocks"][0].as_str().expect("a text").to_owned());
        }
        compare("with leads, their questions", &articles, &asked);
        compare("with leads, other questions", &articles, &others);
    }
}
