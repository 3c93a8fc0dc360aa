//! The values of an experiment file: names, numbers, and the settings of variants and datasets.

use super::extra::{self, HeaderValue};
use super::settings::{Assignment, DATASET_SETTINGS, Kind, Setting, VARIANT_SETTINGS, value_text};
use crate::base::Method;
pub(super) use crate::prompting::{Entry, Reader as Notes, Table};
use crate::prompting::{Fault, protocol, quoted};
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::DeValue;

pub(super) const TOP_KEYS: [&str; 13] = [
    "name",
    "description",
    "dataset",
    "repeats",
    "stop_when",
    "baseline",
    "contrasts",
    "names",
    "settings",
    "matrix",
    "include",
    "exclude",
    "published",
];

impl Notes<'_> {
    pub(super) fn unknown_key(&mut self, table: &Table<'_>, entry: Entry<'_>, known: &[&'static str]) {
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
        self.refuse_key(table, entry, known, belongs);
    }

    /// Notes each key that the table lacks.
    pub(super) fn require(&mut self, table: &Table<'_>, entries: &[Entry<'_>], needed: &[&str]) {
        for key in needed.iter().filter(|key| entries.iter().all(|entry| entry.key != **key)) {
            self.missing(table, key);
        }
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
            let message = format!("`{key}` is `{}`, which is not a valid name", quoted(&name));
            self.note(self.line_of(value), fault(message, &format!("use {allowed}")));
            return None;
        }
        Some(name)
    }

    pub(super) fn scalar(&mut self, key: &str, value: &Spanned<DeValue<'_>>, kind: Kind) -> Option<Value> {
        let read = scalar(kind, value.get_ref()).filter(|read| kind.holds(read));
        if read.is_none() {
            self.wrong_type(key, value, &kind.expected());
        }
        read
    }

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
            Kind::Body | Kind::Headers => self.extra(name, setting.kind, value)?,
            Kind::Reasoning | Kind::Number(..) | Kind::Whole(..) | Kind::Switch => {
                self.scalar(name, value, setting.kind)?
            }
            Kind::Choice(words) => {
                let word = self.text(name, value)?;
                // `exemplar_order` is an order.
                let what = setting.name.rsplit('_').next().unwrap_or(setting.name);
                self.known(name, line, &word, what, words)?;
                Value::from(word)
            }
            Kind::Method => {
                let word = self.text(name, value)?;
                let method = Method::parse(&word);
                if method.is_none() {
                    self.known(name, line, &word, "method", &Method::ALL.map(Method::typed))?;
                }
                Value::from(method?.name())
            }
            _ => Value::from(self.text(name, value)?),
        };
        if setting.kind == Kind::Price && !setting.kind.holds(&read) {
            self.wrong_type(name, value, &setting.kind.expected());
            return None;
        }
        let addresses = match setting.kind {
            Kind::Url | Kind::Urls => value_text(&read),
            // The address in `retriever:URL?topk=N`.
            Kind::Source => {
                let source = value_text(&read);
                let address = source.strip_prefix("retriever:").unwrap_or_default();
                address.split_once("?topk=").map_or(address, |(address, _)| address).to_owned()
            }
            _ => String::new(),
        };
        if addresses.split(',').any(|url| may_hold_a_secret(url.trim())) {
            let message = format!("`{name}` has a user name or a query, which may contain a secret");
            let flag = setting.name.replace('_', "-");
            let hint = format!(
                "the file is stored with the run: leave `{name}` out of it and give it with --{flag} on the command line, or a key \
                 with --key-env"
            );
            self.note(line, fault(message, &hint));
            return None;
        }
        Some(Assignment { setting, value: read, line })
    }

    fn extra(&mut self, name: &str, kind: Kind, value: &Spanned<DeValue<'_>>) -> Option<Value> {
        let table = self.table(name.to_owned(), value)?;
        let line = self.line_of(value);
        let checked = if kind == Kind::Body {
            let body = self.json(name, value)?;
            extra::check_body(body.as_object()?).map(|()| extra::sorted(body))
        } else {
            let mut typed = Vec::new();
            for entry in self.entries(&table) {
                typed.push(format!("{}={}", entry.key, self.text(&table.path(&quoted(entry.key)), entry.value)?));
            }
            let headers = extra::parse_headers(typed.iter().map(String::as_str));
            // A file may come from somebody else, and must not send our variables anywhere.
            let is_secret = |value: &String| matches!(HeaderValue::of(value), HeaderValue::Variable(_));
            if headers.as_ref().is_ok_and(|headers| headers.values().any(is_secret)) {
                let message = format!("`{name}` names a variable with a secret, which no file may do");
                let hint = "remove it, and give --extra-header NAME=env:VARIABLE on the command line";
                self.note(line, fault(message, hint));
                return None;
            }
            headers.map(|headers| serde_json::json!(headers))
        };
        checked.map_err(|bad| self.note(line, bad)).ok()
    }

    fn json(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<Value> {
        let read = match value.get_ref() {
            DeValue::String(text) => Some(Value::from(text.as_ref())),
            DeValue::Boolean(on) => Some(Value::from(*on)),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok().map(Value::from),
            DeValue::Float(number) => {
                number.as_str().parse().ok().filter(|number: &f64| number.is_finite()).map(Value::from)
            }
            DeValue::Array(items) => {
                return items.iter().map(|item| self.json(name, item)).collect::<Option<Vec<_>>>().map(Value::from);
            }
            DeValue::Table(_) => {
                let table = self.table(name.to_owned(), value)?;
                let mut fields = Map::new();
                for entry in self.entries(&table) {
                    fields.insert(entry.key.to_owned(), self.json(&table.path(&quoted(entry.key)), entry.value)?);
                }
                return Some(Value::Object(fields));
            }
            DeValue::Datetime(_) => None,
        };
        if read.is_none() {
            self.wrong_type(name, value, "a value that JSON has");
        }
        read
    }

    fn texts(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let items = value.get_ref().as_array()?;
        if items.is_empty() {
            self.note(self.line_of(value), empty(name));
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
}

fn scalar(kind: Kind, value: &DeValue<'_>) -> Option<Value> {
    let whole = || value.as_integer().and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
    match kind {
        Kind::Switch => value.as_bool().map(Value::Bool),
        Kind::Whole(..) => whole().map(Value::from),
        Kind::Reasoning => {
            let text = value.as_str().map(str::to_owned);
            text.or_else(|| Some(whole()?.to_string())).map(Value::from)
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

fn may_hold_a_secret(address: &str) -> bool {
    match url::Url::parse(address) {
        Ok(url) => !url.username().is_empty() || url.password().is_some() || url.query().is_some(),
        Err(_) => address.contains(['@', '?']),
    }
}

/// A problem and what to do about it. Keys are written as a path, such as `include[2].protocol` (counted from 1).
pub(super) fn fault(message: String, hint: &str) -> Fault {
    Fault::from(message).hint(hint)
}

pub(super) fn empty(key: &str) -> String {
    format!("`{key}` is empty")
}

pub(super) fn set_twice(key: &str, other: &str) -> Fault {
    fault(format!("`{key}` is set here and in {other}"), "remove one of them")
}

pub(super) fn unused(key: &str) -> Fault {
    fault(format!("no variant uses `{key}`"), "remove it, or name the method, model or source that uses it")
}

pub(super) fn too_many_variants(count: usize) -> Fault {
    let message = format!("the experiment has {count} variants; the maximum is {}", super::MAX_VARIANTS);
    fault(message, "remove dimensions, or split the experiment")
}
