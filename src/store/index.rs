//! The lines of a trajectory file, each read once, in parallel.

use crate::types::Paid;
use crate::types::Trajectory;
use crate::types::bounded::{read_line, too_long};
use crate::types::trajectory::TRAJECTORY_VERSION;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;

/// Minimum bytes per thread.
const SHARE: u64 = 4 << 20;
/// Size of the read buffer.
const BLOCK: usize = 256 << 10;

/// A non-blank line and its position.
pub(super) struct Line {
    /// Line number, from 1.
    pub(super) number: usize,
    pub(super) offset: u64,
    /// In bytes, including the line end.
    pub(super) length: usize,
    pub(super) content: Content,
}

pub(super) enum Content {
    Episode(Head),
    /// A record of this version, which is too new.
    Newer(u64),
    /// Anything else, and why.
    Unreadable(String),
}

/// The part of an episode that is kept in memory.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) key: String,
    pub(super) measured: bool,
    pub(super) variant: String,
    repeat: u32,
    index: usize,
    pub(super) paid: Paid,
}

impl Head {
    /// The sort key of episodes.
    pub(super) fn place(&self) -> (&str, u32, usize) {
        (&self.variant, self.repeat, self.index)
    }
}

/// Only the version: a newer record may lack fields that this program expects.
#[derive(Deserialize)]
struct Version {
    v: u64,
}

/// The lines of a file, in order.
pub(super) fn lines(path: &Path) -> io::Result<Vec<Line>> {
    let shares = (path.metadata()?.len() / SHARE).max(1);
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    in_parts(path, usize::try_from(shares).unwrap_or(usize::MAX).min(threads))
}

/// The same, read in `parts` parts at once.
fn in_parts(path: &Path, parts: usize) -> io::Result<Vec<Line>> {
    if parts < 2 {
        return Ok(part(path, 0, u64::MAX)?.0);
    }
    let share = path.metadata()?.len() / parts as u64;
    let read = thread::scope(|scope| {
        let started: Vec<_> = (0..parts as u64)
            .map(|n| {
                // The last part extends to the end of the file, which may have grown.
                let end = if n + 1 == parts as u64 { u64::MAX } else { (n + 1) * share };
                scope.spawn(move || part(path, n * share, end))
            })
            .collect();
        let ended =
            started.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        ended.collect::<io::Result<Vec<_>>>()
    })?;
    let mut before = 0;
    let mut all = Vec::new();
    for (lines, count) in read {
        all.extend(lines.into_iter().map(|line| Line { number: before + line.number, ..line }));
        before += count;
    }
    Ok(all)
}

/// The lines that start in a part of the file, numbered within it, and their number including blank ones.
fn part(path: &Path, begin: u64, end: u64) -> io::Result<(Vec<Line>, usize)> {
    let mut reader = BufReader::with_capacity(BLOCK, File::open(path)?);
    let (mut lines, mut bytes, mut number, mut offset) = (Vec::new(), Vec::new(), 0, begin);
    if begin > 0 {
        // Skip the rest of a line that starts in the previous part.
        offset = reader.seek(SeekFrom::Start(begin - 1))?;
        offset += reader.skip_until(b'\n')? as u64;
    }
    while offset < end {
        let length = read_line(&mut reader, &mut bytes)?;
        if length == 0 {
            break;
        }
        number += 1;
        if !bytes.trim_ascii().is_empty() {
            let content = too_long(&bytes, length).map_or_else(|| content(&bytes), Content::Unreadable);
            lines.push(Line { number, offset, length, content });
        }
        offset += length as u64;
    }
    Ok((lines, number))
}

fn content(line: &[u8]) -> Content {
    match parse(line) {
        Ok(Ok(trajectory)) => Content::Episode(Head {
            measured: trajectory.measured(),
            paid: Paid::of(&trajectory),
            key: trajectory.key,
            variant: trajectory.variant,
            repeat: trajectory.repeat,
            index: trajectory.index,
        }),
        Ok(Err(newer)) => Content::Newer(newer),
        Err(_) if line.last() != Some(&b'\n') => Content::Unreadable("cut in the middle of a line".to_owned()),
        Err(error) => Content::Unreadable(format!("not a trajectory: {error}")),
    }
}

/// The trajectory of a line, or its version if that is too new.
pub(super) fn parse(line: &[u8]) -> Result<Result<Trajectory, u64>, serde_json::Error> {
    let known = u64::from(TRAJECTORY_VERSION);
    match serde_json::from_slice::<Trajectory>(line) {
        Ok(trajectory) if u64::from(trajectory.v) > known => Ok(Err(trajectory.v.into())),
        Ok(trajectory) => Ok(Ok(trajectory)),
        Err(error) => match serde_json::from_slice(line) {
            Ok(Version { v }) if v > known => Ok(Err(v)),
            _ => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, in_parts};
    use crate::store::tests::trajectory;
    use crate::types::Outcome;

    #[test]
    fn the_lines_do_not_depend_on_the_number_of_parts() {
        let mut text = String::from("\n");
        for n in 0..40 {
            let mut trajectory = trajectory(&n.to_string(), n, Outcome::Finished);
            trajectory.question = "ß\n".repeat(n * 7);
            text += &serde_json::to_string(&trajectory).expect("plain data");
            text += if n % 9 == 4 { "\n \n" } else { "\n" };
        }
        text += "{\"v\":7}\nnotes\n{\"v\":1,\"id\":";
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("t.jsonl");
        std::fs::write(&path, &text).expect("written");
        let told = |parts: usize| -> Vec<String> {
            let lines = in_parts(&path, parts).expect("read");
            let begins = |line: &super::Line| &text[usize::try_from(line.offset).expect("small")..][..line.length];
            assert!(lines.iter().all(|line| text.split_inclusive('\n').nth(line.number - 1) == Some(begins(line))));
            let what = |content: &Content| match content {
                Content::Episode(head) => head.key.clone(),
                Content::Newer(version) => format!("version {version}"),
                Content::Unreadable(reason) => reason.clone(),
            };
            lines.iter().map(|line| format!("{}: {}", line.number, what(&line.content))).collect()
        };
        let whole = told(1);
        assert_eq!(whole.len(), 43);
        assert_eq!((whole[0].as_str(), whole[39].as_str()), ("2: key-0", "45: key-39"));
        assert_eq!(whole[40], "46: version 7");
        assert_eq!(whole[41], "47: not a trajectory: expected ident at line 1 column 2");
        assert_eq!(whole[42], "48: cut in the middle of a line");
        for parts in 2..60 {
            assert_eq!(told(parts), whole, "{parts}");
        }
        std::fs::write(&path, "").expect("written");
        assert!(in_parts(&path, 3).expect("read").is_empty());
    }
}
