//! Appending trajectories so that a crash loses at most the line being written.

use super::StoreError;
use super::read::only_trajectories;
use crate::types::Trajectory;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// A run's trajectory file, open for appending by one process.
#[derive(Debug)]
pub(crate) struct Appender {
    file: File,
    path: PathBuf,
    /// Bytes known to be complete lines on disk.
    length: u64,
    dropped: Option<u64>,
}

impl Appender {
    /// Opens or creates the file. An incomplete last line is removed; one that only lacks its line end is kept.
    pub(super) fn open(path: PathBuf) -> Result<Self, StoreError> {
        Self::repair(open(&path)?, path)
    }

    /// Opens and locks a trajectory file outside any run folder, creating it and its parent folders if needed. A file
    /// with other content is refused and not changed.
    pub(crate) fn alone(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        }
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked { path: path.to_owned(), holder: None });
            }
            Err(TryLockError::Error(source)) => return Err(StoreError::io("lock", path)(source)),
        }
        only_trajectories(path)?;
        Self::repair(file, path.to_owned())
    }

    fn repair(mut file: File, path: PathBuf) -> Result<Self, StoreError> {
        let (whole, tail) = last_line(&mut file).map_err(StoreError::io("read", &path))?;
        let mut appender = Self { file, path, length: whole, dropped: None };
        if tail.is_empty() {
            appender.seek_to_end()?;
        } else if serde_json::from_slice::<Trajectory>(&tail).is_ok() {
            appender.length += tail.len() as u64;
            appender.seek_to_end()?;
            appender.write(b"\n")?;
        } else {
            appender.dropped = Some(tail.len() as u64);
            appender.cut()?;
        }
        Ok(appender)
    }

    /// Bytes of the incomplete last line that was removed on opening.
    pub(crate) fn dropped(&self) -> Option<u64> {
        self.dropped
    }

    /// Appends episodes and waits until they are on disk. On an error the file keeps none of them.
    pub(crate) fn append<'a>(
        &mut self,
        trajectories: impl IntoIterator<Item = &'a Trajectory>,
    ) -> Result<(), StoreError> {
        let mut lines = Vec::new();
        for trajectory in trajectories {
            let line = serde_json::to_vec(trajectory).map_err(io::Error::from);
            lines.extend(line.map_err(StoreError::io("append to", &self.path))?);
            lines.push(b'\n');
        }
        self.write(&lines)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        match self.file.write_all(bytes).and_then(|()| self.file.sync_data()) {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(source) => {
                // Remove the half-written line if the disk allows it.
                let _ = self.cut();
                Err(StoreError::Io { action: "append to", path: self.path.clone(), source })
            }
        }
    }

    fn cut(&mut self) -> Result<(), StoreError> {
        self.file.set_len(self.length).map_err(StoreError::io("repair", &self.path))?;
        self.seek_to_end()
    }

    fn seek_to_end(&mut self) -> Result<(), StoreError> {
        self.file.seek(SeekFrom::Start(self.length)).map_err(StoreError::io("read", &self.path))?;
        Ok(())
    }
}

fn open(path: &Path) -> Result<File, StoreError> {
    let options = File::options().read(true).write(true).create(true).truncate(false).open(path);
    options.map_err(StoreError::io("open", path))
}

/// Length of the complete lines, and the bytes after the last line end. Reads backwards, a block at a time.
fn last_line(file: &mut File) -> io::Result<(u64, Vec<u8>)> {
    const BLOCK: u64 = 1 << 16;
    let mut start = file.metadata()?.len();
    let mut tail: Vec<u8> = Vec::new();
    while start > 0 {
        let size = BLOCK.min(start);
        start -= size;
        file.seek(SeekFrom::Start(start))?;
        let mut block = Vec::new();
        std::io::Read::by_ref(file).take(size).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            let rest = block.split_off(at + 1);
            return Ok((start + block.len() as u64, [rest, tail].concat()));
        }
        block.append(&mut tail);
        tail = block;
    }
    Ok((0, tail))
}
