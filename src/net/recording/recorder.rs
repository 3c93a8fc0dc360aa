//! Appending to a recording, and to any file of lines, so that a crash loses at most the line being written.

use super::line::{self, CanonicalRequest, Counter, Entry, Head, MAX_HEADER_BYTES};
use super::own_file::open_own;
use super::{FileError, Kind, Player, TapeError};
use crate::base::bounded::MAX_LINE_BYTES;
use crate::base::locked;
use serde::Serialize;
use std::fs::{File, TryLockError};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

#[derive(Debug)]
pub struct Recorder {
    writer: Writer<Vec<u8>>,
    counter: Counter,
    dropped: Option<u64>,
    left_out: Mutex<LeftOut>,
    /// Why the first line that was lost could not be written.
    failed: OnceLock<TapeError>,
}

/// Answers that are not in the recording, because their lines could not be read again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftOut {
    pub answers: u64,
    /// The first request whose answer was left out, in JSON, and its kind.
    pub first: Option<(Kind, Box<str>)>,
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
        Ok(Self { writer, counter: Counter::default(), dropped, left_out: Mutex::default(), failed: OnceLock::new() })
    }

    /// Bytes of the incomplete last line that was removed on opening.
    pub fn dropped(&self) -> Option<u64> {
        self.dropped
    }

    /// What was too long to be recorded so far.
    pub fn left_out(&self) -> LeftOut {
        locked(&self.left_out).clone()
    }

    /// Takes the place of a request that is about to be made; a failed request leaves it empty.
    pub fn place(&self, asked: CanonicalRequest) -> Place {
        let scope = line::current_scope().map(|scope| scope.to_string());
        let n = self.counter.next(&asked.digest, scope.as_deref().unwrap_or_default());
        Place { asked, n, scope }
    }

    /// Appends the answer and waits until it is on disk. On an error the file keeps none of it. An answer whose line could
    /// not be read again is left out, which leaves its place empty: one such line would make all others unreadable.
    pub async fn record<A: Serialize>(&self, place: Place, answer: &A) -> Result<(), TapeError> {
        self.record_up_to(MAX_LINE_BYTES, place, answer).await
    }

    pub(super) async fn record_up_to<A: Serialize>(
        &self,
        limit: u64,
        Place { asked, n, scope }: Place,
        answer: &A,
    ) -> Result<(), TapeError> {
        let line = line::entry_line(&asked, n, scope.as_deref(), answer);
        let line = line.map_err(|error| TapeError::io("append to", self.writer.path())(error.into()))?;
        if line.len() as u64 > limit {
            let mut left_out = locked(&self.left_out);
            left_out.answers += 1;
            left_out.first.get_or_insert_with(|| (asked.kind, asked.request.get().into()));
            return Ok(());
        }
        let written = self.writer.write(line).await;
        written.inspect_err(|error| drop(self.failed.set(error.clone())))
    }

    /// Refuses further requests once an answer could not be written: it was paid for, and the next one would be lost too.
    pub fn check(&self) -> Result<(), TapeError> {
        self.failed.get().map_or(Ok(()), |error| Err(error.clone()))
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
    // The number of the line is not needed: what is not an entry is removed.
    match Entry::parse(&tail, &lines.path, 0) {
        Err(newer @ TapeError::Newer { .. }) => Err(newer),
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

/// The shortest time between two writes: a sync and a wakeup for every item would take more time than the episodes.
const MIN_FLUSH_INTERVAL: Duration = Duration::from_millis(4);

/// An item, and the task that waits for it to be on disk.
type Waiting<T> = (T, oneshot::Sender<Result<(), TapeError>>);

/// Passes items to the thread. Dropping it waits until all are written.
#[derive(Debug)]
pub(crate) struct Writer<T> {
    items: Option<Sender<Waiting<T>>>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl<T: Send + 'static> Writer<T> {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Starts the thread; `write` gets one or more items at a time, in order.
    pub(crate) fn start(
        path: PathBuf,
        write: impl FnMut(Vec<T>) -> Result<(), TapeError> + Send + 'static,
    ) -> Result<Self, TapeError> {
        let (items, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || work(&receiver, write))
            .map_err(TapeError::io("write", &path))?;
        Ok(Self { items: Some(items), thread: Some(thread), path })
    }

    /// Waits until the item is on disk. It is written even if the future is dropped.
    pub(crate) async fn write(&self, item: T) -> Result<(), TapeError> {
        let stopped = || TapeError::Stopped { path: self.path.clone() };
        self.send(item).ok_or_else(stopped)?.await.map_err(|_| stopped())?
    }

    /// Has the item written without waiting for it; nothing if the thread has stopped.
    pub(crate) fn send(&self, item: T) -> Option<oneshot::Receiver<Result<(), TapeError>>> {
        let (done, written) = oneshot::channel();
        self.items.as_ref()?.send((item, done)).ok().map(|()| written)
    }
}

fn work<T>(items: &Receiver<Waiting<T>>, mut write: impl FnMut(Vec<T>) -> Result<(), TapeError>) {
    let mut written: Option<Instant> = None;
    while let Ok(first) = items.recv() {
        if let Some(written) = written {
            std::thread::sleep(MIN_FLUSH_INTERVAL.saturating_sub(written.elapsed()));
        }
        let (batch, waiting): (Vec<T>, Vec<_>) = std::iter::once(first).chain(items.try_iter()).unzip();
        let result = write(batch);
        written = Some(Instant::now());
        for told in waiting {
            // The waiting task may be gone.
            let _ = told.send(result.clone());
        }
    }
}

impl<T> Drop for Writer<T> {
    fn drop(&mut self) {
        self.items = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, the waiting tasks got an error.
            let _ = thread.join();
        }
    }
}

#[derive(Debug)]
pub(crate) struct LineFile {
    file: File,
    pub(crate) path: PathBuf,
    /// Bytes known to be complete lines on disk.
    length: u64,
}

impl LineFile {
    /// Opens or creates the file, which must be a regular one.
    pub(crate) fn open(path: &Path) -> Result<Self, FileError> {
        let failed = |source| FileError { action: "open", path: path.to_owned(), source };
        Ok(Self { file: open_own(path).map_err(failed)?, path: path.to_owned(), length: 0 })
    }

    /// Another file in the place of the one at `path`.
    #[cfg(all(test, unix))]
    pub(crate) fn over(file: File, path: &Path) -> Self {
        Self { file, path: path.to_owned(), length: 0 }
    }

    /// Locks the file until it is closed. Returns false if another process holds the lock.
    pub(crate) fn lock(&self) -> Result<bool, FileError> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(source)) => Err(self.error("lock", source)),
        }
    }

    /// All of the file, through the handle that may hold a lock: Windows reads a locked file through no other one.
    pub(crate) fn reader(&mut self) -> Result<BufReader<File>, FileError> {
        let rewound = self.file.rewind().and_then(|()| self.file.try_clone());
        rewound.map(BufReader::new).map_err(|source| self.error("read", source))
    }

    /// The bytes after the last line end. Reads backwards, as much again as it has each time.
    pub(crate) fn tail(&mut self) -> Result<Vec<u8>, FileError> {
        self.read_tail().map_err(|source| self.error("read", source))
    }

    fn read_tail(&mut self) -> io::Result<Vec<u8>> {
        const BLOCK: u64 = 1 << 16;
        let mut start = self.file.metadata()?.len();
        let mut tail: Vec<u8> = Vec::new();
        while start > 0 {
            let size = BLOCK.max(tail.len() as u64).min(MAX_LINE_BYTES + 1 - tail.len() as u64).min(start);
            start -= size;
            self.file.seek(SeekFrom::Start(start))?;
            let mut block = Vec::new();
            (&mut self.file).take(size).read_to_end(&mut block)?;
            if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
                let rest = block.split_off(at + 1);
                self.length = start + block.len() as u64;
                return Ok([rest, tail].concat());
            }
            block.append(&mut tail);
            tail = block;
            if tail.len() as u64 > MAX_LINE_BYTES {
                let why = format!("its last line is longer than {} MiB", MAX_LINE_BYTES >> 20);
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
            }
        }
        self.length = 0;
        Ok(tail)
    }

    /// Ends the last line if it is `complete` but for its line end; removes it otherwise, and returns its length.
    pub(crate) fn repair(&mut self, tail: &[u8], complete: bool) -> Result<Option<u64>, FileError> {
        let length = tail.len() as u64;
        if length > 0 && !complete {
            self.truncate().map_err(|source| self.error("repair", source))?;
            return Ok(Some(length));
        }
        self.length += length;
        self.seek_to_end().map_err(|source| self.error("read", source))?;
        if length > 0 { self.append(b"\n").map(|()| None) } else { Ok(None) }
    }

    /// Appends lines and waits until they are on disk. On an error the file keeps none of them.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<(), FileError> {
        // Locks do not always reach from one machine to another.
        if self.file.metadata().is_ok_and(|metadata| metadata.len() != self.length) {
            return Err(self.error("append to", io::Error::other("another process writes to it")));
        }
        // A reader may have moved the place.
        let appended =
            self.seek_to_end().and_then(|()| self.file.write_all(lines)).and_then(|()| self.file.sync_data());
        if let Err(source) = appended {
            // Remove the half-written line if the disk allows it.
            let _ = self.truncate();
            return Err(self.error("append to", source));
        }
        self.length += lines.len() as u64;
        Ok(())
    }

    fn truncate(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.seek_to_end()
    }

    fn seek_to_end(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }

    fn error(&self, action: &'static str, source: io::Error) -> FileError {
        FileError { action, path: self.path.clone(), source }
    }
}

/// Something that answers requests, with a recorder or a cache (`T`) in front; `identity` says who answers.
pub struct Wrapped<S: ?Sized, I, T> {
    pub(crate) inner: Arc<S>,
    pub(crate) identity: I,
    pub(crate) tape: Arc<T>,
}

impl<S: ?Sized, I, T> Wrapped<S, I, T> {
    pub fn new(inner: Arc<S>, identity: I, tape: Arc<T>) -> Self {
        Self { inner, identity, tape }
    }
}

/// A recording that answers requests in place of `identity`.
#[derive(Debug)]
pub struct Replayed<I> {
    pub(crate) identity: I,
    pub(crate) player: Player,
}

impl<I> Replayed<I> {
    pub fn new(identity: I, player: Player) -> Self {
        Self { identity, player }
    }
}
