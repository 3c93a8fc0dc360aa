//! `corpus build`, `info` and `verify`, and runs over what was built.

use crate::common::WorkDir;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const LINES: &str = concat!(
    "{\"title\": \"Ada Byron\", \"text\": [\"Ada Byron wrote programs.\", \"She lived in London.\"], \"redirects\": [\"Countess\"]}\n",
    "{\"title\": \"London\", \"text\": \"London is a city.\\n\\nIt has a river.\"}\n",
    "{\"title\": \"\\u001b[31mRed\\u202e\", \"text\": \"hostile\"}\n",
    "{\"title\": \"\\u001b[31mRed\\u202e\", \"text\": \"hostile again\"}\n",
);

/// A folder with lines and a corpus `c` of them.
fn built() -> WorkDir {
    let dir = WorkDir::new();
    dir.write("pages.jsonl", LINES);
    dir.wikitrail(&["corpus", "build", "c", "--from", "pages.jsonl", "--extent", "lead", "--as-of", "2017-10-01"]).ok();
    dir
}

/// Every file below a folder, with its size and when it was written.
fn listing(dir: &Path) -> BTreeMap<PathBuf, (u64, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        let meta = path.metadata().expect("a file");
        if meta.is_dir() {
            found.extend(listing(&path));
        }
        found.insert(path, (meta.len(), meta.modified().expect("a time")));
    }
    found
}

#[test]
fn a_corpus_is_read_without_a_trace_where_nothing_may_be_written() {
    let dir = built();
    let folders = [dir.path("c"), dir.path("c/bm25")];
    let allow = |mode: u32| {
        for path in &folders {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
        }
    };
    allow(0o555);
    let before = listing(&dir.path("c"));
    for (query, text) in [("london", "London is a city."), ("river", "Could not find river. Similar: ['London'].")] {
        let shown = dir.wikitrail(&["wiki", "search", query, "--wiki", "corpus:c"]).ok().stdout;
        assert!(shown.starts_with(text), "{shown}");
    }
    dir.wikitrail(&["corpus", "verify", "c", "--deep"]).ok();
    assert_eq!(listing(&dir.path("c")), before);
    assert!(
        before.iter().all(|(path, _)| path.metadata().expect("a file").permissions().mode() & 0o044 != 0),
        "{before:?}"
    );
    allow(0o755);
}

#[test]
fn a_killed_build_leaves_nothing_that_opens_and_is_begun_anew() {
    let dir = WorkDir::new();
    dir.write("pages.jsonl", LINES);
    assert!(Command::new("mkfifo").arg(dir.path("pipe")).status().is_ok_and(|status| status.success()));
    let mut child =
        dir.command(&["corpus", "build", "c", "--from", "jsonl:pipe", "--quiet"]).spawn().expect("wikitrail runs");
    // Opens when the other side does; the build waits for more after this.
    let mut pipe = File::options().write(true).open(dir.path("pipe")).expect("a pipe");
    pipe.write_all(LINES.repeat(2_000).as_bytes()).expect("read by the build");
    assert!(dir.path("c.partial/work").is_dir());
    let busy = dir.wikitrail(&["corpus", "build", "c", "--from", "pages.jsonl"]);
    busy.refused(1, &["another process is building `c`"]);
    child.kill().expect("killed");
    child.wait().expect("ended");
    drop(pipe);
    for name in ["c", "c.partial"] {
        dir.wikitrail(&["wiki", "search", "Ada", "--wiki", &format!("corpus:{name}")]).refused(3, &[]);
    }
    dir.wikitrail(&["corpus", "build", "c", "--from", "pages.jsonl"]).ok();
    dir.wikitrail(&["corpus", "verify", "c", "--deep"]).ok();
    assert!(!dir.path("c.partial").exists());
}

#[test]
fn another_page_number_is_no_other_revision() {
    let dir = WorkDir::new();
    for (name, page) in [("a.jsonl", 1), ("b.jsonl", 2)] {
        dir.write(name, format!("{{\"title\": \"A\", \"text\": \"One two three.\", \"id\": {page}, \"revid\": 7}}\n"));
    }
    let told = dir.wikitrail(&["corpus", "diff", "a.jsonl", "b.jsonl"]).stdout;
    assert!(told.contains("revision          A: page 1 -> 2, with the same text\n"), "{told}");
}
