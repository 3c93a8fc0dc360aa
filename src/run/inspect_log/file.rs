//! The file of a log, as JSON or packed: what it says of its run, then its samples, one at a time.

use super::packed;
use crate::run::error::RunError;
use crate::types::bounded::{fill_at_most, read_at_most};
use crate::types::text::visible_line;
use crate::types::{json_error, sha256_hex};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The largest log as it is on disk, in bytes.
const MAX_LOG: u64 = 1 << 30;

/// The largest sample, its messages and events included, and the largest head of a packed log, in bytes.
pub(super) const MAX_SAMPLE: u64 = 64 << 20;

/// The most samples of one log.
pub(super) const MAX_SAMPLES: usize = 1_000_000;

/// The most logs of one import.
const MAX_LOGS: usize = 1000;

/// Bytes that are read to see what a file is.
const BEGINNING: u64 = 1 << 10;

/// What a log says before its samples.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub(super) version: u64,
    #[serde(default)]
    pub(super) status: Value,
    #[serde(default)]
    pub(super) error: Value,
    pub(super) eval: Value,
    #[serde(default)]
    pub(super) plan: Value,
    #[serde(default)]
    pub(super) stats: Value,
    #[serde(skip)]
    pub(super) sha256: String,
}

impl Head {
    /// The head in these bytes, which may be followed by samples.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let head: Self = serde_json::from_slice(bytes).map_err(|error| json_error::in_file(&error))?;
        if head.version > 2 {
            return Err(format!("its version is {}", head.version));
        }
        Ok(head)
    }
}

/// Takes what a log holds.
pub(super) trait Take {
    fn head(&mut self, head: Head) -> Result<(), RunError>;
    /// A sample with its place in the log for a person, or why it cannot be read.
    fn sample(&mut self, place: &str, text: Result<&str, String>);
}

#[derive(Deserialize)]
struct Log<'a> {
    #[serde(borrow, default)]
    samples: Option<Samples<'a>>,
}

/// The samples, each to be read by itself, so that a bad one costs no other.
struct Samples<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Samples<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Samples<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of samples")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Samples<'de>, A::Error> {
                let mut samples = Vec::new();
                while let Some(sample) = list.next_element()? {
                    if samples.len() == MAX_SAMPLES {
                        return Err(A::Error::custom(format!("more than {MAX_SAMPLES} samples")));
                    }
                    samples.push(sample);
                }
                Ok(Samples(samples))
            }
        }

        deserializer.deserialize_seq(Each)
    }
}

/// The logs that these paths name: files, and in folders the files whose names end in `.eval` or `.json`, by name. The
/// second list has what is left out, and why.
pub(super) fn find_logs(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<String>), RunError> {
    let (mut logs, mut left_out) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.is_dir() {
            logs.push(path.clone());
            continue;
        }
        let cannot = |error| unreadable(path, &error);
        let mut inside = Vec::new();
        for entry in path.read_dir().map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let file = entry.path();
            if !file.extension().is_some_and(|ending| ending == "eval" || ending == "json") {
                continue;
            }
            match entry.file_type().map_err(cannot)? {
                kind if kind.is_file() => inside.push(file),
                kind if kind.is_symlink() => left_out.push(format!("{}: it is a symbolic link", displayed(&file))),
                _ => {}
            }
            if inside.len() > MAX_LOGS {
                let message = format!("`{}` has more than {MAX_LOGS} logs", displayed(path));
                return Err(RunError::input(message, "name the logs that you need"));
            }
        }
        inside.sort();
        logs.extend(inside);
    }
    match logs.len() {
        0 => {
            Err(RunError::input("there is no log in the folder", "name a folder with files that end in .eval or .json"))
        }
        _ => Ok((logs, left_out)),
    }
}

/// A path for a message.
pub(super) fn displayed(path: &Path) -> String {
    visible_line(&path.display().to_string(), 300)
}

fn unreadable(path: &Path, error: &io::Error) -> RunError {
    RunError::input(format!("cannot read `{}`: {error}", displayed(path)), "check the path")
}

/// The file is not what was asked for.
pub(super) fn not_a_log(path: &Path, why: &str) -> RunError {
    RunError::input(
        format!("`{}` is not a log of Inspect: {why}", displayed(path)),
        "name a log that Inspect wrote, an .eval or .json file, version 2",
    )
}

/// Gives `take` what the log at `path` holds.
pub(super) fn read_log(path: &Path, take: &mut impl Take) -> Result<(), RunError> {
    let cannot = |error: io::Error| unreadable(path, &error);
    let mut file = File::open(path).map_err(cannot)?;
    let mut bytes = read_at_most(file.by_ref().take(BEGINNING), BEGINNING).map_err(cannot)?;
    let packed = bytes.starts_with(b"PK");
    let start = bytes.trim_ascii_start();
    if !packed && !start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).starts_with(b"{") {
        return Err(not_a_log(
            path,
            if bytes.is_empty() { "it is empty" } else { "it does not begin as JSON or as an .eval" },
        ));
    }
    fill_at_most(&mut bytes, file, MAX_LOG).map_err(cannot)?;
    let sha256 = sha256_hex([bytes.as_slice()]);
    if packed {
        return packed::read_packed(path, &bytes, sha256, take);
    }
    without_constants(&mut bytes);
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let head = Head::parse(text).map_err(|why| not_a_log(path, &why))?;
    let log: Log<'_> = serde_json::from_slice(text).map_err(|error| not_a_log(path, &json_error::in_file(&error)))?;
    take.head(Head { sha256, ..head })?;
    for (at, sample) in log.samples.map(|samples| samples.0).unwrap_or_default().into_iter().enumerate() {
        let text = sample.get();
        let text = if text.len() as u64 > MAX_SAMPLE { Err(too_large()) } else { Ok(text) };
        take.sample(&format!("sample {}", at + 1), text);
    }
    Ok(())
}

/// Why a sample is not read.
pub(super) fn too_large() -> String {
    format!("it is larger than {} MiB", MAX_SAMPLE >> 20)
}

/// Python writes NaN and infinities, which JSON does not have: they become empty texts of the same length. No figure that is
/// read here is one.
pub(super) fn without_constants(bytes: &mut [u8]) {
    let (mut at, mut in_text) = (0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_text => at += 1,
            b'"' => in_text = !in_text,
            b'N' | b'I' | b'-' if !in_text => {
                let constants: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
                if let Some(constant) = constants.into_iter().find(|constant| bytes[at..].starts_with(constant)) {
                    let end = at + constant.len();
                    bytes[at..end].fill(b' ');
                    bytes[at..at + 2].fill(b'"');
                    at = end - 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
}
