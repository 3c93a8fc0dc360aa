//! Runs that a rule could stop. What the rule found takes the place of a test whose number of questions was fixed before, and
//! every other test of such a run says that it was not.

use super::comparison::{MethodInterval, Pair, Tests};
use super::{NamedFigure, Settings};
use crate::types::{StopRule, Stopping};

/// The method of an interval that holds at any time.
pub(super) const SEQUENCE: &str = "confidence sequence";

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
    /// Whether any of these variants is of the run.
    fn has(&self, variants: &[&str]) -> bool {
        self.variants.iter().any(|of_run| variants.contains(&of_run.as_str()))
    }

    /// What the rule found about this pair, seen as `b − a`.
    fn about(&self, a: &str, b: &str, figure: &NamedFigure) -> Option<Stopping> {
        let [first, second] = self.pair.as_ref()?;
        let found = self.found.as_ref().filter(|_| self.rule.metric == figure.name)?;
        match () {
            () if first == a && second == b => Some(found.clone()),
            () if first == b && second == a => Some(found.swapped()),
            () => None,
        }
    }

    /// What is said of everything else of the run.
    pub(super) fn note(&self) -> String {
        let about = if self.found.is_some() {
            format!("only what it says of {} and {} in {}", self.rule.a, self.rule.b, self.rule.label())
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

/// The pair as the rule of its run decides it, or with the rule that makes its p invalid.
pub(super) fn ruled(pair: Pair, figure: &NamedFigure, settings: &Settings) -> Pair {
    if let Some(found) = about(&pair.a, &pair.b, figure, settings) {
        return sequential(pair, found);
    }
    Pair { stopped_by: stopped_by(&[&pair.a, &pair.b], settings), ..pair }
}

/// The rule that could stop a run of these variants, so that no p and no interval of them is valid at its nominal level.
pub(super) fn stopped_by(variants: &[&str], settings: &Settings) -> Option<String> {
    settings.stopped.iter().find(|run| run.has(variants)).map(|run| run.rule.to_string())
}

/// What a rule found about this pair, seen as `b − a`.
pub(super) fn about(a: &str, b: &str, figure: &NamedFigure, settings: &Settings) -> Option<Stopping> {
    settings.stopped.iter().find_map(|run| run.about(a, b, figure))
}

/// No figure of a fixed number of questions is left.
fn sequential(pair: Pair, found: Stopping) -> Pair {
    let interval = (found.n > 0).then_some(MethodInterval {
        method: SEQUENCE,
        level: 1.0 - found.rule.alpha,
        low: found.low,
        high: found.high,
    });
    Pair {
        n: found.n,
        a_mean: found.a_mean,
        b_mean: found.b_mean,
        difference: found.difference,
        se: None,
        unpaired_se: None,
        correlation: None,
        interval,
        intervals: interval.into_iter().collect(),
        bootstrap: None,
        tests: Tests::default(),
        p: None,
        p_holm: None,
        mde: None,
        questions_needed: None,
        questions_needed_interval: None,
        bounds: None,
        p_highest: None,
        resume: Vec::new(),
        stopping: Some(found),
        ..pair
    }
}
