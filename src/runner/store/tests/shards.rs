//! Shards of one folder: what each has for itself, what they share, and who goes on when one is gone.

use super::journal::call;
use super::{RunFolder, finished, trajectory};
use crate::base::{Outcome, Shard};
use crate::runner::store::Union;
use std::fs;
use std::sync::Arc;

fn shard(text: &str) -> Shard {
    Shard::parse(text).unwrap()
}

/// A start of a part of the run that is due to do the episodes `due`: takes what was kept of them, keeps a call of each of
/// `keep`, and records `ended`. Says how much was kept.
async fn start(folder: &RunFolder, part: Option<Shard>, due: &[&str], keep: &[&str], ended: &[&str]) -> Vec<usize> {
    let lock = folder.lock(part).unwrap();
    let keys: Vec<String> = due.iter().map(|id| format!("key-{id}")).collect();
    let records = folder.records_of(part).unwrap();
    let journal = Arc::new(folder.journal(&lock, &records, |key| keys.iter().any(|due| due == key)).unwrap());
    let kept = keys.iter().map(|key| journal.take(key, None).len()).collect();
    for id in keep {
        journal.keep(&format!("key-{id}"), "main", None, call(10)).await.unwrap();
    }
    let mut appender = folder.appender(&lock).unwrap().with_journal(journal);
    for id in ended {
        appender.append(&[finished(id, 0)]).unwrap();
    }
    kept
}

fn paid(folder: &RunFolder, part: Option<Shard>) -> u64 {
    let paid = folder.paid(&folder.records_of(part).unwrap(), part).unwrap();
    paid.get("main").map_or(0, |paid| paid.calls)
}

#[tokio::test]
async fn every_shard_has_its_records_and_its_costs_and_readers_see_all() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    start(&folder, Some(shard("1/2")), &["a"], &["a", "a"], &["a"]).await;
    start(&folder, Some(shard("2/2")), &["b"], &["b", "b", "b"], &["b"]).await;
    start(&folder, None, &["c"], &["c"], &["c"]).await;
    let keys = |part| -> Vec<String> {
        let records = folder.records_of(part).unwrap();
        records.keys().map(|(key, ..)| key.to_owned()).collect()
    };
    assert_eq!(keys(None).len(), 3);
    // Those of another number of shards, and of none, may be anybody's; a sibling has none of ours.
    assert_eq!(keys(Some(shard("1/2"))), ["key-a", "key-c"]);
    assert_eq!(keys(Some(shard("1/3"))).len(), 3);
    assert_eq!(
        [None, Some(shard("1/2")), Some(shard("2/2")), Some(shard("1/3"))].map(|part| paid(&folder, part)),
        [6, 2, 3, 0]
    );
    for name in ["trajectories.1-of-2.jsonl", "journal.1-of-2.jsonl", "trajectories.2-of-2.jsonl", "trajectories.jsonl"]
    {
        assert!(dir.path().join(name).is_file() && RunFolder::is_own(name), "{name}");
    }
}

#[tokio::test]
async fn an_episode_goes_on_in_any_part_of_the_run_and_is_paid_for_once() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    assert_eq!(start(&folder, Some(shard("1/2")), &["a", "b"], &["a", "a", "b"], &[]).await, [0, 0]);
    // Not by a sibling, which never has this question.
    assert_eq!(start(&folder, Some(shard("2/2")), &["a"], &["x"], &[]).await, [0]);
    // By another number of shards, for what is due there only.
    assert_eq!(start(&folder, Some(shard("3/3")), &["a"], &["a"], &[]).await, [2]);
    let journal = fs::read_to_string(dir.path().join("journal.3-of-3.jsonl")).unwrap();
    assert!(!journal.contains("key-b"), "{journal}");
    // By a run of everything: of two journals the one that is further counts.
    assert_eq!(start(&folder, None, &["a", "b"], &["a"], &["a"]).await, [3, 1]);
    assert_eq!(start(&folder, None, &["b"], &[], &["b"]).await, [1]);
    assert_eq!(paid(&folder, None), 6);
}

#[tokio::test]
async fn only_lines_of_the_same_file_are_compacted_away() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    let append = |part, episodes: &[_]| {
        let lock = folder.lock(part).unwrap();
        folder.appender(&lock).unwrap().append(episodes).unwrap();
        folder.compact(&lock, &folder.records_of(part).unwrap()).unwrap();
    };
    let lines = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap().lines().count();
    append(Some(shard("1/2")), &[trajectory("a", 0, Outcome::NotMeasured), trajectory("a", 0, Outcome::NotMeasured)]);
    assert_eq!(lines("trajectories.1-of-2.jsonl"), 1);
    append(None, &[trajectory("a", 0, Outcome::NotMeasured), finished("a", 0)]);
    assert_eq!((lines("trajectories.1-of-2.jsonl"), lines("trajectories.jsonl")), (1, 1));
    assert_eq!(folder.records().unwrap().keys().collect::<Vec<_>>(), [("key-a", "main", true)]);
}

#[tokio::test]
async fn what_two_write_into_one_file_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path());
    let lock = folder.lock(Some(shard("1/2"))).unwrap();
    let (mut one, mut other) = (folder.appender(&lock).unwrap(), folder.appender(&lock).unwrap());
    one.append(&[finished("a", 0)]).unwrap();
    let error = other.append(&[finished("b", 1)]).unwrap_err();
    assert!(error.to_string().contains("another process writes to it"), "{error}");
    assert_eq!(folder.records().unwrap().keys().collect::<Vec<_>>(), [("key-a", "main", true)]);
}

#[test]
fn a_broken_record_of_a_shard_is_told_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("shard.1-of-2.json"), "{\"v\": 1, \"shard\": \"3/2\"}").unwrap();
    let error = RunFolder::at(dir.path()).shards().unwrap_err();
    assert!(error.to_string().contains("`3/2` is not a shard") && error.hint().contains("or remove it"), "{error}");
}

#[tokio::test]
async fn a_merge_with_an_earlier_copy_counts_once_what_both_have_paid() {
    let dir = tempfile::tempdir().unwrap();
    let [now, earlier, other] = ["now", "earlier", "other"].map(|name| RunFolder::at(dir.path().join(name)));
    for folder in [&now, &earlier, &other] {
        fs::create_dir(folder.path()).unwrap();
    }
    start(&now, None, &["a", "lost"], &["a", "a", "lost"], &["a"]).await;
    for file in fs::read_dir(now.path()).unwrap().flatten() {
        fs::copy(file.path(), earlier.path().join(file.file_name())).unwrap();
    }
    start(&now, None, &["b", "lost"], &["b", "lost"], &["b"]).await;
    start(&other, None, &["c"], &["c"], &["c"]).await;
    for (folders, calls) in [([&earlier, &now, &other], 6), ([&other, &now, &earlier], 6), ([&now, &now, &other], 6)] {
        let records: Vec<_> = folders.iter().map(|folder| folder.records().unwrap()).collect();
        let union = Union::of(&records).unwrap();
        let new = RunFolder::at(dir.path());
        new.write_union(&union, &folders, &records).unwrap();
        assert_eq!(paid(&new, None), calls);
        for name in ["trajectories.jsonl", "journal.jsonl"] {
            fs::remove_file(dir.path().join(name)).unwrap();
        }
    }
}
