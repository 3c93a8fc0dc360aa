//! What scoring a file of predictions gives.

use serde::Serialize;
use serde_json::{Map, Value};

/// The figures of one file of predictions, under the names and in the order of the official script.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Name of the metric.
    pub metric: &'static str,
    /// Questions that count.
    pub n: usize,
    /// Means, percentages and counts, as the metric defines them.
    pub aggregate: Map<String, Value>,
    /// What the official script prints, where it rounds what `aggregate` holds in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub official: Option<Map<String, Value>>,
    /// How many questions lack what, such as an answer.
    pub missing: Map<String, Value>,
    /// One object a question, `id` first, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<Value>>,
}

/// An object of named values, in their order.
pub(super) fn named<K: Into<String>, V: Into<Value>>(values: impl IntoIterator<Item = (K, V)>) -> Map<String, Value> {
    values.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// Collects the scores of each question where they were asked for.
pub(super) struct Items(pub(super) Option<Vec<Value>>);

impl Items {
    pub(super) fn new(wanted: bool) -> Self {
        Self(wanted.then(Vec::new))
    }

    pub(super) fn add<V: Into<Value>>(
        &mut self,
        id: impl Into<Value>,
        values: impl IntoIterator<Item = (&'static str, V)>,
    ) {
        if let Some(items) = &mut self.0 {
            let mut fields = named([("id", id)]);
            fields.extend(named(values));
            items.push(fields.into());
        }
    }
}
