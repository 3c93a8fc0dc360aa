//! The pages of a folder: `pages.bin`, blocks of articles; `pages.idx`, where each is; `pages.dict`, what blocks have in common.
//!
//! An article's place is twelve bytes: its block, where it begins in it, its length. Behind the places, each block has sixteen:
//! its offset in the file, its packed and its unpacked length. All numbers are little-endian.

use super::CorpusError;
use super::frame;
use super::record::Article;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

pub(super) const BLOCKS: &str = "pages.bin";
pub(super) const PLACES: &str = "pages.idx";
pub(super) const DICTIONARY: &str = "pages.dict";
/// Bytes of a block; a longer article is one of its own.
const BLOCK: usize = 8 << 10;
/// How hard blocks are packed.
const LEVEL: i32 = 9;
/// No block unpacks to more, in bytes: more than any line that is read.
const LARGEST: usize = 256 << 20;
const PLACE: usize = 12;
const ENTRY: usize = 16;

/// Writes pages in title order.
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

    /// Adds the next article.
    pub(super) fn add(&mut self, frame: &[u8]) -> io::Result<()> {
        if frame.len() > LARGEST {
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
    /// Unpackers that nobody uses now; each has its copy of the dictionary.
    unpackers: Mutex<Vec<Decompressor<'static>>>,
}

impl Pages {
    pub(super) fn new(blocks: File, places: File, dictionary: Vec<u8>, articles: u32) -> Self {
        let unpackers = Mutex::default();
        Self { blocks: Positioned::new(blocks), places: Positioned::new(places), dictionary, articles, unpackers }
    }

    pub(super) fn articles(&self) -> u32 {
        self.articles
    }

    /// The article of that number.
    pub(super) fn article(&self, number: u32) -> Result<Article, CorpusError> {
        self.article_in(number, &mut None)
    }

    /// The same for one article after the other; `last` is the block of the one before.
    pub(super) fn article_in(&self, number: u32, last: &mut Unpacked) -> Result<Article, CorpusError> {
        let place: [u8; PLACE] = self.places.at(u64::from(number) * PLACE as u64).map_err(damaged(PLACES))?;
        let [block, at, length] = [0, 4, 8].map(|from| number_at(&place, from));
        let unpacked = match last.take().filter(|(open, _)| *open == block) {
            Some((_, unpacked)) => unpacked,
            None => self.block(block)?,
        };
        let (_, unpacked) = last.insert((block, unpacked));
        let (at, length) = (at as usize, length as usize);
        let frame = at.checked_add(length).and_then(|end| unpacked.get(at..end));
        let article = frame.filter(|_| number < self.articles).and_then(frame::decode_article);
        article.ok_or_else(|| damaged(PLACES)(io::Error::other(format!("article {number} is not where it should be"))))
    }

    fn block(&self, number: u32) -> Result<Vec<u8>, CorpusError> {
        let at = u64::from(self.articles) * PLACE as u64 + u64::from(number) * ENTRY as u64;
        let entry: [u8; ENTRY] = self.places.at(at).map_err(damaged(PLACES))?;
        let offset = u64::from(number_at(&entry, 0)) | u64::from(number_at(&entry, 4)) << 32;
        let [packed, length] = [8, 12].map(|from| number_at(&entry, from) as usize);
        // Incompressible blocks grow by less than this.
        if length > LARGEST || packed > length + (64 << 10) {
            return Err(damaged(PLACES)(io::Error::other(format!("block {number} cannot have that length"))));
        }
        let mut bytes = vec![0; packed];
        self.blocks.read(&mut bytes, offset).map_err(damaged(BLOCKS))?;
        let idle = self.unpackers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut unpacker = match idle {
            Some(unpacker) => unpacker,
            None => Decompressor::with_dictionary(&self.dictionary).map_err(damaged(DICTIONARY))?,
        };
        let block = unpacker.decompress(&bytes, length).map_err(damaged(BLOCKS));
        self.unpackers.lock().unwrap_or_else(PoisonError::into_inner).push(unpacker);
        block
    }
}

fn damaged(file: &'static str) -> impl Fn(io::Error) -> CorpusError {
    move |error| CorpusError::Damaged { file: file.to_owned(), reason: error.to_string() }
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
        let _seeking = self.seeking.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }
}
