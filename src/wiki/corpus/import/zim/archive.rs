//! What is where in a ZIM file: its header, media types and entries. All numbers are little-endian.

use super::parts::{Parts, Section};
use crate::types::digest::{hex, md5_hex};
use std::cmp::Ordering;
use std::path::Path;

const HEADER: usize = 80;
const HEADER_MAGIC: u32 = 72_173_914;
/// The MD5 of everything before it is the end of the file.
const CHECKSUM: u64 = 16;
/// The list of media types is shorter, in bytes.
const TYPES: usize = 1 << 16;
/// No address and title together are longer, in bytes; most are shorter than the second.
const MAX_ENTRY: usize = 1 << 16;
const USUAL_ENTRY: usize = 512;

/// Reasons are for people.
pub(super) type Result<T> = std::result::Result<T, String>;

pub(super) struct Archive {
    pub(super) parts: Parts,
    pub(super) entries: u32,
    pub(super) clusters: u32,
    /// Where the entries' places are, by address.
    entries_at: u64,
    pub(super) clusters_at: u64,
    /// Where everything but the checksum ends.
    pub(super) end: u64,
    /// The namespace of articles.
    pub(super) articles: u8,
    /// Whether a media type is HTML, by its number.
    types: Vec<bool>,
}

/// An address with what it leads to.
pub(super) struct Entry {
    pub(super) namespace: u8,
    url: Vec<u8>,
    title: Vec<u8>,
    pub(super) target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// Another entry.
    Redirect(u32),
    Blob {
        html: bool,
        cluster: u32,
        blob: u32,
    },
    /// It was deleted.
    Nothing,
}

impl Entry {
    pub(super) fn title(&self) -> Result<String> {
        let title = if self.title.is_empty() { &self.url } else { &self.title };
        String::from_utf8(title.clone()).map_err(|_| "its title is not UTF-8".to_owned())
    }

    /// Its address in the file.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", char::from(self.namespace), String::from_utf8_lossy(&self.url))
    }
}

