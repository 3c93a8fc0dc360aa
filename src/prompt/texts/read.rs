//! Reads a file of protocol texts and notes what is wrong with each.

use super::form::{FORMS, KeyForm, SectionForm};
use super::slots::Slotted;
use super::{NamedToolTexts, TextsFile};
use crate::prompt::problem::ProblemKind;
use crate::prompt::problems::{Problems, closest, quoted};
use crate::prompt::reader::{Reader, Section};
use std::collections::BTreeMap;

/// Reads the text of the file that messages call `file`. All problems are found in one pass.
pub(super) fn parse(file: &str, text: &str) -> Result<TextsFile, Problems<ProblemKind>> {
    let tree = Reader::parse(file, text)?;
    let mut reader = Reader::new(file, text);
    let root = reader.root(tree.get_ref());
    let known: Vec<&'static str> = ["language", "tools"].into_iter().chain(FORMS.iter().map(|form| form.id)).collect();
    reader.known_keys(&root, &known);
    let mut sections = BTreeMap::new();
    for form in &FORMS {
        if let Some(section) = reader.table(&root, form.id) {
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

fn read_tools(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<NamedToolTexts> {
    let section = reader.table(root, "tools")?;
    reader.known_keys(&section, &["search", "search_parameter", "lookup", "lookup_parameter"]);
    let mut text = |key| reader.required_line(&section, key).unwrap_or_default();
    Some(NamedToolTexts {
        search: text("search"),
        search_parameter: text("search_parameter"),
        lookup: text("lookup"),
        lookup_parameter: text("lookup_parameter"),
    })
}

fn read_section(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    form: &'static SectionForm,
) -> BTreeMap<&'static str, Slotted> {
    let known: Vec<&'static str> = form.keys.iter().map(|key| key.name).collect();
    reader.known_keys(section, &known);
    let mut texts = BTreeMap::new();
    for key in form.keys.iter().filter(|key| key.needed || section.has(key.name)) {
        let Some(text) = reader.required_text(section, key.name) else { continue };
        match Slotted::parse(&text, key.style) {
            Ok(slotted) => {
                check(reader, section, key, &text, &slotted);
                texts.insert(key.name, slotted);
            }
            Err(bad) => {
                // The line's beginning is enough to find it; the file may write what follows with escapes.
                let start: String = bad.rest.lines().next().unwrap_or_default().chars().take(20).collect();
                let line = reader.line_in_value(section, key.name, |source| source.find(&start));
                reader.note(line, ProblemKind::BadSlot { key: section.path(key.name), reason: bad.reason });
            }
        }
    }
    texts
}

fn check(reader: &mut Reader<'_>, section: &Section<'_>, key: &KeyForm, text: &str, slotted: &Slotted) {
    let mut strangers: Vec<&str> = slotted.names().filter(|name| !key.slots.contains(name)).collect();
    strangers.sort_unstable();
    strangers.dedup();
    // A few wrong names are enough to see what happened.
    for name in strangers.into_iter().take(20) {
        let line = reader.line_in_value(section, key.name, |source| find_slot(source, name));
        let suggestion = closest(name, key.slots.iter().copied());
        let slots = key.slots.join(", ");
        let kind = ProblemKind::UnknownSlot { name: quoted(name), key: section.path(key.name), suggestion, slots };
        reader.note(line, kind);
    }
    if let Some(must) = key.must {
        let count = slotted.names().filter(|name| *name == must).count();
        if count != 1 {
            let kind = ProblemKind::SlotCount { key: section.path(key.name), slot: must, count };
            reader.note(section.line_of(key.name), kind);
        }
    }
    if !text.ends_with(key.ending) {
        let kind = ProblemKind::Ending { key: section.path(key.name), ending: quoted(key.ending) };
        reader.note(section.line_of(key.name), kind);
    }
}

/// Offset of the slot in the file's source, white space as Go's templates allow it.
fn find_slot(source: &str, name: &str) -> Option<usize> {
    source.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = source[..*at].trim_end_matches(' ').trim_end_matches('.').trim_end_matches(' ');
        let after = source[at + name.len()..].trim_start_matches(' ');
        before.ends_with('{') && after.starts_with('}')
    })
}
