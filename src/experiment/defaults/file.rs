//! A settings file, from its text to its values.

use super::{BadValue, DEFAULTS, Given, GivenBy, check, check_price, default_setting, key_refused, parts};
use crate::prompt::{Entry, Fault, Problems, Reader};
use crate::types::secrecy::{is_called_secret, looks_secret};
use std::path::Path;
use toml::de::DeValue;

/// Where the file is explained.
const HELP: &str = "`wikitrail docs settings` lists the settings";

impl From<BadValue> for Fault {
    fn from(bad: BadValue) -> Self {
        Self::from(bad.message).hint(bad.hint)
    }
}

/// Reads the text of a settings file; an error lists everything that is wrong with it, and repeats no key. `folder` where it
/// is the file of the current folder.
pub fn parse_file(path: &str, text: &str, folder: bool) -> Result<Vec<Given>, Problems> {
    let (mut notes, tree) = Reader::parse(path, text, HELP)?;
    let root = Reader::root(tree.get_ref());
    let names = DEFAULTS.map(|setting| setting.name);
    let mut values = Vec::new();
    for entry in notes.entries(&root) {
        let Some(setting) = default_setting(entry.key) else {
            if is_secret(&entry) {
                notes.note(entry.line, key_refused());
            } else if ["key_env", "key_file"].contains(&entry.key) {
                let hint = format!("it is named for each command: --{}", entry.key.replace('_', "-"));
                notes
                    .note(entry.line, Fault::from(format!("`{}` is not a setting of this file", entry.key)).hint(hint));
            } else {
                notes.refuse_key(&root, entry, &names, None);
            }
            continue;
        };
        let Some(value) = value(&mut notes, &entry) else { continue };
        if let Err(bad) = check(setting, &value, folder) {
            notes.note(entry.line, bad);
            continue;
        }
        let place = (path.to_owned(), entry.line);
        let by = if folder { GivenBy::Folder(place.0, place.1) } else { GivenBy::Person(place.0, place.1) };
        // The folder's own file is in the current folder.
        let is_beside = ["prices", "file_dirs"].contains(&setting.name) && !folder;
        let value = match Path::new(path).parent().filter(|_| is_beside) {
            Some(beside) => {
                let path = |path: &str| beside.join(path).display().to_string();
                if is_list(setting.name) { parts(&value).map(path).collect::<Vec<_>>().join(",") } else { path(&value) }
            }
            None => value,
        };
        values.push(Given { setting, value, by });
    }
    if let Err(bad) = check_price(&values).map_err(Fault::from) {
        notes.note(notes.line_in(&root, "price"), bad);
    }
    if notes.is_clean() { Ok(values) } else { Err(notes.into_problems()) }
}

/// Whether a setting may have several values.
fn is_list(name: &str) -> bool {
    ["base_url", "key_hosts", "file_dirs"].contains(&name)
}

/// The value as a text, a list joined by commas.
fn value(notes: &mut Reader<'_>, entry: &Entry<'_>) -> Option<String> {
    match (entry.key, entry.value.get_ref()) {
        (key, DeValue::Array(items)) if is_list(key) && !items.is_empty() => {
            let texts = items.iter().map(|item| notes.text(entry.key, item)).collect::<Option<Vec<_>>>()?;
            Some(texts.join(","))
        }
        ("concurrency", DeValue::Integer(number)) => Some(number.to_string()),
        (key, value) if is_list(key) && value.as_str().is_none() => {
            notes.wrong_type(entry.key, entry.value, "a string or a list of strings");
            None
        }
        _ => notes.text(entry.key, entry.value),
    }
}

/// Whether an unknown key has a name or a value that a secret may have.
fn is_secret(entry: &Entry<'_>) -> bool {
    fn holds(value: &DeValue<'_>) -> bool {
        match value {
            DeValue::String(text) => looks_secret(text) || text.starts_with("sk-"),
            DeValue::Array(items) => items.iter().any(|item| holds(item.get_ref())),
            DeValue::Table(table) => table.iter().any(|(key, value)| {
                is_called_secret(key.get_ref()) || looks_secret(key.get_ref()) || holds(value.get_ref())
            }),
            _ => false,
        }
    }
    let is_named = is_called_secret(entry.key) && !["key_env", "key_file"].contains(&entry.key);
    // A misspelt `key_hosts` is no secret.
    let is_hosts = entry.key.contains("host") && !holds(entry.value.get_ref());
    (is_named && !is_hosts) || looks_secret(entry.key) || holds(entry.value.get_ref())
}
