//! The TOML tree, read by hand, with the line of everything that is wrong.

use super::problem::ProblemKind;
use super::setting::{Assignment, Kind, Setting, shown};
use super::settings::{DATASET_SETTINGS, VARIANT_SETTINGS};
use crate::prompt::{Problem, Problems, closest, quoted};
use crate::protocol;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// At most this many problems are kept: a file that is wrong throughout needs no longer list.
const MAX_PROBLEMS: usize = 100;

/// Keys at the top of the file.
pub(super) const TOP_KEYS: [&str; 11] = [
    "name",
    "description",
    "dataset",
    "repeats",
    "baseline",
    "names",
    "settings",
    "matrix",
    "include",
    "exclude",
    "published",
];

/// The problems found so far, and what is needed to say where they are.
pub(super) struct Notes<'a> {
    file: &'a str,
    /// Offsets at which lines begin.
    lines: Vec<usize>,
    problems: Vec<Problem<ProblemKind>>,
}

/// One table of the file, with its name for messages.
pub(super) struct Table<'t> {
    name: String,
    line: usize,
    inner: &'t DeTable<'t>,
}

/// A key of a table with its value.
#[derive(Clone, Copy)]
pub(super) struct Entry<'t> {
    pub(super) key: &'t str,
    /// Line of the key.
    pub(super) line: usize,
    pub(super) value: &'t Spanned<DeValue<'t>>,
}

impl<'a> Notes<'a> {
    pub(super) fn new(file: &'a str, text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { file, lines: std::iter::once(0).chain(after_breaks).collect(), problems: Vec::new() }
    }

