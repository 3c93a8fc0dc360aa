//! A `corpus pack` that is killed.

use crate::common::WorkDir;
use std::fs;

/// Whatever moment it is killed in, what has the name is whole.
#[test]
fn a_killed_pack_leaves_no_file_of_its_name() {
    let dir = WorkDir::new();
    let page = |n: usize| format!("{{\"title\": \"Page {n}\", \"text\": \"{}\"}}\n", format!("word {n} ").repeat(60));
    dir.write("many.jsonl", (0..4_000).map(page).collect::<String>());
    dir.wikitrail(&["corpus", "build", "m", "--from", "many.jsonl", "--quiet"]).ok();
    let mut child =
        dir.command(&["corpus", "pack", "m", "--out", "m.jsonl.zst", "--quiet"]).spawn().expect("wikitrail runs");
    let begun = || {
        let names = fs::read_dir(dir.path("")).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        names.into_iter().any(|name| name.to_string_lossy().starts_with("m.jsonl.zst"))
    };
    while !begun() && child.try_wait().expect("a process").is_none() {
        std::thread::yield_now();
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    let whole = dir.path("m.jsonl.zst");
    let equal = || dir.wikitrail(&["corpus", "diff", "m", "m.jsonl.zst"]).ok();
    assert!(!whole.exists() || equal().stdout.contains("the same 4,000 articles"));
    dir.wikitrail(&["corpus", "pack", "m", "--out", "m.jsonl.zst", "--force", "--quiet"]).ok();
    equal();
}
