//! Damaged files of every format.

use super::{gzip, read, tar};
use crate::wikipedia::corpus::import::{Format, ImportError, open};
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
        for bytes in [text.clone(), gzip(&text)] {
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
        let packed = gzip(&(good.to_owned() + "\n").repeat(50).into_bytes());
        for cut in [packed.len() - 1, packed.len() / 2, 12] {
            fs::write(&path, &packed[..cut]).expect("written");
            let (_, wrong) = read(open(format, &path));
            assert!(wrong.iter().any(|wrong| wrong.starts_with("broken: ")), "{name} {cut}: {wrong:?}");
        }
        let zeros = gzip(&vec![0; 1 << 20]);
        for (text, said) in
            [(&b"PK\x03\x04zip"[..], "unpack it"), (&zeros, "NUL bytes"), (b"\xff\xfe{\0\"\0", "NUL bytes")]
        {
            fs::write(&path, text).expect("written");
            let Err(ImportError::Broken { reason }) = open(format, &path).map(|_| ()) else { panic!("{name}") };
            assert!(reason.contains(said), "{reason}");
        }
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
            fs::write(&path, &text).expect("written");
            let _ = Format::detect(&path);
            let _ = read(open(format, &path));
        }
    }
}
