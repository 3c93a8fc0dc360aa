//! A packed log (`.eval`): a zip of JSON files. Nothing is written by the names in it.

use super::file::{Head, MAX_SAMPLE, MAX_SAMPLES, Take, not_a_log, too_large, without_constants};
use crate::run::error::RunError;
use crate::types::bounded::read_at_most;
use crate::types::text::visible_line;
use std::cell::Cell;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

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

/// Gives `take` what the packed log in `bytes` holds.
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

/// A file of the archive, unpacked.
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
