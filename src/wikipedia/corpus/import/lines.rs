//! Files with something on each line or in one list, packed or not.

use super::{Found, ImportError, Imported, Place, Records};
use crate::base::bounded::{MAX_LINE_BYTES, read_line, too_long};
use crate::base::panics::caught;
use crate::base::{json_error, locked, named, processors};
use crate::net::recording::Inside;
use crate::wikipedia::corpus::record::Record;
use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use serde::de::{self, Deserializer as _, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::vec;

/// What a line holds, or what is wrong with it.
pub(super) type Parsed = Result<Vec<Record>, String>;

pub(super) trait Parser {
    fn parse_line(&mut self, line: &[u8]) -> Parsed;

    /// Whether a line that cannot be read ends the file.
    fn is_strict(&self) -> bool {
        false
    }

    fn end(&mut self) -> Result<(), ImportError> {
        Ok(())
    }
}

impl<F: FnMut(&[u8]) -> Parsed> Parser for F {
    fn parse_line(&mut self, line: &[u8]) -> Parsed {
        self(line)
    }
}

pub(super) fn open_lines(
    path: &Path,
    parse: impl FnMut(&[u8]) -> Parsed + Send + 'static,
) -> Result<Records, ImportError> {
    Ok(Box::new(Lines::new(File::open(path).and_then(unpacked_text)?, None, parse)))
}

/// The same of JSON, which may be one list of what is else on lines; `what` is what messages call an element of it.
pub(super) fn open_json(
    path: &Path,
    what: &'static str,
    parser: impl Parser + Send + 'static,
) -> Result<Records, ImportError> {
    Ok(json_records(File::open(path).and_then(unpacked_text)?, what, parser)?)
}

/// The records of a file in a folder that was named, out of which no link is followed.
pub(super) fn open_member_json(
    folder: &Path,
    path: &Path,
    parser: impl Parser + Send + 'static,
) -> Result<Records, ImportError> {
    let file = Inside::of(folder).and_then(|inside| inside.open(path));
    Ok(json_records(file.and_then(unpacked_text)?, RECORD, parser)?)
}

/// A text that may be packed. A device or a packed bomb, which often have nothing but zero bytes, are not read to their end.
pub(super) fn unpacked_text(source: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut text = unpacked(source)?;
    if text.fill_buf()?.contains(&0) {
        return Err(io::Error::other("it contains NUL bytes, so it is not text"));
    }
    Ok(text)
}

/// A file that may be packed, which its first bytes say.
pub(super) fn unpacked(source: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut source = BufReader::with_capacity(1 << 18, source);
    let first = source.fill_buf()?;
    if first.starts_with(b"PK\x03\x04") {
        return Err(io::Error::other("it is a zip archive; unpack it, and name the file or folder that was in it"));
    }
    match Compression::of(first) {
        Some(packed) => Ok(Box::new(BufReader::with_capacity(1 << 18, packed.unpacker(source)?))),
        None => Ok(Box::new(source)),
    }
}

named! {
    /// How a file is packed, by the endings of names.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::wikipedia::corpus) enum Compression {
        Gzip = "gz",
        Zstd = "zst",
        Bzip2 = "bz2",
        Xz = "xz",
    }
}

/// Memory for what xz looks back to, in KiB. The other libraries have bounds of their own.
pub(super) const XZ_MEMORY: u32 = 160 << 10;

impl Compression {
    /// That of a file that begins so, if it is packed.
    pub(in crate::wikipedia::corpus) fn of(first: &[u8]) -> Option<Self> {
        match first {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ => None,
        }
    }

    /// What is in it, of all its parts where several were put together.
    pub(in crate::wikipedia::corpus) fn unpacker<'a>(
        self,
        source: impl BufRead + Send + 'a,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(source)),
            Self::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(source)?),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(source)),
            Self::Xz => Box::new(XzReader::new_mem_limit(source, true, XZ_MEMORY)),
        })
    }
}

pub(super) struct Lines<R, P> {
    source: R,
    parse: P,
    line: Vec<u8>,
    place: Place,
    parsed: vec::IntoIter<Record>,
    ended: bool,
}

impl<R: BufRead, P: Parser> Lines<R, P> {
    /// `member` is the file inside an archive or a folder.
    pub(super) fn new(source: R, member: Option<Arc<str>>, parse: P) -> Self {
        let place = Place { member, line: 0 };
        Self { source, parse, line: Vec::new(), place, parsed: Vec::new().into_iter(), ended: false }
    }

