//! The lines of a recording.

use super::TapeError;
use super::asked::{CanonicalRequest, Digest, Kind, digest, hex};
use crate::types::json_error;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::Path;

/// Version of the format; readers accept older ones and refuse newer ones.
pub(super) const VERSION: u32 = 1;
/// The value of `tape` in the first line.
const NAME: &str = "wikitrail";
/// Longest first line; other files may have no line end at all.
pub(super) const MAX_HEADER_BYTES: u64 = 1 << 12;

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header<'a> {
    v: u32,
    tape: Cow<'a, str>,
}

/// Only the version: a newer line may lack fields that this program expects.
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
    /// The key, computed from the request.
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

/// The first line of a new recording, with its line end.
pub(super) fn header_line() -> String {
    format!("{{\"v\":{VERSION},\"tape\":\"{NAME}\"}}\n")
}

/// The beginning of a file.
pub(super) enum Head {
    /// Empty, or an incomplete first line.
    Empty,
    /// A recording's first line, of this many bytes.
    Recording(usize),
}

/// Parses the beginning of a file: its first [`MAX_HEADER_BYTES`] bytes, or all of it.
pub(super) fn read_head(bytes: &[u8], path: &Path) -> Result<Head, TapeError> {
    let foreign = || TapeError::Foreign { path: path.to_owned(), reason: "its first line is not that of a recording" };
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        let begun = header_line().as_bytes().starts_with(bytes);
        return if begun { Ok(Head::Empty) } else { Err(foreign()) };
    };
    let first = &bytes[..end];
    let parsed = serde_json::from_slice::<Header<'_>>(first);
    match parsed {
        Ok(header) if header.tape == NAME && header.v == VERSION => Ok(Head::Recording(end + 1)),
        _ => match serde_json::from_slice::<Version>(first) {
            Ok(Version { v }) if v > u64::from(VERSION) && names_a_recording(first) => Err(newer_version(path, v)),
            _ => Err(foreign()),
        },
    }
}

fn names_a_recording(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        tape: Cow<'a, str>,
    }
    serde_json::from_slice::<Named<'_>>(line).is_ok_and(|named| named.tape == NAME)
}

pub(super) fn newer_version(path: &Path, found: u64) -> TapeError {
    TapeError::Newer { path: path.to_owned(), found, known: VERSION }
}

/// Why a line is not an entry.
pub(super) enum BadEntry {
    /// Of a newer version.
    Newer(u64),
    /// Anything else.
    Bad(String),
}

impl<'a> Entry<'a> {
    /// Reads a line, with or without its line end.
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, BadEntry> {
        let bad = |error: serde_json::Error| BadEntry::Bad(format!("not an entry: {}", json_error::in_line(&error)));
        match serde_json::from_slice::<Version>(line).map_err(bad)? {
            Version { v } if v > u64::from(VERSION) => return Err(BadEntry::Newer(v)),
            Version { v } if v != u64::from(VERSION) => {
                return Err(BadEntry::Bad(format!("not an entry: unknown version {v}")));
            }
            Version { .. } => {}
        }
        let mut entry: Self = serde_json::from_slice(line).map_err(bad)?;
        entry.digest = digest(entry.kind, entry.request.get());
        if hex(&entry.digest) == entry.key {
            Ok(entry)
        } else {
            Err(BadEntry::Bad("the key does not match the request, which was changed".to_owned()))
        }
    }
}

/// A request with its answer as a line, with its line end.
pub(super) fn entry_line<A: Serialize>(
    asked: &CanonicalRequest,
    n: u32,
    scope: Option<&str>,
    answer: &A,
) -> Result<Vec<u8>, serde_json::Error> {
    let written =
        Written { v: VERSION, kind: asked.kind, key: hex(&asked.digest), request: &asked.request, n, scope, answer };
    let mut line = serde_json::to_vec(&written)?;
    line.push(b'\n');
    Ok(line)
}
