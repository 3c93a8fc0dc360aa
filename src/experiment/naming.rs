//! What values are called in the names of variants, where several are listed together: prompts by their own names.

use super::expand::{prompt_name, short};
use super::setting::{Assignment, Kind};
use super::shipped;
use crate::prompt::{self, PromptSource};
use crate::types::text::is_control;
use std::path::Path;

/// A longer name of a prompt would be too long in a table, and on a command line.
const LONGEST: usize = 40;

/// The names of values that are listed together, in their order. Values with the same name get more of what was
/// written; two of the same value keep the same name.
///
/// `find` leads from a prompt's path to where it is found from here. Without it, no file is opened.
pub(super) fn value_names(values: &[Assignment], find: Option<&dyn Fn(&str) -> String>) -> Vec<String> {
    let candidates: Vec<[String; 3]> = values.iter().map(|value| candidates(value, find)).collect();
    let mut levels = vec![0; values.len()];
    // One level for all that share a name, so that they are alike.
    for level in 1..3 {
        let names: Vec<(&str, &str)> =
            candidates.iter().zip(&levels).map(|(names, level)| (names[*level].as_str(), names[2].as_str())).collect();
        let shared = |(name, value): &(&str, &str)| names.iter().any(|other| other.0 == *name && other.1 != *value);
        let again: Vec<bool> = names.iter().map(shared).collect();
        levels.iter_mut().zip(again).filter(|(_, again)| *again).for_each(|(old, _)| *old = level);
    }
    // A slash separates dimensions.
    candidates.into_iter().zip(levels).map(|(names, level)| names[level].replace('/', "_")).collect()
}

/// The names that a value may have, the shortest first.
fn candidates(value: &Assignment, find: Option<&dyn Fn(&str) -> String>) -> [String; 3] {
    let usual = short(value);
    let Some(whole) = value.value.as_str().map(str::to_owned) else { return [usual.clone(), usual.clone(), usual] };
    if value.setting.kind == Kind::Prompt {
        let own = find.and_then(|find| own(&find(&whole))).unwrap_or_else(|| usual.clone());
        let of_file = match whole.split_once(".json#") {
            Some((file, key)) => format!("{}#{key}", Path::new(file).file_name().unwrap_or_default().to_string_lossy()),
            None => prompt_name(&whole),
        };
        return [own, of_file, whole];
    }
    match value.setting.name {
        "model" => [usual, whole.split_once(':').map_or(whole.as_str(), |(_, name)| name).to_owned(), whole],
        _ => [usual.clone(), usual.clone(), usual],
    }
}

/// The name that a prompt file gives itself, if it fits.
fn own(spec: &str) -> Option<String> {
    // A pipe would be waited for.
    if Path::new(prompt::file_of(spec)).metadata().is_ok_and(|found| !found.is_file()) {
        return None;
    }
    let Ok(PromptSource::File(file)) = prompt::load(spec, None, &shipped::file) else { return None };
    let name = file.name.trim();
    let fits = name.chars().count() <= LONGEST && !name.contains(|c| is_control(c) || c == '\n');
    fits.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::names;
    use crate::experiment::{Assignment, variant_setting};

    fn named(setting: &str, values: &[&str], find: bool) -> Vec<String> {
        let setting = variant_setting(setting).expect("a setting");
        let assign = |value: &&str| Assignment { setting, value: (*value).into(), line: 0 };
        let here = |spec: &str| spec.to_owned();
        value_names(&values.iter().map(assign).collect::<Vec<_>>(), find.then_some(&here as &dyn Fn(&str) -> String))
    }

    #[test]
    fn prompts_have_their_own_names_else_those_of_their_files() {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |file: &str, name: &str| {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            let rest = "language='en'\nquestion_label='Question'\nexemplar=[]\n[instruction]\nreact='x'\n";
            std::fs::write(&path, format!("name = \"{name}\"\n{rest}")).expect("written");
            path.display().to_string()
        };
        let (a, b) = (write("a.toml", "A/terse"), write("p2/a.toml", "A long"));
        assert_eq!(named("prompt", &[&a, &b], true), ["A_terse", "A long"]);
        // Where no file may be opened, their paths distinguish them.
        assert_eq!(named("prompt", &[&a, &b], false), [a.replace('/', "_"), b.replace('/', "_")]);
        let (c, d) = (write("c.toml", "same"), write("d.toml", "same"));
        assert_eq!(named("prompt", &[&a, &c, &d], true), ["A_terse", "c", "d"]);
        let (long, odd) = (write("long.toml", &"x".repeat(41)), write("odd.toml", "\\u001b[2J"));
        assert_eq!(named("prompt", &[&long, &odd, "gone.toml"], true), ["long", "odd", "gone"]);
        assert_eq!(named("prompt", &["p/x.json#k", "y.json#k", "x.txt"], true), ["x#k", "y#k", "x"]);
    }

    #[test]
    fn models_are_called_by_as_much_as_tells_them_apart() {
        assert_eq!(named("model", &["baseline", "openai:org/small"], true), ["baseline", "small"]);
        assert_eq!(named("model", &["openai:a/m", "openai:b/m", "gemini:n"], true), ["a_m", "b_m", "n"]);
        assert_eq!(named("model", &["openai:m", "gemini:m"], true), ["openai:m", "gemini:m"]);
        assert_eq!(named("model", &["openai:m", "openai:m"], true), ["m", "m"]);
    }
}
