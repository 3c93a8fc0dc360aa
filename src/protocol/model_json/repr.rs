//! `repr()` of the values, as Python writes them.

use super::super::python::{float_repr, joined};
use super::{Dict, Item};
use crate::types::python::repr;

/// `repr()` of a plain dictionary. Dictionaries inside it are of the reader's own class, whose `repr()` names it.
pub(in crate::protocol) fn dict_repr(dict: &Dict) -> String {
    let entries = dict.0.iter().map(|(key, item)| format!("{}: {}", repr(key), item_repr(item)));
    format!("{{{}}}", joined(entries))
}

/// Recursion is bounded: the reader refuses deep nesting.
fn item_repr(item: &Item) -> String {
    match item {
        Item::Null => "None".to_owned(),
        Item::Bool(true) => "True".to_owned(),
        Item::Bool(false) => "False".to_owned(),
        Item::Int(digits) => digits.clone(),
        Item::Float(number) => float_repr(*number),
        Item::Text(text) => repr(text),
        Item::List(items) => format!("[{}]", joined(items.iter().map(item_repr))),
        Item::Dict(dict) if dict.0.is_empty() => "AttributedDict()".to_owned(),
        Item::Dict(dict) => {
            let entries = dict.0.iter().map(|(key, item)| format!("({}, {})", repr(key), item_repr(item)));
            format!("AttributedDict([{}])", joined(entries))
        }
    }
}
