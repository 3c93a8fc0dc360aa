//! A figure as a comparison sees it: name, unit, and which way is better.

use crate::score::{Better, Figure, Unit};
use serde::Serialize;

/// A figure by its name: one of an episode, or a column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedFigure {
    /// Its name, as in [`Variant::figures`](super::Variant::figures).
    pub name: String,
    pub unit: Unit,
    pub better: Better,
}

impl NamedFigure {
    /// The figure of that name. An unknown name (a column of a table) is an amount without a direction.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let known = Figure::named(&name);
        let (unit, better) = known.map_or((Unit::Amount, Better::Neither), |figure| (figure.unit(), figure.better));
        Self { name, unit, better }
    }

    /// A metric from a file, which does not say whether more is better, or of judges, where it is.
    pub fn joined(name: impl Into<String>, unit: Unit, judged: bool) -> Self {
        let better = if judged { Better::Higher } else { Better::Neither };
        Self { name: name.into(), unit, better }
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
