//! A thread that appends objects as lines to a file to which other processes append, too.

use super::side::append;
use super::{StoreError, tape_error};
use crate::tape::{TapeError, Writer};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Appends lines in the order in which they are given. Those that wait are written and synced together, so that no task
/// waits for a lock or a disk but for that of its own line.
#[derive(Debug)]
pub(crate) struct LineWriter {
    writer: Writer<Vec<u8>>,
    /// Lines that the file has not taken.
    unwritten: Arc<Mutex<Vec<u8>>>,
}

impl LineWriter {
    /// Starts the thread. The file is opened, locked and closed for each batch.
    pub(crate) fn start(path: PathBuf) -> Result<Self, TapeError> {
        let unwritten = Arc::<Mutex<Vec<u8>>>::default();
        let (lines, file) = (Arc::clone(&unwritten), path.clone());
        let write = move |batch: Vec<Vec<u8>>| {
            let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
            // What an earlier batch could not write goes first, as the disk may have room again.
            lines.extend(batch.concat());
            append(&file, &lines).map_err(|error| tape_error("append to", &file, error))?;
            lines.clear();
            Ok(())
        };
        Ok(Self { writer: Writer::start(path, write)?, unwritten })
    }

    /// Waits until the line is on disk. It is written even if the future is dropped. After an error it is tried again with
    /// the next line and at the end.
    pub(crate) async fn write(&self, object: &impl Serialize) -> Result<(), TapeError> {
        let path = self.writer.path();
        let mut line = serde_json::to_vec(object)
            .map_err(|error| tape_error("append to", path, StoreError::io("append to", path)(error.into())))?;
        line.push(b'\n');
        self.writer.write(line).await
    }

    /// Waits until everything is written, and returns the lines that the file does not take.
    pub(crate) fn end(self) -> Vec<u8> {
        let Self { writer, unwritten } = self;
        let path = writer.path().to_owned();
        drop(writer);
        let lines = std::mem::take(&mut *unwritten.lock().unwrap_or_else(PoisonError::into_inner));
        if lines.is_empty() || once_more(&path, &lines) { Vec::new() } else { lines }
    }
}

fn once_more(path: &Path, lines: &[u8]) -> bool {
    append(path, lines).is_ok()
}

#[cfg(test)]
mod tests {
    use super::LineWriter;
    use std::fs;
    use std::time::Duration;

    #[tokio::test]
    async fn lines_keep_their_order_and_those_that_were_refused_are_tried_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("verdicts.jsonl");
        let writer = LineWriter::start(path.clone()).expect("a thread");
        let all: Vec<_> = (0..200).collect();
        for written in futures_util::future::join_all(all.iter().map(|number| writer.write(number))).await {
            written.expect("on disk");
        }
        let text = |numbers: &[i32]| numbers.iter().map(i32::to_string).collect::<Vec<_>>().join("\n") + "\n";
        assert_eq!(fs::read_to_string(&path).expect("there"), text(&all));
        let elsewhere = dir.path().join("elsewhere");
        fs::rename(&path, &elsewhere).expect("moved");
        fs::create_dir(&path).expect("what is no file");
        let error = writer.write(&200).await.expect_err("refused").to_string();
        assert!(error.contains("verdicts.jsonl"), "{error}");
        fs::remove_dir(&path).expect("empty");
        fs::rename(&elsewhere, &path).expect("moved back");
        writer.write(&201).await.expect("with the one before");
        assert!(writer.end().is_empty());
        assert_eq!(fs::read_to_string(&path).expect("there"), text(&(0..202).collect::<Vec<_>>()));
    }

    #[tokio::test]
    async fn what_is_never_taken_is_handed_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let writer = LineWriter::start(dir.path().to_owned()).expect("a thread");
        writer.write(&1).await.expect_err("it is a folder");
        writer.write(&2).await.expect_err("it is a folder");
        assert_eq!(writer.end(), b"1\n2\n");
    }

    /// The lock of another process is waited for elsewhere than where answers arrive.
    #[tokio::test]
    async fn no_other_task_waits_for_a_lock() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("verdicts.jsonl");
        let other = fs::File::create(&path).expect("a file");
        other.lock().expect("free");
        let writer = LineWriter::start(path.clone()).expect("a thread");
        let going = async {
            // One thread drives both: were it to wait for the lock, this would not go on.
            tokio::time::sleep(Duration::from_millis(50)).await;
            drop(other);
        };
        let (written, ()) = tokio::join!(writer.write(&1), going);
        written.expect("once the lock is free");
        assert_eq!(fs::read_to_string(&path).expect("there"), "1\n");
    }
}
