//! Appending to a recording so that a crash loses at most the line being written.

use super::asked::Asked;
use super::line::{self, Entry, Head, LONGEST_HEADER};
use super::scope::{self, Counter};
use super::writer::Writer;
use super::{TapeError, line::BadEntry};
use serde::Serialize;
use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Recorder {
    writer: Writer<Vec<u8>>,
    counter: Counter,
    dropped: Option<u64>,
}

/// A request's place in the recording, taken when the request is made, since answers arrive in any order.
#[derive(Debug)]
pub struct Place {
    asked: Asked,
    n: u32,
    scope: Option<String>,
}

impl Recorder {
    /// Opens or creates a recording. Any other file, and one that another process appends to, is refused.
    pub fn open(path: &Path) -> Result<Self, TapeError> {
        let (end, dropped) = End::open(path)?;
        let writer = Writer::start(path.to_owned(), end.appends())?;
        Ok(Self { writer, counter: Counter::default(), dropped })
    }

    /// Bytes of the incomplete last line that was removed on opening.
    pub fn dropped(&self) -> Option<u64> {
        self.dropped
    }

    /// Takes the place of a request that is about to be made; a failed request leaves it empty.
    pub fn place(&self, asked: Asked) -> Place {
        let scope = scope::current().map(|scope| scope.to_string());
        let n = self.counter.next(&asked.digest, scope.as_deref().unwrap_or_default());
        Place { asked, n, scope }
    }

    /// Appends the answer and waits until it is on disk. On an error the file keeps none of it.
    pub async fn record<A: Serialize>(&self, place: Place, answer: &A) -> Result<(), TapeError> {
        let line = line::entry(&place.asked, place.n, place.scope.as_deref(), answer);
        self.writer.write(line.map_err(|error| TapeError::io("append to", self.writer.path())(error.into()))?).await
    }
}

/// The end of the file, which is locked while it is open.
struct End {
    file: File,
    path: PathBuf,
    /// Bytes known to be complete lines on disk.
    length: u64,
}

impl End {
    fn open(path: &Path) -> Result<(Self, Option<u64>), TapeError> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(TapeError::io("open", path))?;
        if !file.metadata().map_err(TapeError::io("open", path))?.is_file() {
            return Err(TapeError::Foreign { path: path.to_owned(), reason: "it is not a regular file" });
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(TapeError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(TapeError::io("lock", path)(error)),
        }
        let mut first = Vec::new();
        (&mut file).take(LONGEST_HEADER).read_to_end(&mut first).map_err(TapeError::io("read", path))?;
        let head = line::head(&first, path)?;
        let mut end = Self { file, path: path.to_owned(), length: 0 };
        match head {
            Head::Empty => {
                end.cut()?;
                end.append(line::header().as_bytes())?;
                sync_folder(path);
                Ok((end, (!first.is_empty()).then_some(first.len() as u64)))
            }
            Head::Recording(_) => {
                let dropped = end.repair()?;
                Ok((end, dropped))
            }
        }
    }

    /// Removes an incomplete last line; one that only lacks its line end is kept.
    fn repair(&mut self) -> Result<Option<u64>, TapeError> {
        let read = || TapeError::io("read", &self.path);
        let whole = whole_lines(&mut self.file).map_err(read())?;
        let mut tail = Vec::new();
        self.file.seek(SeekFrom::Start(whole)).and_then(|_| self.file.read_to_end(&mut tail)).map_err(read())?;
        let torn = tail.len() as u64;
        self.length = whole;
        match Entry::parse(&tail) {
            _ if tail.is_empty() => Ok(None),
            Err(BadEntry::Newer(found)) => Err(line::newer(&self.path, found)),
            Err(BadEntry::Bad(_)) => self.cut().map(|()| Some(torn)),
            Ok(_) => {
                self.length += torn;
                self.append(b"\n").map(|()| None)
            }
        }
    }

    fn appends(mut self) -> impl FnMut(Vec<Vec<u8>>) -> Result<(), TapeError> + Send + 'static {
        move |lines| self.append(&lines.concat())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), TapeError> {
        let appended = self.file.write_all(bytes).and_then(|()| self.file.sync_data());
        if let Err(error) = appended {
            // Remove the half-written line if the disk allows it.
            let _ = self.cut();
            return Err(TapeError::io("append to", &self.path)(error));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn cut(&mut self) -> Result<(), TapeError> {
        self.file
            .set_len(self.length)
            .and_then(|()| self.file.seek(SeekFrom::Start(self.length)))
            .map(drop)
            .map_err(TapeError::io("repair", &self.path))
    }
}

/// Length of the file up to its last line end. Reads backwards, a block at a time.
fn whole_lines(file: &mut File) -> std::io::Result<u64> {
    const BLOCK: u64 = 1 << 16;
    let mut end = file.metadata()?.len();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        let mut block = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.take(end - start).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// Makes a new file's name durable, where the file system supports it.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