    fn parse(&mut self, length: usize) -> Parsed {
        if let Some(reason) = too_long(&self.line, length) {
            return Err(format!("it is {reason}"));
        }
        let first = self.place.line == 1;
        let line = self.line.strip_prefix("\u{feff}".as_bytes()).filter(|_| first).unwrap_or(&self.line);
        if line.trim_ascii().is_empty() {
            return Ok(Vec::new());
        }
        self.parse.parse_line(line).map_err(|reason| match std::str::from_utf8(line) {
            Ok(_) => reason,
            Err(_) => "it is not UTF-8 text".to_owned(),
        })
    }
}

impl<R: BufRead, P: Parser> Iterator for Lines<R, P> {
    type Item = Found;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.parsed.next() {
                return Some(Ok(Imported { record, place: self.place.clone() }));
            }
            if self.ended {
                return None;
            }
            let length = match read_line(&mut self.source, &mut self.line) {
                Ok(length) => length,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error.into()));
                }
            };
            self.ended = length == 0;
            if self.ended {
                return self.parse.end().err().map(Err);
            }
            self.place.line += 1;
            match self.parse(length) {
                Ok(records) => self.parsed = records.into_iter(),
                Err(reason) if self.parse.is_strict() => {
                    self.ended = true;
                    return Some(Err(ImportError::Broken { reason: format!("line {}: {reason}", self.place.line) }));
                }
                Err(reason) => return Some(Err(ImportError::Record { place: self.place.clone(), reason })),
            }
        }
    }
}

// JSON that is one list of records.

/// What an element of a list is called.
pub(super) const RECORD: &str = "record";

fn json_records(
    mut source: Box<dyn BufRead + Send>,
    what: &'static str,
    parser: impl Parser + Send + 'static,
) -> io::Result<Records> {
    let first = source.fill_buf()?;
    let mark = if first.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
    if !first[mark..].trim_ascii_start().starts_with(b"[") {
        return Ok(Box::new(Lines::new(source, None, parser)));
    }
    source.consume(mark);
    // The library hands over one element after the other, so it has a thread of its own.
    Ok(on_thread(1 << 10, move |send| {
        let (taken, number) = (Cell::new(0), Cell::new(0));
        let mut json = serde_json::Deserializer::from_reader(Bounded { source, what, taken: &taken });
        let mut elements = Elements { what, taken: &taken, number: &number, parser, send };
        let read = json.deserialize_seq(&mut elements).and_then(|()| json.end());
        let broken = |error| format!("{what} {}: {}", number.get(), json_error::in_file(&error));
        read.map_err(|error| ImportError::Broken { reason: broken(error) })?;
        elements.parser.end()
    }))
}

/// A text of which no element may be longer than a line may be.
struct Bounded<'a, R> {
    source: R,
    what: &'a str,
    taken: &'a Cell<u64>,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.taken.set(self.taken.get() + read as u64);
        if self.taken.get() > MAX_LINE_BYTES {
            return Err(io::Error::other(format!("a {} is longer than {} MiB", self.what, MAX_LINE_BYTES >> 20)));
        }
        Ok(read)
    }
}

struct Elements<'a, P> {
    what: &'a str,
    taken: &'a Cell<u64>,
    /// The one that is read, from 1.
    number: &'a Cell<u64>,
    parser: P,
    send: &'a SyncSender<Found>,
}

impl<'de, P: Parser> Visitor<'de> for &mut Elements<'_, P> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}s", self.what)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        loop {
            self.taken.set(0);
            self.number.set(self.number.get() + 1);
            let Some(element) = list.next_element::<Box<RawValue>>()? else { return Ok(()) };
            let place = Place { member: Some(format!("{} {}", self.what, self.number.get()).into()), line: 0 };
            let found = match self.parser.parse_line(element.get().as_bytes()) {
                Ok(records) => records.into_iter().map(Ok).collect(),
                Err(reason) if self.parser.is_strict() => return Err(de::Error::custom(reason)),
                Err(reason) => vec![Err(reason)],
            };
            for record in found {
                self.send.send(place.clone().found(record)).map_err(de::Error::custom)?;
            }
        }
    }
}

// The members of an archive, one after the other.

/// Whether a file is a tar archive, packed or not, by its name.
pub(super) fn is_archive(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_lowercase();
    [".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.bz2", ".tar.xz"].iter().any(|ending| name.ends_with(ending))
}

/// A reader that knows whether it was read to its end.
struct Watched<R> {
    source: R,
    ended: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.ended |= read == 0 && !into.is_empty();
        Ok(read)
    }
}

