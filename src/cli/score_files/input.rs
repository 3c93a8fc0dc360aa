//! Gold and prediction files as text, and from text to typed records.
//!
//! Files are parsed in one pass into records that borrow from their text. Only where that fails is the file read a
//! second time, piece by piece, so that the error can name line, record, id and field.

use crate::cli::failure::Failure;
use crate::dataset;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

/// A text that is borrowed where the JSON holds no escapes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// An id, which some datasets write as a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Id<'a> {
    Number(i64),
    Text(Cow<'a, str>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Id<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Id<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a whole number")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Id<'de>, E> {
                Ok(Id::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Id<'de>, E> {
                Ok(Id::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Id<'de>, E> {
                Ok(Id::Number(number))
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Id<'de>, E> {
                i64::try_from(number).map(Id::Number).map_err(|_| E::custom("the id is too large a number"))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Id<'_> {
    /// As it stands in JSON.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Number(number) => Value::from(*number),
            Self::Text(text) => Value::from(text.as_ref()),
        }
    }
}

/// The text of a file, with the file's name for errors.
pub(super) struct Source {
    pub(super) file: String,
    pub(super) raw: Vec<u8>,
}

impl Source {
    /// Reads a file whole.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let file = path.display().to_string();
        let raw = std::fs::read(path)
            .map_err(|error| Failure::bad_input(format!("cannot read `{file}`: {error}"), "check the path"))?;
        Ok(Self { file, raw })
    }

    /// Its text: unpacked where it is gzip, without byte order mark.
    pub(super) fn text(&self) -> anyhow::Result<Cow<'_, str>> {
        let text = dataset::text_of(&self.file, &self.raw)?;
        let start = text.trim_start();
        if start.is_empty() {
            return Err(self.bad("the file is empty", "name the file that holds the data"));
        }
        if start.starts_with('<') {
            return Err(self.bad("line 1: this is an HTML page", "the download gave a web page: fetch the file itself"));
        }
        Ok(text)
    }

    /// An error about this file.
    pub(super) fn bad(&self, what: impl fmt::Display, hint: &str) -> anyhow::Error {
        Failure::bad_input(format!("`{}`: {what}", self.file), hint)
    }

    /// An error about a field of a record.
    pub(super) fn bad_field(
        &self,
        place: Place<'_>,
        field: &str,
        what: impl fmt::Display,
        hint: &str,
    ) -> anyhow::Error {
        self.bad(format!("{place}, field `{field}`: {what}"), hint)
    }
}

/// Where a record is: its number from 1, its line where known, and its id.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) line: Option<usize>,
    pub(super) record: usize,
    pub(super) id: Option<&'a str>,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}, ")?;
        }
        write!(f, "record {}", self.record)?;
        self.id.map_or(Ok(()), |id| write!(f, " (id `{}`)", shown(id)))
    }
}

/// A value as an error shows it: one line, at most 80 characters.
pub(super) fn shown(text: &str) -> String {
    crate::net::redact::printable(text, 80)
}

/// Whether a piece of JSON is what was expected.
pub(super) type Check = fn(&str) -> Result<(), serde_json::Error>;

/// What a file's records are, for its errors.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// Names that a record's id can have.
    pub(super) ids: &'static [&'static str],
    /// Parses one record.
    pub(super) check: Check,
    /// How the file should look.
    pub(super) hint: &'static str,
}

/// The records of a JSON array, or of JSON objects one after the other (JSON Lines).
pub(super) fn records<'a, T: Deserialize<'a>>(source: &Source, text: &'a str, kind: Kind) -> anyhow::Result<Vec<T>> {
    let parsed = if is_array(text) {
        serde_json::from_str(text)
    } else {
        serde_json::Deserializer::from_str(text).into_iter::<T>().collect()
    };
    let records: Vec<T> = parsed.map_err(|error| blame_records(source, text, kind, &error))?;
    if records.is_empty() {
        return Err(source.bad("no record", kind.hint));
    }
    Ok(records)
}

fn is_array(text: &str) -> bool {
    text.trim_start().starts_with('[')
}

