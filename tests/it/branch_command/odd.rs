//! Runs that cannot be branched off, interrupted branches, and records that were changed by hand.

use super::{of, run};
use crate::common::{self, WorkDir, notebook};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const WITH: [&str; 4] = ["--with", "empty", "--out", "x"];

#[track_caller]
fn refused(dir: &WorkDir, target: &[&str], words: &[&str]) {
    dir.wikitrail(&[&["branch"][..], target, &WITH].concat()).refused(2, &[words, &["hint: "]].concat());
    assert!(!dir.path("x").exists());
}

#[test]
fn what_cannot_be_repeated_or_has_no_steps_is_refused() {
    let dir = run();
    let path = dir.path("r/manifest.json");
    let mut manifest = common::manifest(dir.path("r"));
    let corpus = manifest["variants"][0]["wiki"].clone();
    assert!(corpus.as_str().is_some_and(|wiki| wiki.starts_with("corpus")), "{corpus}");
    manifest["variants"][0]["wiki"] = json!("https://en.wikipedia.org/w/index.php");
    std::fs::write(&path, manifest.to_string()).expect("it is written");
    refused(&dir, &["r", "--at", "1"], &["live wiki, whose pages change", "--cache or --replay"]);
    manifest["variants"][0]["wiki"] = corpus;
    std::fs::write(&path, manifest.to_string()).expect("it is written");

    let sampled = ["run", "--quiet", "--limit", "2", "--samples", "3", "--method"];
    for (method, out) in [("cot-sc", "s"), ("react->cot-sc", "v")] {
        dir.wikitrail(&[&sampled[..], &[method, "--out", out]].concat()).ok();
        refused(&dir, &[out, "--at", "1"], &["has no steps to branch off: it votes"]);
    }
    dir.wikitrail(&["branch", "r:sample-001", "--at", "2", "--with", "empty", "--quiet", "--out", "b"]).ok();
    refused(&dir, &["b@control:sample-001", "--at", "1"], &["`b` holds branches", "the run that they branch off"]);
    let imported = notebook::half_right();
    refused(&imported, &["r", "--at", "1"], &["no `wikitrail run` wrote it"]);
}

#[test]
fn a_run_that_stops_when_decided_can_be_branched_off() {
    let dir = WorkDir::new();
    let rule = "decided(em, react, cot)";
    let flags = ["run", "--quiet", "--method", "react,cot", "--stop-when", rule, "--limit", "20", "--out", "r"];
    dir.wikitrail(&flags).ok();
    let head = format!("name = \"e\"\ndataset = \"datasets/sample.jsonl\"\nstop_when = \"{rule}\"\n");
    dir.write("e.toml", format!("{head}[matrix]\nmethod = [\"react\", \"cot\"]\n"));
    dir.wikitrail(&["run", "e.toml", "--quiet", "--limit", "20", "--out", "f"]).ok();
    for (target, out) in [("r@react", "b"), ("f@react", "c")] {
        let ran = dir.wikitrail(&["branch", target, "--wrong", "--at", "1", "--with", "empty", "--out", out]).ok();
        assert!(!ran.stderr.contains("decided"), "{}", ran.stderr);
        assert_eq!(common::manifest(dir.path(out))["stop_when"], Value::Null);
        // The run's questions are a random part of the dataset, and every wrong one is branched off.
        let run = target.split('@').next().expect("a run");
        let ids = |of: &str, keep: &dyn Fn(&Value) -> bool| -> BTreeSet<String> {
            common::records(dir.path(of)).iter().filter(|one| keep(one)).map(|one| one["id"].to_string()).collect()
        };
        let shown = dir.wikitrail(&["show", target, "--wrong", "--json"]).ok().lines();
        let wrong: BTreeSet<String> = shown.iter().map(|one| one["id"].to_string()).collect();
        assert!(wrong.len() > 3 && wrong.is_subset(&ids(run, &|one| one["variant"] == "react")), "{wrong:?}");
        assert_eq!(ids(out, &|one| one["variant"] == "edited"), wrong);
    }
}

#[test]
fn an_answer_has_no_observation_to_empty() {
    let dir = run();
    let ran = dir.wikitrail(&["branch", "r", "--wrong", "--at", "3", "--with", "empty", "--out", "b"]).ok();
    let before = common::records(dir.path("r"));
    let wrong: BTreeSet<String> = dir
        .wikitrail(&["show", "r", "--wrong", "--json"])
        .ok()
        .lines()
        .iter()
        .map(|one| one["id"].to_string())
        .collect();
    let wrong: Vec<&Value> = before.iter().filter(|record| wrong.contains(&record["id"].to_string())).collect();
    let ends = wrong.iter().filter(|record| record["steps"][2]["tool"] == "finish").count();
    assert!(ends > 0 && ends < wrong.len());
    let note = format!("note: {ends} episodes left out: the step gives the answer, and no tool answers there");
    assert!(ran.stderr.contains(&note), "{note}: {}", ran.stderr);
    let records = common::records(dir.path("b"));
    let edited = of(&records, "edited");
    assert!(edited.iter().all(|record| record["steps"][2]["tool"] != "finish"));
    assert_eq!(edited.len() + ends, wrong.len());
}

