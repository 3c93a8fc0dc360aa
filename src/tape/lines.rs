//! Appending lines to a file so that a crash loses at most the line being written.

use super::own_file::open_own;
use crate::types::bounded::MAX_LINE_BYTES;
use std::fs::{File, TryLockError};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// A file of lines that is appended to.
#[derive(Debug)]
pub(crate) struct LineFile {
    pub(super) file: File,
    pub(crate) path: PathBuf,
    /// Bytes known to be complete lines on disk.
    length: u64,
}

/// A file operation that failed.
pub(crate) struct FileError {
    pub(crate) action: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) source: io::Error,
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

    /// All of the file, from its beginning, through the handle that may hold a lock on it: Windows refuses to read a
    /// locked file through another one.
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
            self.cut().map_err(|source| self.error("repair", source))?;
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
            let _ = self.cut();
            return Err(self.error("append to", source));
        }
        self.length += lines.len() as u64;
        Ok(())
    }

    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.seek_to_end()
    }

    fn seek_to_end(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }

    pub(super) fn error(&self, action: &'static str, source: io::Error) -> FileError {
        FileError { action, path: self.path.clone(), source }
    }
}
