//! A figure as a comparison sees it: name, unit, and which way is better.

use crate::score::{Better, Figure, Unit};
use crate::stats::Interval;
use serde::Serialize;

/// A figure by its name: one of an episode, or a column of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedFigure {
    /// Its name, as in [`Variant::figures`](super::Variant::figures).
    pub name: String,
    pub unit: Unit,
    pub better: Better,
    /// Smallest and largest value that the figure allows; absent where it has no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Interval>,
}

/// Where shares lie; other numbers have no bound of their own.
fn range(unit: Unit) -> Option<Interval> {
    (unit == Unit::Share).then_some(Interval::SHARES)
}

impl NamedFigure {
    /// The figure of that name. An unknown name (a column of a table) is an amount without a direction.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let known = Figure::named(&name);
        let (unit, better) = known.map_or((Unit::Amount, Better::Neither), |figure| (figure.unit(), figure.better));
        Self { name, unit, better, range: range(unit) }
    }

    /// A metric from a file, which does not say whether more is better, or of judges, where it is.
    pub fn joined(name: impl Into<String>, unit: Unit, judged: bool) -> Self {
        let better = if judged { Better::Higher } else { Better::Neither };
        Self { name: name.into(), unit, better, range: range(unit) }
    }

    /// Whether the program does not know the figure: a column of a table, or a metric from a file.
    pub(super) fn is_own(&self) -> bool {
        Figure::named(&self.name).is_none()
    }

    /// That of shares, for differences of these values of a figure that the program does not know, where all lie between 0 and 1. A
    /// further variant, whose values do not, takes nothing from a pair.
    pub(super) fn range_of_own(&self, variants: &[Vec<f64>]) -> Option<Interval> {
        let shares = self.is_own() && variants.iter().flatten().all(|value| Interval::SHARES.contains(*value));
        shares.then_some(Interval { low: -1.0, high: 1.0 })
    }

    /// Smallest and largest difference of two values.
    pub(super) fn range_of_differences(&self) -> Option<Interval> {
        self.range.map(|Interval { low, high }| Interval { low: low - high, high: high - low })
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