/// The records as they stand in the text.
fn pieces(text: &str) -> serde_json::Result<Vec<&RawValue>> {
    if is_array(text) {
        return serde_json::from_str(text);
    }
    serde_json::Deserializer::from_str(text).into_iter().collect()
}

/// Where a record stands that is fit to be read but not what it should be; `index` counts from 0.
pub(super) fn place<'a>(text: &str, index: usize, id: &'a str) -> Place<'a> {
    let line = pieces(text).ok().and_then(|pieces| Some(line_of(text, pieces.get(index)?.get())));
    Place { line, record: index + 1, id: Some(id) }
}

/// Names the record and the field at fault.
fn blame_records(source: &Source, text: &str, kind: Kind, error: &serde_json::Error) -> anyhow::Error {
    let pieces = match pieces(text) {
        Ok(pieces) => pieces,
        Err(error) => return not_json(source, text, &error, kind.hint),
    };
    for (number, piece) in pieces.iter().enumerate() {
        let Err(error) = (kind.check)(piece.get()) else { continue };
        let fields: Map<String, Value> = serde_json::from_str(piece.get()).unwrap_or_default();
        let id = kind.ids.iter().find_map(|name| fields.get(*name)).map(id_text);
        let place = Place { line: Some(line_of(text, piece.get())), record: number + 1, id: id.as_deref() };
        let reason = reason(&error);
        return match field_at_fault(&fields, kind.check, &error) {
            Some(field) => source.bad_field(place, &field, reason, kind.hint),
            None => source.bad(format!("{place}: {reason}"), kind.hint),
        };
    }
    not_json(source, text, error, kind.hint)
}

/// The field without which the record has another fault, or none.
fn field_at_fault(fields: &Map<String, Value>, check: Check, error: &serde_json::Error) -> Option<String> {
    let message = reason(error);
    if let Some(name) = message.strip_prefix("missing field `") {
        return name.strip_suffix('`').map(str::to_owned);
    }
    fields
        .keys()
        .find(|name| {
            let mut rest = fields.clone();
            rest.shift_remove(*name);
            serde_json::to_string(&rest)
                .is_ok_and(|text| check(&text).err().is_none_or(|error| reason(&error) != message))
        })
        .cloned()
}

/// An object from ids to values, such as the predictions of most official scripts. `check` parses one value.
pub(super) fn map<'a, T: Deserialize<'a>>(
    source: &Source,
    whole: &str,
    object: &'a RawValue,
    section: &str,
    (check, hint): (Check, &'static str),
) -> anyhow::Result<HashMap<Text<'a>, T>> {
    serde_json::from_str(object.get()).map_err(|error| {
        let Ok(entries) = serde_json::from_str::<HashMap<Text<'_>, &RawValue>>(object.get()) else {
            let line = line_of(whole, object.get());
            return source.bad(format!("line {line}, {section}: {}", reason(&error)), hint);
        };
        let faults = entries.iter().filter_map(|(id, value)| Some((value.get(), id, check(value.get()).err()?)));
        match faults.min_by_key(|(value, ..)| value.as_ptr().addr()) {
            Some((value, id, error)) => {
                let line = line_of(whole, value);
                source.bad(format!("line {line}, {section}, id `{}`: {}", shown(id.as_str()), reason(&error)), hint)
            }
            None => not_json(source, whole, &error, hint),
        }
    })
}

/// The line, from 1, on which a piece of `text` begins. The piece is borrowed from it, so its address tells its place.
pub(super) fn line_of(text: &str, piece: &str) -> usize {
    let at = piece.as_ptr().addr().saturating_sub(text.as_ptr().addr()).min(text.len());
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count()
}

pub(super) fn not_json(source: &Source, text: &str, error: &serde_json::Error, hint: &str) -> anyhow::Error {
    let line = error.line().max(1);
    if error.is_eof() {
        let what = format!("line {line}: the file ends in the middle of its data");
        return source.bad(what, "the file seems incomplete: write or fetch it again");
    }
    let start = text.lines().nth(line - 1).unwrap_or_default();
    source.bad(format!("line {line}: {}, in `{}`", reason(error), shown(start)), hint)
}

/// What the parser says, without the place, which is ours to tell.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    shown(text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what))
}

fn id_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
