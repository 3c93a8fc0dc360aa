//! `--metric-command`: a program of the user's as a metric.
#![cfg(unix)]

use crate::common::{WorkDir, notebook};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;

/// A run of six right and six wrong episodes, and a program of this text.
fn folder(program: &str) -> WorkDir {
    let dir = notebook::half_right();
    write(&dir, "grade.sh", program);
    dir
}

fn write(dir: &WorkDir, name: &str, program: &str) {
    dir.write(name, format!("#!/bin/sh\n{program}"));
    std::fs::set_permissions(dir.path(name), std::fs::Permissions::from_mode(0o755)).expect("its mode is set");
}

/// Each episode's own line comes back with a value: 1 for `Rome`, 0 otherwise.
const GRADE: &str = r#"sed -e 's/"answer":"Rome"/"value":1/' -e 's/"answer":"[^"]*"/"value":0/' -e 's/"question":.*"value"/"value"/' -e 's/,"golds".*/}/'
echo 'note: graded' >&2
"#;

#[test]
fn a_program_grades_every_episode() {
    let dir = folder(GRADE);
    let scored = dir.wikitrail(&["score", "r", "--metric-command", "./grade.sh", "--json"]).ok();
    assert!(scored.stderr.contains("./grade.sh: note: graded"), "{}", scored.stderr);
    let row = &scored.json()["metrics"][0];
    assert_eq!((&row["metric"], &row["episodes"], &row["mean"]), (&json!("grade"), &json!(12), &json!(0.5)));
    let exported = dir.wikitrail(&["export", "r", "--metric-command", "mine=./grade.sh"]).ok();
    assert!(exported.stdout.lines().next().expect("a header").contains("mine"), "{}", exported.stdout);
    let compared = dir.wikitrail(&["compare", "r", "r", "--metric", "em", "--metric-command", "./grade.sh"]).ok();
    assert!(compared.stdout.contains("grade, pairwise"), "{}", compared.stdout);
}

#[test]
fn what_goes_wrong_is_said_with_line_status_and_stderr() {
    let dir =
        folder("cat > /dev/null; echo '{\"id\": \"a\", \"value\": 1}'; echo '{\"id\": \"b\", \"value\": \"x\"}'\n");
    let score = |program: &str| dir.wikitrail(&["score", "r", "--metric-command", program]);
    score("./grade.sh").refused(3, &["./grade.sh", "line 2", "`value`"]);
    score("grade.sh").refused(3, &["cannot be started", "./grade.sh"]);
    score("./none").refused(3, &["cannot be started"]);
    // No shell reads it.
    score("./grade.sh; touch owned").refused(3, &["cannot be started"]);
    assert!(!dir.path("owned").exists());
    write(&dir, "fails.sh", "printf 'no \\033[2J model\\n' >&2; exit 7\n");
    score("./fails.sh").refused(3, &["failed (exit status: 7)", "./fails.sh: no \\u{1b}[2J model"]);
    write(&dir, "silent.sh", "cat > /dev/null\n");
    score("./silent.sh").refused(3, &["./silent.sh"]);
    write(&dir, "other.sh", "cat > /dev/null; echo '{\"id\": \"of nobody\", \"value\": 1}'\n");
    score("./other.sh").refused(3, &["no value of `other`"]);
}