impl Archive {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let parts = Parts::open(path).map_err(|error| error.to_string())?;
        let mut header = [0; HEADER];
        let length = parts.length();
        if length < HEADER as u64 {
            return Err(format!("it has {length} bytes, and the header of a ZIM file has {HEADER}"));
        }
        parts.read(&mut header, 0).map_err(|error| error.to_string())?;
        let (short, long) = (|at| read_u32(&header[at..]), |at| read_number(&header[at..at + 8]));
        if short(0) != HEADER_MAGIC {
            return Err(
                "it does not begin as a ZIM file does; one inside another file has to be cut out first".to_owned()
            );
        }
        let (major, minor) = (short(4) & 0xffff, short(4) >> 16);
        if !matches!(major, 5 | 6) {
            return Err(format!("it is of version {major} of the format; 5 and 6 are read"));
        }
        let end = long(72);
        match end.checked_add(CHECKSUM).map(|whole| (whole, length.cmp(&whole))) {
            Some((_, Ordering::Equal)) => {}
            Some((whole, Ordering::Less)) => return Err(format!("it is cut: {length} bytes of {whole} are there")),
            _ => return Err(format!("its header says that it ends with byte {end}, and it has {length} bytes")),
        }
        let articles = if (major, minor) >= (6, 1) { b'C' } else { b'A' };
        let (entries, clusters, entries_at, clusters_at) = (short(24), short(28), long(32), long(48));
        for (what, at, count) in [("entries", entries_at, entries), ("clusters", clusters_at, clusters)] {
            if at.checked_add(8 * u64::from(count)).is_none_or(|last| last > end) {
                return Err(format!("its list of {count} {what} would lie behind its end"));
            }
        }
        let mut archive = Self { parts, entries, clusters, entries_at, clusters_at, end, articles, types: Vec::new() };
        archive.types = html_types(&archive.piece(long(56), TYPES, "its list of media types")?)
            .filter(|_| long(56) >= HEADER as u64)
            .ok_or("its list of media types is damaged")?;
        Ok(archive)
    }

    /// Compares the file with the checksum at its end.
    pub(super) fn compare_checksum(&self) -> Result<()> {
        let whole = Section { parts: &self.parts, at: 0, end: self.end };
        let found = md5_hex(whole).map_err(|error| error.to_string())?;
        let mut wanted = [0; 16];
        self.read(&mut wanted, self.end)?;
        let wanted = hex(&wanted);
        if found == wanted { Ok(()) } else { Err(format!("it is damaged: its MD5 is {found}, not {wanted}")) }
    }

    fn read(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        self.parts.read(bytes, at).map_err(|error| error.to_string())
    }

    /// At most so many bytes from `at`.
    fn piece(&self, at: u64, most: usize, what: &str) -> Result<Vec<u8>> {
        let left = self
            .end
            .checked_sub(at)
            .filter(|left| *left > 0)
            .ok_or_else(|| format!("{what} would lie behind its end"))?;
        let mut bytes = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(most)];
        self.read(&mut bytes, at).map(|()| bytes)
    }

    /// A place in one of the two lists.
    pub(super) fn place(&self, list: u64, index: u32) -> Result<u64> {
        let mut bytes = [0; 8];
        self.read(&mut bytes, list + 8 * u64::from(index)).map(|()| u64::from_le_bytes(bytes))
    }

    pub(super) fn entry(&self, index: u32) -> Result<Entry> {
        if index >= self.entries {
            return Err(format!("there is no entry {index}"));
        }
        let at = self.place(self.entries_at, index)?;
        for most in [USUAL_ENTRY, MAX_ENTRY] {
            if let Some(entry) = self.parsed(&self.piece(at, most, "the entry")?)? {
                return Ok(entry);
            }
        }
        Err("its address and title have no end".to_owned())
    }

    /// The entry at the beginning of `bytes`, if all of it is there.
    fn parsed(&self, bytes: &[u8]) -> Result<Option<Entry>> {
        let Some((head, rest)) = bytes.split_at_checked(12) else { return Ok(None) };
        let index = read_u32(&head[8..]);
        let (target, names) = match read_number(&head[..2]) {
            0xffff => (Target::Redirect(index), Some(rest)),
            0xfffd | 0xfffe => (Target::Nothing, bytes.get(8..)),
            kind => {
                let kinds = self.types.len();
                let html = *usize::try_from(kind)
                    .ok()
                    .and_then(|kind| self.types.get(kind))
                    .ok_or_else(|| format!("its media type has the number {kind}, and there are {kinds}"))?;
                let blob = read_u32(rest);
                (Target::Blob { html, cluster: index, blob }, rest.get(4..))
            }
        };
        let mut names = names.unwrap_or_default().splitn(3, |byte| *byte == 0);
        let (Some(url), Some(title), Some(_)) = (names.next(), names.next(), names.next()) else { return Ok(None) };
        Ok(Some(Entry { namespace: head[3], url: url.to_owned(), title: title.to_owned(), target }))
    }

    /// The entry of an address, which the order of the list leads to.
    pub(super) fn find(&self, namespace: u8, url: &str) -> Option<Entry> {
        let (mut low, mut high) = (0, self.entries);
        while low < high {
            let middle = low + (high - low) / 2;
            let entry = self.entry(middle).ok()?;
            match (entry.namespace, entry.url.as_slice()).cmp(&(namespace, url.as_bytes())) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(entry),
            }
        }
        None
    }
}

/// The number that up to eight bytes are.
pub(super) fn read_number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The number that the first four bytes are.
pub(super) fn read_u32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default())
}

/// Which of the media types are HTML. An empty one ends the list.
fn html_types(list: &[u8]) -> Option<Vec<bool>> {
    let mut types = Vec::new();
    for name in list.split_inclusive(|byte| *byte == 0) {
        match name.strip_suffix(&[0])? {
            [] => return Some(types),
            name => types
                .push(name.split(|byte| *byte == b';').next().is_some_and(|name| name.trim_ascii() == b"text/html")),
        }
    }
    None
}
