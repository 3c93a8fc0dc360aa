//! `corpus build`, `info` and `verify`, and runs over what was built.

use crate::common::{Ran, WorkDir, read};
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

#[test]
fn a_corpus_is_built_described_verified_and_searched() {
    let dir = WorkDir::new();
    dir.write("pages.jsonl", LINES);
    let said = dir.wikitrail(&["corpus", "build", "c", "--from", "pages.jsonl", "--license", "CC0-1.0\u{1b}"]).ok();
    assert!(said.stderr.starts_with("reading `pages.jsonl` as jsonl\n"), "{}", said.stderr);
    assert!(said.stderr.contains("`pages.jsonl`, line 4: another record of "), "{}", said.stderr);
    for Ran { stdout, stderr, .. } in
        [said, dir.wikitrail(&["corpus", "info", "c"]), dir.wikitrail(&["corpus", "verify", "c"])]
    {
        assert!(
            !stdout.contains(['\u{1b}', '\u{202e}']) && !stderr.contains(['\u{1b}', '\u{202e}']),
            "{stdout}{stderr}"
        );
    }
    let info = dir.wikitrail(&["corpus", "info", "c", "--json"]).json();
    assert_eq!(
        (info["articles"].as_u64(), info["redirects"].as_u64(), info["sentences"].as_str()),
        (Some(3), Some(1), Some("given"))
    );
    assert_eq!(info["source"][0]["skipped"]["duplicate_title"], 1);
    let text = dir.wikitrail(&["wiki", "search", "countess", "--wiki", "corpus:c"]).ok().stdout;
    assert!(text.starts_with("Ada Byron wrote programs. She lived in London."), "{text}");
    let verified = dir.wikitrail(&["corpus", "verify", "c", "--deep"]).ok().stdout;
    assert!(
        verified.contains("3 articles with this id") && verified.contains(info["id"].as_str().expect("an id")),
        "{verified}"
    );
    let path = dir.path("c/pages.bin");
    let mut bytes = fs::read(&path).expect("a file");
    bytes[9] ^= 1;
    fs::write(&path, bytes).expect("written");
    let damaged = dir.wikitrail(&["corpus", "verify", "c"]);
    assert_eq!(damaged.code, Some(5), "{}", damaged.stderr);
    assert!(damaged.stdout.starts_with("pages.bin: it is not the file that was written"), "{}", damaged.stdout);
    dir.wikitrail(&["wiki", "search", "x", "--wiki", "corpus:c"])
        .refused(3, &["`pages.bin` is damaged", "corpus verify"]);
}

#[test]
fn a_damaged_manifest_is_a_difference_like_other_damage() {
    let dir = built();
    let whole = fs::read(dir.path("c/corpus.toml")).expect("a file");
    for (bytes, reason) in [
        (whole[..whole.len() / 2].to_vec(), "corpus.toml: "),
        ([&whole[..], b"\xff"].concat(), "corpus.toml: it is not UTF-8 text\n"),
        ([&whole[..], &vec![b'#'; 2 << 20]].concat(), "corpus.toml: it is larger than 1 MiB\n"),
        (b"format = 1\n".to_vec(), "corpus.toml: missing field `id`\n"),
    ] {
        fs::write(dir.path("c/corpus.toml"), bytes).expect("written");
        for flags in [&["corpus", "verify", "c"][..], &["corpus", "verify", "c", "--deep"]] {
            let Ran { stdout, stderr, code } = dir.wikitrail(flags);
            assert_eq!((code, stderr.as_str()), (Some(5), ""));
            assert!(stdout.starts_with(reason), "{stdout}");
            assert!(stdout.ends_with("c is not what was built: copy it again, or build it again\n"), "{stdout}");
        }
        dir.wikitrail(&["corpus", "info", "c"]).refused(3, &["is damaged: ", "corpus verify"]);
    }
    fs::write(dir.path("c/corpus.toml"), "format = 9\n").expect("written");
    dir.wikitrail(&["corpus", "verify", "c"]).refused(3, &["has format 9", "build it again"]);
}

/// Packs `pages.jsonl` in every way that Python knows, and in two pieces; and writes it as a list.
const PACK: &str = r#"
import bz2, gzip, json, lzma
text = open("pages.jsonl", "rb").read()
lines = text.splitlines(keepends=True)
for ending, packer in ("gz", gzip), ("bz2", bz2), ("xz", lzma):
    open(f"pages.jsonl.{ending}", "wb").write(packer.compress(text))
    open(f"two.jsonl.{ending}", "wb").write(b"".join(packer.compress(b"".join(part)) for part in (lines[:1], lines[1:])))
filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
open("extreme.jsonl.xz", "wb").write(lzma.compress(text, check=lzma.CHECK_SHA256, filters=filters))
open("huge.jsonl.xz", "wb").write(lzma.compress(text, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]))
open("pages.json", "w").write(json.dumps([json.loads(line) for line in lines], indent=1))
open("pages.json.bz2", "wb").write(bz2.compress(open("pages.json", "rb").read()))
"#;

#[test]
fn a_packed_input_is_read_to_its_end_or_refused() {
    let dir = built();
    let build = |from: &str| dir.wikitrail(&["corpus", "build", "d", "--from", from]);
    let packed = Command::new("python3").args(["-c", PACK]).current_dir(dir.root()).status();
    assert!(packed.is_ok_and(|status| status.success()));
    for ending in ["gz", "bz2", "xz"] {
        let bytes = fs::read(dir.path(&format!("pages.jsonl.{ending}"))).expect("a file");
        let cut = format!("cut.jsonl.{ending}");
        fs::write(dir.path(&cut), &bytes[..bytes.len() - 9]).expect("written");
        build(&cut)
            .refused(3, &[&format!("cannot read `{cut}` to its end: it ends too early\n"), "is the file whole?"]);
        assert!(!dir.path("d").exists() && !dir.path("d.partial").exists());
        let mut damaged = bytes.clone();
        damaged[bytes.len() / 2] ^= 0x55;
        fs::write(dir.path(&cut), damaged).expect("written");
        build(&format!("jsonl:{cut}")).refused(3, &[&format!("cannot read `{cut}` to its end")]);
    }
    build("huge.jsonl.xz").refused(3, &["cannot read `huge.jsonl.xz` to its end"]);
    let whole = ["pages.jsonl", "two.jsonl"].map(|name| ["gz", "bz2", "xz"].map(|ending| format!("{name}.{ending}")));
    let others = ["extreme.jsonl.xz", "pages.json", "pages.json.bz2"].map(str::to_owned);
    for from in whole.into_iter().flatten().chain(others) {
        let ran = build(&from).ok();
        assert!(ran.stderr.starts_with(&format!("reading `{from}` as jsonl\n")), "{}", ran.stderr);
        assert_eq!(id(&dir, "c"), id(&dir, "d"), "{from}");
        dir.wikitrail(&["wiki", "search", "london", "--wiki", "corpus:d"]).ok();
        fs::remove_dir_all(dir.path("d")).expect("removed");
    }
    // Also in memory.
    let plain = |ending| dir.wikitrail(&["wiki", "search", "x", "--wiki", &format!("corpus:two.jsonl.{ending}")]);
    for ending in ["gz", "bz2", "xz"] {
        plain(ending).refused(3, &["line 4: title `"]);
    }
}

fn id(dir: &WorkDir, corpus: &str) -> String {
    dir.wikitrail(&["corpus", "info", corpus, "--json"]).json()["id"].as_str().expect("an id").to_owned()
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
fn a_run_names_its_corpus_and_goes_on_with_no_other() {
    let dir = built();
    dir.write("q.jsonl", "{\"question\": \"Who was Ada Byron?\"}\n{\"question\": \"What is London?\"}\n");
    let id = id(&dir, "c");
    let planned = dir.run(&["q.jsonl", "--wiki", "corpus:c", "--dry-run"]).ok();
    assert!(
        planned.stderr.contains(&format!("corpus c: 3 articles (leads, sentences given), {id}\n")),
        "{}",
        planned.stderr
    );
    dir.run(&["q.jsonl", "--wiki", "corpus:c", "--quiet", "--limit", "1", "--out", "r"]).ok();
    assert_eq!(dir.manifest("r")["variants"][0]["wiki_origin"], id.as_str());
    assert!(read(dir.path("r/trajectories.jsonl")).contains("Ada Byron wrote programs."));
    dir.run(&["q.jsonl", "--wiki", "corpus:c", "--quiet", "--limit", "1", "--out", "r", "--resume"]).ok();
    fs::rename(dir.path("c"), dir.path("old")).expect("renamed");
    dir.write("pages.jsonl", LINES.replace("river", "bridge"));
    dir.wikitrail(&["corpus", "build", "c", "--from", "pages.jsonl"]).ok();
    dir.run(&["q.jsonl", "--wiki", "corpus:c", "--quiet", "--limit", "1", "--out", "r", "--resume"])
        .refused(3, &["wiki_origin"]);
}
