//! Holds the tables of settings in docs/experiments.md to the declarations. `UPDATE_DOCS=1` writes them.

use std::fmt::Write as _;
use std::path::Path;
use wikitrail::experiment::{DATASET_SETTINGS, Setting, VARIANT_SETTINGS};

fn table(settings: &[Setting]) -> String {
    let mut text = "| setting | value | default | what it does |\n|---|---|---|---|\n".to_owned();
    for setting in settings.iter().filter(|setting| !setting.only_typed) {
        let words = |text: &str| text.trim().replace('|', "\\|");
        let (value, default) = (words(&setting.kind.expected()), words(setting.default));
        let _ = writeln!(text, "| `{}` | {value} | {default} | {} |", setting.name, words(setting.help));
    }
    text
}

#[test]
fn the_tables_of_settings_are_those_of_the_declarations() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/experiments.md");
    let shown = std::fs::read_to_string(&path).expect("the page");
    let mut text = shown.clone();
    for (name, settings) in [("settings", VARIANT_SETTINGS), ("dataset settings", DATASET_SETTINGS)] {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
        let from = text.find(&begin).expect("a place for the table") + begin.len();
        let to = text[from..].find(&end).expect("the end of the table") + from;
        text.replace_range(from..to, &table(settings));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).expect("the page can be written");
    } else {
        assert_eq!(shown, text, "run UPDATE_DOCS=1 cargo test --test it documented_settings::");
    }
}
