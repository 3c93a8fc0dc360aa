//! Prose that has to stay true: the figures and the exit codes that docs/commands.md states.

use crate::common::{repository, wikitrail};
use std::path::Path;

fn commands() -> String {
    repository("docs/commands.md")
}

/// The baseline is deterministic, so its figures in docs/commands.md are exact or wrong.
#[test]
fn the_baselines_figures_are_those_of_a_run() {
    let dir = tempfile::tempdir().expect("a folder");
    for file in ["datasets/sample.jsonl", "datasets/sample-claims.jsonl"] {
        let summary = wikitrail(dir.path(), &["run", file, "--quiet", "--json", "--out", file]).json();
        let variant = &summary["variants"][0];
        let percent = |value: &serde_json::Value| format!("{:.1}", 100.0 * value.as_f64().expect("a share"));
        let (em, ci) = (percent(&variant["em"]), &variant["em_wilson"]);
        let row = format!("(`{file}`) | {em} % | {} – {} % |", percent(&ci[0]), percent(&ci[1]));
        assert!(commands().contains(&row), "docs/commands.md lacks `{row}`");
        assert!(variant["em"].as_f64().expect("a share") >= 0.25, "the baseline must really work");
    }
}

#[test]
fn every_exit_code_of_the_help_is_in_the_commands() {
    let help = wikitrail(Path::new("."), &["--help"]).stdout;
    let codes = help.split("Exit codes:").nth(1).expect("the help lists exit codes");
    for code in ["0", "1", "2", "3", "4", "5", "130"] {
        assert!(codes.split([' ', '\n']).any(|word| word == code), "the help lacks {code}");
        assert!(commands().contains(&format!("| {code} |")), "docs/commands.md lacks {code}");
    }
}
