//! Every format over the paragraphs of real datasets, re-written, and over damaged files.

use super::lines::Parsed;
use super::{Compression, Format, ImportError, Imported, Records, open};
use crate::tests::shared;
use crate::wikipedia::corpus::build::{BuildError, BuildSettings, Built, OnDuplicate, build};
use crate::wikipedia::corpus::folder::Folder;
use crate::wikipedia::corpus::manifest::{Manifest, Skipped};
use crate::wikipedia::corpus::pages;
use crate::wikipedia::corpus::record::{Block, Record};
use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

mod damage;
const HOTPOTQA: &str = "data/datasets/hotpot_dev_distractor_v1.partial.json";

/// A record in a line.
fn line_of(record: Record) -> String {
    match record {
        Record::Article(article) => json!(article).to_string(),
        Record::Redirect { title, to } => format!("{title} -> {to}"),
        Record::Passage { title, id: Some(id), text } => format!("{title} #{id} {text}"),
        Record::Passage { title, id: None, text } => format!("{title} {text}"),
        Record::About(about) => about.manifest.name,
        Record::Dropped(dropped) => format!("{dropped:?}"),
    }
}

/// What a line was read as, or what is wrong with it.
pub(super) fn shown(parsed: Parsed) -> String {
    parsed.map_or_else(|reason| reason, |records| records.into_iter().map(line_of).collect::<Vec<_>>().join("\n"))
}

/// What was read, and what was not.
pub(super) fn read(records: Result<Records, ImportError>) -> (Vec<String>, Vec<String>) {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for record in records.unwrap_or_else(|error| Box::new(std::iter::once(Err(error)))) {
        match record {
            Ok(imported) => found.push(line_of(imported.record)),
            Err(ImportError::Record { place, reason }) => wrong.push(format!("{place}: {reason}")),
            Err(error) => wrong.push(format!("broken: {}", error.reason())),
        }
    }
    (found, wrong)
}

pub(super) fn gzip(text: &[u8]) -> Vec<u8> {
    packed(Compression::Gzip, text)
}

fn packed(compression: Compression, text: &[u8]) -> Vec<u8> {
    match compression {
        Compression::Gzip => {
            let mut packer = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(text).expect("memory");
            packer.finish().expect("memory")
        }
        Compression::Zstd => zstd::encode_all(text, 1).expect("memory"),
        Compression::Bzip2 => {
            let mut packer = BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            packer.write_all(text).expect("memory");
            packer.finish().expect("memory")
        }
        Compression::Xz => xz(text),
    }
}

/// An xz file of pieces that are stored as they are.
fn xz(text: &[u8]) -> Vec<u8> {
    let checked = |bytes: &[u8]| {
        let mut checksum = flate2::Crc::new();
        checksum.update(bytes);
        [bytes, &checksum.sum().to_le_bytes()].concat()
    };
    let varint = |number: usize| {
        let mut bytes = Vec::new();
        pages::varint(number as u64, &mut bytes);
        bytes
    };
    let flags = [0, 1];
    let mut block = checked(&[2, 0, 0x21, 1, 22, 0, 0, 0]);
    for (at, piece) in text.chunks(1 << 16).enumerate() {
        let length = u16::try_from(piece.len() - 1).expect("a small piece");
        block.extend([&[if at == 0 { 1 } else { 2 }][..], &length.to_be_bytes(), piece].concat());
    }
    block.push(0);
    let mut index = [vec![0, 1], varint(block.len() + 4), varint(text.len())].concat();
    block.resize(block.len().next_multiple_of(4), 0);
    block.extend(&checked(text)[text.len()..]);
    index.resize(index.len().next_multiple_of(4), 0);
    let index = checked(&index);
    let end = [&(u32::try_from(index.len() / 4).expect("small") - 1).to_le_bytes()[..], &flags].concat();
    let sum = checked(&end).split_off(end.len());
    [b"\xfd7zXZ\0", &*checked(&flags), &block, &index, &sum, &end, b"YZ"].concat()
}

