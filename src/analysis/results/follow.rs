//! A run that is still going, followed by what is appended to its files.

use crate::base::Trajectory;
use crate::base::bounded::{read_line, too_long};
use crate::base::text::visible_line;
use crate::runner::store::{RunFolder, StoreError};
use crate::scoring::{Tally, float, score_answers};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const NEWEST: usize = 8;

/// Episodes from which the rate is computed, the latest ones.
const PACE: usize = 50;

/// Longest reason of a failure, in characters.
const MAX_REASON: usize = 200;

#[derive(Debug)]
pub(crate) struct Follower {
    folder: RunFolder,
    since: Timestamp,
    read: HashMap<PathBuf, u64>,
    /// Why each recorded episode was not measured, by its key.
    recorded: HashMap<String, Option<String>>,
    cost_usd: Option<f64>,
    /// When the latest ones began and ended.
    spans: VecDeque<(Timestamp, Timestamp)>,
    newest: VecDeque<Newest>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Progress {
    pub(crate) done: usize,
    pub(crate) total: usize,
    pub(crate) going: bool,
    /// Changes with what is recorded, and when the run begins or stops.
    pub(crate) version: String,
    /// Episodes a second, of the latest ones.
    pub(crate) rate: Option<f64>,
    /// What all recorded episodes cost, in US dollars; absent where no price is known.
    pub(crate) cost_usd: Option<f64>,
    pub(crate) last: Option<SystemTime>,
    /// Episodes that were not measured, and their commonest reason.
    pub(crate) failed: usize,
    pub(crate) reason: Option<String>,
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

/// What tells the records of a run from earlier ones: their length, and whether a process is at work on it.
pub(crate) fn version(folder: &RunFolder) -> Result<String, StoreError> {
    let files = folder.trajectory_files(None)?;
    let length: u64 = files.iter().filter_map(|path| path.metadata().ok()).map(|metadata| metadata.len()).sum();
    Ok(format!("{length}-{}", folder.is_going()))
}

impl Follower {
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            folder: RunFolder::at(folder),
            since: Timestamp::now(),
            read: HashMap::new(),
            recorded: HashMap::new(),
            cost_usd: None,
            spans: VecDeque::new(),
            newest: VecDeque::new(),
        }
    }

    pub(crate) fn look(&mut self) -> Result<Progress, StoreError> {
        let manifest = self.folder.manifest()?;
        // Before the records are read: what is appended meanwhile makes a new one.
        let version = version(&self.folder)?;
        let tally = Tally::new(&manifest.dataset.name);
        let files = self.folder.trajectory_files(None)?;
        let is_shorter = |path: &PathBuf| {
            let read = self.read.get(path).copied().unwrap_or_default();
            path.metadata().is_ok_and(|metadata| metadata.len() < read)
        };
        // A file that was compacted begins anew.
        if files.iter().any(is_shorter) {
            *self = Self { since: self.since, ..Self::new(self.folder.path()) };
        }
        for path in &files {
            self.read_on(path, &tally).map_err(StoreError::io("read", path))?;
        }
        let modified = files.iter().filter_map(|path| path.metadata().ok()?.modified().ok());
        let going = self.folder.is_going();
        let (failed, reason) = self.failures();
        let short = manifest.short_names();
        let called = |newest: &Newest| Newest { variant: short.of_name(&newest.variant).to_owned(), ..newest.clone() };
        Ok(Progress {
            done: self.recorded.len(),
            total: manifest.planned_in_all(),
            going,
            version,
            rate: self.rate(going.then(Timestamp::now)),
            cost_usd: self.cost_usd,
            last: modified.max().filter(|_| !self.recorded.is_empty()),
            failed,
            reason,
            newest: self.newest.iter().map(called).collect(),
        })
    }

