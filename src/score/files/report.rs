//! What scoring a file of predictions gives.

use super::Files;
use serde::Serialize;
use serde_json::{Map, Value};

/// The figures of one file of predictions, under the names and in the order of the official script.
#[derive(Debug, Serialize)]
pub struct Report {
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
    /// What a reader should know of the gold file before using the figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// One object per question, `id` first, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<Value>>,
}

impl Report {
    /// A report without figures, to which questions are added.
    pub(super) fn new(metric: &'static str, files: &Files<'_>) -> Self {
        let items = files.per_item.then(Vec::new);
        Self { metric, n: 0, aggregate: Map::new(), official: None, missing: Map::new(), notes: Vec::new(), items }
    }

    /// Counts a question; keeps its scores if they were requested.
    pub(super) fn add<K: Into<String>, V: Into<Value>>(
        &mut self,
        id: impl Into<Value>,
        values: impl IntoIterator<Item = (K, V)>,
    ) {
        self.n += 1;
        if let Some(items) = &mut self.items {
            let mut fields = named([("id", id)]);
            fields.extend(named(values));
            items.push(fields.into());
        }
    }
}

/// An object of named values, in their order.
pub(super) fn named<K: Into<String>, V: Into<Value>>(values: impl IntoIterator<Item = (K, V)>) -> Map<String, Value> {
    values.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}
