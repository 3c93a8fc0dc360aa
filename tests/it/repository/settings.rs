//! Holds docs/experiments.md, docs/settings.md and docs/commands.md to the program: tables of settings, figures of the baseline, exit codes.
//! `UPDATE_DOCS=1` writes the tables.

use crate::common::{repository, wikitrail};
use std::fmt::Write as _;
use std::path::Path;
use wikitrail::runner::experiment::defaults::{DEFAULTS, InFolder};
use wikitrail::runner::experiment::{DATASET_SETTINGS, Setting, VARIANT_SETTINGS};

fn table(settings: &[Setting]) -> String {
    let mut text = "| setting | value | default | what it does |\n|---|---|---|---|\n".to_owned();
    for setting in settings.iter().filter(|setting| !setting.only_typed) {
        let words = |text: &str| text.trim().replace('|', "\\|");
        let (value, default) = (words(&setting.kind.expected()), words(setting.default));
        let _ = writeln!(text, "| `{}` | {value} | {default} | {} |", setting.name, words(setting.help));
    }
    text
}

/// The settings that files and variables give.
fn defaults() -> String {
    let mut text =
        "| setting | variable | flag | default | in the folder's file | what it is |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for setting in &DEFAULTS {
        let code = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
        let folder = match setting.in_folder {
            InFolder::Any => "yes",
            InFolder::Below => "a path below it",
            InFolder::OwnHosts => "hosts that you name",
            InFolder::Refused => "no",
        };
        let (name, variable, flag) = (setting.name, setting.variable(), code(setting.flag.unwrap_or_default()));
        let built_in = code(setting.built_in);
        let _ = writeln!(text, "| `{name}` | `{variable}` | {flag} | {built_in} | {folder} | {} |", setting.help);
    }
    text
}

/// Holds the parts of a page between `<!-- NAME: begin -->` and its end to these texts.
fn holds(page: &str, parts: &[(&str, String)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let shown = std::fs::read_to_string(&path).expect("the page");
    let mut text = shown.clone();
    for (name, part) in parts {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
        let from = text.find(&begin).expect("a place for the table") + begin.len();
        let to = text[from..].find(&end).expect("the end of the table") + from;
        text.replace_range(from..to, part);
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).expect("the page can be written");
    } else {
        assert_eq!(shown, text, "run UPDATE_DOCS=1 cargo test --test it repository::settings::");
    }
}

#[test]
fn the_tables_of_settings_are_those_of_the_declarations() {
    let tables = [("settings", table(VARIANT_SETTINGS)), ("dataset settings", table(DATASET_SETTINGS))];
    holds("docs/experiments.md", &tables);
    holds("docs/settings.md", &[("defaults", defaults())]);
}

/// A flag that takes a setting's place exists, and its help names the variable.
#[test]
fn the_help_of_flags_names_the_variables() {
    let help = wikitrail(Path::new("."), &["run", "--help"]).ok().stdout;
    for setting in &DEFAULTS {
        if let Some(flag) = setting.flag {
            let (_, after) = help.split_once(&format!("{flag} ")).expect(flag);
            let own: String = after.lines().take_while(|line| !line.trim_start().starts_with("--")).collect();
            assert!(own.replace([' ', '\n'], "").contains(&setting.variable()), "{flag}: {own}");
        }
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