    /// Parses the text; faults of the syntax are noted.
    pub(super) fn parse<'t>(&mut self, text: &'t str) -> Spanned<DeTable<'t>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let line = self.line(error.span().map_or(0, |span| span.start));
            self.note(line, ProblemKind::NotToml(quoted(error.message().lines().next().unwrap_or_default())));
        }
        table
    }

    fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }

    pub(super) fn line_of(&self, value: &Spanned<DeValue<'_>>) -> usize {
        self.line(value.span().start)
    }

    pub(super) fn note(&mut self, line: usize, kind: ProblemKind) {
        let problem = Problem { file: self.file.to_owned(), line, kind };
        // One line may be wrong for many variants.
        if self.problems.len() < MAX_PROBLEMS && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub(super) fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn into_problems(mut self) -> Problems<ProblemKind> {
        self.problems.sort_by_key(|problem| problem.line);
        Problems(self.problems)
    }

    pub(super) fn wrong_type(&mut self, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) {
        let found = match value.get_ref() {
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(on) => on.to_string(),
            other => format!("of type {}", other.type_str()),
        };
        self.note(
            self.line_of(value),
            ProblemKind::WrongType { key: key.to_owned(), expected: expected.to_owned(), found },
        );
    }

    /// Notes a key that the table does not have.
    pub(super) fn unknown_key<'k>(
        &mut self,
        table: &Table<'_>,
        entry: Entry<'_>,
        known: impl IntoIterator<Item = &'k &'static str>,
    ) {
        let name = entry.key;
        let has = |keys: &[Setting]| keys.iter().any(|key| key.name == name);
        let belongs = if TOP_KEYS.contains(&name) {
            Some("the top of the file, before the first table")
        } else if has(VARIANT_SETTINGS) {
            Some("[settings] or [matrix]")
        } else if has(DATASET_SETTINGS) {
            Some("a [[dataset]]")
        } else {
            None
        };
        let suggestion = if belongs.is_some() { None } else { closest(name, known.into_iter().copied()) };
        let kind = ProblemKind::UnknownKey { key: table.path(&quoted(name)), suggestion, belongs };
        self.note(entry.line, kind);
    }

    /// The whole file as a table.
    pub(super) fn root<'t>(table: &'t DeTable<'t>) -> Table<'t> {
        Table { name: String::new(), line: 1, inner: table }
    }

    /// The value as a table of that name.
    pub(super) fn table<'t>(&mut self, name: String, value: &'t Spanned<DeValue<'t>>) -> Option<Table<'t>> {
        let line = self.line_of(value);
        let Some(inner) = value.get_ref().as_table() else {
            self.wrong_type(&name, value, "a table");
            return None;
        };
        Some(Table { name, line, inner })
    }

    /// The value as a list of tables, `NAME[1]` and so on.
    pub(super) fn tables<'t>(&mut self, name: &str, value: &'t Spanned<DeValue<'t>>) -> Vec<Table<'t>> {
        let Some(items) = value.get_ref().as_array() else {
            self.wrong_type(name, value, "a list of tables");
            return Vec::new();
        };
        items.iter().enumerate().filter_map(|(i, item)| self.table(format!("{name}[{}]", i + 1), item)).collect()
    }

    /// The entries of a table in the order of the file.
    pub(super) fn entries<'t>(&self, table: &Table<'t>) -> Vec<Entry<'t>> {
        let mut entries: Vec<_> = table.inner.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let entry = |(key, value): (&'t Spanned<_>, _)| {
            let name: &'t std::borrow::Cow<'t, str> = key.get_ref();
            Entry { key: name.as_ref(), line: self.line(key.span().start), value }
        };
        entries.into_iter().map(entry).collect()
    }

    /// A text that holds something.
    pub(super) fn text(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let Some(text) = value.get_ref().as_str() else {
            self.wrong_type(name, value, "a text");
            return None;
        };
        if text.trim().is_empty() {
            self.note(self.line_of(value), ProblemKind::Empty(name.to_owned()));
            return None;
        }
        Some(text.to_owned())
    }

    /// A name: short and printable; of a folder, also one that every file system takes.
    pub(super) fn name(&mut self, key: &str, value: &Spanned<DeValue<'_>>, folder: bool) -> Option<String> {
        let name = self.text(key, value)?;
        let (fits, allowed) = if folder {
            let sound = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            (name.chars().all(sound) && !name.starts_with('.'), "letters, digits, `-`, `_` and `.`")
        } else {
            (name.trim() == name && !name.chars().any(char::is_control), "printable characters, at most 100")
        };
        if !fits || name.chars().count() > 100 {
            let kind = ProblemKind::BadName { key: key.to_owned(), name: quoted(&name), allowed };
            self.note(self.line_of(value), kind);
            return None;
        }
        Some(name)
    }

    /// A whole number, from 1 to `most`.
    pub(super) fn whole(&mut self, key: &str, value: &Spanned<DeValue<'_>>, most: u32) -> Option<u32> {
        let kind = Kind::Whole(1, most.into());
        let number =
            scalar(kind, value.get_ref()).filter(|number| kind.holds(number)).and_then(|number| number.as_u64());
        if number.is_none() {
            self.wrong_type(key, value, &kind.expected());
        }
        number.and_then(|number| u32::try_from(number).ok())
    }

    /// A share in per cent, 0 to 100.
    pub(super) fn percentage(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<f64> {
        let kind = Kind::Number(0.0, 100.0);
        let number =
            scalar(kind, value.get_ref()).filter(|number| kind.holds(number)).and_then(|number| number.as_f64());
        if number.is_none() {
            self.wrong_type(key, value, &kind.expected());
        }
        number
    }

    /// A setting, if its value is of the setting's kind.
    pub(super) fn setting(
        &mut self,
        name: &str,
        setting: &'static Setting,
        value: &Spanned<DeValue<'_>>,
    ) -> Option<Assignment> {
        let line = self.line_of(value);
        let read = match setting.kind {
            Kind::Texts | Kind::Urls if value.get_ref().is_array() => Value::from(self.texts(name, value)?),
            Kind::Texts | Kind::Urls => Value::from(vec![self.text(name, value)?]),
            Kind::Options => Value::Object(self.options(name, value)?),
            Kind::Number(..) | Kind::Whole(..) | Kind::Switch => match scalar(setting.kind, value.get_ref()) {
                Some(read) if setting.kind.holds(&read) => read,
                _ => {
                    self.wrong_type(name, value, &setting.kind.expected());
                    return None;
                }
            },
            Kind::Choice(words) => {
                let word = self.text(name, value)?;
                self.known(name, line, &word, setting.name, words)?;
                Value::from(word)
            }
            _ => Value::from(self.text(name, value)?),
        };
        if setting.kind == Kind::Price && !setting.kind.holds(&read) {
            self.wrong_type(name, value, &setting.kind.expected());
            return None;
        }
        if matches!(setting.kind, Kind::Url | Kind::Urls)
            && shown(&read).split(',').any(|url| may_hold_a_secret(url.trim()))
        {
            self.note(line, ProblemKind::Secret(name.to_owned()));
            return None;
        }
        Some(Assignment { setting, value: read, line })
    }

    fn texts(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let items = value.get_ref().as_array()?;
        if items.is_empty() {
            self.note(self.line_of(value), ProblemKind::Empty(name.to_owned()));
            return None;
        }
        items.iter().map(|item| self.text(name, item)).collect()
    }

    /// Options as `NAME`, those of a protocol as `PROTOCOL.NAME`, each with its value.
    fn options(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<Map<String, Value>> {
        let table = self.table(name.to_owned(), value)?;
        let mut options = Map::new();
        for entry in self.entries(&table) {
            let path = table.path(&quoted(entry.key));
            if entry.value.get_ref().is_table() {
                self.known(&path, entry.line, entry.key, "protocol", &protocol::IDS)?;
                for (option, value) in self.options(&path, entry.value)? {
                    options.insert(format!("{}.{option}", entry.key), value);
                }
            } else {
                options.insert(entry.key.to_owned(), Value::from(self.text(&path, entry.value)?));
            }
        }
        Some(options)
    }

    /// Notes a word that is not known.
    pub(super) fn known(
        &mut self,
        key: &str,
        line: usize,
        value: &str,
        what: &'static str,
        known: &[&str],
    ) -> Option<()> {
        if known.contains(&value) {
            return Some(());
        }
        let kind = ProblemKind::Unknown {
            key: key.to_owned(),
            value: quoted(value),
            what,
            suggestion: closest(value, known.iter().copied()).map(str::to_owned),
            known: known.join(", "),
        };
        self.note(line, kind);
        None
    }
}

impl Table<'_> {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The key's name with the table before it.
    pub(super) fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }
}

/// A number or a switch.
fn scalar(kind: Kind, value: &DeValue<'_>) -> Option<Value> {
    match kind {
        Kind::Switch => value.as_bool().map(Value::Bool),
        Kind::Whole(..) => {
            let number = value.as_integer()?;
            u64::from_str_radix(number.as_str(), number.radix()).ok().map(Value::from)
        }
        _ => {
            let number = match value.as_float() {
                Some(number) => number.as_str().parse::<f64>().ok()?,
                // Numbers of this size are not used here; the nearest float will do.
                None => value.as_integer()?.as_str().parse::<f64>().ok()?,
            };
            // A minus before zero says nothing.
            Some(Value::from(number + 0.0))
        }
    }
}

/// Whether an address has a user part or a query.
fn may_hold_a_secret(address: &str) -> bool {
    match url::Url::parse(address) {
        Ok(url) => !url.username().is_empty() || url.password().is_some() || url.query().is_some(),
        Err(_) => address.contains(['@', '?']),
    }
}
