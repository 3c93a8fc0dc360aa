//! `HotpotQA`'s dumps of Wikipedia, abstracts and whole pages: the `tar.bz2` as it is published, or the folder that it unpacks to.
//!
//! A member `ROOT/AA/wiki_00.bz2` has JSON lines. Their `text` is a list of sentences, or of paragraphs that are lists of sentences and
//! begin with the title; sentences have the spaces between them, and links as `<a href="…">`. Members are small and many, and are
//! unpacked and read on several threads.

use super::{Found, ImportError, Imported, Place, Records, on_all_processors};
use crate::types::bounded::read_at_most;
use crate::wiki::corpus::record::{Article, Block, Record, listed_entries, page_number, said};
use bzip2::read::MultiBzDecoder;
use serde::Deserialize;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Members between the thread that reads the archive and those that unpack them.
const WAITING: usize = 16;
/// No member unpacks to more, in bytes.
const LARGEST: u64 = 1 << 30;
/// How a packed file begins.
const MAGIC: &[u8] = b"BZh";

/// A member's name and its bytes as they are in the archive.
type Member = Result<(Arc<str>, Vec<u8>), ImportError>;

pub(super) fn open(path: &Path) -> Result<Records, ImportError> {
    let (members, to_unpack) = sync_channel(WAITING);
    if path.is_dir() {
        let mut files = Vec::new();
        listed(path, &mut files).map_err(|error| broken(&error))?;
        files.sort();
        if files.is_empty() {
            return Err(ImportError::Broken { reason: "there is no wiki_NN.bz2 in it".to_owned() });
        }
        let root = path.to_owned();
        thread::spawn(move || send_files(&root, &files, &members));
    } else {
        let file = File::open(path).map_err(|error| broken(&error))?;
        thread::spawn(move || send_archive(file, &members));
    }
    let read = |member: Member| member.map_or_else(|error| vec![Err(error)], |(name, bytes)| records(&name, &bytes));
    Ok(Box::new(on_all_processors(to_unpack, read).into_iter().flatten()))
}

fn broken(error: &io::Error) -> ImportError {
    ImportError::Broken { reason: error.to_string() }
}

/// Whether a folder has such members.
pub(super) fn is_folder(path: &Path) -> bool {
    let mut files = Vec::new();
    listed(path, &mut files).is_ok() && !files.is_empty()
}

fn listed(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // A link may lead in a circle.
        let kind = path.symlink_metadata()?;
        if kind.is_dir() {
            listed(&path, found)?;
        } else if kind.is_file() && is_member(&path) {
            found.push(path);
        }
    }
    Ok(())
}

fn is_member(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("wiki_"))
}

fn send_files(root: &Path, files: &[PathBuf], members: &SyncSender<Member>) {
    for path in files {
        let name = Arc::from(path.strip_prefix(root).unwrap_or(path).to_string_lossy());
        let bytes = File::open(path).and_then(|file| read_at_most(file, LARGEST));
        let member = bytes.map(|bytes| (name, bytes)).map_err(|error| broken(&error));
        // Nobody listens after an error.
        if members.send(member).is_err() {
            return;
        }
    }
}

fn send_archive(file: File, members: &SyncSender<Member>) {
    let mut archive = tar::Archive::new(MultiBzDecoder::new(BufReader::with_capacity(1 << 18, file)));
    let mut count = 0;
    let result = archive.entries().and_then(|entries| {
        for entry in entries {
            let mut entry = entry?;
            let path = entry.path()?.into_owned();
            if !entry.header().entry_type().is_file() || !is_member(&path) {
                continue;
            }
            let bytes = read_at_most(&mut entry, LARGEST)?;
            count += 1;
            if members.send(Ok((Arc::from(path.to_string_lossy()), bytes))).is_err() {
                return Ok(());
            }
        }
        if count == 0 { Err(io::Error::other("there is no wiki_NN.bz2 in it")) } else { Ok(()) }
    });
    // What is behind the last member says whether the archive is whole.
    let whole = result.and_then(|()| io::copy(&mut archive.into_inner(), &mut io::sink()));
    if let Err(error) = whole {
        let _ = members.send(Err(broken(&error)));
    }
}

fn records(member: &Arc<str>, bytes: &[u8]) -> Found {
    let mut text = Vec::new();
    let read = if bytes.starts_with(MAGIC) {
        MultiBzDecoder::new(bytes).take(LARGEST).read_to_end(&mut text).map(|_| text.as_slice())
    } else {
        Ok(bytes)
    };
    let place = |line: u64| Place { member: Some(Arc::clone(member)), line };
    let text = match read {
        Ok(text) => text,
        // What could be unpacked of it may end inside a record, and is not taken.
        Err(error) => return vec![Err(ImportError::Record { place: place(0), reason: error.to_string() })],
    };
    let lines = (1..).zip(text.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.trim_ascii().is_empty());
    let record = |(number, line)| match parse(line) {
        Ok(record) => Ok(Imported { record, place: place(number) }),
        Err(reason) => Err(ImportError::Record { place: place(number), reason }),
    };
    lines.map(record).collect()
}

#[derive(Deserialize)]
struct Line {
    #[serde(default, deserialize_with = "page_number")]
    id: Option<u64>,
    title: String,
    text: Vec<Block>,
}

fn parse(line: &[u8]) -> Result<Record, String> {
    let Line { id, title, text } = serde_json::from_slice(line).map_err(|error| said(&error))?;
    if title.trim().is_empty() {
        return Err("`title` is empty".to_owned());
    }
    let whole = text.iter().any(|block| matches!(block, Block::Sentences(_)));
    let blocks = if whole {
        // The first is the title again.
        let first = usize::from(text.first().is_some_and(|block| block.text().trim() == title.trim()));
        text.into_iter().skip(first).map(without_links).collect()
    } else {
        let sentences: Vec<String> = text.into_iter().map(Block::into_text).collect();
        if sentences.is_empty() { Vec::new() } else { vec![Block::Sentences(sentences)] }
    };
    let entries = listed_entries(&blocks);
    Ok(Record::Article(Article { title, pageid: id, blocks, entries, ..Article::default() }))
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
