//! `repr` of Python values: what `str.format` writes for a list or a dictionary.

use super::number::float_repr;
use crate::types::python::repr;
use serde_json::Value;

/// `repr(value)` of a decoded JSON value. Depth is bounded by whoever decoded it.
pub(crate) fn repr_value(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => float_repr(float),
            None => number.to_string(),
        },
        Value::String(text) => repr(text),
        Value::Array(items) => format!("[{}]", joined(items.iter().map(repr_value))),
        Value::Object(map) => {
            format!("{{{}}}", joined(map.iter().map(|(key, value)| format!("{}: {}", repr(key), repr_value(value)))))
        }
    }
}

/// `repr` of a set whose elements are shown already. Python orders a set of strings anew in every process; here the
/// elements keep the order in which they were met, each once.
pub(crate) fn set_repr(elements: impl IntoIterator<Item = String>) -> String {
    let mut seen = std::collections::HashSet::new();
    format!("{{{}}}", joined(elements.into_iter().filter(|element| seen.insert(element.clone()))))
}

fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{repr_value, set_repr};
    use serde_json::json;

    #[test]
    fn values_and_sets_are_shown_as_python_shows_them() {
        assert_eq!(
            repr_value(&json!({"a": [1, 1.5, 1e16, null, true], "b": "x"})),
            "{'a': [1, 1.5, 1e+16, None, True], 'b': 'x'}"
        );
        assert_eq!(set_repr(["'q'", "'r'", "'q'"].map(str::to_owned)), "{'q', 'r'}");
    }
}
