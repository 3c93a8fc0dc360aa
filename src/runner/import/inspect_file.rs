//! The file of a log, as JSON or packed: what it says of its run, then its samples, one at a time.

use crate::base::bounded::{fill_at_most, read_at_most};
use crate::base::text::visible_line;
use crate::base::{json_error, sha256_hex};
use crate::runner::error::RunError;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use zip::ZipArchive;
use zip::result::ZipError;

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

/// The logs that paths name, `.eval` and `.json` files in folders by name; and what is left out, and why.
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

pub(super) fn displayed(path: &Path) -> String {
    visible_line(&path.display().to_string(), 300)
}

fn unreadable(path: &Path, error: &io::Error) -> RunError {
    RunError::input(format!("cannot read `{}`: {error}", displayed(path)), "check the path")
}

pub(super) fn not_a_log(path: &Path, why: &str) -> RunError {
    RunError::input(
        format!("`{}` is not a log of Inspect: {why}", displayed(path)),
        "name a log that Inspect wrote, an .eval or .json file, version 2",
    )
}

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
        return read_packed(path, &bytes, sha256, take);
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

pub(super) fn too_large() -> String {
    format!("it is larger than {} MiB", MAX_SAMPLE >> 20)
}

/// Python's NaN and infinities, which JSON lacks, become empty texts of their length. No figure read here is one.
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

/// The largest list of contents, in bytes: it takes several times as much memory.
const MAX_LIST: u64 = 128 << 20;

/// All samples together, unpacked, in bytes.
const MAX_UNPACKED: u64 = 16 << 30;

/// What a log says of its run; the second is all that there is of one that broke off.
const HEADS: [&str; 2] = ["header.json", "_journal/start.json"];

/// Bytes of which only so many may be read.
struct Limited<'a> {
    bytes: Cursor<&'a [u8]>,
    left: &'a Cell<u64>,
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        let left = self.left.get().checked_sub(read as u64);
        self.left
            .set(left.ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "its list of contents is too long"))?);
        Ok(read)
    }
}

impl Seek for Limited<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

type Archive<'a> = ZipArchive<Limited<'a>>;

pub(super) fn read_packed(path: &Path, bytes: &[u8], sha256: String, take: &mut impl Take) -> Result<(), RunError> {
    let broken = |error: ZipError| not_a_log(path, &zip_reason(&error));
    let left = Cell::new(MAX_LIST);
    let mut archive = ZipArchive::new(Limited { bytes: Cursor::new(bytes), left: &left }).map_err(broken)?;
    left.set(u64::MAX);
    // Entries that share bytes unpack to more than any file of their size.
    if archive.has_overlapping_entries().map_err(broken)? {
        return Err(not_a_log(path, "its parts overlap"));
    }
    let names: Vec<String> = archive.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let head = HEADS.iter().find_map(|head| names.iter().position(|name| name == head));
    let head = head.ok_or_else(|| not_a_log(path, "the archive has no header.json"))?;
    let bytes = entry(&mut archive, head).map_err(|why| not_a_log(path, &format!("{}: {why}", names[head])))?;
    let head = Head::parse(&bytes).map_err(|why| not_a_log(path, &format!("{}: {why}", names[head])))?;
    // One without a head of its own broke off.
    let status = if head.status.is_null() { "started".into() } else { head.status };
    take.head(Head { status, sha256, ..head })?;
    let is_sample = |name: &String| {
        name.strip_prefix("samples/").and_then(|name| name.rsplit_once('.')).is_some_and(|(_, ending)| ending == "json")
    };
    let samples: Vec<usize> = (0..names.len()).filter(|at| is_sample(&names[*at])).collect();
    if samples.len() > MAX_SAMPLES {
        return Err(not_a_log(path, &format!("it has more than {MAX_SAMPLES} samples")));
    }
    let mut unpacked = 0;
    for at in samples {
        let bytes = entry(&mut archive, at);
        unpacked += bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        if unpacked > MAX_UNPACKED {
            return Err(not_a_log(path, &format!("unpacked it is larger than {} GiB", MAX_UNPACKED >> 30)));
        }
        let text = bytes.as_ref().map_err(Clone::clone);
        let text = text.and_then(|bytes| std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned()));
        take.sample(&visible_line(&names[at], 80), text);
    }
    Ok(())
}

fn entry(archive: &mut Archive<'_>, at: usize) -> Result<Vec<u8>, String> {
    let file = archive.by_index(at).map_err(|error| zip_reason(&error))?;
    let bytes = read_at_most(file, MAX_SAMPLE);
    let mut bytes = bytes.map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(),
        _ => format!("it cannot be unpacked: {}", visible_line(&error.to_string(), 200)),
    })?;
    without_constants(&mut bytes);
    Ok(bytes)
}

fn zip_reason(error: &ZipError) -> String {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => "it is encrypted".to_owned(),
        ZipError::CompressionMethodNotSupported(93) | ZipError::UnsupportedArchive(_) if !cfg!(feature = "index") => {
            "this build does not read its compression: write it with `inspect log convert LOG --to json --output-dir DIR`".to_owned()
        }
        error => format!("it cannot be unpacked: {}", visible_line(&error.to_string(), 200)),
    }
}
