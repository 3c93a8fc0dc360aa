//! What a file or a folder is, by its name and its first record.

use super::archive::is_archive;
use super::lines::unpacked_text;
use super::{Format, beir, fever, files, files_below, hotpotqa, is_table, zim};
use crate::wiki::corpus::{lines_file, manifest};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// So much of a file is looked at, in bytes.
const LOOKED_AT: u64 = 256 << 10;

impl Format {
    /// What a file or a folder is.
    pub fn detect(path: &Path) -> Option<Self> {
        if path.is_dir() {
            return match path {
                _ if path.join(manifest::FILE).is_file() => Some(Self::Corpus),
                _ if lines_file(path).is_some() => Some(Self::Jsonl),
                _ if path.join(beir::BEIR_FILE).is_file() => Some(Self::Beir),
                _ if files_below(path, is_table).is_ok_and(|files| !files.is_empty()) => Some(Self::Parquet),
                _ if hotpotqa::is_folder(path) => Some(Self::Hotpotqa),
                _ => fever::is_fever_folder(path).then_some(Self::Fever),
            };
        }
        match files(path).first().and_then(|file| magic(file)) {
            Some(zim::MAGIC) => return Some(Self::Zim),
            Some([b'P', b'A', b'R', b'1']) => return Some(Self::Parquet),
            _ => {}
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_lowercase();
        if name.ends_with(".tar.bz2") {
            return Some(Self::Hotpotqa);
        }
        if is_archive(path) {
            return Some(Self::Dspy);
        }
        let bare = [".gz", ".zst"].into_iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(&name);
        let named = |endings: &[&str]| endings.iter().any(|ending| bare.ends_with(ending));
        let text = beginning(path).unwrap_or_default();
        match text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text).trim_ascii_start() {
            [] => named(&[".jsonl", ".ndjson", ".json"]).then_some(Self::Jsonl),
            text @ [b'{' | b'[', ..] => Self::of_keys(&keys(text), text[0] == b'['),
            text if text.starts_with(b"id\ttext\ttitle") => Some(Self::Dpr),
            // The passages of DPR have three columns.
            text if named(&[".tsv"]) => Some(if columns(text) == 2 { Self::Redirects } else { Self::Dpr }),
            _ => None,
        }
    }

    fn of_keys(keys: &[&[u8]], in_list: bool) -> Option<Self> {
        let has = |key: &str| keys.contains(&key.as_bytes());
        match () {
            () if has("context") || has("paragraphs") => Some(Self::Dataset),
            () if in_list => None,
            () if has("wikipedia_title") => Some(Self::Kilt),
            () if has("contents") => Some(Self::Wiki18),
            () if has("id") && has("lines") => Some(Self::Fever),
            () if has("sentences") && has("title") => Some(Self::Wiki2),
            () if has("_id") && has("title") => Some(Self::Beir),
            () => Some(Self::Jsonl),
        }
    }
}

/// Columns of the first line, which tabs part.
fn columns(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n').next().unwrap_or_default().split(|byte| *byte == b'\t').count()
}

/// The first four bytes of a regular file.
fn magic(path: &Path) -> Option<[u8; 4]> {
    let mut bytes = [0; 4];
    let regular = path.metadata().ok()?.is_file();
    (regular && File::open(path).ok()?.read_exact(&mut bytes).is_ok()).then_some(bytes)
}

/// The first bytes of a regular file, unpacked. A pipe would lose them.
fn beginning(path: &Path) -> Option<Vec<u8>> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    // What can be read of a damaged file tells as much.
    let _ = unpacked_text(File::open(path).ok()?).ok()?.take(LOOKED_AT).read_to_end(&mut bytes);
    Some(bytes)
}

/// The keys of the first object, as far as `text` goes.
fn keys(text: &[u8]) -> Vec<&[u8]> {
    let (mut keys, mut string, mut rest) = (Vec::new(), None, text.trim_ascii_start());
    let mut depth = if rest.starts_with(b"[") { -1 } else { 0 };
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'"' => {
                let mut escaped = false;
                let end = after.iter().position(|byte| {
                    let ends = *byte == b'"' && !escaped;
                    escaped = *byte == b'\\' && !escaped;
                    ends
                });
                let Some(end) = end else { break };
                string = Some(&after[..end]);
                rest = &after[end + 1..];
            }
            b':' if depth == 1 => keys.extend(string.take()),
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => break,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::Format;
    use std::fs;

    #[test]
    fn inputs_are_told_by_their_names_and_first_records() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        for (format, text) in [
            ("jsonl", "\u{feff} {\"title\": \"contents\", \"text\": \"\\\"lines\\\": [\"}"),
            ("jsonl", "{\"title\": \"A\", \"blocks\": [{\"contents\": 1}]}"),
            ("wiki18", "{\"id\": \"0\", \"contents\": \"\\\"A\\\"\\na\"}"),
            ("beir", "{\"_id\": \"0\", \"title\": \"A\", \"text\": \"a\", \"metadata\": {}}"),
            ("kilt", "{\"_id\": \"0\", \"wikipedia_id\": \"0\", \"wikipedia_title\": \"A\", \"text\": [\"cut"),
            ("fever", "{\"id\": \"\", \"text\": \"\", \"lines\": \"\"}"),
            ("2wiki", "{\"id\": \"1\", \"title\": \"A\", \"sentences\": [\"a\"], \"mentions\": []}"),
            ("dataset", "[\n  {\"_id\": \"1\", \"question\": \"?\", \"context\": [[\"A\", [\"a\"]]]}]"),
            ("dataset", "{\"id\": \"1\", \"paragraphs\": [{\"title\": \"A\", \"paragraph_text\": \"a\"}]}"),
            ("dpr", "id\ttext\ttitle\n1\ta\tA\n"),
            ("none", "[{\"title\": \"A\", \"text\": \"a\"}]"),
            ("none", "[[[[\""),
            ("none", "}}]]"),
            ("none", ""),
        ] {
            fs::write(&path, text).expect("written");
            assert_eq!(Format::detect(&path).map_or("none", Format::name), format, "{text}");
        }
        for (format, name) in [
            ("jsonl", "jsonl/articles.jsonl"),
            ("beir", "beir/corpus.jsonl"),
            ("fever", "fever/wiki-pages/wiki-001.jsonl"),
            ("hotpotqa", "hotpotqa/AA/wiki_00.gz"),
        ] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "").expect("written");
            assert_eq!(Format::detect(&dir.path().join(format)).map(Format::name), Some(format));
        }
        for (format, text) in [("redirects", "NYC\tNew York\n\t\n"), ("dpr", "1\ta\tA\n"), ("dpr", "a\n")] {
            fs::write(dir.path().join("y.tsv"), text).expect("written");
            assert_eq!(Format::detect(&dir.path().join("y.tsv")).map(Format::name), Some(format), "{text}");
        }
        let by_name = ["x.jsonl", "x.tsv.gz", "wiki.abstracts.2017.tar.gz", "x.tar.bz2", "x.zip"];
        let found = by_name.map(|name| Format::detect(&dir.path().join(name)).map(Format::name));
        assert_eq!(found, [Some("jsonl"), None, Some("dspy"), Some("hotpotqa"), None]);
    }
}
