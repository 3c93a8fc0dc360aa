//! JSON in model output: values that distinguish what Python's `json` does, read strictly or leniently.

mod reader;
mod repr;
#[cfg(test)]
mod tests;

pub(super) use reader::{first_object, lenient_object, value};
pub(super) use repr::dict_repr;

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A value. Written as JSON it keeps integers whole, and numbers that JSON lacks become null.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    Null,
    Bool(bool),
    /// Decimal digits, with a minus for negative numbers: Python's integers have no bounds.
    Int(String),
    Float(f64),
    Text(String),
    List(Vec<Item>),
    Dict(Dict),
}

/// The entries of an object, each key once.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Dict(pub(super) Vec<(String, Item)>);

impl Dict {
    pub(super) fn get(&self, key: &str) -> Option<&Item> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, item)| item)
    }

    /// The entries as a JSON object; integers beyond 64 bits become floats.
    pub(super) fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(object)) => object,
            _ => Map::new(),
        }
    }
}

impl Item {
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_dict(&self) -> Option<&Dict> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }
}

impl Serialize for Dict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, item)| (key, item)))
    }
}

/// Recursion is bounded: the reader refuses deep nesting.
impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(yes) => serializer.serialize_bool(*yes),
            Self::Int(digits) => RawValue::from_string(digits.clone()).map_err(S::Error::custom)?.serialize(serializer),
            Self::Float(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Dict(dict) => dict.serialize(serializer),
        }
    }
}

/// Entries in order of first appearance, each with its last value.
pub(super) fn last_values<V>(entries: Vec<(String, V)>) -> Vec<(String, V)> {
    let mut places: HashMap<String, usize> = HashMap::with_capacity(entries.len());
    let mut kept: Vec<(String, V)> = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        if let Some(&place) = places.get(&key) {
            kept[place].1 = value;
        } else {
            places.insert(key.clone(), kept.len());
            kept.push((key, value));
        }
    }
    kept
}
