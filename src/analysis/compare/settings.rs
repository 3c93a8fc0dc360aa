//! What to compare: the settings, the figures, and what can be wrong with them.

use crate::base::stats::Interval;
use crate::base::{Pairs, StopRule, Stopping};
use crate::runner::RunError;
use crate::scoring::{Better, Figure, Pass, Unit, figure};
use serde::Serialize;

/// Resamples of every bootstrap and permutation.
pub(crate) const RESAMPLES: usize = 10_000;

/// Seed of every bootstrap and permutation.
pub(crate) const SEED: u64 = 12_345;

/// The hint where a figure or a field of questions is not known.
pub(super) const FIGURES_AND_FIELDS: &str = "see --metric and --by";

/// Settings of a comparison; its JSON has all of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// Coverage of every interval, above 0 and below 1.
    pub level: f64,
    /// A pair counts as different only where its corrected p is below this; above 0 and below 1.
    pub alpha: f64,
    /// Power for the minimum detectable difference; above 0 and below 1.
    pub power: f64,
    /// Resamples of every bootstrap, and of every permutation that is not enumerated; 1 or more.
    pub resamples: usize,
    /// Seed of all of these.
    pub seed: u64,
    /// The pairs to compare.
    #[serde(flatten)]
    pub pairs: Pairs,
    /// The figures to compare, in the order in which they are shown. The first is the one that decides.
    #[serde(rename = "metrics")]
    pub figures: Vec<NamedFigure>,
    /// Names of the fields to break down by, as in `Variant::groupings`.
    pub breakdowns: Vec<String>,
    /// Runs among the variants that a rule could stop.
    #[serde(skip)]
    pub stopped: Vec<StoppedRun>,
}

impl Default for Settings {
    /// EM and F1 of all pairs at 95 %.
    fn default() -> Self {
        Self {
            level: 0.95,
            alpha: 0.05,
            power: 0.8,
            resamples: RESAMPLES,
            seed: SEED,
            pairs: Pairs::default(),
            figures: vec![NamedFigure::new("em"), NamedFigure::new("f1")],
            breakdowns: Vec::new(),
            stopped: Vec::new(),
        }
    }
}

impl Settings {
    /// Refuses values outside their ranges.
    pub(super) fn check(&self) -> Result<(), RunError> {
        for (name, value) in [("level", self.level), ("alpha", self.alpha), ("power", self.power)] {
            if !(value > 0.0 && value < 1.0) {
                let message = format!("`{name}` must be greater than 0 and less than 1, not {value}");
                return Err(RunError::usage(message, "the usual level is 0.95"));
            }
        }
        if self.resamples == 0 {
            return Err(RunError::usage("`resamples` must be 1 or more", "the usual number is 10000"));
        }
        let none = || RunError::usage("no figure to compare", FIGURES_AND_FIELDS);
        (!self.figures.is_empty()).then_some(()).ok_or_else(none)
    }
}

/// A figure by its name: one of an episode, or a column of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedFigure {
    /// Its name, as in `Variant::figures`.
    pub name: String,
    pub unit: Unit,
    pub better: Better,
    /// Smallest and largest value that the figure allows; absent where it has no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Interval>,
    /// Whether it is an EM that says right or wrong and nothing between, as of labels: an accuracy, of which F1 is the same.
    #[serde(skip)]
    pub accuracy: bool,
}

/// Where shares lie; other numbers have no bound of their own.
fn range(unit: Unit) -> Option<Interval> {
    (unit == Unit::Share).then_some(Interval::SHARES)
}

impl NamedFigure {
    /// The figure of that name. An unknown name (a column of a table) is an amount without a direction.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let (unit, better) = match (Figure::named(&name), Pass::parse(&name)) {
            (Some(figure), _) => (figure.unit(), figure.better),
            (None, Some(_)) => (Unit::Share, Better::Higher),
            (None, None) => (Unit::Amount, Better::Neither),
        };
        Self { name, unit, better, range: range(unit), accuracy: false }
    }

    /// A metric from a file, which does not say whether more is better, or of judges, where it is.
    pub fn joined(name: impl Into<String>, unit: Unit, judged: bool) -> Self {
        let better = if judged { Better::Higher } else { Better::Neither };
        Self { name: name.into(), unit, better, range: range(unit), accuracy: false }
    }

    /// Whether the program does not know the figure: a column of a table, or a metric from a file.
    pub(super) fn is_own(&self) -> bool {
        Figure::named(&self.name).is_none() && self.pass().is_none()
    }

    /// What it says of sets of repeats; absent for figures that are the mean over the repeats of a question.
    pub(super) fn pass(&self) -> Option<Pass> {
        Pass::parse(&self.name)
    }

    /// The figure of an episode from which it is computed.
    pub(super) fn column(&self) -> &str {
        if self.pass().is_some() { figure::EM.name } else { &self.name }
    }

    /// That of shares, for differences of these values of a figure that the program does not know, where all lie between 0 and 1. A
    /// further variant, whose values do not, takes nothing from a pair.
    pub(super) fn range_of_own(&self, variants: &[Vec<f64>]) -> Option<Interval> {
        let shares = self.is_own() && variants.iter().flatten().all(|value| Interval::SHARES.contains(*value));
        shares.then_some(Interval::DIFFERENCES)
    }

    /// Smallest and largest difference of two values.
    pub(super) fn range_of_differences(&self) -> Option<Interval> {
        self.range.map(|Interval { low, high }| Interval { low: low - high, high: high - low })
    }

    /// Its name in a sentence.
    pub fn label(&self) -> &str {
        figure::label(&self.name, self.accuracy)
    }
}

/// The name of a figure, for the name as typed.
pub(crate) fn canonical(typed: &str) -> String {
    let name = typed.trim().to_ascii_lowercase();
    if name == "cost" { figure::COST_USD.name.to_owned() } else { name }
}

/// A run that a rule could stop, as far as its variants are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct StoppedRun {
    pub rule: StopRule,
    /// Names of the run's variants in the comparison.
    pub variants: Vec<String>,
    /// Names of the rule's two variants in the comparison; absent if one of them is not compared.
    pub pair: Option<[String; 2]>,
    /// What the rule found; absent where the folder does not hold the run's questions.
    pub found: Option<Stopping>,
}

impl StoppedRun {
    pub(super) fn has(&self, variants: &[&str]) -> bool {
        self.variants.iter().any(|of_run| variants.contains(&of_run.as_str()))
    }

    /// What the rule found about this pair, seen as `b − a`.
    pub(super) fn about(&self, a: &str, b: &str, figure: &NamedFigure) -> Option<Stopping> {
        let [first, second] = self.pair.as_ref()?;
        let found = self.found.as_ref().filter(|_| self.rule.metric == figure.name)?;
        match () {
            () if first == a && second == b => Some(found.clone()),
            () if first == b && second == a => Some(found.swapped()),
            () => None,
        }
    }

    /// What is said of everything else of the run.
    pub(super) fn note(&self, accuracy: bool) -> String {
        let about = if self.found.is_some() {
            let metric = figure::label(&self.rule.metric, accuracy);
            format!("only what it says of {} and {} in {metric}", self.rule.a, self.rule.b)
        } else {
            "the folder does not hold the run's questions, so that nothing".to_owned()
        };
        format!(
            "the run of {} had the rule {}, which looks again and again: {about} is valid at its level; p and intervals of all \
             others are not valid at their nominal level{}",
            self.variants.join(", "),
            self.rule,
            self.found
                .as_ref()
                .filter(|found| found.decided && found.later > 0)
                .map_or_else(String::new, |found| format!("; {}", found.after_stop()))
        )
    }
}
