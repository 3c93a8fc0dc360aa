//! Dumps that are made here, in the layout of the published ones.

use crate::tests::shared;
use crate::wikipedia::corpus::build::{BuildSettings, build};
use crate::wikipedia::corpus::folder::Folder;
use crate::wikipedia::corpus::import::published::open;
use crate::wikipedia::corpus::import::{Format, tests};
use crate::wikipedia::corpus::manifest::{Extent, Manifest, Sentences};
use bzip2::Compression;
use bzip2::read::MultiBzDecoder;
use bzip2::write::BzEncoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

/// Paragraphs by title.
type Paragraphs = BTreeMap<String, Vec<String>>;

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packer = BzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(text).expect("memory");
    packer.finish().expect("memory")
}

/// Members as the dump has them, many lines in each.
fn members(paragraphs: &Paragraphs) -> Vec<(String, Vec<u8>)> {
    let line = |(number, (title, sentences)): (usize, (&String, &Vec<String>))| {
        let linked: Vec<String> =
            sentences.iter().map(|text| text.replacen("the", "<a href=\"The%20thing\">the</a>", 1)).collect();
        json!({
            "id": (number + 12).to_string(), "url": format!("https://en.wikipedia.org/wiki?curid={}", number + 12), "title": title,
            "text": sentences, "text_with_links": linked, "charoffset": [[0, 1]], "charoffset_with_links": [[0, 1]],
        })
        .to_string()
    };
    let lines: Vec<String> = paragraphs.iter().enumerate().map(line).collect();
    let name = |at: usize| format!("enwiki/A{}/wiki_{:02}.bz2", if at.is_multiple_of(2) { 'A' } else { 'B' }, at);
    lines.chunks(100).enumerate().map(|(at, lines)| (name(at), packed((lines.join("\n") + "\n").as_bytes()))).collect()
}

fn archive(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, name, bytes.as_slice()).expect("memory");
    }
    packed(&archive.into_inner().expect("memory"))
}

fn settings(path: &Path) -> BuildSettings {
    BuildSettings {
        sources: vec![(Format::detect(path).expect("a format"), path.to_owned())],
        extent: Some(Extent::Lead),
        memory: 1 << 20,
        ..BuildSettings::default()
    }
}

/// The sentences of a title in a folder.
fn sentences(folder: &Folder, title: &str) -> Option<Vec<String>> {
    let number = folder.names.exact(title).expect("names")?;
    let blocks = serde_json::to_value(folder.pages.article(number).expect("an article").blocks).expect("JSON");
    serde_json::from_value(blocks[0].clone()).expect("sentences")
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn every_supporting_fact_is_found_in_a_dump_of_the_contexts() {
    let text = shared::text("data/datasets/hotpot_dev_distractor_v1.partial.json");
    let questions: Vec<Value> = serde_json::from_str(&text).expect("questions");
    let contexts = || questions.iter().flat_map(|question| question["context"].as_array().expect("a list"));
    let paragraphs: Paragraphs =
        contexts().map(|pair| serde_json::from_value(pair.clone()).expect("a paragraph")).collect();
    let dir = tempfile::tempdir().expect("a folder");
    let (packed, unpacked) = (dir.path().join("dump.tar.bz2"), dir.path().join("dump"));
    let members = members(&paragraphs);
    fs::write(&packed, archive(&members)).expect("written");
    for (at, (name, bytes)) in members.iter().enumerate() {
        let path = unpacked.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        // People unpack members, and pack them otherwise.
        let mut text = Vec::new();
        MultiBzDecoder::new(bytes.as_slice()).read_to_end(&mut text).expect("a member");
        match at % 3 {
            0 => fs::write(path, bytes),
            1 => fs::write(path.with_extension("gz"), tests::gzip(&text)),
            _ => fs::write(path.with_extension(""), text),
        }
        .expect("written");
    }
    let mut ids = Vec::new();
    for (name, input) in [("a", packed), ("b", unpacked)] {
        let path = dir.path().join(name);
        let made = build(&path, &settings(&input), &mut |_| {}).expect("a corpus");
        assert_eq!((made.manifest.articles as usize, made.manifest.sentences), (paragraphs.len(), Sentences::Given));
        assert_eq!((made.notes, made.manifest.sources[0].format.as_str()), (Vec::<String>::new(), "hotpotqa"));
        ids.push(made.manifest.id);
        let folder = Folder::open(&path, &Manifest::read(&path).expect("a manifest")).expect("a corpus");
        for (title, expected) in &paragraphs {
            assert_eq!(sentences(&folder, title).as_ref(), Some(expected), "{title}");
        }
        let mut facts = 0;
        for fact in questions.iter().flat_map(|question| question["supporting_facts"].as_array().expect("a list")) {
            let (title, number) = (fact[0].as_str().expect("a title"), fact[1].as_u64().expect("a number"));
            let found =
                sentences(&folder, title).and_then(|all| all.get(usize::try_from(number).expect("small")).cloned());
            // A few facts of the dataset name a sentence past the end of their paragraph.
            let past = paragraphs[title].len() as u64 <= number;
            assert_eq!(found.is_none(), past, "{title} {number}");
            facts += usize::from(!past);
        }
        assert!(facts > 1_000, "{facts}");
    }
    assert_eq!(ids[0], ids[1]);
}

fn read(path: &Path) -> (Vec<String>, Vec<String>) {
    let (mut found, mut wrong) = tests::read(open(path));
    found.sort();
    wrong.sort();
    (found, wrong)
}

#[test]
fn whole_pages_lose_their_links_and_bad_members_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("x.tar.bz2");
    let page = r#"{"id": "7", "title": "A < B", "text": [["A < B"], ["One <a href=\"X%20y\">link</a>,", " <b>two</b> </a><"], ["<a href=\"cut"]]}"#;
    let good = packed(format!("{page}\n\nnonsense\n{{\"id\": \"8\", \"title\": \"C\", \"text\": []}}\n").as_bytes());
    let mut bad = packed(&b"{\"id\": \"9\", \"title\": \"D\", \"text\": [\"d\"]}\n".repeat(400));
    let middle = bad.len() / 2;
    bad[middle] ^= 8;
    let members = [("e/AA/wiki_00.bz2", good), ("e/AA/wiki_01.bz2", bad), ("e/README", b"not a member".to_vec())];
    let members = members.map(|(name, bytes)| (name.to_owned(), bytes));
    fs::write(&path, archive(&members)).expect("written");
    let (found, wrong) = read(&path);
    let page = r#"{"title":"A < B","id":7,"blocks":[["One link,"," <b>two</b> <"],["<a href=\"cut"]],"redirects":[]}"#;
    assert_eq!(found, [page, r#"{"title":"C","id":8,"blocks":[],"redirects":[]}"#]);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert_eq!(wrong[0], ", `e/AA/wiki_00.bz2`, line 3: not valid JSON at column 2");
    assert!(wrong[1].starts_with(", `e/AA/wiki_01.bz2`: "), "{wrong:?}");
    let whole = fs::read(&path).expect("a file");
    for cut in [whole.len() - 1, whole.len() / 2, 10] {
        fs::write(&path, &whole[..cut]).expect("written");
        let (_, wrong) = read(&path);
        assert!(wrong.iter().any(|wrong| wrong.starts_with("broken: ")), "{cut}: {wrong:?}");
    }
    fs::write(&path, archive(&members[2..])).expect("written");
    assert_eq!(read(&path).1, ["broken: there is no wiki_NN.bz2 in it"]);
}
