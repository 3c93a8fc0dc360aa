//! `HotpotQA`'s dumps of Wikipedia, abstracts and whole pages: the `tar.bz2` as it is published, or the folder that it unpacks to.
//!
//! A member `ROOT/AA/wiki_00.bz2` has JSON lines. Their `text` is a list of sentences, or of paragraphs that are lists of sentences and
//! begin with the title; sentences have the spaces between them, and links as `<a href="…">`. Members are small and many, and are
//! unpacked and read on several threads.

use super::lines::{self, Batch, on_all_processors};
use super::{ImportError, Place, PublishedFacts, Records, files_below};
use crate::base::bounded::read_at_most;
use crate::net::recording::Inside;
use crate::wikipedia::corpus::record::{Article, Block, Record, check_title, from_json, page_number};
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Members between the thread that reads the archive and those that unpack them.
const WAITING: usize = 16;
/// No member unpacks to more, in bytes.
const LARGEST: u64 = 1 << 30;
const MEMBER: &str = "wiki_";

type Member = Result<(Arc<str>, Vec<u8>), ImportError>;

pub(super) fn open(path: &Path) -> Result<Records, ImportError> {
    let (members, to_unpack) = sync_channel(WAITING);
    if path.is_dir() {
        let files = files(path)?;
        if files.is_empty() {
            return Err(ImportError::Broken { reason: "there is no wiki_NN.bz2 in it".to_owned() });
        }
        let root = path.to_owned();
        thread::spawn(move || send_files(&root, &files, &members));
    } else {
        let file = File::open(path)?;
        thread::spawn(move || send_archive(file, &members));
    }
    let read = |member: Member| member.map_or_else(|error| vec![Err(error)], |(name, bytes)| records(&name, bytes));
    Ok(Box::new(on_all_processors(to_unpack, read).into_iter().flatten()))
}

pub(super) fn facts() -> PublishedFacts {
    PublishedFacts {
        license: Some("CC-BY-SA-4.0".to_owned()),
        attribution: Some("Wikipedia contributors, as published by HotpotQA".to_owned()),
        changes: Some("plain text, links removed".to_owned()),
        ..PublishedFacts::default()
    }
}

pub(super) fn is_folder(path: &Path) -> bool {
    files(path).is_ok_and(|files| !files.is_empty())
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    files_below(folder, |name| name.starts_with(MEMBER))
}

fn send_files(root: &Path, files: &[PathBuf], members: &SyncSender<Member>) {
    let inside = match Inside::of(root) {
        Ok(inside) => inside,
        Err(error) => return drop(members.send(Err(error.into()))),
    };
    for path in files {
        let name = Arc::from(path.strip_prefix(root).unwrap_or(path).to_string_lossy());
        let bytes = inside.open(path).and_then(|file| read_at_most(file, LARGEST));
        let member = bytes.map(|bytes| (name, bytes)).map_err(ImportError::from);
        // Nobody listens after an error.
        if members.send(member).is_err() {
            return;
        }
    }
}

fn send_archive(file: File, members: &SyncSender<Member>) {
    let source = MultiBzDecoder::new(BufReader::with_capacity(1 << 18, file));
    let wanted = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(MEMBER));
    let whole = lines::archive_members(source, "wiki_NN.bz2", wanted, |name, member| {
        let bytes = read_at_most(member, LARGEST)?;
        Ok(members.send(Ok((name, bytes))).is_ok())
    });
    if let Err(error) = whole {
        let _ = members.send(Err(error.into()));
    }
}

fn records(member: &Arc<str>, bytes: Vec<u8>) -> Batch {
    let read = match bytes.as_slice() {
        [b'B', b'Z', b'h', ..] => read_at_most(MultiBzDecoder::new(&*bytes), LARGEST),
        [0x1f, 0x8b, ..] => read_at_most(MultiGzDecoder::new(&*bytes), LARGEST),
        _ => Ok(bytes),
    };
    let place = |line: u64| Place { member: Some(Arc::clone(member)), line };
    let text = match read {
        Ok(text) => text,
        // What could be unpacked of it may end inside a record, and is not taken.
        Err(error) => return vec![Err(ImportError::Record { place: place(0), reason: error.to_string() })],
    };
    let lines = (1..).zip(text.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.trim_ascii().is_empty());
    lines.map(|(number, line)| place(number).found(parse(line))).collect()
}

#[derive(Deserialize)]
struct Line {
    #[serde(default, deserialize_with = "page_number")]
    id: Option<u64>,
    title: String,
    text: Vec<Block>,
}

fn parse(line: &[u8]) -> Result<Record, String> {
    let Line { id, title, text } = from_json(line)?;
    check_title("title", &title)?;
    let whole = text.iter().any(|block| matches!(block, Block::Sentences(_)));
    let blocks = if whole {
        // The first is the title again.
        let first = usize::from(text.first().is_some_and(|block| block.text().trim() == title.trim()));
        text.into_iter().skip(first).map(without_links).collect()
    } else {
        let sentences: Vec<String> = text.into_iter().map(Block::into_text).collect();
        if sentences.is_empty() { Vec::new() } else { vec![Block::Sentences(sentences)] }
    };
    Ok(Record::Article(Article::of_blocks(title, id, blocks)))
}

fn without_links(block: Block) -> Block {
    match block {
        Block::Text(text) => Block::Text(without_tags(&text)),
        Block::Sentences(sentences) => Block::Sentences(sentences.iter().map(|text| without_tags(text)).collect()),
    }
}

/// A text without `<a href="…">` and `</a>`; other marks are the text's own.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        plain.push_str(before);
        let end = tag.find('>').filter(|_| tag.starts_with("<a href=") || tag.starts_with("</a>"));
        let taken = end.map_or(1, |end| end + 1);
        if end.is_none() {
            plain.push('<');
        }
        rest = &tag[taken..];
    }
    plain + rest
}

#[cfg(test)]
mod tests;
