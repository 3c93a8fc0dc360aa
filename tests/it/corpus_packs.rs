//! `corpus pack`, `add` and `diff`.

use crate::common::sha256_hex;
use crate::common::{WorkDir, read};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;

/// With a list that is one by its text alone, sentences, revisions, and redirects.
const LINES: &str = concat!(
    "{\"title\": \"Ada Byron\", \"id\": 5, \"revid\": 7, \"timestamp\": \"2017-10-01T00:00:00Z\", ",
    "\"text\": [\"Ada Byron wrote programs.\", \"She lived in London.\"], \"redirects\": [\"Countess\"]}\n",
    "{\"title\": \"London\", \"revid\": 9, \"text\": \"London is a city of nine million people by the river.\\n\\nIt is old.\"}\n",
    "{\"title\": \"Byron\", \"text\": \"Byron may refer to:\\n\\nAda Byron, a countess\"}\n",
    "{\"title\": \"Nobody\", \"redirect\": \"Nowhere\"}\n",
);

fn built() -> WorkDir {
    let dir = WorkDir::new();
    dir.write("pages.jsonl", LINES);
    let facts = ["--name", "two \"pages\"", "--extent", "lead", "--language", "en", "--as-of", "2017-10-01"];
    let license = ["--license", "CC0-1.0", "--attribution", "us", "--changes", "made up"];
    dir.wikitrail(&[&["corpus", "build", "c", "--from", "pages.jsonl"][..], &facts, &license].concat()).ok();
    dir
}

/// The manifest without what is true of one folder only.
fn facts(dir: &WorkDir, corpus: &str) -> Value {
    let mut facts = dir.wikitrail(&["corpus", "info", corpus, "--json"]).json();
    for key in ["files", "build"] {
        facts.as_object_mut().expect("an object").remove(key);
    }
    facts
}

fn gunzipped(path: &Path) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(File::open(path).expect("a file")).read_to_string(&mut text).expect("text");
    text
}

#[test]
fn a_pack_is_the_corpus_and_comes_back_as_it() {
    let dir = built();
    let facts_before = facts(&dir, "c");
    for name in ["c.jsonl", "c.jsonl.gz", "c.jsonl.zst"] {
        let wrote = dir.wikitrail(&["corpus", "pack", "c", "--out", name]).ok();
        assert!(wrote.stdout.contains(facts_before["id"].as_str().expect("an id")), "{}", wrote.stdout);
        let made = format!("from-{name}");
        dir.wikitrail(&["corpus", "build", &made, "--from", name]).ok();
        assert_eq!(facts(&dir, &made), facts_before);
        // Packed once more, it is the same to the last byte.
        dir.wikitrail(&["corpus", "pack", &made, "--out", &format!("again-{name}")]).ok();
        assert_eq!(
            fs::read(dir.path(name)).expect("a file"),
            fs::read(dir.path(&format!("again-{name}"))).expect("a file")
        );
    }
    let text = read(dir.path("c.jsonl"));
    let lines: Vec<&str> = text.lines().collect();
    let titles: Vec<Value> =
        lines[1..].iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["title"].clone()).collect();
    assert_eq!(titles, ["Ada Byron", "Byron", "London"]);
    // So `zstdcat FILE | tail -n +2 | sha256sum` gives the identity.
    let articles = lines[1..].join("\n") + "\n";
    assert!(lines.iter().skip(1).all(|line| line.starts_with("{\"title\":")));
    assert_eq!(facts_before["id"], format!("wt1:{}", sha256_hex(articles.as_bytes())));
    assert_eq!(gunzipped(&dir.path("c.jsonl.gz")), text);
    // In memory it answers, too, without its first line being an article.
    for name in ["c.jsonl", "c.jsonl.gz", "c.jsonl.zst"] {
        let shown = dir.wikitrail(&["wiki", "search", "countess", "--wiki", &format!("corpus:{name}")]).ok();
        assert!(shown.stdout.starts_with("Ada Byron wrote programs."), "{}", shown.stdout);
    }
}

