use super::super::{Cache, CacheCounts, TapeError, in_episode, in_sample};
use super::asked;
use std::fs;

async fn filled(folder: &std::path::Path) {
    let cache = Cache::open(folder).expect("opens");
    for number in 0..3 {
        cache.put(cache.slot(&asked("a")), &number).await;
    }
    assert_eq!(cache.counts(), CacheCounts { stored: 3, ..CacheCounts::default() });
}

#[tokio::test]
async fn answers_are_found_again_each_occurrence_its_own() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("new/cache");
    filled(&folder).await;
    let cache = Cache::open(&folder).expect("opens");
    for number in 0..4 {
        assert_eq!(cache.get(cache.slot(&asked("a"))), (number < 3).then_some(number));
    }
    assert_eq!(cache.get::<u32>(cache.slot(&asked("b"))), None);
    assert_eq!(cache.counts(), CacheCounts { hits: 3, misses: 2, ..CacheCounts::default() });
}

#[cfg(unix)]
#[test]
fn neither_a_cache_nor_a_recording_is_written_through_a_link() {
    use super::super::{NOT_OWN_HINT, Recorder};
    let dir = tempfile::tempdir().expect("a folder");
    let outside = dir.path().join("outside");
    for name in ["cache.redb", "tape.jsonl"] {
        fs::write(&outside, "").expect("a file");
        let link = dir.path().join(name);
        std::os::unix::fs::symlink(&outside, &link).expect("a link");
        let opened =
            if name == "cache.redb" { Cache::open(dir.path()).map(drop) } else { Recorder::open(&link).map(drop) };
        let error = opened.expect_err(name);
        assert!(matches!(&error, TapeError::Io { path, hint: NOT_OWN_HINT, .. } if *path == link), "{error}");
        assert_eq!(fs::read(&outside).expect("there"), b"", "{name}");
    }
}

#[tokio::test]
async fn a_stored_answer_stays_unless_it_cannot_be_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let cache = Cache::open(dir.path()).expect("opens");
    let slot = Cache::only_slot(&asked("a"));
    cache.put(slot, &1).await;
    cache.put(slot, &2).await;
    assert_eq!(cache.get::<u32>(slot), Some(1));
    assert_eq!(cache.get::<String>(slot), None);
    cache.put(slot, &"text".to_owned()).await;
    assert_eq!(cache.get::<String>(slot).as_deref(), Some("text"));
    assert_eq!(cache.counts().trouble, None);
}

#[tokio::test]
async fn repeats_and_samples_have_keys_of_their_own_and_variants_share_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let cache = Cache::open(dir.path()).expect("opens");
    let slot = |episode: &str, repeat| in_episode(episode.to_owned(), repeat, async { cache.slot(&asked("a")) });
    let sample = |number| {
        let slot = async { cache.slot(&asked("a")) };
        in_episode("main/v".to_owned(), 0, async move { in_sample(number, slot).await })
    };
    let (first, second) = (slot("main/q", 0).await, slot("main/q", 1).await);
    let again = slot("main/q", 0).await;
    let samples = (sample(0).await, sample(1).await);
    let all = [first, second, again, samples.0, samples.1];
    for (i, slot) in all.iter().enumerate() {
        assert!(!all[..i].contains(slot), "{i}");
    }
    assert_eq!(slot("other/q", 0).await, first);
    assert_eq!(slot("other/q", 1).await, second);
    assert_eq!(cache.slot(&asked("a")), first, "outside episodes it counts as repeat 0");
}

#[tokio::test]
async fn one_process_at_a_time_and_no_other_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("cache");
    let first = Cache::open(&folder).expect("opens");
    assert_eq!(Cache::open(&folder).expect_err("refused"), TapeError::Locked { path: folder.clone() });
    drop(first);
    let file = folder.join("cache.redb");
    fs::write(&file, "not a database").expect("writes");
    let error = Cache::open(&folder).expect_err("refused");
    assert!(matches!(error, TapeError::Cache { .. }), "{error}");
    assert_eq!(fs::read(&file).expect("reads"), b"not a database");
    fs::write(dir.path().join("f"), "").expect("writes");
    let error = Cache::open(&dir.path().join("f")).expect_err("refused");
    assert!(matches!(error, TapeError::Io { action: "create", .. }), "{error}");
}

#[tokio::test]
async fn a_cut_or_damaged_database_never_panics() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("cache");
    filled(&folder).await;
    let file = folder.join("cache.redb");
    let whole = fs::read(&file).expect("reads");
    let mut damaged: Vec<Vec<u8>> = (0..8).map(|part| whole[..whole.len() * part / 8].to_vec()).collect();
    let mut scribbled = whole.clone();
    scribbled[whole.len() / 3..].fill(0x5a);
    damaged.push(scribbled);
    for bytes in damaged {
        fs::write(&file, &bytes).expect("writes");
        if let Ok(cache) = Cache::open(&folder) {
            for _ in 0..3 {
                let slot = cache.slot(&asked("a"));
                let _ = cache.get::<u32>(slot);
                cache.put(slot, &7).await;
            }
        }
    }
}
