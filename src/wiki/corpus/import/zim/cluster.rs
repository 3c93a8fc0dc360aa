//! A cluster of a ZIM file: blobs that are packed together.

use super::archive::{Archive, Result, read_number};
use super::parts::Section;
use crate::types::bounded::read_at_most;
use lzma_rust2::XzReader;
use std::io::{self, BufReader, Read};

/// No cluster unpacks to more, in bytes; articles are packed in pieces of about two million.
const MAX_CLUSTER: u64 = 256 << 20;
/// No table of a cluster's blobs is larger, in bytes.
const MAX_TABLE: u64 = 16 << 20;
/// Memory for what xz looks back to, in KiB; zstd's is bounded by the library.
const WINDOW: u32 = 160 << 10;

/// A cluster that is read once, from front to end.
pub(super) struct Cluster<'a> {
    source: Source<'a>,
    /// Where each blob begins, and the last ends.
    places: Vec<u64>,
    /// How much was read.
    at: u64,
    /// The blob that was read last, or why nothing more can be read.
    last: Result<(usize, Vec<u8>)>,
}

enum Source<'a> {
    Plain(Section<'a>),
    Packed(Box<dyn Read + 'a>),
}

impl Source<'_> {
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        match self {
            Self::Plain(section) => {
                section.at = section.at.saturating_add(bytes).min(section.end);
                Ok(())
            }
            Self::Packed(source) => io::copy(&mut source.take(bytes), &mut io::sink()).map(drop),
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(section) => section.read(bytes),
            Self::Packed(source) => source.read(bytes),
        }
    }
}

impl<'a> Cluster<'a> {
    pub(super) fn open(archive: &'a Archive, index: u32) -> Result<Self> {
        if index >= archive.clusters {
            return Err(format!("there is no cluster {index}"));
        }
        let at = archive.place(archive.clusters_at, index)?;
        if at >= archive.end {
            return Err(format!("cluster {index} would lie behind its end"));
        }
        let damaged = |error: io::Error| format!("cluster {index} is damaged: {error}");
        let mut section = Section { parts: &archive.parts, at, end: archive.end };
        let [kind] = read_exactly(&mut section).map_err(damaged)?;
        let width = if kind & 0x10 == 0 { 4 } else { 8 };
        let packed = |section| BufReader::with_capacity(1 << 16, section);
        let mut source = match kind & 0x0f {
            0 | 1 => Source::Plain(section),
            4 => Source::Packed(Box::new(XzReader::new_mem_limit(packed(section), false, WINDOW))),
            5 => {
                let unpacker = zstd::stream::read::Decoder::with_buffer(packed(section)).map_err(damaged)?;
                Source::Packed(Box::new(unpacker.single_frame()))
            }
            other => return Err(format!("cluster {index} is packed in the way {other}, which is not known")),
        };
        let places = blob_places(&mut source, width).map_err(damaged)?;
        let at = places.first().copied().unwrap_or_default();
        Ok(Self { source, places, at, last: Ok((usize::MAX, Vec::new())) })
    }

    /// A blob of at most so many bytes, which may not lie before one that was asked for.
    pub(super) fn blob(&mut self, index: u32, most: u64) -> Result<&[u8]> {
        let index = index as usize;
        if self.last.as_ref().is_ok_and(|(last, _)| *last != index) {
            self.last = self.next(index, most).map(|blob| (index, blob));
        }
        self.last.as_ref().map(|(_, blob)| blob.as_slice()).map_err(Clone::clone)
    }

    fn next(&mut self, index: usize, most: u64) -> Result<Vec<u8>> {
        let (Some(begin), Some(end)) = (self.places.get(index), self.places.get(index + 1)) else {
            return Err(format!("there is no blob {index} in its cluster"));
        };
        let (Some(skipped), Some(length)) = (begin.checked_sub(self.at), end.checked_sub(*begin)) else {
            return Err("the blobs of its cluster are in no order".to_owned());
        };
        if *begin > MAX_CLUSTER && matches!(self.source, Source::Packed(_)) {
            return Err(format!("its cluster is larger than {} MiB", MAX_CLUSTER >> 20));
        }
        if length > most {
            return Err(format!("it is larger than {} MiB", most >> 20));
        }
        let skip = self.source.skip(skipped);
        let read = skip.and_then(|()| read_at_most(self.source.by_ref().take(length), most));
        let blob = read.map_err(|error| format!("its cluster is damaged: {error}"))?;
        self.at = *end;
        if blob.len() as u64 == length { Ok(blob) } else { Err("its cluster ends too early".to_owned()) }
    }
}

fn read_exactly<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes).map(|()| bytes)
}

/// The table that a cluster begins with. Its first number is its own length.
fn blob_places(source: &mut impl Read, width: usize) -> io::Result<Vec<u64>> {
    let first = if width == 4 { read_exactly::<4>(source)?.to_vec() } else { read_exactly::<8>(source)?.to_vec() };
    let length = read_number(&first);
    if length < width as u64 || !length.is_multiple_of(width as u64) || length > MAX_TABLE {
        return Err(io::Error::other(format!("its table cannot have {length} bytes")));
    }
    let rest = read_at_most(source.take(length - width as u64), MAX_TABLE)?;
    if (rest.len() + width) as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(std::iter::once(length).chain(rest.chunks_exact(width).map(read_number)).collect())
}