fn tar(name: &str, text: &[u8]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_cksum();
    archive.append_data(&mut header, name, text).expect("memory");
    archive.into_inner().expect("memory")
}

fn settings(sources: &[(Format, &Path)], threads: usize, memory: u64) -> BuildSettings {
    BuildSettings {
        sources: sources.iter().map(|(format, path)| (*format, path.to_path_buf())).collect(),
        threads,
        memory,
        ..BuildSettings::default()
    }
}

/// Builds from files, whose formats are detected; returns the blocks by title as well.
fn built(sources: &[&Path], threads: usize, memory: u64) -> (Built, BTreeMap<String, Vec<Block>>) {
    let sources: Vec<_> = sources.iter().map(|path| (Format::detect(path).expect("a format"), *path)).collect();
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("c");
    let built = build(&path, &settings(&sources, threads, memory), &mut |_| {}).expect("a corpus");
    let folder = Folder::open(&path, &Manifest::read(&path).expect("a manifest")).expect("a corpus");
    let article = |number| folder.pages.article(number).map(|article| (article.title, article.blocks));
    let articles = (0..built.manifest.articles).map(article).collect::<Result<_, _>>().expect("articles");
    (built, articles)
}

/// Paragraphs of the questions by title.
fn paragraphs() -> BTreeMap<String, Vec<String>> {
    let questions: Vec<Value> = serde_json::from_str(&shared::text(HOTPOTQA)).expect("questions");
    let contexts = questions.iter().flat_map(|question| question["context"].as_array().expect("a list"));
    contexts.map(|pair| serde_json::from_value(pair.clone()).expect("a paragraph")).collect()
}

fn lines(lines: impl IntoIterator<Item = Value>) -> String {
    lines.into_iter().map(|line| line.to_string() + "\n").collect()
}

