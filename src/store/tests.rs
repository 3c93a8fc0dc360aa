//! Tests of a run's folder: what a crash leaves, what a second process may do, what a reader sees.

use super::*;
use crate::types::{Call, Compat, Outcome, Step, Trajectory, Usage};
use std::fs;

pub(crate) fn trajectory(id: &str, index: usize, outcome: Outcome) -> Trajectory {
    Trajectory {
        v: 1,
        id: id.to_owned(),
        index,
        variant: "main".to_owned(),
        repeat: 0,
        question: "Why \"so\"?\nÄ".to_owned(),
        answers: vec!["because".to_owned()],
        steps: vec![],
        answer: Some(format!("answer of {id}")),
        outcome,
        detail: None,
        usage: Usage::default(),
        cost_usd: None,
        started_at: "2026-11-21T07:00:00Z".to_owned(),
        wall_ms: 1,
        compat: Compat::Fixed,
        repairs: vec![],
        votes: Vec::new(),
        key: format!("key-{id}"),
    }
}

fn append(folder: &RunFolder, trajectories: &[Trajectory]) -> Option<u64> {
    let lock = folder.lock().unwrap();
    let mut appender = folder.appender(&lock).unwrap();
    appender.append(trajectories).unwrap();
    appender.dropped()
}

fn ids(folder: &RunFolder) -> Vec<String> {
    folder.records().unwrap().iter().map(|t| t.unwrap().id).collect()
}

#[test]
fn what_is_appended_is_read_back_in_dataset_order() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path().join("deep/run"));
    let (a, b) = (trajectory("a", 1, Outcome::Finished), trajectory("b", 0, Outcome::StepLimit));
    append(&folder, std::slice::from_ref(&a));
    append(&folder, std::slice::from_ref(&b));
    let read: Vec<_> = folder.records().unwrap().iter().map(Result::unwrap).collect();
    assert_eq!(read, [b, a]);
    let text = fs::read_to_string(folder.path().join("trajectories.jsonl")).unwrap();
    assert!(text.lines().all(|line| line.starts_with("{\"v\":1,\"id\":")), "{text}");
}

#[test]
fn a_torn_last_line_is_dropped_and_said_and_a_whole_one_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    append(&folder, &[trajectory("a", 0, Outcome::Finished), trajectory("b", 1, Outcome::Finished)]);
    let path = dir.path().join("trajectories.jsonl");
    let text = fs::read(&path).unwrap();
    let first = text.iter().position(|b| *b == b'\n').unwrap() + 1;
    for cut in [first + 1, first + 40, text.len() - 2] {
        fs::write(&path, &text[..cut]).unwrap();
        assert_eq!(folder.records().unwrap().skipped()[0].line, 2);
        assert_eq!(folder.records().unwrap().skipped()[0].reason, "cut in the middle of a line");
        assert_eq!(append(&folder, &[trajectory("c", 2, Outcome::Finished)]), Some((cut - first) as u64));
        assert_eq!(ids(&folder), ["a", "c"]);
    }
    // Only the line end is missing: nothing is lost.
    fs::write(&path, &text[..text.len() - 1]).unwrap();
    assert_eq!(append(&folder, &[trajectory("c", 2, Outcome::Finished)]), None);
    assert_eq!(ids(&folder), ["a", "b", "c"]);
}

#[test]
fn a_long_torn_line_is_found_across_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    append(&folder, &[trajectory("a", 0, Outcome::Finished)]);
    let path = dir.path().join("trajectories.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    let whole = bytes.clone();
    bytes.extend(std::iter::repeat_n(b'x', 200_000));
    fs::write(&path, &bytes).unwrap();
    assert_eq!(append(&folder, &[]), Some(200_000));
    assert_eq!(fs::read(&path).unwrap(), whole);
    // A file that is one torn line.
    fs::write(&path, vec![b'{'; 70_000]).unwrap();
    assert_eq!(append(&folder, &[]), Some(70_000));
    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[test]
fn a_damaged_line_in_the_middle_costs_only_itself() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    append(&folder, &[trajectory("a", 0, Outcome::Finished)]);
    let path = dir.path().join("trajectories.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(b"\xff\xfe garbage\n\n");
    fs::write(&path, bytes).unwrap();
    append(&folder, &[trajectory("b", 1, Outcome::Finished)]);
    let records = folder.records().unwrap();
    assert_eq!(records.skipped().len(), 1);
    assert_eq!(records.skipped()[0].line, 2);
    assert_eq!(ids(&folder), ["a", "b"]);
}

#[test]
fn the_latest_record_of_an_episode_counts_but_never_hides_a_measured_one() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    append(&folder, &[trajectory("a", 0, Outcome::NotMeasured), trajectory("b", 1, Outcome::Finished)]);
    append(&folder, &[trajectory("a", 0, Outcome::Finished), trajectory("b", 1, Outcome::NotMeasured)]);
    let records = folder.records().unwrap();
    assert_eq!(records.keys().collect::<Vec<_>>(), [("key-a", "main", true), ("key-b", "main", true)]);
}

#[test]
fn a_line_with_a_good_head_and_a_bad_body_costs_only_itself() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    append(&folder, &[trajectory("a", 0, Outcome::Finished)]);
    let mut foreign = serde_json::to_value(trajectory("b", 1, Outcome::Finished)).unwrap();
    foreign["steps"] = "none".into();
    let path = dir.path().join("trajectories.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{foreign}\n")).unwrap();
    let records = folder.records().unwrap();
    assert_eq!((records.len(), records.skipped().len()), (1, 1));
    assert!(records.skipped()[0].reason.starts_with("not a trajectory: "), "{:?}", records.skipped());
    assert_eq!(ids(&folder), ["a"]);
}

