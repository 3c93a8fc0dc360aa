//! Metrics that can be compared: their names, their units, and which way is better.

use serde::Serialize;

/// A metric as a comparison needs to know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metric {
    /// Its name, as in [`Column::metrics`](super::Column::metrics).
    pub name: String,
    /// How its values are shown.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
}

/// What the values of a metric are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Shares in `0.0..=1.0`: shown in per cent, and their differences in percentage points.
    Share,
    /// Any other number, shown as it is.
    Amount,
}

/// Which way a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither is: the comparison says more and less, and names no winner.
    Neither,
}

impl Metric {
    /// The metric of that name. A name that no run has (a column of a table) is an amount without a direction.
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        let (unit, better) = match name.as_str() {
            "em" | "f1" | "precision" | "recall" | "first_hop" | "all_hops" => (Unit::Share, Better::Higher),
            "gold_pages_opened" | "sentences_seen" => (Unit::Amount, Better::Higher),
            "cost_usd" | "bad_calls" | "repairs" | "prompt_tokens" | "completion_tokens" | "tokens" | "wall_ms" => {
                (Unit::Amount, Better::Lower)
            }
            _ => (Unit::Amount, Better::Neither),
        };
        Self { name, unit, better }
    }

    /// Its name in a sentence: `EM` and `F1` in capitals, all others as they are.
    pub fn label(&self) -> &str {
        match self.name.as_str() {
            "em" => "EM",
            "f1" => "F1",
            name => name,
        }
    }
}