/// What an episode is, without times.
fn timeless(records: &[Value]) -> BTreeSet<String> {
    records.iter().map(|record| common::without_times(record.clone()).to_string()).collect()
}

#[test]
fn an_interrupted_branch_is_resumed_with_each_repeat_once() {
    let dir = run();
    let flags =
        ["branch", "r", "--class", "lookup", "--at", "last-search", "--with", "empty", "--repeats", "3", "--quiet"];
    let command = [&flags[..], &["--out", "b", "--json"]].concat();
    let whole = dir.wikitrail(&command).json();
    let path = dir.path("b/trajectories.jsonl");
    let text = std::fs::read_to_string(&path).expect("the records");
    let records = common::records(dir.path("b"));
    assert!(records.len() >= 6, "{}", records.len());
    // As a crash leaves it: five records, and half of the sixth.
    let begin: usize = text.split_inclusive('\n').take(5).map(str::len).sum();
    std::fs::write(&path, &text[..begin + 40]).expect("it is written");
    dir.wikitrail(&command).refused(2, &["`b` exists", "--resume"]);
    let resumed = dir.wikitrail(&[&command[..], &["--resume"]].concat()).json();
    assert_eq!(resumed["repair"], whole["repair"]);
    assert_eq!(timeless(&common::records(dir.path("b"))), timeless(&records));
    // Another edit is another branch.
    let other = |edit: &[&str], words: &[&str]| {
        let set = ["branch", "r", "--class", "lookup", "--repeats", "3", "--quiet", "--out", "b", "--resume"];
        let ran = dir.wikitrail(&[&set[..], edit].concat());
        ran.refused(3, &[&["`b` holds another branch of question `"], words].concat());
    };
    other(&["--at", "1", "--with", "empty"], &["--at: was `", "`, now `1`"]);
    other(&["--at", "last-search", "--action", "Search[x]"], &["edit: was `observation`, now `action`"]);
    dir.write("page.txt", "Something else.");
    let given = ["--at", "last-search", "--observation-file", "page.txt"];
    other(&given, &["observation: was ``, now `Something else.`"]);
    assert_eq!(timeless(&common::records(dir.path("b"))), timeless(&records));
}

#[test]
fn records_that_were_changed_by_hand_are_read_or_refused() {
    let dir = run();
    dir.wikitrail(&["branch", "r:sample-001", "--at", "2", "--with", "empty", "--quiet", "--out", "b"]).ok();
    let records = common::records(dir.path("b"));
    let id = of(&records, "edited")[0]["id"].as_str().expect("an id").to_owned();
    let write = |change: &dyn Fn(&mut Value)| {
        let mut changed = records.clone();
        changed.iter_mut().for_each(change);
        let lines: Vec<String> = changed.iter().map(Value::to_string).collect();
        std::fs::write(dir.path("b/trajectories.jsonl"), lines.join("\n") + "\n").expect("it is written");
    };
    let pair = ["show", "b@control:sample-001", "b@edited:sample-001"];
    for at in [json!(0), json!(40), json!(u64::MAX)] {
        write(&|record| record["branch"]["at"] = at.clone());
        let shown = dir.wikitrail(&pair).ok().stdout;
        assert!(shown.contains(&at.to_string()), "{shown}");
        dir.wikitrail(&["report", "b", "--out", "page.html"]).ok();
    }
    write(&|record| {
        record["branch"]["key"] = json!("\u{1b}[31mwrong");
        record["branch"]["run"] = json!("\u{1b}[31mrun");
        if record["variant"] == "edited" {
            record["branch"]["edit"]["part"] = json!("\u{1b}[31m+model+\n");
            record["branch"]["edit"]["text"] = json!("\u{1b}[31m\u{202e}text\nof two lines");
        }
    });
    let shown = dir.wikitrail(&pair).ok().stdout;
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown:?}");
    dir.wikitrail(&["report", "b", "--out", "page.html"]).ok();
    for at in [json!(-1), json!(1.5), json!("2")] {
        write(&|record| record["branch"]["at"] = at.clone());
        let ran = dir.wikitrail(&["show", "b", &id]);
        assert!(ran.code == Some(3) && ran.stderr.contains("hint: "), "{at}: {:?} {}", ran.code, ran.stderr);
    }
    // The key of what is branched off is not trusted to name it: the run that is named is read.
    let path = dir.path("r/trajectories.jsonl");
    let text = std::fs::read_to_string(&path).expect("the records");
    for (from, to) in [("\"n\":2,", "\"n\":-2,"), ("\"n\":2,", "\"n\":18446744073709551615,")] {
        std::fs::write(&path, text.replace(from, to)).expect("it is written");
        let ran = dir.wikitrail(&["branch", "r:sample-001", "--at", "3", "--with", "empty", "--quiet", "--out", "y"]);
        assert!(matches!(ran.code, Some(0 | 3 | 5)), "{to}: {:?} {}", ran.code, ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
}
