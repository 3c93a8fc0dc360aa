//! Holds docs/commands.md and docs/settings.md to the program: figures of the baseline, exit codes, variables of flags.

use crate::common::{repository, table_rows, wikitrail};
use std::path::Path;

/// A flag that gives a setting names its variable in its help; docs/settings.md has the table of both.
#[test]
fn the_help_of_flags_names_the_variables() {
    let help = wikitrail(Path::new("."), &["run", "--help"]).ok().stdout;
    let code = |cell: &str| cell.trim_matches('`').to_owned();
    let rows = table_rows(&repository("docs/settings.md"), &["setting", "variable", "flag"]);
    assert!(rows.len() > 5, "{rows:?}");
    for (variable, flag) in
        rows.iter().map(|(_, row)| (code(&row[1]), code(&row[2]))).filter(|(_, flag)| !flag.is_empty())
    {
        let (_, after) = help.split_once(&format!("{flag} ")).expect(&flag);
        let own: String = after.lines().take_while(|line| !line.trim_start().starts_with("--")).collect();
        assert!(own.replace([' ', '\n'], "").contains(&variable), "{flag}: {own}");
    }
}

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
