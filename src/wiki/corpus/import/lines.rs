//! Files with something on each line, packed or not.

use super::{ImportError, Imported, Place, Records, broken};
use crate::tape::Inside;
use crate::types::bounded::{read_line, too_long};
use crate::wiki::corpus::record::Record;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::vec;

/// What a line holds, or what is wrong with it.
pub(super) type Parsed = Result<Vec<Record>, String>;

/// What is made of lines.
pub(super) trait Parser {
    fn parse_line(&mut self, line: &[u8]) -> Parsed;

    /// Whether a line that cannot be read ends the file.
    fn is_strict(&self) -> bool {
        false
    }

    /// What is wrong with the file as a whole.
    fn end(&mut self) -> Result<(), ImportError> {
        Ok(())
    }
}

impl<F: FnMut(&[u8]) -> Parsed> Parser for F {
    fn parse_line(&mut self, line: &[u8]) -> Parsed {
        self(line)
    }
}

/// The records of a file.
pub(super) fn open_lines(
    path: &Path,
    parse: impl FnMut(&[u8]) -> Parsed + Send + 'static,
) -> Result<Records, ImportError> {
    open_lines_with(path, parse)
}

/// The records of a file in a folder that was named, out of which no link is followed.
pub(super) fn open_member_lines(
    folder: &Path,
    path: &Path,
    parser: impl Parser + Send + 'static,
) -> Result<Records, ImportError> {
    let file = Inside::of(folder).and_then(|inside| inside.open(path));
    let source = file.and_then(unpacked_text).map_err(|error| broken(&error))?;
    Ok(Box::new(Lines::new(source, None, parser)))
}

pub(super) fn open_lines_with(path: &Path, parser: impl Parser + Send + 'static) -> Result<Records, ImportError> {
    let source = File::open(path).and_then(unpacked_text).map_err(|error| broken(&error))?;
    Ok(Box::new(Lines::new(source, None, parser)))
}

/// A text that may be packed. A device or a packed bomb, which often have nothing but zero bytes, are not read to their end.
pub(super) fn unpacked_text(source: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut text = unpacked(source)?;
    if text.fill_buf()?.contains(&0) {
        return Err(io::Error::other("it contains NUL bytes, so it is not text"));
    }
    Ok(text)
}

/// A file that may be packed with gzip or zstd, which its first bytes say.
pub(super) fn unpacked(source: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut source = BufReader::with_capacity(1 << 18, source);
    let first = source.fill_buf()?;
    if first.starts_with(&[0x1f, 0x8b]) {
        let unpacked = flate2::bufread::MultiGzDecoder::new(source);
        return Ok(Box::new(BufReader::with_capacity(1 << 18, unpacked)));
    }
    if first.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return Ok(Box::new(BufReader::with_capacity(1 << 18, zstd::stream::read::Decoder::with_buffer(source)?)));
    }
    if first.starts_with(b"PK\x03\x04") {
        return Err(io::Error::other("it is a zip archive; unpack it, and name the file or folder that was in it"));
    }
    Ok(Box::new(source))
}

/// The records in the lines of a text.
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
    type Item = Result<Imported, ImportError>;

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
                    return Some(Err(broken(&error)));
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
