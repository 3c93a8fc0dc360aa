//! FEVER's pages of Wikipedia: the folder of `wiki-001.jsonl` to `wiki-109.jsonl`, or one of the files. `lines` has the sentences
//! with their numbers, which are those of the evidence.

use super::lines::{self, Lines, Parsed, unpacked_text};
use super::{ImportError, Records, broken, files_below};
use crate::tape::Inside;
use crate::types::json_error;
use crate::wiki::corpus::record::{Article, Block, Record, listed_entries};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How brackets, braces and colons are written.
const ESCAPES: [(&str, &str); 7] =
    [("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-LCB-", "{"), ("-RCB-", "}"), ("-COLON-", ":")];
/// So many numbers of sentences may be left out on a page.
const MAX_GAPS: usize = 1_000;

pub(super) fn open_fever(path: &Path) -> Result<Records, ImportError> {
    if !path.is_dir() {
        return lines::open_lines(path, parse_fever);
    }
    let files = fever_files(path)?;
    if files.is_empty() {
        return Err(ImportError::Broken { reason: "there is no wiki-NNN.jsonl in it".to_owned() });
    }
    let root = path.to_owned();
    let inside = Inside::of(path).map_err(|error| broken(&error))?;
    let records = files.into_iter().flat_map(move |path| -> Records {
        let member = Arc::from(path.strip_prefix(&root).unwrap_or(&path).to_string_lossy());
        match inside.open(&path).and_then(unpacked_text) {
            Ok(source) => Box::new(Lines::new(source, Some(member), parse_fever)),
            Err(error) => Box::new(std::iter::once(Err(broken(&error)))),
        }
    });
    Ok(Box::new(records))
}

/// Whether a folder has such files.
pub(super) fn is_fever_folder(path: &Path) -> bool {
    fever_files(path).is_ok_and(|files| !files.is_empty())
}

fn fever_files(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    files_below(folder, |name| name.starts_with("wiki-") && name.contains(".jsonl")).map_err(|error| broken(&error))
}

#[derive(Deserialize)]
struct FeverLine {
    id: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    lines: String,
}

fn parse_fever(line: &[u8]) -> Parsed {
    let FeverLine { id, text, lines } = serde_json::from_slice(line).map_err(|error| json_error::in_line(&error))?;
    let title = without_escapes(&id).replace('_', " ");
    if title.trim().is_empty() {
        // Each file begins with a record in which nothing is.
        let nothing = text.is_empty() && lines.is_empty();
        return if nothing { Ok(Vec::new()) } else { Err("`id` is empty".to_owned()) };
    }
    let blocks = match fever_sentences(&lines) {
        sentences if sentences.is_empty() => vec![Block::Text(without_escapes(text.trim()))],
        sentences => vec![Block::spaced(sentences)],
    };
    let entries = listed_entries(&blocks);
    Ok(vec![Record::Article(Article { title, blocks, entries, ..Article::default() })])
}

/// Sentences in their places: of `12\tA sentence .\tlink\tTitle` the second field is the thirteenth. Text without a number
/// of its own belongs to the sentence before it.
fn fever_sentences(lines: &str) -> Vec<String> {
    let most = lines.split('\n').count() + MAX_GAPS;
    let mut sentences = Vec::<String>::new();
    for line in lines.split('\n') {
        let mut fields = line.split('\t').map(str::trim);
        let first = fields.next().unwrap_or_default();
        let number = first.parse().ok().filter(|number| (sentences.len()..most).contains(number));
        if let Some(number) = number {
            sentences.resize(number, String::new());
            sentences.push(without_escapes(fields.next().unwrap_or_default()));
        } else if let Some(last) = sentences.last_mut().filter(|_| !first.is_empty()) {
            last.push(' ');
            last.push_str(&without_escapes(first));
        } else if !first.is_empty() {
            sentences.push(without_escapes(first));
        }
    }
    sentences
}

fn without_escapes(text: &str) -> String {
    let mut text = text.to_owned();
    for (from, to) in ESCAPES {
        if text.contains(from) {
            text = text.replace(from, to);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{MAX_GAPS, fever_sentences, parse_fever};
    use crate::wiki::corpus::import::tests::shown;

    #[test]
    fn sentences_have_the_numbers_of_the_evidence() {
        let lines = "0\tRed -LRB- a colour -RRB- is red .\tcolour\tColour\n1\t\n2\tIt is not blue .\n\n4\t";
        let line = serde_json::json!({"id": "Red_-LRB-film-COLON-_2-RRB-", "text": "x", "lines": lines});
        let article = r#"{"title":"Red (film: 2)","blocks":[["Red ( a colour ) is red .",""," It is not blue .","",""]],"redirects":[]}"#;
        assert_eq!(shown(parse_fever(line.to_string().as_bytes())), article);
        let without = r#"{"id": "A", "text": " -LSB-a-RSB- -LCB-b-RCB- "}"#;
        assert_eq!(shown(parse_fever(without.as_bytes())), r#"{"title":"A","blocks":["[a] {b}"],"redirects":[]}"#);
        assert_eq!(shown(parse_fever(br#"{"id": "", "text": "", "lines": ""}"#)), "");
        assert_eq!(shown(parse_fever(br#"{"id": "_", "text": "", "lines": "0\tx"}"#)), "`id` is empty");
        assert_eq!(shown(parse_fever(br#"{"id": 7}"#)), "integer `7` where a string is expected at column 8");
    }

    #[test]
    fn broken_numbers_lose_no_text_and_take_no_memory() {
        assert_eq!(
            fever_sentences("0\tA year\tx\n1984 was .\n1\tTwo .\n1\tAgain .\n2"),
            ["A year 1984 was .", "Two . 1", ""]
        );
        assert_eq!(fever_sentences("first\n\tlink\n18446744073709551615\tx"), ["first 18446744073709551615"]);
        assert_eq!(fever_sentences(&format!("{MAX_GAPS}\tx")).len(), MAX_GAPS + 1);
        assert_eq!(fever_sentences(&format!("{}\tx", MAX_GAPS + 1)).len(), 1);
    }
}
