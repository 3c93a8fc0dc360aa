//! Reads a TOML file value by value and collects all problems with their lines, for prompt and experiment files.

use crate::base::text::{closest, cut};
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const MAX_PROBLEMS: usize = 100;
const MAX_LISTED: usize = 20;

pub(crate) struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    help: &'static str,
    lines: Vec<usize>,
    problems: Vec<Problem>,
}

/// One table of the file, with its name for messages: empty for the file itself.
pub(crate) struct Table<'t> {
    name: String,
    line: usize,
    inner: &'t DeTable<'t>,
}

#[derive(Clone, Copy)]
pub(crate) struct Entry<'t> {
    pub(crate) key: &'t str,
    pub(crate) line: usize,
    pub(crate) value: &'t Spanned<DeValue<'t>>,
}

impl<'a> Reader<'a> {
    /// Parses the text of `file`; `help` says where the format is explained. An error holds all syntax errors.
    pub(crate) fn parse(
        file: &'a str,
        text: &'a str,
        help: &'static str,
    ) -> Result<(Self, Spanned<DeTable<'a>>), Problems> {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(after_breaks).collect();
        let mut reader = Self { file, text, help, lines, problems: Vec::new() };
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let line = reader.line(error.span().map_or(0, |span| span.start));
            let reason = quoted(error.message().lines().next().unwrap_or_default());
            reader.note(line, format!("not valid TOML: {reason}"));
        }
        if errors.is_empty() { Ok((reader, table)) } else { Err(reader.into_problems()) }
    }

    pub(crate) fn root<'t>(table: &'t DeTable<'t>) -> Table<'t> {
        Table { name: String::new(), line: 1, inner: table }
    }

    fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }

    pub(crate) fn line_of(&self, value: &Spanned<DeValue<'_>>) -> usize {
        self.line(value.span().start)
    }

    /// Line of the value of `key`; the table's own if it has no such key.
    pub(crate) fn line_in(&self, table: &Table<'_>, key: &str) -> usize {
        self.line_in_value(table, key, |_| None)
    }

    /// Line of the place that `find` names in the source of the value of `key`, or else of the value.
    pub(crate) fn line_in_value(&self, table: &Table<'_>, key: &str, find: impl Fn(&str) -> Option<usize>) -> usize {
        let Some(span) = table.inner.get(key).map(Spanned::span) else { return table.line };
        let found = self.text.get(span.clone()).and_then(find).unwrap_or(0);
        self.line(span.start + found)
    }

    /// Adds a problem, unless the line has it already.
    pub(crate) fn note(&mut self, line: usize, fault: impl Into<Fault>) {
        let problem = fault.into().at(self.file, line);
        if self.problems.len() < MAX_PROBLEMS && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn into_problems(mut self) -> Problems {
        self.problems.sort_by_key(|problem| problem.line);
        Problems { list: self.problems, help: self.help }
    }

    pub(crate) fn wrong_type(&mut self, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) {
        let found = match value.get_ref() {
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(on) => on.to_string(),
            DeValue::Array(_) => "an array".to_owned(),
            other => format!("a {}", other.type_str()),
        };
        self.note(self.line_of(value), format!("`{key}` must be {expected}, but is {found}"));
    }

    pub(crate) fn known_keys(&mut self, table: &Table<'_>, known: &[&'static str]) {
        for entry in self.entries(table) {
            if !known.contains(&entry.key) {
                self.refuse_key(table, entry, known, None);
            }
        }
    }

    /// Notes a key that the table does not have; `belongs` names the place that has it.
    pub(crate) fn refuse_key(
        &mut self,
        table: &Table<'_>,
        entry: Entry<'_>,
        known: &[&'static str],
        belongs: Option<&str>,
    ) {
        let fault = Fault::from(format!("unknown key `{}`", table.path(&quoted(entry.key))));
        self.note(
            entry.line,
            match belongs {
                Some(place) => fault.hint(format!("it belongs in {place}")),
                None => fault.did_you_mean(closest(entry.key, known.iter().copied())),
            },
        );
    }

    /// Notes a `value` of `key` that is not among `known`, which are called `what`.
    pub(crate) fn known(&mut self, key: &str, line: usize, value: &str, what: &str, known: &[&str]) -> Option<()> {
        if known.contains(&value) {
            return Some(());
        }
        let fault = Fault::from(format!("unknown {what} `{}` in `{key}`", quoted(value)));
        let listed: Vec<String> = known.iter().take(MAX_LISTED).map(|word| quoted(word)).collect();
        let more = if known.len() > MAX_LISTED { ", …" } else { "" };
        self.note(
            line,
            match closest(value, known.iter().copied()) {
                None if known.is_empty() => fault.hint(format!("there is no {what} to name here")),
                None => fault.hint(format!("use one of: {}{more}", listed.join(", "))),
                known => fault.did_you_mean(known),
            },
        );
        None
    }

    pub(crate) fn missing(&mut self, table: &Table<'_>, key: &str) {
        self.note(table.line, format!("missing key `{}`", table.path(key)));
    }

    pub(crate) fn table<'t>(&mut self, name: String, value: &'t Spanned<DeValue<'t>>) -> Option<Table<'t>> {
        let Some(inner) = value.get_ref().as_table() else {
            self.wrong_type(&name, value, "a table");
            return None;
        };
        Some(Table { name, line: self.line_of(value), inner })
    }

    /// The value as a list of tables, `NAME[1]` and so on.
    pub(crate) fn tables<'t>(&mut self, name: &str, value: &'t Spanned<DeValue<'t>>) -> Vec<Table<'t>> {
        let Some(items) = value.get_ref().as_array() else {
            self.wrong_type(name, value, "a list of tables");
            return Vec::new();
        };
        items.iter().enumerate().filter_map(|(i, item)| self.table(format!("{name}[{}]", i + 1), item)).collect()
    }

    pub(crate) fn entries<'t>(&self, table: &Table<'t>) -> Vec<Entry<'t>> {
        let mut entries: Vec<_> = table.inner.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let entry = |(key, value): (&'t Spanned<_>, _)| {
            let name: &'t std::borrow::Cow<'t, str> = key.get_ref();
            Entry { key: name.as_ref(), line: self.line(key.span().start), value }
        };
        entries.into_iter().map(entry).collect()
    }

    pub(crate) fn text(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let Some(text) = value.get_ref().as_str() else {
            self.wrong_type(name, value, "a string");
            return None;
        };
        if text.trim().is_empty() {
            self.note(self.line_of(value), format!("`{name}` is empty"));
            return None;
        }
        Some(text.to_owned())
    }

    pub(crate) fn section<'t>(&mut self, table: &Table<'t>, key: &str) -> Option<Table<'t>> {
        self.table(table.path(key), table.inner.get(key)?)
    }

    pub(crate) fn sections<'t>(&mut self, table: &Table<'t>, key: &str) -> Vec<Table<'t>> {
        table.inner.get(key).map(|value| self.tables(&table.path(key), value)).unwrap_or_default()
    }

    /// The string under `key`, if there is one; it may be blank.
    pub(crate) fn string(&mut self, table: &Table<'_>, key: &str) -> Option<String> {
        let value = table.inner.get(key)?;
        let string = value.get_ref().as_str().map(str::to_owned);
        if string.is_none() {
            self.wrong_type(&table.path(key), value, "a string");
        }
        string
    }

    pub(crate) fn required_text(&mut self, table: &Table<'_>, key: &str) -> Option<String> {
        let Some(value) = table.inner.get(key) else {
            self.missing(table, key);
            return None;
        };
        self.text(&table.path(key), value)
    }

    pub(crate) fn required_line(&mut self, table: &Table<'_>, key: &str) -> Option<String> {
        let text = self.required_text(table, key)?;
        if text.contains(['\n', '\r']) {
            let fault = Fault::from(format!("`{}` contains a line break", table.path(key)));
            let hint = "keep it on one line; a backslash at the end of a line joins it to the next";
            self.note(self.line_in(table, key), fault.hint(hint));
        }
        Some(text)
    }
}

