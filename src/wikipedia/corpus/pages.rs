//! The pages of a folder: `pages.bin`, blocks of articles; `pages.idx`, where each is; `pages.dict`, what blocks have in common.
//!
//! An article's place is twelve bytes: its block, where it begins in it, its length. Behind the places, each block has sixteen:
//! its offset in the file, its packed and its unpacked length. All numbers are little-endian.

use super::CorpusError;
use super::record::{Article, Block};
use crate::base::locked;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Mutex;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

pub(super) const BLOCKS: &str = "pages.bin";
pub(super) const PLACES: &str = "pages.idx";
pub(super) const DICTIONARY: &str = "pages.dict";
/// Bytes of a block; a longer article is one of its own.
const BLOCK: usize = 8 << 10;
const LEVEL: i32 = 9;
/// No block unpacks to more, in bytes: more than any line that is read.
const MAX_FRAME_BYTES: usize = 256 << 20;
const PLACE: usize = 12;
const ENTRY: usize = 16;

pub(super) struct PageWriter<W: Write> {
    blocks: W,
    places: W,
    packer: Compressor<'static>,
    block: Vec<u8>,
    entries: Vec<u8>,
    written: u64,
    count: u32,
}

impl<W: Write> PageWriter<W> {
    pub(super) fn new(blocks: W, places: W, dictionary: &[u8]) -> io::Result<Self> {
        let mut packer = Compressor::with_dictionary(LEVEL, dictionary)?;
        packer.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Self { blocks, places, packer, block: Vec::new(), entries: Vec::new(), written: 0, count: 0 })
    }

    pub(super) fn add(&mut self, frame: &[u8]) -> io::Result<()> {
        if frame.len() > MAX_FRAME_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "an article is larger than 256 MiB"));
        }
        if !self.block.is_empty() && self.block.len() + frame.len() > BLOCK {
            self.close()?;
        }
        for number in [self.count as usize, self.block.len(), frame.len()] {
            self.places.write_all(&small(number)?.to_le_bytes())?;
        }
        self.block.extend_from_slice(frame);
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        let packed = self.packer.compress(&self.block)?;
        self.blocks.write_all(&packed)?;
        self.entries.extend_from_slice(&self.written.to_le_bytes());
        for number in [packed.len(), self.block.len()] {
            self.entries.extend_from_slice(&small(number)?.to_le_bytes());
        }
        self.written += packed.len() as u64;
        self.count += 1;
        self.block.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        if !self.block.is_empty() {
            self.close()?;
        }
        self.places.write_all(&self.entries)?;
        self.places.flush()?;
        self.blocks.flush()
    }
}

fn small(number: usize) -> io::Result<u32> {
    u32::try_from(number).map_err(|_| io::ErrorKind::FileTooLarge.into())
}

/// A block by its number, if one is unpacked.
pub(super) type Unpacked = Option<(u32, Vec<u8>)>;

/// Reads pages by their numbers, from many threads.
pub(super) struct Pages {
    blocks: Positioned,
    places: Positioned,
    dictionary: Vec<u8>,
    articles: u32,
    /// Idle decompressors; each has its copy of the dictionary.
    unpackers: Mutex<Vec<Decompressor<'static>>>,
}

impl Pages {
    pub(super) fn new(blocks: File, places: File, dictionary: Vec<u8>, articles: u32) -> Self {
        let unpackers = Mutex::default();
        Self { blocks: Positioned::new(blocks), places: Positioned::new(places), dictionary, articles, unpackers }
    }

    pub(super) fn article(&self, number: u32) -> Result<Article, CorpusError> {
        self.article_in(number, &mut None)
    }

    /// The same for one article after the other; `last` is the block of the one before.
    pub(super) fn article_in(&self, number: u32, last: &mut Unpacked) -> Result<Article, CorpusError> {
        let place: [u8; PLACE] =
            self.places.at(u64::from(number) * PLACE as u64).map_err(CorpusError::in_file(PLACES))?;
        let [block, at, length] = [0, 4, 8].map(|from| number_at(&place, from));
        let unpacked = match last.take().filter(|(open, _)| *open == block) {
            Some((_, unpacked)) => unpacked,
            None => self.block(block)?,
        };
        let (_, unpacked) = last.insert((block, unpacked));
        let (at, length) = (at as usize, length as usize);
        let frame = at.checked_add(length).and_then(|end| unpacked.get(at..end));
        let article = frame.filter(|_| number < self.articles).and_then(decode_article);
        article.ok_or_else(|| CorpusError::damaged(PLACES, format!("article {number} is not where it should be")))
    }

    fn block(&self, number: u32) -> Result<Vec<u8>, CorpusError> {
        let at = u64::from(self.articles) * PLACE as u64 + u64::from(number) * ENTRY as u64;
        let entry: [u8; ENTRY] = self.places.at(at).map_err(CorpusError::in_file(PLACES))?;
        let offset = u64::from(number_at(&entry, 0)) | u64::from(number_at(&entry, 4)) << 32;
        let [packed, length] = [8, 12].map(|from| number_at(&entry, from) as usize);
        // Incompressible blocks grow by less than this.
        if length > MAX_FRAME_BYTES || packed > length + (64 << 10) {
            return Err(CorpusError::damaged(PLACES, format!("block {number} cannot have that length")));
        }
        let mut bytes = vec![0; packed];
        self.blocks.read(&mut bytes, offset).map_err(CorpusError::in_file(BLOCKS))?;
        let idle = locked(&self.unpackers).pop();
        let mut unpacker = match idle {
            Some(unpacker) => unpacker,
            None => Decompressor::with_dictionary(&self.dictionary).map_err(CorpusError::in_file(DICTIONARY))?,
        };
        let block = unpacker.decompress(&bytes, length).map_err(CorpusError::in_file(BLOCKS));
        locked(&self.unpackers).push(unpacker);
        block
    }
}

