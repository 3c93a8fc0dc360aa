//! The journal: what it keeps, what it counts, and what a crash leaves.

use super::{RunFolder, append, trajectory};
use crate::base::bounded::MAX_LINE_BYTES;
use crate::base::{Call, Event, Outcome, Paid, Tool, ToolAnswer, Usage};
use std::fs;

pub(super) fn call(n: u64) -> Event {
    let (completion, usage) = ("so\n".to_owned(), Some(Usage::new(n, 1)));
    Event::Call(Call { prompt_chars: 400, completion, usage, attempts: 1, ..Call::default() })
}

fn tool() -> Event {
    let answer = ToolAnswer {
        tool: Tool::Lookup,
        input: "x".to_owned(),
        observation: "é".to_owned(),
        provenance: None,
        note: None,
        started_at: None,
        latency_ms: None,
    };
    Event::Tool(answer)
}

/// One start of a run: takes what was kept of `a` and `b`, keeps more, and records `ended`.
async fn start(folder: &RunFolder, keep: &[(&str, Event)], ended: &[&str]) -> [usize; 2] {
    let lock = folder.lock(None).unwrap();
    let journal = std::sync::Arc::new(folder.journal(&lock, &folder.records().unwrap(), |_| true).unwrap());
    let kept = ["key-a", "key-b"].map(|key| journal.take(key, None).len());
    for (key, event) in keep {
        journal.keep(key, "main", None, event.clone()).await.unwrap();
    }
    let mut appender = folder.appender(&lock).unwrap().with_journal(journal);
    for id in ended {
        appender.append(&[trajectory(id, 0, Outcome::Finished)]).unwrap();
    }
    kept
}

fn paid(folder: &RunFolder) -> Paid {
    folder.paid(&folder.records().unwrap(), None).unwrap().remove("main").unwrap_or_default()
}

#[tokio::test]
async fn what_could_not_be_read_again_is_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    let mut long = tool();
    if let Event::Tool(answer) = &mut long {
        answer.observation = "x".repeat(usize::try_from(MAX_LINE_BYTES).unwrap());
    }
    assert_eq!(start(&folder, &[("key-a", call(10)), ("key-b", long), ("key-b", call(20))], &[]).await, [0, 0]);
    assert_eq!(start(&folder, &[], &[]).await, [1, 1]);
    assert_eq!(paid(&folder).calls, 2);
}

#[tokio::test]
async fn what_did_not_end_is_kept_and_everything_is_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    let first = [("key-a", call(10)), ("key-a", tool()), ("key-b", call(20)), ("key-b", call(30))];
    assert_eq!(start(&folder, &first, &["b"]).await, [0, 0]);
    let usage = Usage::new(60, 3);
    assert_eq!(paid(&folder), Paid { calls: 3, uncounted: 0, usage });
    let unfinished = || folder.paid_and_unfinished(&folder.records().unwrap(), None).unwrap().1;
    let of_a = [("main".to_owned(), Paid { calls: 1, usage: Usage::new(10, 1), uncounted: 0 })];
    assert_eq!(unfinished(), of_a.clone().into());
    // Also after the file was rewritten.
    assert_eq!(start(&folder, &[], &[]).await, [2, 0]);
    assert_eq!(unfinished(), of_a.into());
    // What ended is dropped when the run goes on, and still counted.
    assert_eq!(start(&folder, &[], &[]).await, [2, 0]);
    assert_eq!(fs::read_to_string(dir.path().join("journal.jsonl")).unwrap().lines().count(), 3);
    assert_eq!(paid(&folder).calls, 3);
    assert_eq!(start(&folder, &[("key-a", call(5))], &["a"]).await, [2, 0]);
    assert_eq!(start(&folder, &[], &[]).await, [0, 0]);
    assert_eq!((paid(&folder).calls, paid(&folder).usage.prompt_tokens), (4, 65));
}