/// Hands every file that is wanted to `each`, until that returns `false`; without one, `what` is missing. What is behind the
/// last member is read too, because it says whether the archive is whole: a block of zeros, and nothing but zeros.
pub(super) fn archive_members(
    source: impl Read,
    what: &str,
    wanted: impl Fn(&Path) -> bool,
    mut each: impl FnMut(Arc<str>, &mut dyn Read) -> io::Result<bool>,
) -> io::Result<()> {
    let mut archive = tar::Archive::new(Watched { source, ended: false });
    let mut found = false;
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        if !entry.header().entry_type().is_file() || !wanted(&path) {
            continue;
        }
        found = true;
        if !each(Arc::from(path.to_string_lossy()), &mut entry)? {
            return Ok(());
        }
    }
    if !found {
        return Err(io::Error::other(format!("there is no {what} in it")));
    }
    let mut rest = archive.into_inner();
    // Members end at a block of zeros. Without one, the library stops at the end of the file and says nothing.
    if rest.ended {
        return Err(io::Error::other("the archive ends too early"));
    }
    for byte in BufReader::with_capacity(64 << 10, &mut rest).bytes() {
        if byte? != 0 {
            return Err(io::Error::other("there is another archive behind its end"));
        }
    }
    Ok(())
}

// Inputs that are read on threads of their own.

/// Records that a thread sends, and last why it ended before its end. Nobody listens after an error.
pub(super) fn on_thread(
    waiting: usize,
    read: impl FnOnce(&SyncSender<Found>) -> Result<(), ImportError> + Send + 'static,
) -> Records {
    let (send, found) = sync_channel(waiting);
    thread::spawn(move || {
        if let Err(error) = read(&send) {
            let _ = send.send(Err(error));
        }
    });
    Box::new(found.into_iter())
}

/// What is said where a library panicked.
pub(super) const READER_FAILED: &str = "its reader failed inside; is it damaged?";

pub(super) type Batch = Vec<Found>;

/// Does pieces of work on as many threads as there are processors.
pub(super) fn on_all_processors<J: Send + 'static>(
    jobs: Receiver<J>,
    work: impl Fn(J) -> Batch + Send + Sync + 'static,
) -> Receiver<Batch> {
    let threads = processors();
    let (send, found) = sync_channel(threads);
    let shared = Arc::new((Mutex::new(jobs), work));
    for _ in 0..threads {
        let (shared, send) = (Arc::clone(&shared), send.clone());
        thread::spawn(move || {
            let (jobs, work) = &*shared;
            let next = || locked(jobs).recv();
            while let Ok(job) = next() {
                // A job must not be lost without a word, whatever a library does on damaged bytes.
                let found = caught(|| work(job));
                let found =
                    found.unwrap_or_else(|| vec![Err(ImportError::Broken { reason: READER_FAILED.to_owned() })]);
                // Nobody listens after an error.
                if send.send(found).is_err() {
                    return;
                }
            }
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::archive_members;
    use bzip2::Compression;
    use bzip2::read::{BzEncoder, MultiBzDecoder};
    use std::io::Read;

    /// How many members are read, and what is wrong.
    fn read(archive: impl Read) -> (usize, Option<String>) {
        let mut count = 0;
        let each = |_, member: &mut dyn Read| {
            count += 1;
            std::io::copy(member, &mut std::io::sink()).map(|_| true)
        };
        let whole = archive_members(archive, "file", |_| true, each);
        (count, whole.err().map(|error| error.to_string()))
    }

    #[test]
    fn an_archive_without_its_end_or_with_more_behind_it_is_broken() {
        let mut archive = tar::Builder::new(Vec::new());
        for number in 0..100 {
            let mut header = tar::Header::new_gnu();
            header.set_size(700);
            header.set_cksum();
            // Zeros of a member are not the end.
            archive.append_data(&mut header, format!("{number}.jsonl"), &[0; 700][..]).expect("memory");
        }
        let whole = archive.into_inner().expect("memory");
        let (member, end) = (3 * 512, 100 * 3 * 512);
        let early = Some("the archive ends too early".to_owned());
        let cut = &whole[..40 * member];
        assert_eq!(read(cut), (40, early.clone()));
        let mut packed = Vec::new();
        BzEncoder::new(cut, Compression::fast()).read_to_end(&mut packed).expect("memory");
        assert_eq!(read(MultiBzDecoder::new(&*packed)), (40, early.clone()));
        assert_eq!(read(&whole[..end]), (100, early));
        assert_eq!(read(&whole[..end + 512]), (100, None), "some programs write one block of zeros");
        assert_eq!(read([&whole[..], &[0; 9_000]].concat().as_slice()), (100, None), "tar fills its last record");
        let two = [&whole[..], &whole[..]].concat();
        assert_eq!(read(&*two), (100, Some("there is another archive behind its end".to_owned())));
    }
}
