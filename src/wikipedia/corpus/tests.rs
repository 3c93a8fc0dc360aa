//! Tests over a corpus of a few lines.

use super::{Corpus, CorpusError};
use crate::base::{Compat, Tool};
use crate::wikipedia::{Found, Retrieval, Session, SessionOptions, Source as _};
use flate2::{Compression, write::GzEncoder};
use std::io::Write as _;
use std::sync::Arc;

const LINES: &str = concat!(
    r#"{"title": "Ada Byron", "blocks": ["Ada Byron wrote the first program. She lived in London."], "redirects": ["Countess of Lovelace"]}"#,
    "\n\n",
    r#"{"title": "Café Müller", "blocks": ["A dance piece by Pina Bausch."]}"#,
    "\n",
    r#"{"title": "London", "blocks": ["London is the capital of England."], "redirects": ["Londinium"]}"#,
    "\n",
    r#"{"title": "Ada", "entries": [["Ada Byron", "a mathematician"], ["Ada (language)", ""]], "redirects": []}"#,
    "\n",
    r#"{"title": "東京", "blocks": ["東京 is the capital of Japan."]}"#,
    "\n",
);

fn corpus() -> Corpus {
    Corpus::from_jsonl("tiny", LINES.as_bytes()).expect("a corpus")
}

fn titles(corpus: &Corpus, query: &str) -> Vec<String> {
    match corpus.find(query).expect("an answer") {
        Found::Titles { titles, provenance } => {
            // No page was read, so there is none to look at.
            assert!(provenance.url.starts_with("corpus:") && !provenance.url.contains('#'), "{}", provenance.url);
            titles.to_vec()
        }
        Found::Nothing { provenance, .. } => {
            assert!(provenance.url.starts_with("corpus:") && !provenance.url.contains('#'), "{}", provenance.url);
            Vec::new()
        }
        other => panic!("{query:?} opened {other:?}"),
    }
}

#[test]
fn names_lead_to_pages_in_all_their_forms() {
    let corpus = corpus();
    for (query, title) in [
        ("Ada Byron", "Ada Byron"),
        ("Countess of Lovelace", "Ada Byron"),
        ("ada byron", "Ada Byron"),
        ("ADA_BYRON", "Ada Byron"),
        ("\"london\"", "London"),
        ("londinium", "London"),
        ("cafe muller", "Café Müller"),
        ("Café-Müller!", "Café Müller"),
        ("東京", "東京"),
    ] {
        let found = corpus.find(query).expect("an answer");
        let Found::Page { title: given, blocks, provenance, .. } = found else { panic!("{query:?} opens a page") };
        assert_eq!((given.as_str(), blocks.len()), (title, 1), "{query:?}");
        assert_eq!((provenance.source.as_str(), provenance.fetched_at.as_str()), ("corpus", ""));
    }
}

#[test]
fn other_queries_are_searched_by_words_in_a_fixed_order() {
    let corpus = corpus();
    assert_eq!(titles(&corpus, "[London]"), ["London", "Ada Byron"]);
    assert_eq!(titles(&corpus, "capital"), ["London", "東京"]);
    assert_eq!(titles(&corpus, "京 music"), ["東京"]);
    assert_eq!(titles(&corpus, "zzqx"), Vec::<String>::new());
    assert_eq!(titles(&corpus, "[]"), Vec::<String>::new());
    assert_eq!(titles(&corpus, &"capital AND (\" ".repeat(10_000)), ["London", "東京"]);
    let equal: String =
        ["b", "d", "a", "c"].map(|t| format!("{{\"title\": \"{t}\", \"blocks\": [\"same\"]}}\n")).concat();
    let equal = Corpus::from_jsonl("equal", equal.as_bytes()).expect("a corpus");
    assert_eq!(titles(&equal, "same"), ["a", "b", "c", "d"]);
}