impl Table<'_> {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn line(&self) -> usize {
        self.line
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.inner.contains_key(key)
    }

    pub(crate) fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub file: String,
    /// Line of the file, from 1.
    pub line: usize,
    pub message: String,
    pub hint: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// The problems in the order of their lines, at least one.
    pub list: Vec<Problem>,
    pub help: &'static str,
}

#[derive(Debug)]
pub(crate) struct Fault {
    message: String,
    hint: Option<String>,
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self { message, hint: None }
    }
}

impl Fault {
    pub(super) fn at(self, file: &str, line: usize) -> Problem {
        Problem { file: file.to_owned(), line, message: self.message, hint: self.hint }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// With a hint that names the known word, if one comes close.
    pub(crate) fn did_you_mean(self, known: Option<&str>) -> Self {
        match known {
            Some(known) => self.hint(format!("did you mean `{known}`?")),
            None => self,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl fmt::Display for Problems {
    /// One problem as its line; several with their own hints, each below its problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [problem] = self.list.as_slice() {
            return problem.fmt(f);
        }
        write!(f, "{} problems", self.list.len())?;
        for problem in &self.list {
            write!(f, "\n{problem}")?;
            if let Some(hint) = &problem.hint {
                write!(f, "\nhint: {hint}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl Problems {
    /// The hint of a single problem, or where the format is explained.
    pub fn hint(&self) -> String {
        match self.list.as_slice() {
            [Problem { hint: Some(hint), .. }] => hint.clone(),
            _ => self.help.to_owned(),
        }
    }
}

/// `text` for a message: control characters escaped, at most 80 characters.
pub(crate) fn quoted(text: &str) -> String {
    let shown: String = cut(text, 80).chars().flat_map(char::escape_debug).collect();
    // Quotes are harmless, and escaped ones are hard to compare with the file.
    shown.replace("\\\"", "\"").replace("\\'", "'")
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quoted_text_is_short_and_harmless() {
        assert_eq!(quoted("it's \"a\" \u{1b}[31m\n"), "it's \"a\" \\u{1b}[31m\\n");
        assert_eq!(quoted(&"é".repeat(81)), format!("{}…", "é".repeat(80)));
    }
}
