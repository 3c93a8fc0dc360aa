//! Values that make a variant each, joined by commas where a value may hold one itself.

use super::{Group, Typed};
use crate::experiment::{Applies, Setting, shipped, shown};
use crate::prompt;
use clap::error::ErrorKind;
use serde_json::Value;
use std::path::Path;

impl<G: Group> Typed<G> {
    /// The models that were typed.
    pub(in crate::cli) fn models(&self) -> Vec<Value> {
        self.list("model")
    }

    /// Flags that were typed and hold for each of several models.
    pub(in crate::cli) fn shared_by_models(&self) -> Vec<String> {
        let of_model = |setting: &Setting| setting.applies == Applies::Server || setting.name == "price";
        self.settings.iter().map(|typed| typed.setting).filter(|setting| of_model(setting)).map(Setting::flag).collect()
    }
}

/// Values that make a variant each, cut at commas where clap has not done so.
pub(super) fn split_values(setting: &Setting, typed: &[Value]) -> Result<Vec<Value>, clap::Error> {
    let cut = |value: &Value| match (setting.name, value.as_str()) {
        ("prompt", Some(text)) => prompts(text),
        ("model", Some(text)) => text.split(',').map(|name| name.trim().to_owned()).collect(),
        _ => vec![shown(value)],
    };
    let values: Vec<String> = typed.iter().flat_map(cut).collect();
    if values.iter().any(|value| value.trim().is_empty()) {
        let message = format!("{} has an empty value between commas\nhint: name one on each side\n", setting.flag());
        return Err(clap::Error::raw(ErrorKind::ValueValidation, message));
    }
    Ok(values.into_iter().map(Value::from).collect())
}

/// The prompts in `text`: it is cut at commas, but not at one inside the name of a file that exists.
fn prompts(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split(',').collect();
    let (mut prompts, mut at) = (Vec::new(), 0);
    while at < parts.len() {
        // The longest name that there is; a text of very many commas is no list of files.
        let longest = parts.len().min(at + 32);
        let joined = |end: usize| parts[at..end].join(",");
        let end = (at + 2..=longest).rev().find(|end| exists(&joined(*end))).unwrap_or(at + 1);
        prompts.push(joined(end));
        at = end;
    }
    prompts
}

/// Whether there is a file of that name, or one that has such a key.
fn exists(prompt: &str) -> bool {
    match prompt.split_once(".json#") {
        // Behind a key the next prompt may follow, unless there is such a key.
        Some((_, key)) if key.contains(',') => prompt::load(prompt, None, &shipped::file).is_ok(),
        Some((file, _)) => Path::new(&format!("{file}.json")).is_file(),
        None => Path::new(prompt).is_file() || shipped::file(prompt).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::prompts;

    #[test]
    fn a_comma_in_the_name_of_a_file_does_not_separate() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = |name: &str| dir.path().join(name).display().to_string();
        for name in ["a,b.toml", "k,k.json"] {
            std::fs::write(path(name), "").expect("written");
        }
        assert_eq!(prompts("a.toml"), ["a.toml"]);
        assert_eq!(prompts("a.toml,b.toml"), ["a.toml", "b.toml"]);
        assert_eq!(prompts("a.toml,"), ["a.toml", ""]);
        let (own, key) = (path("a,b.toml"), path("k,k.json#x"));
        assert_eq!(prompts(&own), std::slice::from_ref(&own));
        std::fs::write(path("c.json"), r#"{"a,b": "x"}"#).expect("written");
        assert_eq!(prompts(&path("c.json#a,b")), [path("c.json#a,b")]);
        assert_eq!(prompts(&format!("x.toml,{own},{key},y.txt")), ["x.toml", &own, &key, "y.txt"]);
    }
}
