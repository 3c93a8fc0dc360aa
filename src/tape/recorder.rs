//! Appending to a recording.

use super::TapeError;
use super::asked::CanonicalRequest;
use super::line::{self, BadEntry, Entry, Head, MAX_HEADER_BYTES};
use super::lines::LineFile;
use super::scope::{self, Counter};
use super::writer::Writer;
use serde::Serialize;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

#[derive(Debug)]
pub struct Recorder {
    writer: Writer<Vec<u8>>,
    counter: Counter,
    dropped: Option<u64>,
}

/// A request's place in the recording, taken when the request is made, since answers arrive in any order.
#[derive(Debug)]
pub struct Place {
    asked: CanonicalRequest,
    n: u32,
    scope: Option<String>,
}

impl Recorder {
    /// Opens or creates a recording. Any other file, and one that another process appends to, is refused.
    pub fn open(path: &Path) -> Result<Self, TapeError> {
        let mut lines = LineFile::open(path)?;
        if !lines.lock()? {
            return Err(TapeError::Locked { path: path.to_owned() });
        }
        let dropped = repair(&mut lines)?;
        let append = move |batch: Vec<Vec<u8>>| Ok(lines.append(&batch.concat())?);
        let writer = Writer::start(path.to_owned(), append)?;
        Ok(Self { writer, counter: Counter::default(), dropped })
    }

    /// Bytes of the incomplete last line that was removed on opening.
    pub fn dropped(&self) -> Option<u64> {
        self.dropped
    }

    /// Takes the place of a request that is about to be made; a failed request leaves it empty.
    pub fn place(&self, asked: CanonicalRequest) -> Place {
        let scope = scope::current_scope().map(|scope| scope.to_string());
        let n = self.counter.next(&asked.digest, scope.as_deref().unwrap_or_default());
        Place { asked, n, scope }
    }

    /// Appends the answer and waits until it is on disk. On an error the file keeps none of it.
    pub async fn record<A: Serialize>(&self, place: Place, answer: &A) -> Result<(), TapeError> {
        let line = line::entry_line(&place.asked, place.n, place.scope.as_deref(), answer);
        self.writer.write(line.map_err(|error| TapeError::io("append to", self.writer.path())(error.into()))?).await
    }
}

/// Begins a new recording. In one that exists, removes an incomplete last line; one that only lacks its line end is kept.
fn repair(lines: &mut LineFile) -> Result<Option<u64>, TapeError> {
    let mut first = Vec::new();
    (&mut lines.file).take(MAX_HEADER_BYTES).read_to_end(&mut first).map_err(|error| lines.error("read", error))?;
    if let Head::Empty = line::read_head(&first, &lines.path)? {
        let dropped = lines.repair(&first, false)?;
        lines.append(line::header_line().as_bytes())?;
        sync_folder(&lines.path);
        return Ok(dropped);
    }
    let tail = lines.tail()?;
    match Entry::parse(&tail) {
        Err(BadEntry::Newer(found)) => Err(line::newer_version(&lines.path, found)),
        parsed => Ok(lines.repair(&tail, parsed.is_ok())?),
    }
}

/// Makes a new file's name durable, where the file system supports it.
pub(crate) fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