#[test]
fn a_pack_replaces_nothing_unasked_and_a_killed_one_leaves_no_file_of_its_name() {
    let dir = built();
    dir.write("there.jsonl", "mine");
    let pack = |args: &[&str]| dir.wikitrail(&[&["corpus", "pack", "c", "--out"], args].concat());
    pack(&["there.jsonl"]).refused(2, &["`there.jsonl` exists and is not an empty file", "--force"]);
    pack(&["c"]).refused(2, &["`c` is a folder"]);
    pack(&["no/folder.jsonl"]).refused(1, &["cannot write `no/folder.jsonl`"]);
    assert_eq!(read(dir.path("there.jsonl")), "mine");
    pack(&["there.jsonl", "--force"]).ok();
    assert!(read(dir.path("there.jsonl")).starts_with("{\"corpus\":{"));
    let file = ["`pages.jsonl` is a file, not a corpus folder", "`wikitrail corpus build NEW --from pages.jsonl`"];
    dir.wikitrail(&["corpus", "pack", "pages.jsonl", "--out", "x.jsonl"]).refused(3, &file);
    dir.wikitrail(&["corpus", "info", "nosuch"]).refused(3, &["`nosuch` does not exist", "check the path"]);
    // Whatever moment it is killed in, what has the name is whole.
    let mut many = File::create(dir.path("many.jsonl")).expect("a file");
    for number in 0..4_000 {
        writeln!(many, "{{\"title\": \"Page {number}\", \"text\": \"{}\"}}", format!("word {number} ").repeat(60))
            .expect("written");
    }
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

#[test]
fn a_pack_that_was_cut_or_changed_is_refused() {
    let dir = built();
    dir.wikitrail(&["corpus", "pack", "c", "--out", "c.jsonl"]).ok();
    let text = read(dir.path("c.jsonl"));
    let head = text.lines().next().expect("a line");
    let without_last = text.trim_end().rsplit_once('\n').expect("lines").0;
    let newer = text.replacen("\"format\":1", "\"format\":2", 1);
    let huge = text.replacen("\"rows\":4", "\"rows\":18446744073709551615", 1);
    let long = text.replacen("two \\\"pages\\\"", &"x".repeat(600 << 10), 1);
    assert!(newer != text && huge != text && long != text);
    for (changed, words) in [
        (without_last.to_owned(), "its articles do not match the id in its first line: theirs is wt1:"),
        (
            text.replace("nine million", "ten million"),
            "its articles do not match the id in its first line: theirs is wt1:",
        ),
        (
            format!("{text}{{\"title\": \"More\", \"text\": \"not as it is written\"}}\n"),
            "line 5: field `blocks` is missing",
        ),
        (format!("{text}{text}"), "line 5: field `title` is missing"),
        (format!("{{\"title\": \"A\", \"text\": \"b\"}}\n{head}\n"), "only the first line may describe a corpus"),
        (newer, "line 1: `corpus`: it has format 2"),
        (huge, "line 1: `corpus`: "),
        (long, "line 1: `corpus`: it is larger than 512 KiB"),
        (text.replacen("\"name\"", "\"nome\"", 1), "line 1: `corpus`: field `name` is missing"),
    ] {
        dir.write("bad.jsonl", &changed);
        let ran = dir.wikitrail(&["corpus", "build", "d", "--from", "bad.jsonl"]);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        // A description among lines that have none is one bad line.
        let left_out = words.starts_with("only");
        assert_eq!(ran.code, Some(if left_out { 0 } else { 3 }), "{words}: {}", ran.stderr);
        assert_eq!(dir.path("d").exists(), left_out);
        let _ = fs::remove_dir_all(dir.path("d"));
    }
    // The archive itself, cut short.
    dir.wikitrail(&["corpus", "pack", "c", "--out", "c.jsonl.zst"]).ok();
    let bytes = fs::read(dir.path("c.jsonl.zst")).expect("a file");
    fs::write(dir.path("cut.jsonl.zst"), &bytes[..bytes.len() - 9]).expect("written");
    dir.wikitrail(&["corpus", "build", "d", "--from", "cut.jsonl.zst"]).refused(3, &["to its end"]);
}