#[tokio::test]
async fn a_torn_line_is_lost_alone() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    start(&folder, &[("key-a", call(10)), ("key-b", call(20))], &[]).await;
    let path = dir.path().join("journal.jsonl");
    let text = fs::read(&path).unwrap();
    for cut in 1..60 {
        fs::write(&path, &text[..text.len() - cut]).unwrap();
        let whole = usize::from(cut == 1);
        assert_eq!(start(&folder, &[], &[]).await, [1, whole], "{cut}");
        assert_eq!(paid(&folder).calls, 1 + whole as u64, "{cut}");
    }
}

#[tokio::test]
async fn a_damaged_line_is_told_by_its_number_and_stays_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    start(&folder, &[("key-a", call(10)), ("key-a", call(20)), ("key-b", call(30))], &[]).await;
    let path = dir.path().join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let damaged = format!("\u{fffd}{}", &lines[2][9..]);
    lines[2].clone_from(&damaged);
    fs::write(&path, lines.join("\n") + "\n\n").unwrap();
    let told = || {
        let lock = folder.lock(None).unwrap();
        let journal = folder.journal(&lock, &folder.records().unwrap(), |_| true).unwrap();
        let found = journal.skipped().iter().map(|skipped| (skipped.line, skipped.reason.clone()));
        found.collect::<Vec<_>>()
    };
    let first = told();
    assert_eq!((first.len(), first[0].0), (1, 3));
    assert!(first[0].1.starts_with("not a line of a journal: "), "{first:?}");
    // The file was rewritten; the line is behind those that count.
    assert_eq!(fs::read_to_string(&path).unwrap().lines().nth(3), Some(&*damaged));
    assert_eq!((told()[0].0, paid(&folder).calls), (4, 2));
    // What is appended after it is read, and counted once.
    assert_eq!(start(&folder, &[("key-b", call(40))], &[]).await, [1, 1]);
    assert_eq!(start(&folder, &[], &["a"]).await, [1, 2]);
    assert_eq!(start(&folder, &[], &[]).await, [0, 2]);
    assert_eq!(paid(&folder).calls, 3);
    assert_eq!(folder.damaged_journal_lines().unwrap().len(), 1);
    assert!(fs::read_to_string(&path).unwrap().contains(&damaged));
}

#[tokio::test]
async fn a_run_from_before_the_journal_keeps_its_costs() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    let Event::Call(first) = call(10) else { panic!("a call") };
    let step = crate::base::Step { n: 1, calls: vec![first], ..Default::default() };
    append(&folder, &[crate::base::Trajectory { steps: vec![step], ..trajectory("a", 0, Outcome::Budget) }]);
    assert_eq!(paid(&folder).calls, 1);
    start(&folder, &[("key-a", call(10)), ("key-a", call(20))], &["a"]).await;
    assert_eq!(paid(&folder).calls, 3);
    // One line an episode, and the costs stay.
    let lock = folder.lock(None).unwrap();
    folder.compact(&lock, &folder.records().unwrap()).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("trajectories.jsonl")).unwrap().lines().count(), 1);
    assert_eq!((folder.records().unwrap().keys().count(), paid(&folder).calls), (1, 3));
}

#[tokio::test]
async fn a_journal_of_a_newer_version_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    let lock = folder.lock(None).unwrap();
    fs::write(dir.path().join("journal.jsonl"), "{\"v\":2,\"paid\":{},\"carried\":0}\n").unwrap();
    let refused = folder.journal(&lock, &folder.records().unwrap(), |_| true).unwrap_err();
    assert!(refused.to_string().contains("format version 2"), "{refused}");
}

#[tokio::test]
async fn a_journal_that_cannot_be_written_is_named_once() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    let lock = folder.lock(None).unwrap();
    let journal = folder.journal(&lock, &folder.records().unwrap(), |_| true).unwrap();
    fs::create_dir(dir.path().join("journal.jsonl")).unwrap();
    let failed = journal.keep("key-a", "main", None, call(1)).await.unwrap_err().to_string();
    assert!(failed.starts_with("cannot write `"), "{failed}");
    assert_eq!((failed.matches("cannot ").count(), failed.matches("journal.jsonl").count()), (1, 1), "{failed}");
}
