//! The paragraphs that come with the questions of a dataset: `context` of `HotpotQA`, `2WikiMultiHopQA` and our own files, `paragraphs`
//! of `MuSiQue`. The file has a question on each line, or a list of them.

use super::lines::{Lines, Parsed, unpacked_text};
use super::{ImportError, Imported, Place, Records, broken};
use crate::types::bounded::LONGEST_LINE;
use crate::types::json_error;
use crate::wiki::corpus::record::{Article, Block, Record, listed_entries};
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

pub(super) fn open_dataset(path: &Path) -> Result<Records, ImportError> {
    let is_list = |source: &mut Box<dyn BufRead + Send>| -> io::Result<bool> {
        let text = source.fill_buf()?;
        let mark = text.starts_with("\u{feff}".as_bytes());
        let list = text[if mark { 3 } else { 0 }..].trim_ascii_start().starts_with(b"[");
        if list && mark {
            source.consume(3);
        }
        Ok(list)
    };
    let mut source = File::open(path).and_then(unpacked_text).map_err(|error| broken(&error))?;
    let list = is_list(&mut source).map_err(|error| broken(&error))?;
    Ok(if list { read_list(source) } else { Box::new(Lines::new(source, None, parse_question)) })
}

#[derive(Deserialize)]
struct Question {
    #[serde(default)]
    context: Option<Context>,
    #[serde(default)]
    paragraphs: Option<Vec<Paragraph>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`context` is not a list of [title, [sentence, …]]")]
enum Context {
    List(Vec<Sentences>),
    Columns { title: Vec<String>, sentences: Vec<Vec<String>> },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Sentences {
    Pair(String, Vec<String>),
    Fields { title: String, sentences: Vec<String> },
}

#[derive(Deserialize)]
struct Paragraph {
    title: String,
    paragraph_text: String,
}

/// A paragraph in sentences is an article; paragraphs of a text each are passages of theirs.
fn parse_question(question: &[u8]) -> Parsed {
    let Question { context, paragraphs } =
        serde_json::from_slice(question).map_err(|error| json_error::in_line(&error))?;
    if context.is_none() && paragraphs.is_none() {
        return Err("the question has neither `context` nor `paragraphs`".to_owned());
    }
    let context: Vec<(String, Vec<String>)> = match context {
        None => Vec::new(),
        Some(Context::List(list)) => {
            let pair = |one| match one {
                Sentences::Pair(title, sentences) | Sentences::Fields { title, sentences } => (title, sentences),
            };
            list.into_iter().map(pair).collect()
        }
        Some(Context::Columns { title, sentences }) if title.len() == sentences.len() => {
            title.into_iter().zip(sentences).collect()
        }
        Some(Context::Columns { .. }) => return Err("`context` has another number of titles than of texts".to_owned()),
    };
    // HotpotQA's sentences have the spaces between them; a few begin without one.
    let spaced = context.iter().any(|(_, sentences)| Block::has_spaces(sentences));
    let articles = context.into_iter().map(|(title, sentences)| {
        let blocks = vec![if spaced { Block::Sentences(sentences) } else { Block::spaced(sentences) }];
        let entries = listed_entries(&blocks);
        Record::Article(Article { title, blocks, entries, ..Article::default() })
    });
    let passages = paragraphs.into_iter().flatten().map(|Paragraph { title, paragraph_text }| Record::Passage {
        title,
        id: None,
        text: paragraph_text.trim().to_owned(),
    });
    let records: Vec<Record> = articles.chain(passages).collect();
    if records.iter().any(|record| record.title().trim().is_empty()) {
        return Err("a paragraph has no title".to_owned());
    }
    Ok(records)
}

/// The parser hands over one question after the other, so it has a thread of its own.
fn read_list(source: impl Read + Send + 'static) -> Records {
    let (send, found) = sync_channel(1 << 10);
    thread::spawn(move || {
        let taken = Cell::new(0);
        let mut json = serde_json::Deserializer::from_reader(Bounded { source, taken: &taken });
        let read = json.deserialize_seq(Questions { taken: &taken, send: &send }).and_then(|()| json.end());
        if let Err(error) = read {
            // Nobody listens after an error.
            let _ = send.send(Err(ImportError::Broken { reason: error.to_string() }));
        }
    });
    Box::new(found.into_iter())
}

/// A text of which no question may be longer than a line may be.
struct Bounded<'a, R> {
    source: R,
    taken: &'a Cell<u64>,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.taken.set(self.taken.get() + read as u64);
        if self.taken.get() > LONGEST_LINE {
            return Err(io::Error::other(format!("a question is longer than {} MiB", LONGEST_LINE >> 20)));
        }
        Ok(read)
    }
}

