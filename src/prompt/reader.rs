//! Reads a TOML tree by hand and keeps count of what is wrong, where.
//!
//! Deserialising into structs would stop at the first problem and lose the lines of the others; an author who
//! mends a prompt file wants them all.

use super::problem::ProblemKind;
use super::problems::{Problem, Problems, closest, quoted};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// At most this many problems are kept: a file that is wrong throughout needs no longer list.
const MAX_PROBLEMS: usize = 100;

/// The text of a prompt file and the problems found so far.
pub(super) struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    lines: Lines,
    problems: Vec<Problem<ProblemKind>>,
}

/// Offsets at which lines begin.
#[derive(Clone)]
struct Lines(std::rc::Rc<[usize]>);

/// One table of the file, with its name for messages.
pub(super) struct Section<'t> {
    name: String,
    line: usize,
    table: &'t DeTable<'t>,
    lines: Lines,
}

impl Lines {
    fn new(text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(after_breaks).collect())
    }

    fn of(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, lines: Lines::new(text), problems: Vec::new() }
    }

    /// Parses the text; an error holds every fault of the syntax.
    pub(super) fn parse(file: &'a str, text: &'a str) -> Result<Spanned<DeTable<'a>>, Problems<ProblemKind>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            return Ok(table);
        }
        let mut reader = Self::new(file, text);
        for error in &errors {
            let line = reader.lines.of(error.span().map_or(0, |span| span.start));
            reader.note(line, ProblemKind::NotToml(quoted(error.message().lines().next().unwrap_or_default())));
        }
        Err(reader.into_problems())
    }

    /// The whole file as a section.
    pub(super) fn root<'t>(&self, table: &'t DeTable<'t>) -> Section<'t> {
        Section { name: String::new(), line: 1, table, lines: self.lines.clone() }
    }

    pub(super) fn note(&mut self, line: usize, kind: ProblemKind) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { file: self.file.to_owned(), line, kind });
        }
    }

    pub(super) fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn into_problems(mut self) -> Problems<ProblemKind> {
        self.problems.sort_by_key(|problem| problem.line);
        Problems(self.problems)
    }

    /// Notes every key of `section` that is not among `known`.
    pub(super) fn known_keys(&mut self, section: &Section<'_>, known: &[&'static str]) {
        for key in section.table.keys() {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let suggestion = closest(name, known.iter().copied());
                let kind = ProblemKind::UnknownKey { key: section.path(&quoted(name)), suggestion };
                self.note(self.lines.of(key.span().start), kind);
            }
        }
    }

    /// The text under `key`, if it is there.
    pub(super) fn string(&mut self, section: &Section<'_>, key: &str) -> Option<String> {
        let value = section.get(key)?;
        if let Some(text) = value.get_ref().as_str() {
            return Some(text.to_owned());
        }
        self.wrong_type(section, key, value, "a text");
        None
    }

    /// The text under `key`, which must be there and hold something.
    pub(super) fn required_text(&mut self, section: &Section<'_>, key: &str) -> Option<String> {
        if !section.has(key) {
            self.note(section.line, ProblemKind::MissingKey(section.path(key)));
            return None;
        }
        let text = self.string(section, key)?;
        if text.trim().is_empty() {
            self.note(section.line_of(key), ProblemKind::Empty(section.path(key)));
            return None;
        }
        Some(text)
    }

    /// The same, of one line.
    pub(super) fn required_line(&mut self, section: &Section<'_>, key: &str) -> Option<String> {
        let text = self.required_text(section, key)?;
        if text.contains(['\n', '\r']) {
            self.note(section.line_of(key), ProblemKind::LineBreak(section.path(key)));
        }
        Some(text)
    }

    /// The table under `key`, if it is there.
    pub(super) fn table<'t>(&mut self, section: &Section<'t>, key: &str) -> Option<Section<'t>> {
        let value = section.get(key)?;
        let Some(table) = value.get_ref().as_table() else {
            self.wrong_type(section, key, value, "a table");
            return None;
        };
        Some(Section { name: section.path(key), line: section.line_of(key), table, lines: self.lines.clone() })
    }

    /// The tables under `key`, none if it is not there.
    pub(super) fn tables<'t>(&mut self, section: &Section<'t>, key: &str) -> Vec<Section<'t>> {
        let Some(value) = section.get(key) else { return Vec::new() };
        let Some(items) = value.get_ref().as_array() else {
            self.wrong_type(section, key, value, "a list of tables");
            return Vec::new();
        };
        let mut sections = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let (name, line) = (format!("{}[{}]", section.path(key), i + 1), self.lines.of(item.span().start));
            if let Some(table) = item.get_ref().as_table() {
                sections.push(Section { name, line, table, lines: self.lines.clone() });
            } else {
                let found = item.get_ref().type_str();
                self.note(line, ProblemKind::WrongType { key: name, expected: "a table", found });
            }
        }
        sections
    }

    /// The tables under `key`, which must be there, though the list may be empty.
    pub(super) fn required_tables<'t>(&mut self, section: &Section<'t>, key: &str) -> Option<Vec<Section<'t>>> {
        if !section.has(key) {
            self.note(section.line, ProblemKind::MissingKey(section.path(key)));
            return None;
        }
        Some(self.tables(section, key))
    }

    /// Line of the place that `find` names in the source of the value of `key`, as an offset into it; the value's
    /// own line when it names none.
    pub(super) fn line_in_value(
        &self,
        section: &Section<'_>,
        key: &str,
        find: impl Fn(&str) -> Option<usize>,
    ) -> usize {
        let Some(span) = section.get(key).map(Spanned::span) else { return section.line };
        let found = self.text.get(span.clone()).and_then(find).unwrap_or(0);
        self.lines.of(span.start + found)
    }

    fn wrong_type(&mut self, section: &Section<'_>, key: &str, value: &Spanned<DeValue<'_>>, expected: &'static str) {
        let (key, found) = (section.path(key), value.get_ref().type_str());
        self.note(self.lines.of(value.span().start), ProblemKind::WrongType { key, expected, found });
    }
}

impl<'t> Section<'t> {
    /// Name of the section, empty for the file itself.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Line at which the section begins.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Names of the keys, as they stand in the file.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.table.keys().map(|key| key.get_ref().as_ref())
    }

    /// The key's name with the section before it.
    pub(super) fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    /// Line of the value of `key`; the section's own where there is none.
    pub(super) fn line_of(&self, key: &str) -> usize {
        self.get(key).map_or(self.line, |value| self.lines.of(value.span().start))
    }

    fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.get(key)
    }
}
