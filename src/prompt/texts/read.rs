//! Reads a file of protocol texts and notes its problems.

use super::TextsFile;
use super::form::{FORMS, KeyForm, SectionForm};
use super::slots::Slotted;
use crate::prompt::problems::{Fault, Problems, quoted};
use crate::prompt::reader::{Reader, Table};
use crate::protocol::ToolTexts;
use crate::types::text::closest;
use std::collections::BTreeMap;

/// Where the format is shown, for somebody who has only the program.
const HELP: &str = "`wikitrail prompt show prompts/protocols/en.toml --source` is such a file with all its keys";

/// Reads the text of the file that messages call `file`. All problems are found in one pass.
pub(super) fn parse(file: &str, text: &str) -> Result<TextsFile, Problems> {
    let (mut reader, tree) = Reader::parse(file, text, HELP)?;
    let root = Reader::root(tree.get_ref());
    let known: Vec<&'static str> = ["language", "tools"].into_iter().chain(FORMS.iter().map(|form| form.id)).collect();
    reader.known_keys(&root, &known);
    let mut sections = BTreeMap::new();
    for form in &FORMS {
        if let Some(section) = reader.section(&root, form.id) {
            sections.insert(form.id, read_section(&mut reader, &section, form));
        }
    }
    let language = root.has("language").then(|| reader.required_line(&root, "language")).flatten();
    let tools = read_tools(&mut reader, &root);
    if !reader.is_clean() {
        return Err(reader.into_problems());
    }
    Ok(TextsFile { file: file.to_owned(), language, tools, sections })
}

fn read_tools(reader: &mut Reader<'_>, root: &Table<'_>) -> Option<ToolTexts> {
    let section = reader.section(root, "tools")?;
    let [finish, finish_parameter] = ["finish", "finish_parameter"];
    let known = ["search", "search_parameter", "lookup", "lookup_parameter", finish, finish_parameter];
    reader.known_keys(&section, &known);
    let mut text = |key| reader.required_line(&section, key).unwrap_or_default();
    let mut tools = ToolTexts {
        search: text("search"),
        search_parameter: text("search_parameter"),
        lookup: text("lookup"),
        lookup_parameter: text("lookup_parameter"),
        ..ToolTexts::default()
    };
    // Only one protocol has this tool, so that the two may be left out together.
    if section.has(finish) || section.has(finish_parameter) {
        (tools.finish, tools.finish_parameter) = (text(finish), text(finish_parameter));
    }
    Some(tools)
}

fn read_section(
    reader: &mut Reader<'_>,
    section: &Table<'_>,
    form: &'static SectionForm,
) -> BTreeMap<&'static str, Slotted> {
    let known: Vec<&'static str> = form.keys.iter().map(|key| key.name).collect();
    reader.known_keys(section, &known);
    let mut texts = BTreeMap::new();
    for key in form.keys.iter().filter(|key| key.needed || section.has(key.name)) {
        if let Some((_, slotted)) = read_text(reader, section, key) {
            texts.insert(key.name, slotted);
        }
    }
    texts
}

/// Reads a required text and notes the problems of its slots.
pub(in crate::prompt) fn read_text(
    reader: &mut Reader<'_>,
    section: &Table<'_>,
    key: &KeyForm,
) -> Option<(String, Slotted)> {
    let text = reader.required_text(section, key.name)?;
    match Slotted::parse(&text, key.style) {
        Ok(slotted) => {
            check(reader, section, key, &text, &slotted);
            Some((text, slotted))
        }
        Err(bad) => {
            // The beginning of the line finds it; the rest may have escapes in the file.
            let start: String = bad.rest.lines().next().unwrap_or_default().chars().take(20).collect();
            let line = reader.line_in_value(section, key.name, |source| source.find(&start));
            reader.note(line, format!("`{}` has {}", section.path(key.name), bad.reason));
            None
        }
    }
}

fn check(reader: &mut Reader<'_>, section: &Table<'_>, key: &KeyForm, text: &str, slotted: &Slotted) {
    let path = section.path(key.name);
    let mut strangers: Vec<&str> = slotted.names().filter(|name| !key.slots.contains(name)).collect();
    strangers.sort_unstable();
    strangers.dedup();
    // A few names are enough; each takes a pass over the text.
    for name in strangers.into_iter().take(20) {
        let line = reader.line_in_value(section, key.name, |source| find_slot(source, name));
        let fault = Fault::from(format!("unknown {} `{}` in `{path}`", key.style.noun(), quoted(name)));
        let fault = match closest(name, key.slots.iter().copied()) {
            None if key.slots.is_empty() => fault.hint(format!("this text has no {}s", key.style.noun())),
            None => fault.hint(format!("use one of: {}", key.style.list(key.slots))),
            known => fault.did_you_mean(known),
        };
        reader.note(line, fault);
    }
    let line = reader.line_in(section, key.name);
    if let Some(must) = key.must {
        let count = slotted.names().filter(|name| *name == must).count();
        if count != 1 {
            let fault = Fault::from(format!("`{path}` must have the slot `{must}` once, but has it {count} times"));
            reader.note(line, fault.hint(format!("write {{{must}}} where it belongs, and only there")));
        }
    }
    if !text.ends_with(key.ending) {
        let fault = Fault::from(format!("`{path}` must end with \"{}\"", quoted(key.ending)));
        reader.note(line, fault.hint("put the closing quotes right after it, without a line break"));
    }
}

/// Offset of the slot in the file's source, with the white space that Go's templates and instructions allow.
pub(in crate::prompt) fn find_slot(source: &str, name: &str) -> Option<usize> {
    source.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = source[..*at].trim_end_matches(' ').trim_end_matches('.').trim_end_matches(' ');
        let after = source[at + name.len()..].trim_start_matches(' ');
        before.ends_with('{') && after.starts_with('}')
    })
}