/// Passages of `words` words in another order than that of their numbers: number, title and text.
fn passages(paragraphs: &BTreeMap<String, Vec<String>>, words: usize) -> Vec<(usize, String, String)> {
    let mut passages = Vec::new();
    for (title, sentences) in paragraphs {
        let text = sentences.concat();
        let all: Vec<&str> = text.split_whitespace().collect();
        passages.extend(all.chunks(words).map(|part| (title.clone(), part.join(" "))));
    }
    let mut passages: Vec<_> =
        passages.into_iter().enumerate().map(|(n, (title, text))| (n + 1, title, text)).collect();
    passages.sort_by_key(|(number, ..)| number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    passages
}

/// The same passages in the three formats that have them.
fn passage_files(dir: &Path, passages: &[(usize, String, String)]) -> [PathBuf; 3] {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let rows = passages.iter().map(|(n, title, text)| {
        let title = if title.contains('"') { quoted(title) } else { title.clone() };
        format!("{n}\t{}\t{title}\r\n", quoted(text))
    });
    let table = "id\ttext\ttitle\r\n".to_owned() + &rows.collect::<String>();
    let wiki18 = |(n, title, text): &(usize, String, String)| json!({"id": n.to_string(), "contents": format!("\"{title}\"\n{text}")});
    let beir = |(n, title, text): &(usize, String, String)| json!({"_id": format!("doc{n}"), "title": title, "text": text, "metadata": {}});
    let files = ["psgs_w100.tsv.gz", "wiki-18.jsonl", "beir"].map(|name| dir.join(name));
    fs::write(&files[0], gzip(table.as_bytes())).expect("written");
    fs::write(&files[1], lines(passages.iter().map(wiki18))).expect("written");
    fs::create_dir(&files[2]).expect("a folder");
    fs::write(files[2].join("corpus.jsonl"), lines(passages.iter().map(beir))).expect("written");
    files
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn passages_come_back_in_order_from_every_format_thread_and_memory() {
    let paragraphs = paragraphs();
    let mut paragraphs: BTreeMap<_, _> = paragraphs.into_iter().step_by(5).collect();
    paragraphs.insert("\"Heroes\" (song)".to_owned(), vec!["A \"song\",\tand ".to_owned() + &"more ".repeat(900)]);
    let passages = passages(&paragraphs, 50);
    let mut expected = BTreeMap::<String, Vec<(usize, String)>>::new();
    for (number, title, text) in &passages {
        expected.entry(title.clone()).or_default().push((*number, text.clone()));
    }
    let block = |(_, text)| Block::Text(text);
    let expected: BTreeMap<String, Vec<Block>> = expected
        .into_iter()
        .map(|(title, mut texts)| {
            texts.sort();
            (title, texts.into_iter().map(block).collect())
        })
        .collect();
    assert!(expected.values().any(|blocks| blocks.len() == 19), "the numbers have two digits");
    let dir = tempfile::tempdir().expect("a folder");
    let files = passage_files(dir.path(), &passages);
    let mut ids = Vec::new();
    for (path, threads, memory) in
        [(&files[0], 1, 32 << 20), (&files[0], 2, 1 << 30), (&files[1], 2, 64 << 10), (&files[2], 1, 1 << 30)]
    {
        let (built, articles) = built(&[path], threads, memory);
        assert_eq!((built.notes.len(), built.manifest.sources[0].rows), (0, passages.len() as u64));
        assert!(articles == expected, "{}", path.display());
        ids.push(built.manifest.id);
    }
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[test]
fn passages_that_come_twice_are_counted_and_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let [passages, more, other] = ["a.jsonl", "b.jsonl", "c.jsonl"].map(|name| dir.path().join(name));
    let passage = |id: &str, title: &str, text: &str| json!({"_id": id, "title": title, "text": text});
    let rows = [
        passage("doc10", "A", "ten"),
        passage("doc9", "A", "nine"),
        passage("doc9", "A", "also nine"),
        passage("x", "A", "x"),
        passage("doc9", "B", "b"),
        passage("1", "B", " "),
        passage("2", "", "c"),
        passage("3", "N\0", "c"),
    ];
    fs::write(&passages, lines(rows)).expect("written");
    fs::write(&more, lines([passage("doc10", "A", "ten"), passage("doc2", "A", "two"), passage("9", "C", "c")]))
        .expect("written");
    fs::write(
        &other,
        lines([json!({"title": "B", "text": "an article"}), json!({"title": "B", "text": "an article"})]),
    )
    .expect("written");
    let sources = [passages.as_path(), &more, &other];
    let (made, articles) = built(&sources, 2, 1 << 20);
    let text = |text: &str| Block::Text(text.to_owned());
    let a = vec![text("two"), text("nine"), text("ten"), text("x")];
    let expected = [("A", a), ("B", vec![text("an article")]), ("C", vec![text("c")])];
    assert_eq!(articles, expected.map(|(title, blocks)| (title.to_owned(), blocks)).into());
    let a = passages.display();
    let notes = [
        format!("`{a}`, line 6: `B` has no text"),
        format!("`{a}`, line 7: the title is empty"),
        format!("`{a}`, line 8: the title holds a NUL"),
        format!("`{a}`, line 3: another passage with this id of `A` was kept"),
        format!("`{a}`, line 5: another record of `B` was kept"),
    ];
    assert_eq!(made.notes, notes);
    let skipped = |at: usize| made.manifest.sources[at].skipped;
    assert_eq!(skipped(0), Skipped { duplicate_title: 2, repeated: 0, empty: 1, bad: 2 });
    assert_eq!([skipped(1), skipped(2)].map(|skipped| (skipped.repeated, skipped.duplicate_title)), [(1, 0), (1, 0)]);
    let sources = [sources[1], sources[2], sources[0]].map(|path| (Format::detect(path).expect("a format"), path));
    let settings = BuildSettings { on_duplicate: OnDuplicate::Error, ..settings(&sources, 1, 1 << 20) };
    match build(&dir.path().join("d"), &settings, &mut |_| {}) {
        Err(BuildError::Duplicate(said)) => {
            assert_eq!(said, format!("`{a}`, line 3: id and title `A` are those of `{a}`, line 2"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_article_of_passages_has_a_limit() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.jsonl");
    let rows = (0..20).map(|n| json!({"_id": n, "title": "A", "text": format!("{n} {}", "x".repeat(1 << 20))}));
    fs::write(&path, lines(rows)).expect("written");
    let (made, articles) = built(&[&path], 2, 4 << 20);
    assert_eq!((articles["A"].len(), made.manifest.sources[0].skipped.bad), (15, 5));
    assert_eq!(made.notes[0], format!("`{}`, line 16: the passages of `A` exceed 16 MiB", path.display()));
}

#[test]
fn a_paragraph_without_a_title_costs_its_question_nothing_else() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("dev.json");
    let context = json!([["A", ["One."]], [" ", ["Two."]], ["C", ["Three."]]]);
    let questions = json!([{"question": "?", "context": context, "answer": "x"}]);
    fs::write(&path, questions.to_string()).expect("written");
    let settings = settings(&[(Format::Dataset, path.as_path())], 1, 1 << 20);
    let made = build(&dir.path().join("c"), &settings, &mut |_| {}).expect("a corpus");
    assert_eq!((made.manifest.articles, made.manifest.sources[0].skipped.bad), (2, 1));
    assert_eq!(made.notes, [format!("`{}`, `question 1`: a paragraph has no title", path.display())]);
}

/// Sentences of an article without the spaces between them.
fn sentences(blocks: &[Block]) -> Vec<String> {
    match blocks {
        [Block::Sentences(sentences)] => sentences.iter().map(|sentence| sentence.trim().to_owned()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn sentences_keep_their_numbers_in_every_format() {
    let paragraphs = paragraphs();
    let trimmed = |sentences: &Vec<String>| sentences.iter().map(|text| text.trim().to_owned()).collect::<Vec<_>>();
    let expected: BTreeMap<&String, Vec<String>> =
        paragraphs.iter().map(|(title, sentences)| (title, trimmed(sentences))).collect();
    let escapes = [("(", "-LRB-"), (")", "-RRB-"), (":", "-COLON-"), ("[", "-LSB-"), ("]", "-RSB-")];
    let written = |text: &str| escapes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    let numbered = |sentences: &Vec<String>| {
        let line = |(at, text): (usize, &String)| format!("{at}\t{}\tlink\tLink", written(text));
        sentences.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    };
    let dspy = lines(expected.iter().map(|(title, text)| json!({"title": title, "text": text})));
    let wiki2 = lines(
        expected.iter().map(|(title, text)| json!({"id": "1", "title": title, "sentences": text, "mentions": []})),
    );
    let fever = |(title, text): (&&String, &Vec<String>)| json!({"id": written(title).replace(' ', "_"), "text": "", "lines": numbered(text)});
    let dir = tempfile::tempdir().expect("a folder");
    let [tgz, hyperlinks, pages] =
        ["wiki.abstracts.2017.tar.gz", "para.jsonl", "wiki-pages"].map(|name| dir.path().join(name));
    fs::write(&tgz, gzip(&tar("wiki.abstracts.2017.jsonl", dspy.as_bytes()))).expect("written");
    fs::write(&hyperlinks, wiki2).expect("written");
    fs::create_dir(&pages).expect("a folder");
    let fever: Vec<Value> = expected.iter().map(fever).collect();
    for (at, part) in fever.chunks(1_000).enumerate() {
        let nothing = json!({"id": "", "text": "", "lines": ""});
        let text = lines(std::iter::once(nothing).chain(part.iter().cloned()));
        fs::write(pages.join(format!("wiki-{:03}.jsonl", at + 1)), text).expect("written");
    }
    for (path, name) in [(&tgz, "dspy"), (&hyperlinks, "2wiki"), (&pages, "fever")] {
        let format = Format::detect(path).expect("a format");
        let mut found = BTreeMap::new();
        for record in open(format, path).expect("a file") {
            let Ok(Imported { record: Record::Article(article), .. }) = record else { panic!("{name}: {record:?}") };
            found.insert(article.title, sentences(&article.blocks));
        }
        assert_eq!(format.name(), name);
        assert!(found.iter().eq(expected.iter().map(|(title, text)| (*title, text))), "{name}");
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn pages_of_kilt_come_back() {
    let paragraphs = paragraphs();
    let text = |sentences: &Vec<String>| sentences.concat().trim().to_owned();
    let page = |(number, (title, sentences)): (usize, (&String, &Vec<String>))| {
        let text =
            [format!("{title}\n"), text(sentences) + "\n", "Section::::X.\n".to_owned(), "BULLET::::- y\n".to_owned()];
        json!({"_id": "0", "wikipedia_id": number.to_string(), "wikipedia_title": title, "text": text, "history": {"revid": 5}})
    };
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("kilt_knowledgesource.json");
    fs::write(&path, lines(paragraphs.iter().enumerate().map(page))).expect("written");
    assert_eq!(Format::detect(&path), Some(Format::Kilt));
    let mut expected = paragraphs.iter();
    for record in open(Format::Kilt, &path).expect("a file") {
        let Ok(Imported { record: Record::Article(article), .. }) = record else { panic!("{record:?}") };
        let (title, sentences) = expected.next().expect("as many");
        assert_eq!((&article.title, article.revid), (title, Some(5)));
        assert_eq!(article.blocks, [Block::Text(text(sentences)), Block::Text("y".to_owned())]);
    }
    assert_eq!(expected.next(), None);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn contexts_of_datasets_are_read_with_every_distinct_paragraph() {
    let paragraphs = paragraphs();
    let folder = shared::folder();
    let (made, articles) = built(&[&folder.join(HOTPOTQA)], 2, 1 << 30);
    let expected =
        paragraphs.iter().map(|(title, sentences)| (title.clone(), vec![Block::Sentences(sentences.clone())]));
    assert!(articles == expected.collect());
    let Skipped { repeated, duplicate_title, .. } = made.manifest.sources[0].skipped;
    assert_eq!((repeated + articles.len() as u64, duplicate_title), (made.manifest.sources[0].rows, 0));
    let (made, articles) = built(&[&folder.join("data/datasets/2wiki_dev.migres200.json")], 2, 1 << 30);
    assert_eq!((articles.len(), made.manifest.sources[0].skipped.duplicate_title), (1_294, 0));
    let files = ["musique_dev.migres200.json", "musique_full.cas20.json"];
    let files = files.map(|name| folder.join("data/datasets").join(name));
    let mut ids = Vec::new();
    for files in [[&files[0], &files[1]], [&files[1], &files[0]]] {
        let (made, articles) = built(&files.map(PathBuf::as_path), 1, 64 << 10);
        let mut expected = BTreeMap::<String, Vec<String>>::new();
        for text in files.map(|file| fs::read_to_string(file).expect("text")) {
            let questions: Vec<Value> = serde_json::from_str(&text)
                .unwrap_or_else(|_| text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect());
            for paragraph in questions.iter().flat_map(|question| question["paragraphs"].as_array().expect("a list")) {
                let text = |name: &str| paragraph[name].as_str().expect("text").trim().to_owned();
                expected.entry(text("title")).or_default().push(text("paragraph_text"));
            }
        }
        for texts in expected.values_mut() {
            texts.sort();
            texts.dedup();
        }
        let found = articles
            .into_iter()
            .map(|(title, blocks)| (title.trim().to_owned(), blocks.into_iter().map(Block::into_text).collect()));
        assert!(found.collect::<BTreeMap<_, Vec<_>>>() == expected);
        assert_eq!(made.notes, Vec::<String>::new());
        ids.push(made.manifest.id);
    }
    assert_eq!(ids[0], ids[1]);
}
