//! Appending whole lines, so that a crash loses at most the line being written: episodes, to a file that one process has
//! for itself, and annotations and judgements, to files to which several processes append.

use super::records::only_trajectories;
use super::{Journal, Skipped, StoreError, line, tape_error};
use crate::base::bounded::{MAX_LINE_BYTES, read_line, size, too_long};
use crate::base::text::{excerpt, thousands};
use crate::base::{Trajectory, locked};
use crate::net::recording::{LineFile, TapeError, Writer, is_not_own, read_own};
use serde::Serialize;
use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Appender {
    lines: LineFile,
    dropped: Option<u64>,
    /// Which holds lines of episodes until they are appended here.
    journal: Option<Arc<Journal>>,
}

impl Appender {
    /// Opens or creates the file. An incomplete last line is removed; one that only lacks its line end is kept.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        Self::repair(LineFile::open(path)?)
    }

    /// Opens, creates and locks a trajectory file outside any run folder. A file with other content is not changed.
    pub(crate) fn alone(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        }
        let mut lines = LineFile::open(path)?;
        if !lines.lock()? {
            return Err(StoreError::Locked { path: path.to_owned(), holder: None });
        }
        only_trajectories(path, lines.reader()?)?;
        Self::repair(lines)
    }

    /// A device that is full.
    #[cfg(all(test, unix))]
    pub(crate) fn full() -> Self {
        let path = Path::new("/dev/full");
        let file = std::fs::File::options().read(true).write(true).open(path).expect("a device");
        Self { lines: LineFile::over(file, path), dropped: None, journal: None }
    }

    fn repair(mut lines: LineFile) -> Result<Self, StoreError> {
        let tail = lines.tail()?;
        let dropped = lines.repair(&tail, serde_json::from_slice::<Trajectory>(&tail).is_ok())?;
        Ok(Self { lines, dropped, journal: None })
    }

    /// The same, which tells the journal what is recorded.
    pub(crate) fn with_journal(self, journal: Arc<Journal>) -> Self {
        Self { journal: Some(journal), ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.lines.path
    }

    pub(crate) fn dropped(&self) -> Option<u64> {
        self.dropped
    }

    /// Appends episodes and waits until they are on disk. On an error the file keeps none of them. Returns how many were
    /// shortened, because their lines could not be read again.
    pub(crate) fn append<'a>(
        &mut self,
        trajectories: impl IntoIterator<Item = &'a Trajectory>,
    ) -> Result<usize, StoreError> {
        let (mut lines, mut measured, mut shortened) = (Vec::new(), Vec::new(), 0);
        for trajectory in trajectories {
            measured.extend(Some(&trajectory.key).filter(|_| trajectory.measured()));
            let (line, is_whole) = episode_line(trajectory, MAX_LINE_BYTES, &self.lines.path)?;
            lines.extend(line);
            shortened += usize::from(!is_whole);
        }
        self.lines.append(&lines)?;
        if let Some(journal) = &self.journal {
            for key in measured {
                journal.ended(key);
            }
        }
        Ok(shortened)
    }
}

/// The line of an episode, and whether it holds all of it. Readers leave out a line of more than `limit` bytes, and `--resume`
/// would pay for its episode again. So longer ones are shortened: first their texts are cut, then their steps are dropped, and
/// `detail` says which. It is an error if the rest is still too long.
pub(crate) fn episode_line(trajectory: &Trajectory, limit: u64, path: &Path) -> Result<(Vec<u8>, bool), StoreError> {
    /// Characters that are kept of each text.
    const LENGTHS: [usize; 5] = [64 << 10, 16 << 10, 4 << 10, 1 << 10, 256];
    let fits = |line: &Vec<u8>| line.len() as u64 <= limit;
    let whole = line("append to", trajectory, path)?;
    if fits(&whole) {
        return Ok((whole, true));
    }
    drop(whole);
    let said = trajectory.detail.as_ref().map_or_else(String::new, |detail| format!("{detail}; "));
    let mut short = trajectory.clone();
    let mut shorter = |what: &str, shorten: &dyn Fn(&mut Trajectory)| {
        shorten(&mut short);
        short.detail = Some(format!("{said}the record was longer than {}: {what}", size(limit)));
        line("append to", &short, path)
    };
    for most in LENGTHS {
        let what = format!("texts were cut after {} characters", thousands(most));
        let cut = shorter(&what, &|short| short.shorten(most))?;
        if fits(&cut) {
            return Ok((cut, false));
        }
    }
    let without_steps = |short: &mut Trajectory| (short.steps, short.steps_recorded) = (Vec::new(), false);
    let bare = shorter("its steps were left out", &without_steps)?;
    if fits(&bare) {
        return Ok((bare, false));
    }
    let why = format!("the record of `{}` is longer than {}", excerpt(&trajectory.id), size(limit));
    Err(StoreError::io("append to", path)(io::Error::new(io::ErrorKind::FileTooLarge, why)))
}

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

/// Appends lines and waits until they are on disk. The file is held for this long only. A torn last line is removed.
pub(crate) fn append_lines<T: Serialize>(path: &Path, objects: &[T]) -> Result<(), StoreError> {
    let mut lines = Vec::new();
    for object in objects {
        lines.extend(line("append to", object, path)?);
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

/// Appends lines in the order in which they are given, many at once, so that tasks do not wait for each other's lock.
#[derive(Debug)]
pub(crate) struct LineWriter {
    writer: Writer<Vec<u8>>,
    unwritten: Arc<Mutex<Vec<u8>>>,
}

impl LineWriter {
    pub(crate) fn start(path: PathBuf) -> Result<Self, TapeError> {
        let unwritten = Arc::<Mutex<Vec<u8>>>::default();
        let (lines, file) = (Arc::clone(&unwritten), path.clone());
        let write = move |batch: Vec<Vec<u8>>| {
            let mut lines = locked(&lines);
            // What an earlier batch could not write goes first, as the disk may have room again.
            lines.extend(batch.concat());
            append(&file, &lines).map_err(|error| tape_error("append to", &file, error))?;
            lines.clear();
            Ok(())
        };
        Ok(Self { writer: Writer::start(path, write)?, unwritten })
    }

    /// Waits until the line is on disk. After an error it is tried again with the next line and at the end.
    pub(crate) async fn write(&self, object: &impl Serialize) -> Result<(), TapeError> {
        let path = self.writer.path();
        let line = line("append to", object, path).map_err(|error| tape_error("append to", path, error))?;
        self.writer.write(line).await
    }

    /// Waits until everything is written, and returns the lines that the file does not take.
    pub(crate) fn end(self) -> Vec<u8> {
        let Self { writer, unwritten } = self;
        let path = writer.path().to_owned();
        drop(writer);
        let lines = std::mem::take(&mut *locked(&unwritten));
        if lines.is_empty() || append(&path, &lines).is_ok() { Vec::new() } else { lines }
    }
}

#[cfg(test)]
mod tests {
    use super::{LineWriter, append_lines, read_lines};
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
