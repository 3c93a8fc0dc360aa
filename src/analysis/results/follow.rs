//! A run that is still going, followed by what is appended to its files.

use crate::base::Trajectory;
use crate::base::bounded::{read_line, too_long};
use crate::runner::store::{RunFolder, StoreError};
use crate::scoring::{Tally, score_answers};
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

const NEWEST: usize = 8;

/// Reads what was appended since the last look.
#[derive(Debug)]
pub(crate) struct Follower {
    folder: RunFolder,
    /// How far each file was read.
    read: HashMap<PathBuf, u64>,
    /// Keys of the episodes that are recorded.
    done: HashSet<String>,
    newest: VecDeque<Newest>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Progress {
    /// Episodes recorded, and planned.
    pub(crate) done: usize,
    pub(crate) total: usize,
    /// The latest first.
    pub(crate) newest: Vec<Newest>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Newest {
    pub(crate) id: String,
    pub(crate) variant: String,
    /// Absent if it was not measured or its gold is hidden.
    pub(crate) right: Option<bool>,
}

impl Follower {
    pub(crate) fn new(folder: &Path) -> Self {
        let folder = RunFolder::at(folder);
        Self { folder, read: HashMap::new(), done: HashSet::new(), newest: VecDeque::new() }
    }

    pub(crate) fn look(&mut self) -> Result<Progress, StoreError> {
        let manifest = self.folder.manifest()?;
        let tally = Tally::new(&manifest.dataset.name);
        for path in self.folder.trajectory_files(None)? {
            self.read_on(&path, &tally).map_err(StoreError::io("read", &path))?;
        }
        let newest = self.newest.iter().cloned().collect();
        Ok(Progress { done: self.done.len(), total: manifest.planned_in_all(), newest })
    }

    /// Reads the lines behind those that were read. The last one may be half written: it is left for the next time.
    fn read_on(&mut self, path: &Path, tally: &Tally) -> std::io::Result<()> {
        let mut file = File::open(path)?;
        let from = self.read.get(path).copied().unwrap_or_default();
        // A file that was compacted is shorter, and has nothing new.
        let mut at = if file.metadata()?.len() < from { 0 } else { from };
        file.seek(SeekFrom::Start(at))?;
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            let length = read_line(&mut reader, &mut line)?;
            let long = too_long(&line, length).is_some();
            if length == 0 || !long && !line.ends_with(b"\n") {
                break;
            }
            at += length as u64;
            // What cannot be read is no episode that is recorded; the page itself says which lines these are.
            if !long && let Ok(trajectory) = serde_json::from_slice::<Trajectory>(&line) {
                self.note(trajectory, tally);
            }
        }
        self.read.insert(path.to_owned(), at);
        Ok(())
    }

    fn note(&mut self, trajectory: Trajectory, tally: &Tally) {
        if !self.done.insert(trajectory.key.clone()) {
            return;
        }
        let measured = trajectory.measured();
        let Trajectory { id, variant, answer, answers, .. } = trajectory;
        let metric = tally.metric_for(&answers);
        let score = measured.then(|| score_answers(metric, answer.as_deref(), &answers)).flatten();
        self.newest.push_front(Newest { id, variant, right: score.map(|score| score.em > 0.0) });
        self.newest.truncate(NEWEST);
    }
}

#[cfg(test)]
mod tests {
    use super::Follower;
    use crate::base::bounded::MAX_LINE_BYTES;
    use serde_json::{Value, json};
    use std::io::Write as _;

    fn record(id: &str, answer: &str) -> Value {
        json!({"v": 1, "id": id, "variant": "main", "repeat": 0, "question": "?", "answers": ["yes"], "steps": [],
            "answer": answer, "outcome": "finished", "usage": {"prompt_tokens": 0, "completion_tokens": 0},
            "started_at": "", "wall_ms": 0, "compat": "fixed", "repairs": [], "key": id})
    }

    fn manifest() -> Value {
        json!({"v": 1, "variants": [], "repeats": 1, "wikitrail": "", "git_revision": null,
            "dataset": {"name": "q", "path": "", "sha256": "", "questions": 3, "selection": {}, "selected": 3},
            "command_line": [], "started_at": "", "ended_at": null})
    }

    #[test]
    fn a_half_written_line_is_read_when_it_is_whole() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("manifest.json"), manifest().to_string()).expect("written");
        let mut follower = Follower::new(dir.path());
        assert_eq!(follower.look().expect("readable").done, 0, "no file yet");
        let path = dir.path().join("trajectories.jsonl");
        let second = record("b", "no").to_string();
        let (half, rest) = second.split_at(40);
        std::fs::write(&path, format!("{}\n{half}", record("a", "yes"))).expect("written");
        let progress = follower.look().expect("readable");
        assert_eq!((progress.done, progress.newest[0].right), (1, Some(true)));
        let mut file = std::fs::File::options().append(true).open(&path).expect("there");
        writeln!(file, "{rest}").expect("written");
        let progress = follower.look().expect("readable");
        assert_eq!((progress.done, progress.newest[0].id.as_str(), progress.newest[0].right), (2, "b", Some(false)));
        std::fs::write(&path, format!("{}\n", record("b", "no"))).expect("compacted");
        assert_eq!(follower.look().expect("readable").done, 2);
    }

    #[test]
    fn a_line_without_end_is_skipped_and_not_held() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("manifest.json"), manifest().to_string()).expect("written");
        let path = dir.path().join("trajectories.jsonl");
        let file = std::fs::File::create(&path).expect("a file");
        file.set_len(MAX_LINE_BYTES + 5).expect("a hole");
        let mut follower = Follower::new(dir.path());
        assert_eq!(follower.look().expect("readable").done, 0);
        assert_eq!(follower.read[&path], MAX_LINE_BYTES + 5, "it is not read again");
        let mut file = std::fs::File::options().append(true).open(&path).expect("there");
        write!(file, "\n{}\n", record("a", "yes")).expect("written");
        assert_eq!(follower.look().expect("readable").done, 1);
    }
}
