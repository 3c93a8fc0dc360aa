//! The canonical record of an article, and the lines in which people write articles.

use super::manifest::About;
use crate::base::{Digester, json_error};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Record {
    /// A page.
    Article(Article),
    /// A name that leads to an article.
    Redirect { title: String, to: String },
    /// What the corpus is whose articles follow.
    About(Box<About>),
    /// A piece of an article. Those of one title are its blocks, in the order of their ids, or of their texts without ids.
    Passage { title: String, id: Option<String>, text: String },
    /// A redirect that is no name of an article, as its file shows.
    Dropped(Dropped),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dropped {
    ToNothing,
    /// Or over more redirects than are followed.
    Circle,
}

impl Record {
    pub(super) fn title(&self) -> &str {
        match self {
            Self::Article(Article { title, .. }) | Self::Redirect { title, .. } | Self::Passage { title, .. } => title,
            Self::About(about) => &about.manifest.name,
            Self::Dropped(_) => "",
        }
    }
}

/// An article, as its canonical record has it. Everything in a corpus follows from these.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Article {
    pub(super) title: String,
    #[serde(rename = "id", skip_serializing_if = "Option::is_none")]
    pub(super) pageid: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revid: Option<u64>,
    /// When the revision was made, as the source writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<String>,
    pub(super) blocks: Vec<Block>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) entries: Option<Vec<String>>,
    /// Other names, sorted.
    pub(super) redirects: Vec<String>,
}

/// A paragraph. Given sentences are one behind the other, with the spaces that they are written with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum Block {
    Text(String),
    Sentences(Vec<String>),
}

impl Block {
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Sentences(sentences) => Cow::Owned(sentences.concat()),
        }
    }

    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Sentences(sentences) => sentences.concat(),
        }
    }

    /// Where its given sentences end, in bytes.
    pub(super) fn ends(&self) -> Vec<usize> {
        let Self::Sentences(sentences) = self else { return Vec::new() };
        let end = |at: &mut usize, sentence: &String| {
            *at += sentence.len();
            Some(*at)
        };
        sentences.iter().scan(0, end).collect()
    }

    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Sentences(sentences) => sentences.iter().map(|sentence| sentence.len() as u64).sum(),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::Sentences(sentences) => sentences.iter().all(|sentence| sentence.trim().is_empty()),
        }
    }

    /// Sentences without spaces between them, with one before each but the first. Those in which nothing is stay as they are.
    pub(super) fn spaced(mut sentences: Vec<String>) -> Self {
        let bare = |sentence: &&mut String| sentence.starts_with(|c: char| !c.is_whitespace());
        for sentence in sentences.iter_mut().filter(|sentence| !sentence.is_empty()).skip(1).filter(bare) {
            sentence.insert(0, ' ');
        }
        Self::Sentences(sentences)
    }

    /// Whether the spaces between sentences are written with them.
    pub(super) fn has_spaces(sentences: &[String]) -> bool {
        sentences.iter().skip(1).any(|sentence| sentence.starts_with(char::is_whitespace))
    }
}

impl Article {
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.iter().all(Block::is_empty)
    }

    /// Writes the canonical line: JSON without spaces, its keys in the order of the fields, and a line feed.
    pub(super) fn write_line(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }

    /// A page by its text alone, which says whether it is a disambiguation page.
    pub(super) fn of_blocks(title: String, pageid: Option<u64>, blocks: Vec<Block>) -> Self {
        let entries = listed_entries(&blocks);
        Self { title, pageid, blocks, entries, ..Self::default() }
    }
}

/// Reads JSON; what is wrong with it is said in words.
pub(super) fn from_json<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|error| json_error::in_line(&error))
}

/// Makes sure that a title, which the line has as `field`, is not empty.
pub(super) fn check_title(field: &str, title: &str) -> Result<(), String> {
    if title.trim().is_empty() { Err(format!("`{field}` is empty")) } else { Ok(()) }
}

/// The identity of a corpus: SHA-256 over the canonical lines in title order. The prefix names this rule.
#[derive(Default)]
pub(super) struct Identity(Digester, Vec<u8>);

impl Identity {
    pub(super) fn add(&mut self, article: &Article) -> std::io::Result<()> {
        self.1.clear();
        article.write_line(&mut self.1)?;
        std::io::Write::write_all(&mut self.0, &self.1)
    }

    pub(super) fn finish(self) -> String {
        format!("wt1:{}", self.0.hex())
    }
}

/// A line as people write it.
#[derive(Deserialize)]
struct Line {
    title: String,
    redirect: Option<String>,
    #[serde(default, deserialize_with = "page_number")]
    id: Option<u64>,
    #[serde(default, deserialize_with = "page_number")]
    revid: Option<u64>,
    #[serde(default, deserialize_with = "text")]
    timestamp: Option<String>,
    blocks: Option<Vec<Block>>,
    text: Option<Block>,
    #[serde(default)]
    redirects: Vec<String>,
    entries: Option<Vec<Entry>>,
}

/// A title on a disambiguation page, and what is said of it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "an entry is a title, or [title, description]")]
enum Entry {
    Title(String),
    Described(String, String),
}