struct Questions<'a> {
    taken: &'a Cell<u64>,
    send: &'a SyncSender<Result<Imported, ImportError>>,
}

impl<'de> Visitor<'de> for Questions<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of questions")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for number in 1.. {
            self.taken.set(0);
            let Some(question) = list.next_element::<Box<RawValue>>()? else { break };
            let place = Place { member: Some(format!("question {number}").into()), line: 0 };
            let found = match parse_question(question.get().as_bytes()) {
                Ok(records) => {
                    records.into_iter().map(|record| Ok(Imported { record, place: place.clone() })).collect()
                }
                Err(reason) => vec![Err(ImportError::Record { place, reason })],
            };
            for record in found {
                self.send.send(record).map_err(de::Error::custom)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{open_dataset, parse_question};
    use crate::wiki::corpus::import::tests::{read, shown};

    #[test]
    fn contexts_are_read_in_every_shape() {
        let article = r#"{"title":"A","blocks":[["One."," Two."]],"redirects":[]}"#;
        for context in [
            r#"[["A", ["One.", "Two."]]]"#,
            r#"{"title": ["A"], "sentences": [["One.", "Two."]]}"#,
            r#"[{"title": "A", "sentences": ["One.", "Two."]}]"#,
        ] {
            let line = format!(r#"{{"_id": "x", "question": "?", "context": {context}}}"#);
            assert_eq!(shown(parse_question(line.as_bytes())), article, "{context}");
        }
        let spaced = br#"{"context": [["A", ["One?", "\" yes."]], ["B", ["One.", " Two."]]]}"#;
        assert!(shown(parse_question(spaced)).starts_with(r#"{"title":"A","blocks":[["One?","\" yes."]]"#));
        let paragraphs =
            br#"{"paragraphs": [{"idx": 0, "title": "A", "paragraph_text": " One. ", "is_supporting": true}]}"#;
        assert_eq!(shown(parse_question(paragraphs)), "A One.");
        for (line, reason) in [
            ("{\"question\": \"?\"}", "the question has neither `context` nor `paragraphs`"),
            ("{\"context\": \"a text\"}", "`context` is not a list of [title, [sentence, …]] at column 21"),
            (
                "{\"context\": {\"title\": [\"A\"], \"sentences\": []}}",
                "`context` has another number of titles than of texts",
            ),
            ("{\"context\": [[\"\", [\"One.\"]]]}", "a paragraph has no title"),
        ] {
            assert_eq!(shown(parse_question(line.as_bytes())), reason);
        }
    }

    #[test]
    fn a_list_is_read_question_by_question() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("dev.json");
        let list = "\u{feff}[\n{\"context\": [[\"A\", [\"a\"]]]}, 7, {\"paragraphs\": [{\"title\": \"B\", \"paragraph_text\": \"b\"}]}]";
        std::fs::write(&path, list).expect("written");
        let (found, wrong) = read(open_dataset(&path));
        assert_eq!(found, [r#"{"title":"A","blocks":[["a"]],"redirects":[]}"#, "B b"]);
        assert_eq!(wrong, [", `question 2`: integer `7` where an object is expected at column 1"]);
        for (end, reason) in [
            (list.len() - 1, "broken: EOF while parsing a list"),
            (list.len() - 9, "broken: EOF while parsing"),
            (8, "broken: EOF while parsing"),
        ] {
            std::fs::write(&path, &list.as_bytes()[..end]).expect("written");
            let (_, wrong) = read(open_dataset(&path));
            assert!(wrong.last().is_some_and(|wrong| wrong.starts_with(reason)), "{wrong:?}");
        }
        let long = [b"[{\"x\": \"".to_vec(), vec![b'a'; 17 << 20]].concat();
        for (text, reason) in [
            (long, "broken: a question is longer than 16 MiB"),
            (b"[{\"context\": []}] more".to_vec(), "broken: trailing characters"),
            (b"[{\"x\": \"\xff\"}]".to_vec(), "broken: invalid unicode"),
            (vec![b'['; 100_000], "broken: EOF while parsing"),
        ] {
            std::fs::write(&path, text).expect("written");
            let (_, wrong) = read(open_dataset(&path));
            assert!(wrong.last().is_some_and(|wrong| wrong.starts_with(reason)), "{reason}: {wrong:?}");
        }
    }
}
