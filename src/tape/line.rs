//! The lines of a tape.

use super::TapeError;
use super::asked::{Asked, Digest, Kind, digest, hex};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::Path;

/// Version of the format; readers accept older ones and refuse newer ones.
pub(super) const VERSION: u32 = 1;
/// What the first line says to whom it belongs.
const NAME: &str = "wikitrail";
/// No first line of ours is longer; a foreign file may have no second line at all.
pub(super) const LONGEST_HEADER: u64 = 1 << 12;

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header<'a> {
    v: u32,
    tape: Cow<'a, str>,
}

/// The version, which is looked at before anything else: a newer line need not have the fields we expect.
#[derive(Deserialize)]
struct Version {
    v: u64,
}

/// An entry as it is written.
#[derive(Serialize)]
struct Written<'a, A> {
    v: u32,
    kind: Kind,
    key: String,
    request: &'a RawValue,
    n: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'a str>,
    answer: &'a A,
}

/// An entry as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry<'a> {
    #[serde(rename = "v")]
    _version: u32,
    pub(super) kind: Kind,
    #[serde(borrow)]
    key: Cow<'a, str>,
    /// The key as it was computed from the request.
    #[serde(skip)]
    pub(super) digest: Digest,
    #[serde(borrow)]
    pub(super) request: &'a RawValue,
    pub(super) n: u32,
    #[serde(borrow, default)]
    pub(super) scope: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) answer: &'a RawValue,
}

/// The first line of a new tape, line end included.
pub(super) fn header() -> String {
    format!("{{\"v\":{VERSION},\"tape\":\"{NAME}\"}}\n")
}

/// What stands at the beginning of a file.
pub(super) enum Head {
    /// Nothing, or a first line that was not finished.
    Empty,
    /// A tape's first line, of this many bytes.
    Tape(usize),
}

/// Reads the beginning of a file, of which `bytes` are the first [`LONGEST_HEADER`] or all there are.
pub(super) fn head(bytes: &[u8], path: &Path) -> Result<Head, TapeError> {
    let foreign = |reason| TapeError::Foreign { path: path.to_owned(), reason };
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        let begun = header().as_bytes().starts_with(bytes);
        return if begun { Ok(Head::Empty) } else { Err(foreign("its first line is not that of a recording")) };
    };
    let first = &bytes[..end];
    let parsed = serde_json::from_slice::<Header<'_>>(first);
    match parsed {
        Ok(header) if header.tape == NAME && header.v == VERSION => Ok(Head::Tape(end + 1)),
        _ => match serde_json::from_slice::<Version>(first) {
            Ok(Version { v }) if v > u64::from(VERSION) && names_a_tape(first) => Err(newer(path, v)),
            _ => Err(foreign("its first line is not that of a recording")),
        },
    }
}

fn names_a_tape(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        tape: Cow<'a, str>,
    }
    serde_json::from_slice::<Named<'_>>(line).is_ok_and(|named| named.tape == NAME)
}

pub(super) fn newer(path: &Path, found: u64) -> TapeError {
    TapeError::Newer { path: path.to_owned(), found, known: VERSION }
}

/// Why a line is no entry.
pub(super) enum BadEntry {
    /// Of a newer version.
    Newer(u64),
    /// Anything else.
    Bad(String),
}

impl<'a> Entry<'a> {
    /// Reads a line, with or without its line end.
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, BadEntry> {
        let bad = |error: serde_json::Error| BadEntry::Bad(format!("not an entry: {error}"));
        match serde_json::from_slice::<Version>(line).map_err(bad)? {
            Version { v } if v > u64::from(VERSION) => return Err(BadEntry::Newer(v)),
            Version { v } if v != u64::from(VERSION) => {
                return Err(BadEntry::Bad(format!("not an entry: there is no version {v}")));
            }
            Version { .. } => {}
        }
        let mut entry: Self = serde_json::from_slice(line).map_err(bad)?;
        entry.digest = digest(entry.kind, entry.request.get());
        if hex(&entry.digest) == entry.key {
            Ok(entry)
        } else {
            Err(BadEntry::Bad("the key is not that of the request, which was changed".to_owned()))
        }
    }
}

/// A request with its answer as a line, line end included.
pub(super) fn entry<A: Serialize>(asked: &Asked, n: u32, scope: Option<&str>, answer: &A) -> Vec<u8> {
    let written =
        Written { v: VERSION, kind: asked.kind, key: hex(&asked.digest), request: &asked.request, n, scope, answer };
    // Plain data with string keys always serialises.
    let mut line = serde_json::to_vec(&written).unwrap_or_default();
    line.push(b'\n');
    line
}
