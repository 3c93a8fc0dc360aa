//! Bad input: every case has a clear error with a hint and its documented exit code, and loses nothing finished.

use crate::common::WorkDir;
#[cfg(target_os = "linux")]
use crate::common::shell;

#[test]
fn a_second_process_on_the_same_run() {
    let bench = WorkDir::new();
    bench.write("r/.lock", "");
    let lock = std::fs::File::create(bench.path("r/.lock")).expect("a lock file");
    lock.lock().expect("the lock is free");
    let run = || bench.run(&["--limit", "1", "--quiet", "--out", "r"]);
    run().refused(1, &["another process"]);
    drop(lock);
    run().ok();
}

/// A limit on file sizes stands in for a full disk: from some write on, every further one fails.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let bench = WorkDir::new();
    let records = || bench.read("r/trajectories.jsonl");
    // Blocks of 512 bytes.
    shell(bench.root(), "trap '' XFSZ; ulimit -f 384; exec wikitrail run --quiet --out r")
        .refused(1, &["cannot append to", "trajectories.jsonl"]);
    let kept = records();
    assert!(kept.ends_with('\n') && !kept.is_empty(), "half a line was left behind");
    assert!(kept.lines().count() < 60);
    bench.wikitrail(&["run", "--quiet", "--out", "r", "--resume"]).ok();
    assert!(records().starts_with(&kept), "what was finished was rewritten");
    assert_eq!(records().lines().count(), 60);
}
