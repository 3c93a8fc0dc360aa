//! Files beside a run's trajectories to which processes append whole lines: judgements of people, verdicts of models.

use super::{Skipped, StoreError};
use crate::tape::{LineFile, is_not_own, read_own};
use crate::types::bounded::{read_line, too_long};
use serde::Serialize;
use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a file is tried that another process holds: it does so for one line.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// Shows every line that is not empty, with its number, or why it cannot be read.
fn each_line(path: &Path, file: File, mut look: impl FnMut(usize, Result<Vec<u8>, String>)) -> Result<(), StoreError> {
    wait_for_writer(&file);
    let (mut reader, mut line) = (BufReader::new(file), Vec::new());
    for number in 1.. {
        let length = read_line(&mut reader, &mut line).map_err(StoreError::io("read", path))?;
        if length == 0 {
            break;
        }
        let torn = length == line.len() && line.last() != Some(&b'\n') && !is_json(&line);
        match too_long(&line, length) {
            Some(why) => look(number, Err(why)),
            None if torn => look(number, Err("the last line is incomplete".to_owned())),
            None if line.trim_ascii().is_empty() => {}
            None => look(number, Ok(line.trim_ascii().to_vec())),
        }
    }
    Ok(())
}

/// Locks the file against those that append, for as long as it is open. Windows refuses to read a file that another handle
/// has locked. One that is not to be had is read all the same: the disk has no locks, or a writer was stopped.
fn wait_for_writer(file: &File) {
    for attempt in 1..=ATTEMPTS {
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => std::thread::sleep(PAUSE),
            _ => return,
        }
    }
}

fn is_json(line: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

/// What the lines of a file say, and those that cannot be read. A file that is absent has none.
pub(crate) fn read_lines<T>(
    path: &Path,
    parse: impl Fn(&[u8]) -> Result<T, String>,
) -> Result<(Vec<T>, Vec<Skipped>), StoreError> {
    let (mut read, mut skipped) = (Vec::new(), Vec::new());
    // A pipe has no end, and is nothing that this program wrote.
    if !path.is_file() {
        return Ok((read, skipped));
    }
    let file = File::open(path).map_err(StoreError::io("read", path))?;
    each_line(path, file, |number, line| match line.and_then(|line| parse(&line)) {
        Ok(one) => read.push(one),
        Err(reason) => skipped.push(Skipped { path: path.to_owned(), line: number, reason }),
    })?;
    Ok((read, skipped))
}

/// Appends objects as lines and waits until they are on disk. The file is held for this long only, so that several processes
/// can write to it. An incomplete last line is removed.
pub(crate) fn append_lines<T: Serialize>(path: &Path, objects: &[T]) -> Result<(), StoreError> {
    let mut lines = Vec::new();
    for object in objects {
        serde_json::to_writer(&mut lines, object).map_err(|error| StoreError::io("append to", path)(error.into()))?;
        lines.push(b'\n');
    }
    append(path, &lines)
}

pub(super) fn append(path: &Path, lines: &[u8]) -> Result<(), StoreError> {
    let mut file = LineFile::open(path)?;
    let mut attempts = 1;
    while !file.lock()? {
        if attempts == ATTEMPTS {
            return Err(StoreError::Locked { path: path.to_owned(), holder: None });
        }
        attempts += 1;
        std::thread::sleep(PAUSE);
    }
    let tail = file.tail()?;
    file.repair(&tail, is_json(&tail))?;
    Ok(file.append(lines)?)
}

/// Writes the lines of several files into a new one, each line once. A file that a link leads to, and lines that `parse`
/// refuses, are left out and noted: the folder may come from somebody else, and they may be those of any file.
pub(crate) fn carry_lines<T>(
    paths: impl Iterator<Item = PathBuf>,
    new: &Path,
    parse: impl Fn(&[u8]) -> Result<T, String>,
) -> Result<Vec<String>, StoreError> {
    let (mut known, mut lines, mut notes) = (HashSet::new(), Vec::new(), Vec::new());
    for path in paths {
        let left_out = |place: &str, reason: &str| format!("warning: {}{place}: {reason}; left out", path.display());
        let file = match read_own(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) if is_not_own(&error) => {
                notes.push(left_out("", &error.to_string()));
                continue;
            }
            Err(error) => return Err(StoreError::io("read", &path)(error)),
        };
        each_line(&path, file, |number, line| match line.and_then(|line| parse(&line).map(|_| line)) {
            Ok(line) if known.insert(line.clone()) => {
                lines.extend_from_slice(&line);
                lines.push(b'\n');
            }
            Ok(_) => {}
            Err(reason) => notes.push(left_out(&format!(":{number}"), &reason)),
        })?;
    }
    if !lines.is_empty() {
        append(new, &lines)?;
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::{append_lines, read_lines};
    use std::fs::{self, File};
    use std::io::Write as _;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// Windows refuses to read through one handle what another one has locked, so a reader waits for the lock.
    #[test]
    fn a_reader_waits_for_whoever_appends_and_sees_whole_lines() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("verdicts.jsonl");
        append_lines(&path, &["first"]).expect("written");
        let mut writer = File::options().append(true).open(&path).expect("there");
        writer.lock().expect("free");
        writer.write_all(b"\"sec").expect("written");
        let (sender, seen) = channel();
        let reader = std::thread::spawn({
            let path = path.clone();
            move || {
                let parse = |line: &[u8]| serde_json::from_slice::<String>(line).map_err(|error| error.to_string());
                sender.send(read_lines(&path, parse).expect("readable")).expect("somebody listens");
            }
        });
        assert!(seen.recv_timeout(Duration::from_millis(100)).is_err(), "the writer holds the lock");
        writer.write_all(b"ond\"\n").expect("written");
        drop(writer);
        let (read, skipped) = seen.recv().expect("the reader goes on");
        assert_eq!((read, skipped.len()), (vec!["first".to_owned(), "second".to_owned()], 0));
        reader.join().expect("no panic");
        assert_eq!(fs::read_to_string(&path).expect("there"), "\"first\"\n\"second\"\n");
    }
}
