//! A corpus in memory, from lines or from a folder of texts.

use super::import::Compression;
use super::index::{IndexWriter, Rule, TextIndex};
use super::manifest::{About, FrozenSearches};
use super::names::{Fold, Names};
use super::record::{self, Article, Record};
use super::{CorpusError, Page};
use crate::base::bounded::{fill_at_most, text_at_most};
use crate::net::recording::Inside;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// How much a packed file may unpack to, in bytes; a plain corpus lives in memory.
const MAX_UNPACKED: u64 = 8 << 30;
/// Bytes that are looked at before the rest is read.
const FIRST: u64 = 64 << 10;
/// How many hits are looked at. Scores may differ in their last digit with this number, so recorded runs need it to stay.
pub(super) const TAKEN: usize = 200;

type ByName = BTreeMap<String, u32>;

/// Names, words and pages of articles from lines; `file` is what messages call them.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<(Names, TextIndex, Vec<Arc<Page>>), CorpusError> {
    let mut articles = articles(file, bytes)?;
    let (titles, redirects) = names(file, &articles)?;
    // Titles win, then the first in the file.
    let mut folded = ByName::new();
    let by_place = |names: &ByName, further: usize| {
        let key = |(name, &at): (&String, &u32)| Fold::CURRENT.keys(name).nth(further).map(|key| (at, key));
        let mut keys: Vec<(u32, String)> = names.iter().filter_map(key).collect();
        keys.sort_unstable();
        keys
    };
    for (names, further) in [(&titles, 0), (&redirects, 0), (&titles, 1), (&redirects, 1)] {
        for (at, key) in by_place(names, further) {
            folded.entry(key).or_insert(at);
        }
    }
    let mut numbers = vec![0; articles.len()];
    for (number, &at) in (0..).zip(titles.values()) {
        numbers[at as usize] = number;
    }
    let numbered = |mut names: ByName| {
        for at in names.values_mut() {
            *at = numbers[*at as usize];
        }
        names
    };
    let names = Names::in_memory([titles, redirects, folded].map(numbered))?;
    articles.sort_by(|(_, a), (_, b)| a.title.cmp(&b.title));
    let pages: Vec<Arc<Page>> = articles.into_iter().map(|(_, article)| Arc::new(article.into())).collect();
    let index = index(&pages).map_err(|error| CorpusError::Index { reason: error.to_string() })?;
    Ok((names, index, pages))
}

fn index(pages: &[Arc<Page>]) -> Result<TextIndex, tantivy::TantivyError> {
    let mut writer = IndexWriter::in_memory()?;
    for page in pages {
        writer.add(&page.title, page.blocks.iter().map(String::as_str))?;
    }
    TextIndex::over(&writer.finish()?, Rule::ALL_WORDS, Fold::CURRENT)
}

pub(super) fn packed_searches(bytes: &[u8]) -> FrozenSearches {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match About::parse(first) {
        Some(Ok(about)) => about.searches,
        _ => FrozenSearches::new(),
    }
}

/// The bytes of a file, unpacked if they are packed.
pub(super) fn unpacked<'a>(file: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, CorpusError> {
    let Some(packed) = Compression::of(bytes) else { return Ok(Cow::Borrowed(bytes)) };
    let text = packed.unpacker(bytes).and_then(|text| read_text(text, 0));
    text.map(Cow::Owned).map_err(|error| CorpusError::Unpack { file: file.to_owned(), reason: error.to_string() })
}

/// Bytes of text, packed or not, up to [`MAX_UNPACKED`], about `size` of them. A device or a packed bomb, which often have nothing but zero bytes, are not read to
/// their end.
pub(super) fn read_text(mut source: impl Read, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Without so much memory it grows as far as it goes.
    let _ = bytes.try_reserve_exact(usize::try_from(size.min(MAX_UNPACKED) + 1).unwrap_or_default());
    (&mut source).take(FIRST).read_to_end(&mut bytes)?;
    if Compression::of(&bytes).is_none() && bytes.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it contains NUL bytes, so it is not text"));
    }
    fill_at_most(&mut bytes, source, MAX_UNPACKED)?;
    Ok(bytes)
}

/// The texts of a folder as canonical lines in title order: a file `NAME.txt` is the article `NAME`. `None` if there are none.
/// A link out of the folder is refused: it would make an article of any file.
pub(super) fn text_files_as_lines(dir: &Path) -> Result<Option<Vec<u8>>, CorpusError> {
    let cannot = |path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| CorpusError::Read { path, reason: error.to_string() }
    };
    let inside = Inside::of(dir).map_err(cannot(dir))?;
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(cannot(dir))? {
        let path = entry.map_err(cannot(dir))?.path();
        let Some(title) = path.file_stem().filter(|_| path.extension().is_some_and(|ending| ending == "txt")) else {
            continue;
        };
        let Some(title) = title.to_str() else {
            return Err(cannot(&path)(io::Error::other("its name is not UTF-8, and would be the title")));
        };
        files.push((title.to_owned(), path));
    }
    files.sort();
    let mut lines = Vec::new();
    for (title, path) in &files {
        let text = inside.open(path).and_then(|file| text_at_most(file, MAX_UNPACKED)).map_err(cannot(path))?;
        let blocks = record::paragraphs(text.trim_start_matches('\u{feff}'));
        let article = Article::of_blocks(title.clone(), None, blocks);
        article.write_line(&mut lines).map_err(cannot(path))?;
    }
    Ok(Some(lines).filter(|_| !files.is_empty()))
}

/// Reads all articles with the numbers of their lines; blank lines are passed over.
fn articles(file: &str, bytes: &[u8]) -> Result<Vec<(usize, Article)>, CorpusError> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let (mut articles, mut packed) = (Vec::new(), false);
    for (line, text) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        if text.trim_ascii().is_empty() {
            continue;
        }
        let wrong = |reason: String| CorpusError::Line { file: file.to_owned(), line, reason };
        let record = if packed { record::from_json(text).map(Record::Article) } else { record::parse(text) };
        match record.map_err(wrong)? {
            Record::Article(article) => articles.push((line, article)),
            Record::About(_) if line == 1 => packed = true,
            Record::About(_) => return Err(wrong("only the first line may describe a corpus".to_owned())),
            other => {
                let title = other.title();
                return Err(wrong(format!(
                    "the redirect `{title}` has a line of its own, which only `corpus build` reads"
                )));
            }
        }
    }
    Ok(articles)
}

/// Titles and redirects, each leading to the place of one article.
fn names(file: &str, articles: &[(usize, Article)]) -> Result<(ByName, ByName), CorpusError> {
    let taken = |what, name: &str, taken, at: u32, first: u32| CorpusError::Taken {
        file: file.to_owned(),
        line: articles[at as usize].0,
        what,
        name: name.to_owned(),
        taken,
        first: articles[first as usize].0,
    };
    let (mut titles, mut redirects) = (ByName::new(), ByName::new());
    for (at, (_, article)) in (0..).zip(articles) {
        if let Some(first) = titles.insert(article.title.clone(), at) {
            return Err(taken("title", &article.title, "a title", at, first));
        }
    }
    for (at, (_, article)) in (0..).zip(articles) {
        for redirect in &article.redirects {
            if let Some(&first) = titles.get(redirect) {
                return Err(taken("redirect", redirect, "a title", at, first));
            }
            match redirects.insert(redirect.clone(), at) {
                Some(first) if first != at => return Err(taken("redirect", redirect, "a redirect", at, first)),
                _ => {}
            }
        }
    }
    Ok((titles, redirects))
}
