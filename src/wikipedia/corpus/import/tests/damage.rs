//! Damaged files of every format.

use super::{packed, read, tar};
use crate::wikipedia::corpus::import::{Compression, Format, ImportError, open};
use std::fs;

/// A line of each format that has lines.
const GOOD: [(&str, &str); 9] = [
    ("jsonl", r#"{"title": "A", "text": "a"}"#),
    ("dspy", r#"{"title": "A", "text": ["a", "b"]}"#),
    ("dpr", "1\t\"a \"\"b\"\"\"\tA"),
    ("wiki18", r#"{"id": "0", "contents": "\"A\"\na"}"#),
    ("beir", r#"{"_id": "0", "title": "A", "text": "a", "metadata": {}}"#),
    (
        "kilt",
        r#"{"wikipedia_id": "0", "wikipedia_title": "A", "text": ["A\n", "a\n", "BULLET::::- b\n"], "history": {"revid": 1}}"#,
    ),
    ("fever", r#"{"id": "A_-LRB-b-RRB-", "text": "a", "lines": "0\ta\n1\tb\tc\td"}"#),
    ("2wiki", r#"{"id": "1", "title": "A", "sentences": ["a"], "mentions": []}"#),
    (
        "dataset",
        r#"{"question": "?", "context": [["A", ["a"]]], "paragraphs": [{"title": "A", "paragraph_text": "a"}]}"#,
    ),
];

#[test]
fn bad_lines_are_named_and_cut_files_are_errors() {
    let dir = tempfile::tempdir().expect("a folder");
    assert_eq!(
        Format::NAMED.iter().filter(|format| GOOD.iter().any(|(good, _)| *good == format.name())).count(),
        GOOD.len()
    );
    for (name, good) in GOOD {
        let format = Format::named(name).expect("a format");
        let path = dir.path().join(name);
        let long = vec![b'"'; 17 << 20];
        let parts = [
            good.as_bytes(),
            b"",
            b"no record",
            b"{\"title\": \"\xe9\"}",
            &long,
            b"\0\0",
            b"\xff\xfe{",
            good.as_bytes(),
        ];
        let text = parts.join(&b'\n');
        for bytes in Compression::ALL.map(|compression| packed(compression, &text)).into_iter().chain([text]) {
            fs::write(&path, &bytes).expect("written");
            let (found, wrong) = read(open(format, &path));
            assert_eq!(found.len(), if name == "dataset" { 4 } else { 2 }, "{name}: {wrong:?}");
            let named: Vec<bool> =
                (3..8).zip(&wrong).map(|(line, wrong)| wrong.starts_with(&format!(", line {line}: "))).collect();
            assert_eq!(named, [true; 5], "{name}: {wrong:?}");
            assert_eq!(
                [&wrong[1], &wrong[2], &wrong[4]],
                [
                    ", line 4: it is not UTF-8 text",
                    ", line 5: it is longer than 16 MiB",
                    ", line 7: it is not UTF-8 text"
                ]
            );
        }
        let text = (good.to_owned() + "\n").repeat(50).into_bytes();
        for whole in Compression::ALL.map(|compression| packed(compression, &text)) {
            for cut in [whole.len() - 1, whole.len() / 2, 12] {
                fs::write(&path, &whole[..cut]).expect("written");
                let (_, wrong) = read(open(format, &path));
                assert!(wrong.iter().any(|wrong| wrong.starts_with("broken: ")), "{name} {cut}: {wrong:?}");
            }
        }
        let zeros = Compression::ALL.map(|compression| (packed(compression, &vec![0; 1 << 20]), "NUL bytes"));
        let others = [(b"PK\x03\x04zip".to_vec(), "unpack it"), (b"\xff\xfe{\0\"\0".to_vec(), "NUL bytes")];
        for (text, said) in zeros.into_iter().chain(others) {
            fs::write(&path, text).expect("written");
            let Err(ImportError::Broken { reason }) = open(format, &path).map(|_| ()) else { panic!("{name}") };
            assert!(reason.contains(said), "{reason}");
        }
    }
}

#[test]
fn files_that_were_put_together_are_read_to_the_last_of_them() {
    let dir = tempfile::tempdir().expect("a folder");
    for compression in Compression::ALL {
        let path = dir.path().join(format!("x.jsonl.{}", compression.name()));
        let line =
            |title: &str| packed(compression, format!("{{\"title\": \"{title}\", \"text\": \"t\"}}\n").as_bytes());
        fs::write(&path, [line("A"), line("B")].concat()).expect("written");
        assert_eq!(Format::detect(&path), Some(Format::Jsonl));
        assert_eq!(read(open(Format::Jsonl, &path)).0.len(), 2, "{compression:?}");
    }
}

#[test]
fn a_list_is_read_record_by_record() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("list.json");
    for (name, good) in GOOD.into_iter().filter(|(name, _)| *name != "dpr") {
        let format = Format::named(name).expect("a format");
        let list = format!("\u{feff} [\n{good}, 7,{{}} ,{good}]\n");
        let what = if name == "dataset" { "question" } else { "record" };
        for bytes in [list.clone().into_bytes(), packed(Compression::Xz, list.as_bytes())] {
            fs::write(&path, bytes).expect("written");
            let (found, wrong) = read(open(format, &path));
            assert_eq!(found.len(), if name == "dataset" { 4 } else { 2 }, "{name}: {wrong:?}");
            assert_eq!(wrong[0], format!(", `{what} 2`: integer `7` where an object is expected at column 1"));
            assert!(wrong.len() == 2 && wrong[1].starts_with(&format!(", `{what} 3`: ")), "{wrong:?}");
        }
        let broken = |text: &[u8]| {
            fs::write(&path, text).expect("written");
            read(open(format, &path)).1.pop().expect("an error")
        };
        let cut = |end: usize| broken(&list.as_bytes()[..end]);
        let incomplete = "the JSON is incomplete at line";
        assert_eq!(cut(list.len() - 2), format!("broken: {what} 5: {incomplete} 2, column {}", list.len() - 8));
        assert!(cut(list.len() - 4).starts_with(&format!("broken: {what} 4: {incomplete} 2")));
        assert!(cut(5).starts_with(&format!("broken: {what} 1: {incomplete} 1")));
        let long = [b"[{\"x\": \"".to_vec(), vec![b'a'; 17 << 20]].concat();
        assert!(broken(&long).starts_with(&format!("broken: {what} 1: a {what} is longer than 16 MiB")));
        for text in [&b"[{\"x\": \"\xff\"}]"[..], b"[{}] more", b"[{},]", b"[{} {}]"] {
            assert!(broken(text).contains("not valid JSON at line 1"), "{}", broken(text));
        }
        assert!(broken(&vec![b'['; 100_000]).starts_with("broken: "));
        assert!(read(open(format, &path)).0.is_empty());
    }
}

#[test]
fn damaged_archives_are_errors() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("x.tar");
    let whole = tar("x.jsonl", "{\"title\": \"A\", \"text\": \"a\"}\n".repeat(100).as_bytes());
    fs::write(&path, &whole).expect("written");
    let (found, wrong) = read(open(Format::Dspy, &path));
    assert_eq!((found.len(), wrong.len()), (100, 0));
    for cut in [600, 2_000, 511] {
        fs::write(&path, &whole[..cut]).expect("written");
        let (_, wrong) = read(open(Format::Dspy, &path));
        assert!(wrong.last().is_some_and(|wrong| wrong.starts_with("broken: ")), "{cut}: {wrong:?}");
    }
    fs::write(&path, tar("README", b"nothing")).expect("written");
    assert_eq!(read(open(Format::Dspy, &path)).1, ["broken: there is no .jsonl file in it"]);
}

#[test]
fn damaged_lines_are_read_or_refused_and_never_a_panic() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("small")
    };
    let inserts: [&[u8]; 9] =
        [b"\"", b"[", b"{", b"\t", b"\n", b"18446744073709551616", b"-1e999", b"\xf0\x9f", b"\\ud800"];
    for (name, good) in GOOD {
        let format = Format::named(name).expect("a format");
        let path = dir.path().join(name);
        for _ in 0..300 {
            let mut text = format!("{good}\n{good}\n").into_bytes();
            for _ in 0..=next() % 4 {
                let at = next() % text.len();
                match next() % 3 {
                    0 => text[at] ^= 1 << (next() % 8),
                    1 => drop(text.splice(at..at, inserts[next() % inserts.len()].iter().copied())),
                    _ => text.truncate(at + 1),
                }
            }
            if next() % 2 == 0 && name != "dpr" {
                text = [b"[", text.as_slice()].concat();
            }
            fs::write(&path, &text).expect("written");
            let _ = Format::detect(&path);
            let _ = read(open(format, &path));
        }
    }
}