#[test]
fn shards_are_read_together() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    append(&folder, &[trajectory("b", 1, Outcome::Finished)]);
    let line = serde_json::to_string(&trajectory("a", 0, Outcome::Finished)).unwrap();
    fs::write(dir.path().join("trajectories-2.jsonl"), line + "\n").unwrap();
    assert_eq!(ids(&folder), ["a", "b"]);
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    let lock = folder.lock().unwrap();
    let error = folder.lock().unwrap_err();
    assert!(matches!(&error, StoreError::Locked { holder: Some(holder), .. } if holder.starts_with("process ")));
    drop(lock);
    folder.lock().unwrap();
}

#[test]
fn newer_formats_are_refused_in_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    fs::write(dir.path().join("manifest.json"), "{\"v\": 99, \"future\": true}").unwrap();
    assert!(matches!(folder.manifest(), Err(StoreError::Newer { found: 99, known: 1, .. })));
    let mut newer = serde_json::to_value(trajectory("a", 0, Outcome::Finished)).unwrap();
    newer["v"] = 2.into();
    fs::write(dir.path().join("trajectories.jsonl"), format!("{newer}\n")).unwrap();
    assert!(matches!(folder.records(), Err(StoreError::Newer { found: 2, known: 1, .. })));
}

#[test]
fn a_folder_without_manifest_is_not_a_run() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(RunFolder::open(dir.path()), Err(StoreError::NotARun { .. })));
    assert!(!RunFolder::at(dir.path().join("none")).exists());
}

/// `/dev/full` answers every write with "no space left on device".
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_with_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    let lock = folder.lock().unwrap();
    std::os::unix::fs::symlink("/dev/full", dir.path().join("trajectories.jsonl")).unwrap();
    let mut appender = folder.appender(&lock).unwrap();
    let error = appender.append(&[trajectory("a", 0, Outcome::Finished)]).unwrap_err();
    assert!(error.to_string().contains("No space left"), "{error}");
    assert!(error.hint().contains("--resume"));
}

#[test]
fn a_file_by_itself_takes_trajectories_and_a_foreign_one_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/saved.jsonl");
    let mut first = Appender::alone(&path).unwrap();
    assert!(matches!(Appender::alone(&path), Err(StoreError::Locked { .. })));
    first.append(&[trajectory("a", 0, Outcome::Finished)]).unwrap();
    drop(first);
    let mut torn = fs::read(&path).unwrap();
    torn.extend(b"\n{\"v\":1,\"id\":\"b");
    fs::write(&path, &torn).unwrap();
    let mut second = Appender::alone(&path).unwrap();
    assert_eq!(second.dropped(), Some(14));
    second.append(&[trajectory("c", 0, Outcome::NotMeasured)]).unwrap();
    drop(second);
    let lines = fs::read_to_string(&path).unwrap();
    let ids: Vec<String> = lines
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str::<Trajectory>(line).unwrap().id)
        .collect();
    assert_eq!(ids, ["a", "c"]);

    let good = lines.lines().next().unwrap();
    for (text, line) in
        [("hello", 1), ("{\"x\":1}\n", 1), (&format!("{good}\nnotes\n"), 2), (&format!("{good}\n{{}}"), 2)]
    {
        fs::write(&path, text).unwrap();
        let error = Appender::alone(&path).expect_err(text);
        assert!(matches!(&error, StoreError::Foreign { line: at, .. } if *at == line), "{error} for {text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::write(&path, "{\"v\":99}\n").unwrap();
    assert!(matches!(Appender::alone(&path), Err(StoreError::Newer { found: 99, .. })));
}

#[test]
fn what_was_paid_includes_what_was_done_again_and_nothing_from_a_cache() {
    let call = |usage, cached| Call {
        prompt_sha256: String::new(),
        prompt_chars: 400,
        stop: vec![],
        completion: "x".repeat(40),
        finish_reason: None,
        usage,
        latency_ms: 0,
        attempts: 1,
        cached,
    };
    let counted = Some(Usage { prompt_tokens: 7, completion_tokens: 3 });
    let with = |outcome, calls| {
        let step = Step { n: 1, calls, ..Step::default() };
        Trajectory { steps: vec![step], ..trajectory("a", 0, outcome) }
    };
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    append(&folder, &[with(Outcome::Budget, vec![call(counted, false)])]);
    append(&folder, &[with(Outcome::Finished, vec![call(None, false), call(counted, true)])]);
    let records = folder.records().unwrap();
    let usage = Usage { prompt_tokens: 107, completion_tokens: 13 };
    let paid: Vec<_> = records.paid().iter().collect();
    assert_eq!(paid, [(&"main".to_owned(), &Paid { calls: 2, uncounted: 1, usage })]);
    assert_eq!(records.len(), 1);
}

#[test]
fn records_are_read_again_only_if_something_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    append(&folder, &[trajectory("a", 0, Outcome::Finished)]);
    let known = folder.records().unwrap();
    let same = folder.records_since(Some(known)).unwrap();
    assert_eq!(same.len(), 1);
    append(&folder, &[trajectory("b", 1, Outcome::Finished)]);
    let more = folder.records_since(Some(same)).unwrap();
    assert_eq!(more.len(), 2);
    fs::copy(dir.path().join("trajectories.jsonl"), dir.path().join("trajectories-1.jsonl")).unwrap();
    append(&folder, &[trajectory("c", 2, Outcome::Finished)]);
    assert_eq!(folder.records_since(Some(more)).unwrap().len(), 3);
    assert_eq!(folder.records_since(None).unwrap().len(), 3);
}