#[test]
fn chinese_names_are_found_by_their_characters() {
    let corpus = Corpus::open(std::path::Path::new("datasets/sample-wiki-zh")).expect("the shipped corpus");
    for (query, title) in [
        ("鲁迅", "鲁迅"),
        ("周树人", "鲁迅"),
        ("《赵州桥》", "赵州桥"),
        ("狂人日记（果戈理）", "狂人日记 (果戈理)"),
        ("狂人日记·鲁迅", "狂人日记 (鲁迅)"),
    ] {
        let found = corpus.find(query).expect("an answer");
        let Found::Page { title: given, .. } = found else { panic!("{query:?} opens a page") };
        assert_eq!(given, title, "{query:?}");
    }
    assert!(matches!(corpus.find("《狂人日记》"), Ok(Found::Disambiguation { entries, .. }) if entries.len() == 2));
    for (query, first) in [
        ("鲁迅先生", "鲁迅"),
        ("南京大桥", "南京长江大桥"),
        ("施耐庵", "水浒传"),
        ("电影红高粱的原著作者", "红高粱 (电影)"),
        ("活字印刷术的发明者", "毕昇"),
        ("康奈尔", "吕彦直"),
        ("[狂人日记]", "狂人日记"),
    ] {
        assert_eq!(titles(&corpus, query)[0], first, "{query:?}: {:?}", titles(&corpus, query));
    }
}

#[tokio::test]
async fn disambiguation_pages_list_their_entries_or_are_searched_around() {
    let corpus = Arc::new(corpus());
    let mut fixed = Session::new(corpus.clone(), Compat::Fixed, SessionOptions::default());
    let given = fixed.call(Tool::Search, "ada").await.expect("an answer");
    assert_eq!(given.text, "Could not find ada. Similar: ['Ada Byron', 'Ada (language)'].");
    let mut paper = Session::new(corpus.clone(), Compat::Paper, SessionOptions::default());
    let given = paper.call(Tool::Search, "Ada").await.expect("an answer");
    assert_eq!(given.text, "Could not find [Ada]. Similar: ['Ada', 'Ada Byron'].");
    let Found::Disambiguation { blocks, .. } = corpus.find("Ada").expect("an answer") else { panic!("the list") };
    assert_eq!(*blocks, ["Ada may refer to:", "Ada Byron, a mathematician\nAda (language)"]);
}

#[test]
fn a_page_that_many_ask_for_is_in_memory_once() {
    let corpus = corpus();
    let blocks = |query| match corpus.find(query).expect("an answer") {
        Found::Page { blocks, .. } => blocks,
        other => panic!("a page, not {other:?}"),
    };
    assert!(Arc::ptr_eq(&blocks("London"), &blocks("londinium")));
}

#[test]
fn a_packed_corpus_is_the_same_corpus() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(LINES.as_bytes()).expect("memory");
    let packed = encoder.finish().expect("memory");
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("articles.jsonl.gz"), &packed).expect("a file");
    let read = Corpus::open(dir.path()).expect("a corpus");
    assert_eq!(read.id(), corpus().id());
    let cut = Corpus::from_jsonl("cut", &packed[..packed.len() / 2]).map(|_| ()).expect_err("cut short");
    assert!(matches!(cut, CorpusError::Unpack { .. }), "{cut}");
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).expect("a file");
    }
    dir
}

fn blocks(corpus: &Corpus, query: &str) -> Vec<String> {
    match corpus.find(query).expect("an answer") {
        Found::Page { blocks, .. } | Found::Disambiguation { blocks, .. } => blocks.to_vec(),
        other => panic!("{query:?} finds {other:?}"),
    }
}

