//! `corpus pack`, `add` and `diff`.

use crate::common::{Ran, WorkDir, read};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;
use wikitrail::types::sha256_hex;

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
    assert_eq!(facts_before["id"], format!("wt1:{}", sha256_hex([articles.as_bytes()])));
    assert_eq!(gunzipped(&dir.path("c.jsonl.gz")), text);
    // In memory it answers, too, without its first line being an article.
    for name in ["c.jsonl", "c.jsonl.gz", "c.jsonl.zst"] {
        let shown = dir.wikitrail(&["wiki", "search", "countess", "--wiki", &format!("corpus:{name}")]).ok();
        assert!(shown.stdout.starts_with("Ada Byron wrote programs."), "{}", shown.stdout);
    }
}

/// What `corpus freeze` wrote beside the articles comes along.
#[test]
fn searches_that_were_frozen_are_in_the_pack() {
    let dir = built();
    dir.wikitrail(&["corpus", "pack", "c", "--out", "c.jsonl"]).ok();
    let text = read(dir.path("c.jsonl"));
    let (head, articles) = text.split_once('\n').expect("lines");
    let mut head: Value = serde_json::from_str(head).expect("JSON");
    head["corpus"]["freeze"] = json!({
        "site": "https://wiki.example.org", "permalink": "https://wiki.example.org/?oldid=", "compat": "fixed", "fidelity": "made up",
        "gold_pages": 1, "searches": 2, "left_out": {"missing": 1},
    });
    head["searches"] =
        json!([{"query": "poet", "titles": ["Lord Byron", "London"]}, {"query": "the lady", "page": "Ada Byron"}]);
    head["left_out"] = json!([{"title": "Nobody", "reason": "missing"}]);
    dir.write("frozen.jsonl", format!("{head}\n{articles}"));
    let said = |corpus: &str, query: &str| {
        dir.wikitrail(&["wiki", "search", query, "--wiki", &format!("corpus:{corpus}")]).ok().stdout
    };
    dir.wikitrail(&["corpus", "build", "f", "--from", "frozen.jsonl"]).ok();
    dir.wikitrail(&["corpus", "pack", "f", "--out", "f.jsonl"]).ok();
    dir.wikitrail(&["corpus", "build", "g", "--from", "f.jsonl"]).ok();
    dir.write("more.jsonl", "{\"title\": \"Rome\", \"text\": \"Rome is another old city.\"}\n");
    dir.wikitrail(&["corpus", "add", "f", "--from", "more.jsonl", "--out", "h"]).ok();
    for corpus in ["frozen.jsonl", "f", "f.jsonl", "g", "h"] {
        assert!(
            said(corpus, "poet").contains("Similar: ['Lord Byron', 'London']"),
            "{corpus}: {}",
            said(corpus, "poet")
        );
        assert!(said(corpus, "the lady").starts_with("Ada Byron wrote programs."), "{corpus}");
    }
    let shown: Value = serde_json::from_str(read(dir.path("f.jsonl")).lines().next().expect("a line")).expect("JSON");
    assert_eq!(shown, head);
    assert_eq!(facts(&dir, "g"), facts(&dir, "f"));
    for file in ["queries.jsonl", "left-out.jsonl"] {
        assert_eq!(read(dir.path("g").join(file)), read(dir.path("f").join(file)));
    }
    // One that leads to no reason that is known is refused, and nothing is lost.
    dir.write("bad.jsonl", format!("{head}\n{articles}").replace("\"missing\"}]", "\"odd\"}]"));
    dir.wikitrail(&["corpus", "build", "x", "--from", "bad.jsonl"]).refused(3, &["line 1: `corpus`: `odd` where"]);
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

#[test]
fn redirects_and_newer_pages_are_added_in_a_new_corpus() {
    let dir = built();
    let old = facts(&dir, "c");
    dir.write(
        "r.tsv",
        "\u{feff}The_Countess\tAda Byron\r\nLondinium\tLondon Town\n\nLondon Town\tLondon\nLost\tNowhere\nno tab\n",
    );
    let added = dir.wikitrail(&["corpus", "add", "c", "--from", "redirects:r.tsv", "--out", "r"]).ok();
    assert!(added.stderr.contains("reading `c` as corpus"), "{}", added.stderr);
    assert!(added.stderr.contains("`r.tsv`, line 6: a name, a tab and its target are expected"), "{}", added.stderr);
    for name in ["the countess", "Londinium"] {
        dir.wikitrail(&["wiki", "search", name, "--wiki", "corpus:r"]).ok();
    }
    let new = facts(&dir, "r");
    assert_eq!((&new["redirects"], &new["articles"]), (&json!(4), &json!(3)));
    for same in ["name", "extent", "language", "as_of", "license"] {
        assert_eq!(new[same], old[same], "{same}");
    }
    let [pages, corpus, redirects] = [0, 1, 2].map(|at| &new["source"][at]);
    assert_eq!(pages, &old["source"][0]);
    assert_eq!((&corpus["format"], &corpus["file"], &corpus["id"]), (&json!("corpus"), &json!("c"), &old["id"]));
    assert_eq!(
        (&redirects["format"], &redirects["rows"], &redirects["skipped"]["bad"]),
        (&json!("redirects"), &json!(5), &json!(1))
    );
    // What was dropped before is still counted: `Nobody` and `Lost`.
    assert_eq!(new["names"]["redirect_to_nothing"], 2);
    assert_eq!(facts(&dir, "c"), old);

    // A newer page: by default the page number decides, then the bytes; whoever adds it wants the last.
    dir.write("new.jsonl", "{\"title\": \"Ada Byron\", \"id\": 6, \"text\": \"A new text of her.\"}\n{\"title\": \"Ada Byron\", \"id\": 4, \"text\": \"The newest of all texts.\"}\n");
    let add = |out: &str, which: &str| {
        dir.wikitrail(&[
            "corpus",
            "add",
            "r",
            "--from",
            "new.jsonl",
            "--out",
            out,
            "--on-duplicate",
            which,
            "--as-of",
            "2026-11-22",
        ])
    };
    for (which, text) in [("lowest-id", "The newest of all texts."), ("last", "The newest of all texts.")] {
        add(which, which).ok();
        let shown = dir.wikitrail(&["wiki", "search", "countess", "--wiki", &format!("corpus:{which}")]).ok();
        assert!(shown.stdout.starts_with(text), "{}", shown.stdout);
        assert_eq!(facts(&dir, which)["as_of"], "2026-11-22");
    }
    dir.write("new.jsonl", "{\"title\": \"Ada Byron\", \"id\": 4, \"text\": \"A new text of her.\"}\n{\"title\": \"Ada Byron\", \"id\": 9, \"text\": \"The newest of all texts.\"}\n");
    for (out, which, text) in [("n1", "lowest-id", "A new text of her."), ("n2", "last", "The newest of all texts.")] {
        add(out, which).ok();
        let shown = dir.wikitrail(&["wiki", "search", "countess", "--wiki", &format!("corpus:{out}")]).ok();
        assert!(shown.stdout.starts_with(text), "{}", shown.stdout);
    }
    add("n3", "error").refused(3, &["the title `Ada Byron` is that of", "lowest-id or last"]);
    dir.wikitrail(&["corpus", "add", "gone", "--from", "new.jsonl", "--out", "x"]).refused(3, &["cannot read `gone`"]);
    dir.wikitrail(&["corpus", "add", "c", "--from", "new.jsonl", "--out", "c"]).refused(2, &["`c` exists already"]);
    // Redirects alone do not make a corpus.
    dir.wikitrail(&["corpus", "build", "x", "--from", "redirects:r.tsv"])
        .refused(3, &["no article was found in `r.tsv`", "redirects alone"]);
}

#[test]
fn two_corpora_are_compared_by_title() {
    let dir = built();
    let new = LINES
        .replace("nine million", "eight \u{202e}million")
        .replace("\"revid\": 7", "\"revid\": 8")
        .replace("[\"Countess\"]", "[\"Lady\"]")
        .replace("{\"title\": \"Byron\"", "{\"title\": \"Charles\"");
    dir.write("new.jsonl", &new);
    dir.wikitrail(&["corpus", "build", "d", "--from", "new.jsonl", "--as-of", "2026-11-22", "--name", "new"]).ok();
    dir.wikitrail(&["corpus", "pack", "d", "--out", "d.jsonl.zst"]).ok();
    let same = dir.wikitrail(&["corpus", "diff", "d", "d.jsonl.zst"]).ok();
    assert!(same.stdout.ends_with("the same 3 articles, with the same redirects\n"), "{}", same.stdout);
    let ran = dir.wikitrail(&["corpus", "diff", "c", "d.jsonl.zst"]);
    assert_eq!(ran.code, Some(5), "{}", ran.stderr);
    let (heads, rest) = ran.stdout.split_at(ran.stdout.find("revision").expect("a difference"));
    assert!(
        heads.starts_with("- c, two \"pages\", 2017-10-01, wt1:")
            && heads.contains("\n+ d.jsonl.zst, new, 2026-11-22, wt1:"),
        "{heads}"
    );
    assert_eq!(
        rest,
        "revision          Ada Byron: 7 -> 8, with the same text\n\
         redirect removed  Countess -> Ada Byron\n\
         redirect added    Lady -> Ada Byron\n\
         removed           Byron\n\
         added             Charles\n\
         changed           London\n\
        \u{20}                 - …is a city of nine million people by the river. It is…\n\
        \u{20}                 + …is a city of eight \\u{202e}million people by the river. It is…\n\
         articles: 1 added, 1 removed, 1 changed, 1 with another revision of the same text, 0 the same\n\
         redirects: 1 added, 1 removed\n"
    );
    let found = dir.wikitrail(&["corpus", "diff", "c", "d", "--json"]);
    assert_eq!(found.code, Some(5));
    let found: Value = serde_json::from_str(&found.stdout).expect("JSON");
    let kinds: Vec<&str> = found["differences"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["difference"].as_str().expect("a name"))
        .collect();
    assert_eq!(kinds, ["revision", "redirect_gone", "redirect_added", "gone", "added", "changed"]);
    assert_eq!(
        found["differences"][5]["excerpt"][1],
        "…is a city of eight \u{202e}million people by the river. It is…"
    );
    assert_eq!(found["differences"][0]["revid"], json!([7, 8]));
    assert_eq!((&found["counts"]["changed"], &found["b"]["as_of"]), (&json!(1), &json!("2026-11-22")));
    // Lines will do if they are in order; the ones of the sources are not.
    dir.wikitrail(&["corpus", "diff", "c", "new.jsonl"]).refused(3, &["are not in title order", "corpus build"]);
    dir.wikitrail(&["corpus", "diff", "c", "gone"]).refused(3, &["cannot read `gone`"]);
}

#[test]
fn a_long_list_of_differences_is_cut_and_says_so() {
    let dir = WorkDir::new();
    let lines: Vec<String> =
        (10..60).map(|number| format!("{{\"title\": \"{number}\", \"text\": \"Number {number}.\"}}\n")).collect();
    let lines = lines.concat();
    dir.write("a.jsonl", &lines);
    dir.write("b.jsonl", lines.replace("Number", "Figure").lines().take(40).collect::<Vec<_>>().join("\n"));
    let diff = |args: &[&str]| -> Ran { dir.wikitrail(&[&["corpus", "diff", "a.jsonl", "b.jsonl"], args].concat()) };
    let (cut, all) = (diff(&[]).stdout, diff(&["--all"]).stdout);
    assert!(cut.ends_with("shown are the first 20 of each kind, 30 of 50; --all shows all of them\n"), "{cut}");
    assert_eq!((cut.matches("changed  ").count(), all.matches("changed  ").count()), (20, 40));
    let json: Value = serde_json::from_str(&diff(&["--all", "--json"]).stdout).expect("JSON");
    assert_eq!(json["differences"].as_array().map(Vec::len), Some(50));
}

#[test]
fn a_license_that_nobody_gave_is_unknown() {
    let dir = built();
    for given in [&[][..], &["--license", "none"], &["--license", "unknown"]] {
        let ran = dir.wikitrail(&[&["corpus", "build", "u", "--from", "pages.jsonl"], given].concat()).ok();
        assert!(ran.stdout.contains("  license   unknown\n"), "{}", ran.stdout);
        let notice = dir.wikitrail(&["corpus", "info", "u", "--attribution"]).ok().stderr;
        assert!(notice.contains("warning: the license is unknown"), "{notice}");
        dir.wikitrail(&["corpus", "pack", "u", "--out", "u.zip"]).refused(2, &[".zip is not supported", ".jsonl.zst"]);
        assert!(
            dir.wikitrail(&["corpus", "pack", "u", "--out", "u.jsonl", "--force"]).ok().stderr.contains("--license")
        );
        fs::remove_dir_all(dir.path("u")).expect("removed");
    }
    let shown = dir.wikitrail(&["corpus", "info", "c"]).ok().stdout;
    assert!(shown.contains("  license   CC0-1.0\n  authors   us\n  changes   made up\n"), "{shown}");
}

/// A corpus of two has the terms of both, and one of a single pack is that one or an error.
#[test]
fn terms_are_those_of_all_and_an_identity_is_kept() {
    let dir = built();
    dir.write("more.jsonl", "{\"title\": \"Rome\", \"text\": \"Rome is another old city.\"}\n");
    let terms = ["--license", "CC-BY-SA-4.0", "--attribution", "them"];
    dir.wikitrail(&[&["corpus", "build", "b", "--from", "more.jsonl"], &terms[..]].concat()).ok();
    let built = dir.wikitrail(&["corpus", "build", "ab", "--from", "c", "--from", "b", "--json"]).ok().json();
    let license = &built["manifest"]["license"];
    assert_eq!((&license["id"], &license["attribution"]), (&json!("CC0-1.0 AND CC-BY-SA-4.0"), &json!("us; them")));
    dir.wikitrail(&["corpus", "pack", "c", "--out", "c.jsonl"]).ok();
    let text = read(dir.path("c.jsonl"));
    let (head, articles) = text.split_once('\n').expect("lines");
    let empty = "{\"title\":\"Zero\",\"blocks\":[],\"redirects\":[]}\n";
    let mut head: Value = serde_json::from_str(head).expect("JSON");
    head["corpus"]["id"] = format!("wt1:{}", sha256_hex([format!("{articles}{empty}").as_bytes()])).into();
    dir.write("other.jsonl", format!("{head}\n{articles}{empty}"));
    dir.wikitrail(&["corpus", "build", "other", "--from", "other.jsonl"])
        .refused(3, &["its articles have the identity"]);
}