/// The number that begins at `from`, which is inside.
fn number_at(bytes: &[u8], from: usize) -> u32 {
    let number = bytes.get(from..from + 4).and_then(|bytes| bytes.try_into().ok());
    u32::from_le_bytes(number.unwrap_or_default())
}

/// A file that is read at any place by any thread.
pub(super) struct Positioned {
    file: File,
    #[cfg(not(unix))]
    seeking: Mutex<()>,
}

impl Positioned {
    pub(super) fn new(file: File) -> Self {
        Self {
            file,
            #[cfg(not(unix))]
            seeking: Mutex::new(()),
        }
    }

    fn at<const N: usize>(&self, offset: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.read(&mut bytes, offset).map(|()| bytes)
    }

    #[cfg(unix)]
    pub(super) fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, offset)
    }

    #[cfg(not(unix))]
    pub(super) fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let _seeking = locked(&self.seeking);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }
}

// An article in bytes, as pages and sorted runs have it: numbers of variable length, texts behind their lengths.

const PAGEID: u8 = 1;
const REVID: u8 = 2;
const TIMESTAMP: u8 = 4;
const ENTRIES: u8 = 8;

/// Writes an article behind what is in `out`.
pub(super) fn encode_article(article: &Article, out: &mut Vec<u8>) {
    let Article { title, pageid, revid, timestamp, blocks, entries, redirects } = article;
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    out.push(
        flag(pageid.is_some(), PAGEID)
            | flag(revid.is_some(), REVID)
            | flag(timestamp.is_some(), TIMESTAMP)
            | flag(entries.is_some(), ENTRIES),
    );
    text(title, out);
    for number in [pageid, revid].into_iter().flatten() {
        varint(*number, out);
    }
    texts(timestamp, out);
    varint(blocks.len() as u64, out);
    for block in blocks {
        match block {
            // 0 is a text; one more than the number of sentences otherwise.
            Block::Text(one) => {
                out.push(0);
                text(one, out);
            }
            Block::Sentences(sentences) => {
                varint(sentences.len() as u64 + 1, out);
                texts(sentences, out);
            }
        }
    }
    for list in entries.iter().chain([redirects]) {
        varint(list.len() as u64, out);
        texts(list, out);
    }
}

/// Reads what [`encode_article`] wrote, and nothing else.
pub(super) fn decode_article(bytes: &[u8]) -> Option<Article> {
    let mut rest = Rest(bytes);
    let flags = rest.byte()?;
    let title = rest.text()?;
    let has = |flag: u8| flags & flag != 0;
    let pageid = if has(PAGEID) { Some(rest.varint()?) } else { None };
    let revid = if has(REVID) { Some(rest.varint()?) } else { None };
    let timestamp = if has(TIMESTAMP) { Some(rest.text()?) } else { None };
    let count = rest.count()?;
    let blocks = (0..count).map(|_| {
        Some(match rest.count()? {
            0 => Block::Text(rest.text()?),
            more => Block::Sentences(rest.texts(more - 1)?),
        })
    });
    let blocks = blocks.collect::<Option<_>>()?;
    let entries = if has(ENTRIES) { Some(rest.list()?) } else { None };
    let redirects = rest.list()?;
    (rest.0.is_empty() && flags < 2 * ENTRIES).then_some(Article {
        title,
        pageid,
        revid,
        timestamp,
        blocks,
        entries,
        redirects,
    })
}

pub(super) fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        // The lowest seven bits.
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn text(text: &str, out: &mut Vec<u8>) {
    varint(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

fn texts<'t>(list: impl IntoIterator<Item = &'t String>, out: &mut Vec<u8>) {
    for one in list {
        text(one, out);
    }
}

struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            // The last byte has one bit.
            if shift == 63 && byte > 1 {
                return None;
            }
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number of things, of which each takes a byte.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.varint()?).ok()?;
        (count <= self.0.len() + 1).then_some(count)
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok().map(str::to_owned)
    }

    fn texts(&mut self, count: usize) -> Option<Vec<String>> {
        (0..count).map(|_| self.text()).collect()
    }

    fn list(&mut self) -> Option<Vec<String>> {
        let count = self.count()?;
        self.texts(count)
    }
}

#[cfg(test)]
mod tests {
    use super::{decode_article, encode_article};
    use crate::wikipedia::corpus::record::{Article, Block};

    #[test]
    fn articles_come_back_and_damaged_ones_do_not_panic() {
        let article = Article {
            title: "東京".to_owned(),
            pageid: Some(u64::MAX),
            revid: Some(300),
            timestamp: Some("2017-10-01".to_owned()),
            blocks: vec![Block::Text("x".repeat(300)), Block::Sentences(vec!["A.".into(), " B.".into()])],
            entries: Some(vec!["A".to_owned()]),
            redirects: vec!["Tokyo".to_owned()],
        };
        for article in [article, Article { blocks: vec![Block::Sentences(vec![])], ..Article::default() }] {
            let mut bytes = Vec::new();
            encode_article(&article, &mut bytes);
            assert_eq!(decode_article(&bytes).as_ref(), Some(&article));
            for at in 0..bytes.len() {
                assert_eq!(decode_article(&bytes[..at]), None);
                for bit in 0..8 {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= 1 << bit;
                    assert_ne!(decode_article(&damaged), Some(article.clone()));
                }
            }
        }
    }
}
