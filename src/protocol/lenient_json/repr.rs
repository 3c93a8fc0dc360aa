//! How Python writes the values that were read.

use super::super::python::float_repr;
use super::Item;
use crate::types::python::repr;

/// `repr()` of a plain dictionary with these entries. Dictionaries inside are of the reader's own class, whose
/// `repr()` names it.
pub(in crate::protocol) fn dict_repr(entries: &[(String, Item)]) -> String {
    let mut out = String::from("{");
    for (i, (key, value)) in entries.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        out.push_str(&repr(key));
        out.push_str(": ");
        push_item(&mut out, value);
    }
    out.push('}');
    out
}

/// Recursion is bounded: the reader refuses deep nesting.
fn push_item(out: &mut String, item: &Item) {
    match item {
        Item::None => out.push_str("None"),
        Item::Bool(true) => out.push_str("True"),
        Item::Bool(false) => out.push_str("False"),
        Item::Int(digits) => out.push_str(digits),
        Item::Float(number) => out.push_str(&float_repr(*number)),
        Item::Text(text) => out.push_str(&repr(text)),
        Item::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                push_item(out, item);
            }
            out.push(']');
        }
        Item::Dict(entries) if entries.is_empty() => out.push_str("AttributedDict()"),
        Item::Dict(entries) => {
            out.push_str("AttributedDict([");
            for (i, (key, value)) in entries.iter().enumerate() {
                out.push_str(if i > 0 { ", (" } else { "(" });
                out.push_str(&repr(key));
                out.push_str(", ");
                push_item(out, value);
                out.push(')');
            }
            out.push_str("])");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Item, dict_repr};

    #[test]
    fn only_the_outer_dictionary_is_plain() {
        let inner = Item::Dict(vec![("d".to_owned(), Item::Bool(true))]);
        let list = Item::List(vec![Item::Int("1".to_owned()), inner, Item::Dict(vec![])]);
        assert_eq!(
            dict_repr(&[("a".to_owned(), list), ("b".to_owned(), Item::Bool(false))]),
            "{'a': [1, AttributedDict([('d', True)]), AttributedDict()], 'b': False}"
        );
        assert_eq!(dict_repr(&[]), "{}");
    }
}
