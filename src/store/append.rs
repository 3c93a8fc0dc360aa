//! Appending trajectories so that a crash costs at most the line that was being written.

use super::StoreError;
use super::read::only_trajectories;
use crate::types::Trajectory;
use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// The end of a run's file of trajectories. One process has one.
#[derive(Debug)]
pub struct Appender {
    file: File,
    path: PathBuf,
    /// Bytes that are known to be whole lines on disk.
    length: u64,
    dropped: Option<u64>,
}

impl Appender {
    /// Opens the file, creating it if need be, and mends a torn last line.
    ///
    /// A last line without its line end is kept where it is whole and dropped where it is not.
    pub(super) fn open(path: PathBuf) -> Result<Self, StoreError> {
        Self::mend(open(&path)?, path)
    }

    /// Opens a file of trajectories that stands by itself, in no run's folder, for this process alone; creates it, and
    /// the folders above it, if need be. A file that holds anything else is left as it is.
    pub fn alone(path: &Path) -> Result<Self, StoreError> {
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
        Self::mend(file, path.to_owned())
    }

    fn mend(mut file: File, path: PathBuf) -> Result<Self, StoreError> {
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

    /// Bytes of a torn last line that opening dropped.
    pub fn dropped(&self) -> Option<u64> {
        self.dropped
    }

    /// Appends episodes and waits until they are on disk. On an error nothing of them stays in the file.
    pub fn append<'a>(&mut self, trajectories: impl IntoIterator<Item = &'a Trajectory>) -> Result<(), StoreError> {
        let mut lines = Vec::new();
        for trajectory in trajectories {
            // Plain data with string keys always serialises; JSON has no NaN, and no float here can be one.
            lines.extend(serde_json::to_vec(trajectory).unwrap_or_default());
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
                // A half-written line would look like a crash; take it back if the disk lets us.
                let _ = self.cut();
                Err(StoreError::Io { action: "append to", path: self.path.clone(), source })
            }
        }
    }

    fn cut(&mut self) -> Result<(), StoreError> {
        self.file.set_len(self.length).map_err(StoreError::io("mend", &self.path))?;
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

/// Length of the whole lines, and the bytes after the last line end. Reads from the end, a block at a time.
fn last_line(file: &mut File) -> std::io::Result<(u64, Vec<u8>)> {
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
