//! Records and typed access to their fields, with errors that name the field and show the value.

use super::error::Problem;
use super::{DatasetError, Place};
use crate::base::excerpt;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashSet;

#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) place: Place,
    pub(super) fields: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Layout {
    Array,
    /// JSON objects one after the other, in most files one per line.
    #[default]
    Lines,
    Csv,
    Tsv,
}

#[derive(Debug)]
pub(super) struct Fault {
    pub(super) field: String,
    pub(super) problem: String,
}

impl Fault {
    pub(super) fn missing(field: &str) -> Self {
        Self { field: field.to_owned(), problem: "missing".to_owned() }
    }

    pub(super) fn expected(field: &str, what: &str, value: &Value) -> Self {
        Self::expected_of_cell(field, what, &value.to_string())
    }

    /// The same of the text in a table's cell.
    pub(super) fn expected_of_cell(field: &str, what: &str, cell: &str) -> Self {
        Self { field: field.to_owned(), problem: format!("expected {what}, found `{}`", excerpt(cell)) }
    }

    /// The error of the record at this place.
    pub(super) fn at(self, file: &str, place: Place) -> DatasetError {
        DatasetError::at(file, place, Problem::Field(self.field, self.problem))
    }
}

impl Record {
    pub(super) fn get(&self, field: &str) -> Option<&Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    /// How a field is spelled here: as it is, else in the only other case of its letters that there is.
    pub(super) fn spelled<'a>(&'a self, field: &'a str) -> &'a str {
        if self.fields.contains_key(field) {
            return field;
        }
        let mut alike = self.fields.keys().filter(|name| name.eq_ignore_ascii_case(field));
        alike.next().filter(|_| alike.next().is_none()).map_or(field, String::as_str)
    }

    /// The first of these fields that is there, else the last one.
    pub(super) fn first_of<'a>(&self, fields: &[&'a str]) -> &'a str {
        fields.iter().find(|field| self.get(field).is_some()).or(fields.last()).copied().unwrap_or_default()
    }

    /// The question's text, which must not be empty.
    pub(super) fn question(&self, field: &str) -> Result<String, Fault> {
        let text = string(field, self.get(field).ok_or_else(|| Fault::missing(field))?)?;
        if text.trim().is_empty() {
            return Err(Fault {
                field: field.to_owned(),
                problem: format!("the question is empty: `{}`", excerpt(text)),
            });
        }
        Ok(text.to_owned())
    }

    pub(super) fn optional_string(&self, field: &str) -> Result<Option<String>, Fault> {
        self.get(field).map(|value| string(field, value).map(str::to_owned)).transpose()
    }

    /// An id: a text or a whole number; empty when there is none.
    pub(super) fn id(&self, field: &str) -> Result<String, Fault> {
        match self.get(field) {
            None => Ok(String::new()),
            Some(Value::String(id)) => Ok(id.clone()),
            Some(Value::Number(id)) if id.is_i64() || id.is_u64() => Ok(id.to_string()),
            Some(other) => Err(Fault::expected(field, "a text or a whole number", other)),
        }
    }

    pub(super) fn list(&self, field: &str) -> Result<&[Value], Fault> {
        self.get(field).map_or(Ok(&[]), |value| array(field, value).map(Vec::as_slice))
    }

    /// Gold answers: a text or a list of texts; empty when there is none or an empty text, which hides them.
    pub(super) fn texts(&self, field: &str) -> Result<Vec<String>, Fault> {
        match self.get(field) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text.clone()]),
            Some(list @ Value::Array(_)) => strings(field, list),
            Some(other) => Err(Fault::expected(field, "a text or a list of texts", other)),
        }
    }

    /// A list of texts that a table holds as JSON in one cell.
    pub(super) fn packed_texts(&self, field: &str) -> Result<Vec<String>, Fault> {
        match self.get(field) {
            Some(Value::String(cell)) => serde_json::from_str(cell)
                .map_err(|_| Fault::expected(field, "a JSON list of texts", &Value::String(cell.clone()))),
            _ => self.texts(field),
        }
    }

    /// Whatever is not among `known`.
    pub(super) fn rest(&self, known: &[&str]) -> Map<String, Value> {
        self.fields
            .iter()
            .filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

/// The first record of a file, with what else shows its format.
pub(super) struct First<'a> {
    pub(super) record: &'a Record,
    pub(super) layout: Layout,
    /// Path of the file in lower case.
    pub(super) file: &'a str,
}

impl First<'_> {
    pub(super) fn has(&self, field: &str) -> bool {
        self.record.fields.contains_key(field)
    }

    /// Whether it has all of these fields, and no other.
    pub(super) fn has_only(&self, fields: &[&str]) -> bool {
        self.record.fields.len() == fields.len() && fields.iter().all(|field| self.has(field))
    }

    pub(super) fn text(&self, field: &str) -> bool {
        self.record.get(field).is_some_and(Value::is_string)
    }

    pub(super) fn list(&self, field: &str) -> bool {
        self.record.get(field).is_some_and(Value::is_array)
    }

    pub(super) fn object(&self, field: &str) -> bool {
        self.record.get(field).is_some_and(Value::is_object)
    }

    /// Whether the file's own name has this as a word, or begins with it.
    pub(super) fn named(&self, word: &str) -> bool {
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        name.starts_with(word) || name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == word)
    }
}

/// The answers, and after them those aliases that are not among them.
pub(super) fn with_aliases(mut answers: Vec<String>, aliases: Vec<String>) -> Vec<String> {
    let mut known: HashSet<String> = answers.iter().cloned().collect();
    answers.extend(aliases.into_iter().filter(|alias| known.insert(alias.clone())));
    answers
}

pub(super) fn string<'a>(field: &str, value: &'a Value) -> Result<&'a str, Fault> {
    value.as_str().ok_or_else(|| Fault::expected(field, "a text", value))
}

pub(super) fn array<'a>(field: &str, value: &'a Value) -> Result<&'a Vec<Value>, Fault> {
    value.as_array().ok_or_else(|| Fault::expected(field, "a list", value))
}

pub(super) fn integer(field: &str, value: &Value) -> Result<i64, Fault> {
    value.as_i64().ok_or_else(|| Fault::expected(field, "a whole number", value))
}

pub(super) fn strings(field: &str, value: &Value) -> Result<Vec<String>, Fault> {
    array(field, value)?.iter().map(|item| string(field, item).map(str::to_owned)).collect()
}

/// A value whose numbers, also those in a list, are texts as they are written.
pub(super) fn as_written(raw: &RawValue) -> Option<Value> {
    let text = raw.get();
    match text.as_bytes().first()? {
        b'-' | b'0'..=b'9' => Some(Value::String(text.to_owned())),
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            items.into_iter().map(as_written).collect()
        }
        _ => serde_json::from_str(text).ok(),
    }
}
