//! Datasets from standard input: read like files, kept by the run, and not needed again.

use crate::common::{Ran, WorkDir};
use std::io::Write as _;
use std::process::{Output, Stdio};

const CSV: &str = "id,Question,Answer\nq1,Who wrote Solaris?,Stanisław Lem\nq2,Where was Blaise Pascal born?,Clermont-Ferrand\nq3,Is it?,yes\n";

/// The command with this on its standard input.
fn piped(dir: &WorkDir, args: &[&str], input: &[u8]) -> Ran {
    let mut command = dir.command(args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("wikitrail starts");
    // A program that reads nothing may have ended.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let output: Output = child.wait_with_output().expect("it ends");
    Ran::from(&output)
}

#[test]
fn a_run_of_piped_questions_is_resumed_without_the_pipe() {
    let dir = WorkDir::new();
    // A file of that name is not meant.
    dir.write("-", "id,question,answer\nother,Who?,x\n");
    let run =
        piped(&dir, &["run", "-", "--limit", "2", "--max-calls", "1", "--out", "r", "--repeats", "2"], CSV.as_bytes());
    assert!(run.stderr.contains("note: stdin: "), "{}", run.stderr);
    let dataset = dir.manifest("r")["dataset"].clone();
    assert_eq!((&dataset["path"], &dataset["name"], &dataset["selected"]), (&"-".into(), &"stdin".into(), &2.into()));
    let resume = piped(&dir, &["run", "--resume", "--out", "r", "--max-calls", "100"], b"").ok();
    assert!(resume.stderr.contains("note: standard input is not read again"), "{}", resume.stderr);
    let ids: Vec<String> = dir.records("r").iter().map(|record| record["id"].to_string()).collect();
    assert!(ids.len() == 4 && !ids.contains(&"\"q3\"".to_owned()), "{ids:?}");
    for command in [&["show", "r"][..], &["replay", "r"], &["export", "r", "--format", "csv", "--rows", "questions"]] {
        dir.wikitrail(command).ok();
    }
    // Other questions need the dataset again, and the same one.
    let more = ["run", "--resume", "--out", "r", "--limit", "3", "--max-calls", "100"];
    piped(&dir, &more, b"").refused(3, &["other questions are selected than `r` holds", "hint: pipe the same dataset"]);
    piped(&dir, &more, b"question,answer\nWho?,x\n")
        .refused(3, &["`r` holds a run with other settings", "dataset: was -"]);
    piped(&dir, &more, CSV.as_bytes()).ok();
    assert_eq!(dir.records("r").len(), 6);
}

#[test]
fn every_format_is_found_in_a_pipe() {
    let dir = WorkDir::new();
    let info = piped(&dir, &["dataset", "info", "-", "--json"], CSV.as_bytes()).json();
    assert_eq!((&info["file"], &info["format"], &info["questions"]), (&"stdin".into(), &"csv".into(), &3.into()));
    let converted = piped(&dir, &["dataset", "convert", "-"], CSV.as_bytes()).ok().stdout;
    let info = piped(&dir, &["dataset", "info", "-", "--json"], converted.as_bytes()).json();
    assert_eq!((&info["format"], &info["questions"]), (&"jsonl".into(), &3.into()));
    let dry = piped(&dir, &["run", "-", "--dry-run"], converted.as_bytes()).ok().stderr;
    assert!(dry.contains("3 questions of stdin, "), "{dry}");
    piped(&dir, &["run", "-", "--out", "r"], b"").refused(3, &["`stdin`"]);
    piped(&dir, &["dataset", "info", "-"], b"id,text\n1,x\n").refused(3, &["`stdin`"]);
    piped(&dir, &["dataset", "info", "-"], b"\0\0").refused(3, &["`stdin`, line 1: contains NUL bytes"]);
}