/// Reads one line; what is wrong with it is said in words.
pub(super) fn parse(line: &[u8]) -> Result<Record, String> {
    let line: Line = match serde_json::from_slice(line) {
        Ok(line) => line,
        Err(error) => {
            return match About::parse(line) {
                Some(about) => Ok(Record::About(Box::new(about?))),
                None => Err(json_error::in_line(&error)),
            };
        }
    };
    let Line { title, redirect, id, revid, timestamp, blocks, text, mut redirects, entries } = line;
    check_title("title", &title)?;
    let blocks = match (blocks, text) {
        (Some(blocks), _) => Some(blocks),
        (None, Some(Block::Text(text))) => Some(paragraphs(&text)),
        (None, Some(Block::Sentences(sentences))) => Some(vec![Block::spaced(sentences)]),
        (None, None) => None,
    };
    if let (None, None, Some(to)) = (&blocks, &entries, redirect) {
        return Ok(Record::Redirect { title, to });
    }
    if blocks.is_none() && entries.is_none() {
        return Err("there are neither `blocks` nor `entries` nor `text`".to_owned());
    }
    let (blocks, entries) = blocks_and_entries(&title, blocks, entries);
    redirects.sort_unstable();
    redirects.dedup();
    Ok(Record::Article(Article { title, pageid: id, revid, timestamp, blocks, entries, redirects }))
}

/// The paragraphs of a text, which blank lines separate.
pub(super) fn paragraphs(text: &str) -> Vec<Block> {
    let mut blocks: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let blank = line.trim().is_empty();
        match blocks.last_mut().filter(|_| goes_on && !blank) {
            Some(block) => {
                block.push('\n');
                block.push_str(line.trim_end());
            }
            None if blank => {}
            None => blocks.push(line.trim_end().to_owned()),
        }
        goes_on = !blank;
    }
    blocks.into_iter().map(|block| Block::Text(block.trim().to_owned())).collect()
}

/// The blocks of a page and, if it is a disambiguation page, its entries: given, or by its text alone.
fn blocks_and_entries(
    title: &str,
    blocks: Option<Vec<Block>>,
    entries: Option<Vec<Entry>>,
) -> (Vec<Block>, Option<Vec<String>>) {
    let Some(entries) = entries else {
        let blocks = blocks.unwrap_or_default();
        let entries = listed_entries(&blocks);
        return (blocks, entries);
    };
    let title_and_line = |entry| match entry {
        Entry::Described(title, description) if !description.trim().is_empty() => {
            let line = format!("{title}, {}", description.trim());
            (title, line)
        }
        Entry::Described(title, _) | Entry::Title(title) => (title.clone(), title),
    };
    let (titles, lines): (Vec<String>, Vec<String>) = entries.into_iter().map(title_and_line).unzip();
    let listed = || vec![Block::Text(format!("{title} may refer to:")), Block::Text(lines.join("\n"))];
    (blocks.filter(|blocks| !blocks.is_empty()).unwrap_or_else(listed), Some(titles))
}

/// The entries of a disambiguation page that is one by its text alone: the lines below `… may refer to:`, up to the
/// comma that begins a description.
pub(super) fn listed_entries(blocks: &[Block]) -> Option<Vec<String>> {
    let (first, rest) = blocks.split_first()?;
    if !first.text().trim_end().ends_with("may refer to:") {
        return None;
    }
    let mut entries = Vec::new();
    for block in rest {
        let text = block.text();
        let titles = text.lines().map(|line| line.split(", ").next().unwrap_or(line).trim());
        entries.extend(titles.filter(|entry| !entry.is_empty()).map(str::to_owned));
    }
    Some(entries)
}

/// A number, also where it is written as text; anything else is not a number.
pub(super) fn page_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    serde_json::Value::deserialize(deserializer).map(|value| number(&value))
}

pub(super) fn number(value: &serde_json::Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok()))
}

/// A text; anything else is none.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(value.as_str().map(str::to_owned))
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;

        impl<'de> Visitor<'de> for Written {
            type Value = Block;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of sentences")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Block, E> {
                Ok(Block::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Block, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Block::Sentences)
            }
        }

        deserializer.deserialize_any(Written)
    }
}

#[cfg(test)]
mod tests {
    use super::{Article, Block, Identity, Record, parse};

    fn article(line: &str) -> Article {
        match parse(line.as_bytes()) {
            Ok(Record::Article(article)) => article,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn lines_come_in_several_forms() {
        let text = article("{\"title\": \"A\", \"text\": \"One.\\nstill one\\n \\n\\nTwo.\\n\", \"id\": \"7\"}");
        assert_eq!(text.blocks, [Block::Text("One.\nstill one".into()), Block::Text("Two.".into())]);
        assert_eq!(text.pageid, Some(7));
        let sentences = article(r#"{"title": "A", "text": ["One.", "Two.", " Three."], "id": "x"}"#);
        assert_eq!(sentences.blocks[0].text(), "One. Two. Three.");
        assert_eq!(sentences.pageid, None);
        let given = article(r#"{"title": "A", "blocks": ["One.", ["Two", " three."]]}"#);
        assert_eq!(given.blocks[1], Block::Sentences(vec!["Two".into(), " three.".into()]));
        let redirect = Record::Redirect { title: "B".into(), to: "A".into() };
        assert_eq!(parse(br#"{"title": "B", "redirect": "A"}"#), Ok(redirect));
        assert_eq!(
            parse(br#"{"title": "B", "text": 3}"#),
            Err("integer `3` where a string or a list of sentences is expected at column 24".into())
        );
    }

    #[test]
    fn the_canonical_line_is_read_as_what_it_was() {
        let written = r#"{"title":"Ada \"é\"","id":7,"revid":8,"timestamp":"2017","blocks":["Ada may refer to:",["B, c"," d"]],"entries":["B"],"redirects":["x","y"]}"#;
        let article = article(written);
        let mut line = Vec::new();
        article.write_line(&mut line).expect("memory");
        assert_eq!(String::from_utf8(line).expect("text"), format!("{written}\n"));
        let mut identity = Identity::default();
        identity.add(&article).expect("memory");
        let expected = crate::base::sha256_hex([format!("{written}\n").as_bytes()]);
        assert_eq!(identity.finish(), format!("wt1:{expected}"));
    }
}
