//! The tables of settings in docs/experiments.md and docs/settings.md are those of the declarations. `UPDATE_DOCS=1` writes them.

use crate::runner::experiment::defaults::{DEFAULTS, InFolder};
use crate::runner::experiment::{DATASET_SETTINGS, Setting, VARIANT_SETTINGS};
use std::fmt::Write as _;
use std::path::Path;

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
        assert_eq!(shown, text, "run UPDATE_DOCS=1 cargo test --lib documented_settings");
    }
}

#[test]
fn the_tables_of_settings_are_those_of_the_declarations() {
    let tables = [("settings", table(VARIANT_SETTINGS)), ("dataset settings", table(DATASET_SETTINGS))];
    holds("docs/experiments.md", &tables);
    holds("docs/settings.md", &[("defaults", defaults())]);
}
