//! What is compared: the figures of each variant, one row per question and repeat.

/// One variant of a run, or one table of figures.
///
/// Nothing here knows where the figures come from: episodes of a run, or any table of numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Variant {
    /// Its name in pairs and verdicts; unique among the variants of a comparison.
    pub name: String,
    /// Names of its figures, such as `em`; the order of [`Item::values`].
    pub figures: Vec<String>,
    /// Names of the fields by which it can be broken down, such as `type`; the order of [`Item::groups`].
    pub groupings: Vec<String>,
    /// Its rows, in any order. Questions are listed in the order of their first rows.
    pub items: Vec<Item>,
    /// The command that runs again what was not measured, where there is one.
    pub resume: Option<String>,
}

/// The figures of one question, once.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Item {
    /// Id of the question; variants are paired by it.
    pub question: String,
    /// Which repeat of the question, from 0. Repeats are averaged before anything is compared.
    pub repeat: u32,
    /// Questions of one cluster are not independent of each other (twins, one source page).
    pub cluster: Option<String>,
    /// Whether there is a measurement. `false` if the model or Wikipedia failed, or the budget was spent: such a row
    /// counts in the bounds only.
    pub measured: bool,
    /// Value of each figure in the order of [`Variant::figures`]; absent if there is none, such as a cost without
    /// a price or a score whose gold is hidden. Values that are not finite count as absent.
    pub values: Vec<Option<f64>>,
    /// Positions of figures that were not measured though the row was: a judge's tie, an empty field of a table.
    pub missing: Vec<usize>,
    /// Value of each field in the order of [`Variant::groupings`]; absent if the question has none.
    pub groups: Vec<Option<String>>,
}

impl Variant {
    pub(crate) fn new(name: impl Into<String>, figures: Vec<String>, groupings: Vec<String>) -> Self {
        Self { name: name.into(), figures, groupings, ..Self::default() }
    }

    /// Position of that figure in [`Item::values`].
    pub(crate) fn figure(&self, name: &str) -> Option<usize> {
        self.figures.iter().position(|figure| figure == name)
    }

    /// Position of that field in [`Item::groups`].
    pub(crate) fn grouping(&self, name: &str) -> Option<usize> {
        self.groupings.iter().position(|grouping| grouping == name)
    }
}

impl Item {
    /// The value of a figure at that position; absent if the row was not measured or the value is not finite.
    pub(crate) fn value(&self, figure: usize) -> Option<f64> {
        self.values.get(figure).copied().flatten().filter(|value| self.measured && value.is_finite())
    }

    /// Whether the figure at that position was not measured. One without a value may have none for this question.
    pub(crate) fn is_missing(&self, figure: usize) -> bool {
        !self.measured || self.missing.contains(&figure)
    }
}
