//! Appending to a tape so that a crash costs at most the line that was being written.

use super::asked::Asked;
use super::line::{self, Entry, Head, LONGEST_HEADER};
use super::scope::{self, Counter};
use super::writer::Writer;
use super::{TapeError, line::BadEntry};
use serde::Serialize;
use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// A tape that is being recorded. Answers are on disk when [`Recorder::record`] returns.
#[derive(Debug)]
pub struct Recorder {
    writer: Writer<Vec<u8>>,
    counter: Counter,
    dropped: Option<u64>,
}

/// A request's place on the tape, taken when it is asked: the order of asking is the episode's own, that of answers is not.
#[derive(Debug)]
pub struct Place {
    asked: Asked,
    n: u32,
    scope: Option<String>,
}

impl Recorder {
    /// Opens a tape to append to, or makes one. A file that is no tape, or that another process appends to, is refused.
    pub fn open(path: &Path) -> Result<Self, TapeError> {
        let (end, dropped) = End::open(path)?;
        let writer = Writer::start(path.to_owned(), end.appends())?;
        Ok(Self { writer, counter: Counter::default(), dropped })
    }

    /// Bytes of a torn last line that opening dropped.
    pub fn dropped(&self) -> Option<u64> {
        self.dropped
    }

    /// Takes a place for a request that is about to be made; one that then fails leaves it empty.
    pub fn place(&self, asked: Asked) -> Place {
        let scope = scope::current().map(|scope| scope.to_string());
        let n = self.counter.next(&asked.digest, scope.as_deref().unwrap_or_default());
        Place { asked, n, scope }
    }

    /// Appends the answer, and waits until it is on disk. On an error nothing of it stays in the file.
    pub async fn record<A: Serialize>(&self, place: Place, answer: &A) -> Result<(), TapeError> {
        self.writer.write(line::entry(&place.asked, place.n, place.scope.as_deref(), answer)).await
    }
}

/// The end of the file, which is locked as long as it is open.
struct End {
    file: File,
    path: PathBuf,
    /// Bytes that are known to be whole lines on disk.
    length: u64,
}

impl End {
    fn open(path: &Path) -> Result<(Self, Option<u64>), TapeError> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(TapeError::io("open", path))?;
        if !file.metadata().map_err(TapeError::io("open", path))?.is_file() {
            return Err(TapeError::Foreign { path: path.to_owned(), reason: "it is no ordinary file" });
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
            Head::Tape(_) => {
                let dropped = end.mend()?;
                Ok((end, dropped))
            }
        }
    }

    /// Keeps a last line without its line end where it is whole, and drops it where it is not.
    fn mend(&mut self) -> Result<Option<u64>, TapeError> {
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
            // A half-written line would look like a crash; take it back if the disk lets us.
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
            .map_err(TapeError::io("mend", &self.path))
    }
}

/// Length of the file up to its last line end. Reads from the end, a block at a time.
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

/// The name of a new file is on disk once its folder is; a file system that cannot sync one loses nothing by it.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
