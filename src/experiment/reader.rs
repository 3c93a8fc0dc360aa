//! The values of an experiment file: names, numbers, and the settings of variants and datasets.

use super::problem::ProblemKind;
use super::setting::{CELL_KEYS, DATASET_KEYS, Key, Kind, Setting, Value};
pub(super) use crate::prompt::{Entry, Reader as Notes, Table};
use crate::prompt::{ExemplarOrder, quoted};
use crate::protocol;
use crate::types::Method;
use toml::Spanned;
use toml::de::DeValue;

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

impl Notes<'_> {
    /// Notes a key that the table does not have.
    pub(super) fn unknown_key(&mut self, table: &Table<'_>, entry: Entry<'_>, known: &[&'static str]) {
        let name = entry.key;
        let has = |keys: &[Key]| keys.iter().any(|key| key.name == name);
        let belongs = if TOP_KEYS.contains(&name) {
            Some("the top of the file, before the first table")
        } else if has(CELL_KEYS) {
            Some("[settings] or [matrix]")
        } else if has(DATASET_KEYS) {
            Some("a [[dataset]]")
        } else {
            None
        };
        self.refuse_key(table, entry, known, belongs);
    }

    /// A name: short and printable; of a folder, also one that every file system takes.
    pub(super) fn name(&mut self, key: &str, value: &Spanned<DeValue<'_>>, folder: bool) -> Option<String> {
        let name = self.text(key, value)?;
        let (fits, allowed) = if folder {
            let sound = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            (name.chars().all(sound) && !name.starts_with('.'), "letters, digits, `-`, `_` and `.`, at most 100")
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

    /// A whole number from 1 to `most`.
    pub(super) fn whole(&mut self, key: &str, value: &Spanned<DeValue<'_>>, most: u32) -> Option<u32> {
        let Some(number) = integer(value.get_ref()) else {
            self.wrong_type(key, value, Kind::Whole.expected());
            return None;
        };
        let fitting = u32::try_from(number).ok().filter(|number| (1..=most).contains(number));
        if fitting.is_none() {
            let kind = ProblemKind::Range { key: key.to_owned(), value: number.to_string(), least: 1, most };
            self.note(self.line_of(value), kind);
        }
        fitting
    }

    /// A percentage, 0 to 100.
    pub(super) fn percentage(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<f64> {
        let Some(number) = number(value.get_ref()) else {
            self.wrong_type(key, value, Kind::Number.expected());
            return None;
        };
        let fits = (0.0..=100.0).contains(&number);
        if !fits {
            let kind = ProblemKind::Range { key: key.to_owned(), value: number.to_string(), least: 0, most: 100 };
            self.note(self.line_of(value), kind);
        }
        fits.then_some(number)
    }

    /// A setting, if its value has the type of its key.
    pub(super) fn setting(&mut self, name: &str, key: &'static Key, value: &Spanned<DeValue<'_>>) -> Option<Setting> {
        let read = match key.kind {
            Kind::Text => Value::One(self.text(name, value)?),
            Kind::Texts if value.get_ref().is_array() => Value::Many(self.texts(name, value)?),
            Kind::Texts => Value::Many(vec![self.text(name, value)?]),
            Kind::Options => Value::Many(self.options(name, value)?),
            Kind::Number | Kind::Whole | Kind::Switch => {
                let Some(read) = scalar(key.kind, value.get_ref()) else {
                    self.wrong_type(name, value, key.kind.expected());
                    return None;
                };
                read
            }
        };
        let setting = Setting { key, value: read, line: self.line_of(value) };
        self.check(name, &setting).then_some(setting)
    }

    fn texts(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let items = value.get_ref().as_array()?;
        if items.is_empty() {
            self.note(self.line_of(value), ProblemKind::Empty(name.to_owned()));
            return None;
        }
        items.iter().map(|item| self.text(name, item)).collect()
    }

    /// Options as `NAME=VALUE`, those of a protocol as `ID.NAME=VALUE`.
    fn options(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let table = self.table(name.to_owned(), value)?;
        let mut options = Vec::new();
        for entry in self.entries(&table) {
            let path = table.path(&quoted(entry.key));
            if entry.value.get_ref().is_table() {
                self.known(&path, entry.line, entry.key, "protocol", &protocol::IDS)?;
                for option in self.options(&path, entry.value)? {
                    options.push(format!("{}.{option}", entry.key));
                }
            } else {
                options.push(format!("{}={}", entry.key, self.text(&path, entry.value)?));
            }
        }
        Some(options)
    }

    /// Checks the values of settings with a fixed list of words, and that addresses contain no secrets.
    fn check(&mut self, name: &str, setting: &Setting) -> bool {
        let line = setting.line;
        match (setting.key.name, &setting.value) {
            ("protocol", Value::One(id)) => self.known(name, line, id, "protocol", &protocol::IDS).is_some(),
            ("method", Value::One(method)) => {
                self.known(name, line, method, "method", &Method::ALL.map(Method::name)).is_some()
            }
            ("exemplar_order", Value::One(order)) => {
                self.known(name, line, order, "order", &ExemplarOrder::NAMES).is_some()
            }
            ("base_url" | "wiki_url", value) => {
                let addresses = match value {
                    Value::One(address) => std::slice::from_ref(address),
                    Value::Many(addresses) => addresses,
                    Value::Switch(_) => &[],
                };
                let open = !addresses.iter().flat_map(|address| address.split(',')).any(may_hold_a_secret);
                if !open {
                    self.note(line, ProblemKind::Secret(name.to_owned()));
                }
                open
            }
            _ => true,
        }
    }
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// A number or a switch. Numbers have one spelling, so that `0` and `0.0` are equal.
fn scalar(kind: Kind, value: &DeValue<'_>) -> Option<Value> {
    match kind {
        Kind::Switch => value.as_bool().map(Value::Switch),
        Kind::Whole => {
            let number = value.as_integer()?;
            u64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| Value::One(number.to_string()))
        }
        _ => number(value).map(|number| Value::One(number.to_string())),
    }
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    let number = match value.as_float() {
        Some(number) => number.as_str().parse::<f64>().ok()?,
        // Numbers too large for a float's digits have no use here; the nearest float will do.
        None => value.as_integer()?.as_str().parse::<f64>().ok()?,
    };
    // Turns -0 into 0.
    Some(number + 0.0)
}

/// Whether an address has a user part or a query.
fn may_hold_a_secret(address: &str) -> bool {
    match url::Url::parse(address) {
        Ok(url) => !url.username().is_empty() || url.password().is_some() || url.query().is_some(),
        Err(_) => address.contains(['@', '?']),
    }
}
