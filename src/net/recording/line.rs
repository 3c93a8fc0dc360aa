//! The lines of a recording: a request in canonical form with its key, and the episode that makes it.
//!
//! The scope of a request is task-local rather than an argument of every function between an episode and its requests:
//! nothing but a recording or a cache may depend on it.

use super::{Kind, TapeError};
use crate::base::digest::hex;
use crate::base::{json_error, locked};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;

/// Version of the format; readers accept older ones and refuse newer ones.
const VERSION: u32 = 1;
const NAME: &str = "wikitrail";
/// Longest first line; other files may have no line end at all.
pub(super) const MAX_HEADER_BYTES: u64 = 1 << 12;

/// Only the version: a newer line may lack fields that this program expects.
#[derive(Deserialize)]
struct Version {
    v: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry<'a> {
    v: u32,
    pub(super) kind: Kind,
    #[serde(borrow)]
    key: Cow<'a, str>,
    /// The key, computed from the request.
    #[serde(skip)]
    pub(super) digest: Digest,
    #[serde(borrow)]
    pub(super) request: &'a RawValue,
    pub(super) n: u32,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) answer: &'a RawValue,
}

pub(super) fn header_line() -> String {
    format!("{{\"v\":{VERSION},\"tape\":\"{NAME}\"}}\n")
}

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
    let header: Map<String, Value> = serde_json::from_slice(&bytes[..end]).map_err(|_| foreign())?;
    let version =
        header.get("v").and_then(Value::as_u64).filter(|_| header.get("tape").is_some_and(|tape| tape == NAME));
    match version {
        Some(newer) if newer > u64::from(VERSION) => Err(newer_version(path, newer)),
        Some(version) if version == u64::from(VERSION) && header.len() == 2 => Ok(Head::Recording(end + 1)),
        _ => Err(foreign()),
    }
}

fn newer_version(path: &Path, found: u64) -> TapeError {
    TapeError::Newer { path: path.to_owned(), found, known: VERSION }
}

impl<'a> Entry<'a> {
    /// Reads a line of the file `path`, with or without its line end.
    pub(super) fn parse(line: &'a [u8], path: &Path, number: u64) -> Result<Self, TapeError> {
        let bad = |reason| TapeError::BadLine { path: path.to_owned(), line: number, reason };
        let no_entry = |error: serde_json::Error| bad(format!("not an entry: {}", json_error::in_line(&error)));
        match serde_json::from_slice::<Version>(line).map_err(no_entry)? {
            Version { v } if v > u64::from(VERSION) => return Err(newer_version(path, v)),
            Version { v } if v != u64::from(VERSION) => return Err(bad(format!("not an entry: unknown version {v}"))),
            Version { .. } => {}
        }
        let mut entry: Self = serde_json::from_slice(line).map_err(no_entry)?;
        entry.digest = digest(entry.kind, entry.request.get());
        if hex(&entry.digest) == entry.key {
            Ok(entry)
        } else {
            Err(bad("the key does not match the request, which was changed".to_owned()))
        }
    }
}

pub(super) fn entry_line<A: Serialize>(
    asked: &CanonicalRequest,
    n: u32,
    scope: Option<&str>,
    answer: &A,
) -> Result<Vec<u8>, serde_json::Error> {
    let CanonicalRequest { kind, request, digest } = asked;
    let (key, scope, answer) = (hex(digest).into(), scope.map(Cow::from), to_raw_value(answer)?);
    let entry = Entry { v: VERSION, kind: *kind, key, digest: *digest, request, n, scope, answer: &answer };
    let mut line = serde_json::to_vec(&entry)?;
    line.push(b'\n');
    Ok(line)
}

pub(super) type Digest = [u8; 32];

/// A request as recordings store it: its JSON text and the digest of that.
#[derive(Debug, Clone)]
pub struct CanonicalRequest {
    pub(super) kind: Kind,
    pub(super) request: Box<RawValue>,
    pub(super) digest: Digest,
}

impl CanonicalRequest {
    /// Equal requests must serialise to the same text. The fields that differ most should come first: the nearest
    /// recorded request is the one with the longest common prefix.
    pub fn new<R: Serialize>(kind: Kind, request: &R) -> Self {
        // Plain data with string keys always serialises.
        let request = to_raw_value(request).unwrap_or_default();
        let digest = digest(kind, request.get());
        Self { kind, request, digest }
    }
}

pub(super) fn digest(kind: Kind, request: &str) -> Digest {
    sha256([kind.name().as_bytes(), b"\n", request.as_bytes()])
}

pub(super) fn sha256<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

tokio::task_local! {
    static SCOPE: Scope;
}

/// An episode, or one sample of its vote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Scope {
    episode: String,
    /// Which repeat of the question the episode is, from 0.
    pub(super) repeat: u32,
    /// Which sample of a vote, from 0.
    pub(super) sample: Option<u32>,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} repeat {}", self.episode, self.repeat)?;
        self.sample.map_or(Ok(()), |sample| write!(f, " sample {sample}"))
    }
}

/// Runs `future` as an episode, which counts its own requests. Its name, of variant and question, is that of a replay.
pub fn in_episode<F: Future>(episode: String, repeat: u32, future: F) -> impl Future<Output = F::Output> {
    SCOPE.scope(Scope { episode, repeat, sample: None }, future)
}

/// Runs `future` as a sample (from 0) of the current episode.
pub fn in_sample<F: Future>(sample: u32, future: F) -> impl Future<Output = F::Output> {
    SCOPE.scope(Scope { sample: Some(sample), ..current_scope().unwrap_or_default() }, future)
}

pub(super) fn current_scope() -> Option<Scope> {
    SCOPE.try_with(Clone::clone).ok()
}

/// Counts the occurrences of each request in each scope.
#[derive(Debug, Default)]
pub(super) struct Counter {
    /// By half a digest of scope and request, which is enough to distinguish them.
    asked: Mutex<HashMap<[u8; 16], u32>>,
}

impl Counter {
    /// How often this was requested before: 0 the first time.
    pub(super) fn next(&self, digest: &Digest, scope: &str) -> u32 {
        let whole = sha256([digest.as_slice(), scope.as_bytes()]);
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        let mut asked = locked(&self.asked);
        let count = asked.entry(half).or_default();
        let before = *count;
        *count = count.saturating_add(1);
        before
    }
}
