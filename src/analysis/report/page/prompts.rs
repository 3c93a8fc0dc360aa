//! What differs between two variants: their settings, and their prompts line by line; the whole texts.

use super::data::safe;
use super::html::{Html, short_word};
use super::sections::Part;
use crate::analysis::results::{Results, Source};
use crate::base::line_diff::{AROUND, line_diff};
use crate::base::text::{counted, cut};
use crate::runner::store::RunFolder;
use serde_json::Value;
use similar::ChangeTag;

/// Lines of a difference at most, and characters of each.
const LINES: usize = 40;
const LINE_CHARS: usize = 400;
const EQUAL_CHARS: usize = 90;

/// The texts of a variant's prompt; none where the folder lacks them.
fn text(source: &Source) -> Option<String> {
    let variant = &source.origin.as_ref()?.variant;
    let folder = RunFolder::at(&source.run.path);
    let digests = std::iter::once(&variant.prompt_sha256).chain(&variant.direct_prompt_sha256);
    let texts: Vec<String> =
        digests.filter_map(|digest| folder.prompt(digest).ok()).map(|text| readable(&text)).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// A prompt of several parts is stored as JSON: each of its texts below its name in brackets.
fn readable(stored: &str) -> String {
    match serde_json::from_str(stored) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            let mut lines = String::new();
            parts(&value, "", &mut lines);
            lines
        }
        _ => stored.to_owned(),
    }
}

fn parts(value: &Value, name: &str, lines: &mut String) {
    let below = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, own)| parts(own, &below(key), lines)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, own)| parts(own, &below(&(at + 1).to_string()), lines));
        }
        Value::Null => {}
        Value::String(text) => lines.extend(["[", name, "]\n", text.trim_end_matches('\n'), "\n"]),
        other => lines.extend(["[", name, "]\n", &other.to_string(), "\n"]),
    }
}

/// The settings in which the two differ, and their prompts, from the first to the second.
pub(super) fn what_differs(html: &mut Html, part: &Part<'_>, [from, to]: [usize; 2]) {
    let sources = &part.group.sources;
    let [one, two] = [from, to].map(|at| text(&sources[at]));
    let diff = one.as_ref().zip(two.as_ref()).filter(|(one, two)| one != two);
    let differing: Vec<_> = part
        .group
        .settings
        .iter()
        .filter(|setting| !setting.name.ends_with("sha256") || diff.is_none())
        .filter_map(|setting| Some((&setting.name, setting.values.get(from)?, setting.values.get(to)?)))
        .filter(|(_, one, two)| one != two)
        .collect();
    if differing.is_empty() && diff.is_none() {
        return;
    }
    html.element("h2", &[], |html| html.text("What differs"));
    html.element("ul", &[("class", "settings")], |html| {
        for (name, one, two) in &differing {
            html.element("li", &[], |html| {
                html.text(&format!("{name}: "));
                html.leaf("code", &[], &cut(&short_word(one), 100));
                html.text(" → ");
                html.leaf("code", &[], &cut(&short_word(two), 100));
            });
        }
    });
    if let Some((one, two)) = diff {
        changed_lines(html, one, two);
        html.element("p", &[("class", "facts")], |html| {
            html.text("Whole prompts: ");
            for (at, source) in [from, to].into_iter().enumerate() {
                html.text(if at > 0 { ", " } else { "" });
                let address = format!("#{}", id(&sources[source]).unwrap_or_default());
                html.leaf("a", &[("href", &address)], &part.group.names[source]);
            }
        });
    }
    html.facts("All other settings of the two are the same.");
}

/// The lines that differ, with a few around them.
fn changed_lines(html: &mut Html, one: &str, two: &str) {
    let diff = line_diff(one, two);
    let hunks = diff.grouped_ops(AROUND);
    let lines = || hunks.iter().flatten().flat_map(|op| diff.iter_changes(op));
    let count = |tag| lines().filter(|change| change.tag() == tag).count();
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let all = lines().count();
    html.facts(&format!("Prompt: {} added, {removed} removed", counted(added, "line")));
    html.element("pre", &[("class", "diff"), ("tabindex", "0")], |html| {
        // What changed has to be in sight, however long its surroundings are.
        let mut left = LINES;
        for change in lines().filter(|change| all <= LINES || change.tag() != ChangeTag::Equal) {
            if left == 0 {
                break;
            }
            left -= 1;
            let most = if change.tag() == ChangeTag::Equal { EQUAL_CHARS } else { LINE_CHARS };
            let line = cut(change.value().trim_end_matches(['\n', '\r']), most);
            match change.tag() {
                ChangeTag::Insert => html.leaf("ins", &[], &format!("+ {line}")),
                ChangeTag::Delete => html.leaf("del", &[], &format!("− {line}")),
                ChangeTag::Equal => html.text(&format!("  {line}")),
            }
            html.text("\n");
        }
    });
    if added + removed > LINES {
        html.facts(&format!("The first {LINES} lines that differ."));
    }
}

/// The id of the element with a variant's prompt.
fn id(source: &Source) -> Option<String> {
    let digest = &source.origin.as_ref()?.variant.prompt_sha256;
    Some(format!("prompt-{}", digest.chars().filter(char::is_ascii_hexdigit).take(12).collect::<String>()))
}

/// The whole text of each prompt, with the variants that have it.
pub(super) fn whole_texts(html: &mut Html, results: &Results) {
    let mut known: Vec<(String, &Source, Vec<&str>)> = Vec::new();
    for (source, name) in results.variants() {
        let Some(id) = id(source) else { continue };
        match known.iter_mut().find(|(other, ..)| *other == id) {
            Some((.., names)) => names.push(name),
            None => known.push((id, source, vec![name])),
        }
    }
    for (id, source, names) in known {
        let Some(text) = text(source) else { continue };
        html.element("details", &[("id", &id)], |html| {
            let more = if names.len() > 3 { format!(" and {} more", names.len() - 3) } else { String::new() };
            html.leaf("summary", &[], &format!("Prompt of {}{more}", names[..names.len().min(3)].join(", ")));
            html.leaf("pre", &[("tabindex", "0")], &safe(&text));
        });
    }
}