    /// Episodes a second while any was run: pauses between parts of the run are left out. Until `now`, others are run.
    fn rate(&self, now: Option<Timestamp>) -> Option<f64> {
        let mut spans: Vec<_> = self.spans.iter().copied().collect();
        spans.sort();
        let last = spans.iter().map(|(_, end)| *end).max()?;
        spans.extend(now.map(|now| (last.max(self.since), now)));
        let (mut busy, mut until) = (0.0, Timestamp::MIN);
        for (start, end) in spans.into_iter().filter(|(start, end)| start <= end) {
            busy += end.duration_since(start.max(until).min(end)).as_secs_f64();
            until = until.max(end);
        }
        (busy > 0.0).then(|| float(self.spans.len()) / busy)
    }

    /// How many episodes were not measured, and the commonest reason.
    fn failures(&self) -> (usize, Option<String>) {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        self.recorded.values().flatten().for_each(|reason| *reasons.entry(reason).or_default() += 1);
        let most = reasons.iter().max_by_key(|(_, n)| **n).map(|(reason, _)| (*reason).to_owned());
        (reasons.values().sum(), most.filter(|reason| !reason.is_empty()))
    }

    /// Reads the lines behind those that were read. The last one may be half written: it is left for the next time.
    fn read_on(&mut self, path: &Path, tally: &Tally) -> std::io::Result<()> {
        let mut file = File::open(path)?;
        let mut at = self.read.get(path).copied().unwrap_or_default();
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
        let measured = trajectory.measured();
        if let Some(cost) = trajectory.cost_usd {
            *self.cost_usd.get_or_insert_default() += cost;
        }
        if let Some(span) = span(&trajectory) {
            self.spans.push_front(span);
            self.spans.truncate(PACE);
        }
        let Trajectory { key, id, variant, answer, answers, detail, .. } = trajectory;
        let reason = (!measured).then(|| without_layer(detail.as_deref().unwrap_or_default()));
        // An episode that was run again is not another one.
        if self.recorded.insert(key, reason).is_some() {
            return;
        }
        let metric = tally.metric_for(&answers);
        let score = measured.then(|| score_answers(metric, answer.as_deref(), &answers)).flatten();
        self.newest.push_front(Newest { id, variant, right: score.map(|score| score.em > 0.0) });
        self.newest.truncate(NEWEST);
    }
}

fn span(trajectory: &Trajectory) -> Option<(Timestamp, Timestamp)> {
    let start: Timestamp = trajectory.started_at.parse().ok()?;
    let took = Duration::from_millis(trajectory.wall_ms);
    Some((start, start.checked_add(took).ok()?))
}

/// A reason as a person reads it, in one line.
fn without_layer(detail: &str) -> String {
    let detail = detail.trim();
    visible_line(detail.strip_prefix("model: ").unwrap_or(detail).trim_end_matches('.'), MAX_REASON)
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
        std::fs::write(&path, format!("{}\n", record("b", "no"))).expect("another run");
        let progress = follower.look().expect("readable");
        assert_eq!((progress.done, progress.going), (1, false), "a shorter file begins anew");
    }

    #[test]
    fn progress_has_rate_cost_and_the_commonest_reason() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("manifest.json"), manifest().to_string()).expect("written");
        let failed = |id: &str, minute: u32, reason: &str| {
            let mut record = record(id, "");
            record["outcome"] = json!("not_measured");
            record["detail"] = json!(reason);
            record["started_at"] = json!(format!("2026-11-24T10:{minute:02}:00Z"));
            record["wall_ms"] = json!(30_000);
            record["cost_usd"] = json!(0.25);
            record
        };
        // Two side by side, a pause, and one that is run again.
        let lines = [failed("a", 0, "model: busy."), failed("b", 0, "model: busy"), failed("c", 30, "no route")];
        let lines = lines.into_iter().chain([failed("c", 31, "busy")]);
        let lines = lines.fold(String::new(), |text, line| text + &line.to_string() + "\n");
        std::fs::write(dir.path().join("trajectories.jsonl"), lines).expect("written");
        let progress = Follower::new(dir.path()).look().expect("readable");
        assert_eq!((progress.done, progress.failed, progress.reason.as_deref()), (3, 3, Some("busy")));
        assert_eq!((progress.cost_usd, progress.rate), (Some(1.0), Some(4.0 / 90.0)));
        assert!(progress.last.is_some());
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