#[test]
fn a_corpus_is_a_file_of_lines_or_a_folder_of_texts_too() {
    let dir = folder(&[("mine.jsonl", "{\"title\": \"Ada\", \"text\": \"She wrote.\\n\\nShe lived.\"}\n")]);
    let lines = Corpus::open(&dir.path().join("mine.jsonl")).expect("a file of lines");
    assert_eq!(blocks(&lines, "ada"), ["She wrote.", "She lived."]);
    let dir = folder(&[
        ("Ada Byron.txt", "\u{feff}She wrote\nprograms.  \n\n\n  She lived.\n"),
        ("Ada.txt", "Ada may refer to:\n\nAda Byron, a mathematician\n"),
        ("notes.md", "not an article"),
    ]);
    let texts = Corpus::open(dir.path()).expect("a folder of texts");
    assert_eq!(blocks(&texts, "ada byron"), ["She wrote\nprograms.", "She lived."]);
    assert!(matches!(texts.find("Ada"), Ok(Found::Disambiguation { entries, .. }) if *entries == ["Ada Byron"]));
    assert_eq!(titles(&texts, "article"), Vec::<String>::new());
    std::fs::write(dir.path().join("Bad.txt"), b"\xff").expect("a file");
    let error = Corpus::open(dir.path()).map(|_| ()).expect_err("no text").to_string();
    assert!(error.ends_with("Bad.txt`: it is not UTF-8 text"), "{error}");
    let empty = Corpus::open(folder(&[("a.md", "")]).path()).map(|_| ()).expect_err("nothing");
    assert!(matches!(empty, CorpusError::Nothing { .. }), "{empty}");
    assert!(empty.hint().is_some_and(|hint| hint.contains(r#"{"title": "Ada Lovelace", "text": "One"#)), "{empty}");
}

#[test]
fn faults_name_file_line_and_field() {
    let told = |lines: &str| Corpus::from_jsonl("f", lines.as_bytes()).map(|_| ()).expect_err("a fault").to_string();
    let london = r#"{"title": "London", "blocks": [], "redirects": ["Londinium"]}"#;
    assert_eq!(told("{\"title\": 3}"), "`f`, line 1: integer `3` where a string is expected at column 11");
    assert_eq!(told(&format!("{london}\n\nnonsense")), "`f`, line 3: not valid JSON at column 2");
    assert_eq!(told(r#"{"title": "x"}"#), "`f`, line 1: there are neither `blocks` nor `entries` nor `text`");
    assert_eq!(told(&format!("{london}\n{london}")), "`f`, line 2: title `London` is already a title in line 1");
    let shadow = r#"{"title": "x", "blocks": [], "redirects": ["London"]}"#;
    assert_eq!(told(&format!("{shadow}\n{london}")), "`f`, line 1: redirect `London` is already a title in line 2");
    let twice = r#"{"title": "x", "blocks": [], "redirects": ["Londinium"]}"#;
    assert_eq!(
        told(&format!("{london}\n{twice}")),
        "`f`, line 2: redirect `Londinium` is already a redirect in line 1"
    );
    let error = Corpus::open(std::path::Path::new("/nonexistent")).map(|_| ()).expect_err("no folder");
    assert!(error.hint().is_some_and(|hint| hint.contains("articles.jsonl")), "{error}");
}

#[tokio::test]
async fn documents_are_found_by_the_ids_of_passages_alone() {
    let lines = "{\"title\": \"Ada\", \"blocks\": [\"Ada wrote programs.\", \"She lived in London.\"]}\n\
                 {\"title\": \"Bob\", \"blocks\": [\"Bob built bridges.\"]}";
    let corpus = Corpus::from_jsonl("c", lines.as_bytes()).expect("a corpus");
    let asked = Retrieval::Passages { query: "who lived in London?", count: 1 };
    let Found::Passages { passages, provenance } = corpus.retrieve(asked).await.expect("found") else {
        panic!("passages")
    };
    assert_eq!((passages[0].id.as_str(), passages[0].text.as_str()), ("0.1", "She lived in London."));
    assert_eq!(provenance.url, "corpus:c?passages=who+lived+in+London%3F");
    for (id, title) in [
        ("0.1", Some("Ada")),
        (" 1.0 ", Some("Bob")),
        ("id 1.0", Some("Bob")),
        ("(id 0.0)", Some("Ada")),
        ("0", None),
        ("[1]", None),
        ("0.2", None),
        ("2.0", None),
        ("+1.0", None),
        ("01.0", None),
        ("1.x", None),
        ("-1.0", None),
        ("99999999999.0", None),
        ("", None),
    ] {
        let found = corpus.retrieve(Retrieval::Document { id }).await.expect("an answer");
        let opened = if let Found::Page { title, .. } = &found { Some(title.as_str()) } else { None };
        assert_eq!(opened, title, "{id}");
    }
    let none = corpus.retrieve(Retrieval::Passages { query: "zebra", count: 3 }).await.expect("an answer");
    assert!(matches!(none, Found::Nothing { .. }));
}
