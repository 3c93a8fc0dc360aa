//! When a run stops by itself: as soon as it is decided which of two variants is better.

use super::text::counted;
use serde::{Deserialize, Serialize};
use std::fmt;

/// `decided(METRIC, A, B)`, with a level where that is not 0.05: the run stops as soon as the evidence against "no difference
/// between A and B" reaches one over the level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StopRule {
    /// One of [`StopRule::METRICS`].
    pub metric: String,
    /// Names of two variants; differences are those of the second less the first.
    pub a: String,
    /// The second variant.
    pub b: String,
    /// How often a run without a difference may stop at all.
    pub alpha: f64,
}

/// Why a text is not a rule, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StopRuleError {
    message: String,
    pub hint: String,
}

/// What a rule has found, after the questions up to which both of its variants are finished, in the order of the plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stopping {
    /// The rule.
    pub rule: StopRule,
    /// Questions of the run.
    pub planned: usize,
    /// How many of them, from the first on, were looked at; if it is decided, those after which it was.
    pub looked: usize,
    /// Whether the evidence is enough to stop.
    pub decided: bool,
    /// Those of them that were measured under both variants.
    pub n: usize,
    /// Those of them that were not, and which the rule leaves out.
    pub left_out: usize,
    /// Recorded episodes of later questions: they were running when it was decided.
    pub later: usize,
    /// Evidence against "no difference".
    pub e_value: f64,
    /// Mean of the first variant; absent without measured questions.
    pub a_mean: Option<f64>,
    /// Mean of the second.
    pub b_mean: Option<f64>,
    /// Mean of the differences, `b − a`.
    pub difference: Option<f64>,
    /// The ends of the confidence sequence of the difference, at the level `1 − alpha`.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl StopRule {
    /// The scores of an answer, which need no other program, and lie between 0 and 1.
    pub const METRICS: [&str; 4] = ["em", "f1", "precision", "recall"];
    /// How a rule is written.
    pub const FORM: &str = "decided(METRIC, A, B)";
    const ALPHA: f64 = 0.05;

    /// Reads a rule.
    pub fn parse(text: &str) -> Result<Self, StopRuleError> {
        let wrong = |message: String, hint: &str| StopRuleError { message, hint: hint.to_owned() };
        let form = "write it as decided(em, A, B) with the names of two variants, or decided(em, A, B, 0.01)";
        let shown = super::text::printable(text, 120);
        let inner = text.trim().strip_prefix("decided").map(str::trim_start);
        let inner = inner.and_then(|rest| rest.strip_prefix('(')).and_then(|rest| rest.strip_suffix(')'));
        let Some(words) = inner.and_then(words) else {
            return Err(wrong(format!("`{shown}` is not a rule for stopping"), form));
        };
        let (metric, a, b, alpha) = match words.as_slice() {
            [metric, a, b] => (metric, a, b, None),
            [metric, a, b, alpha] => (metric, a, b, Some(alpha)),
            _ => return Err(wrong(format!("`{shown}` does not name a metric and two variants"), form)),
        };
        let metric = metric.to_ascii_lowercase();
        if !Self::METRICS.contains(&metric.as_str()) {
            let message = format!("`{}` cannot stop a run", super::text::printable(&metric, 60));
            let hint = format!(
                "a rule needs a score of each answer: use one of {}; others are compared with `wikitrail compare` afterwards",
                Self::METRICS.join(", ")
            );
            return Err(StopRuleError { message, hint });
        }
        if a == b {
            let name = super::text::printable(a, 80);
            return Err(wrong(format!("`{shown}` compares `{name}` with itself"), "name two different variants"));
        }
        let alpha = match alpha {
            None => Self::ALPHA,
            Some(text) => text.parse().ok().filter(|alpha| *alpha >= 1e-6 && *alpha <= 0.5).ok_or_else(|| {
                wrong(
                    format!("`{}` is not a level", super::text::printable(text, 60)),
                    "the level is a number from 0.000001 to 0.5, such as 0.01; 0.05 if absent",
                )
            })?,
        };
        Ok(Self { metric, a: a.clone(), b: b.clone(), alpha })
    }

    /// The evidence that decides.
    pub fn limit(&self) -> f64 {
        1.0 / self.alpha
    }
}

/// The words between commas, without quotes; none if a quote is open or a word is empty.
fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => words.push(String::new()),
            c => words.last_mut()?.push(c),
        }
    }
    let words: Vec<String> = words.iter().map(|word| word.trim().to_owned()).collect();
    (!quoted && words.iter().all(|word| !word.is_empty())).then_some(words)
}

impl fmt::Display for StopRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |name: &str| if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() };
        write!(f, "decided({}, {}, {}", self.metric, name(&self.a), name(&self.b))?;
        if self.alpha != Self::ALPHA {
            write!(f, ", {}", self.alpha)?;
        }
        write!(f, ")")
    }
}

impl TryFrom<String> for StopRule {
    type Error = StopRuleError;

    fn try_from(text: String) -> Result<Self, StopRuleError> {
        Self::parse(&text)
    }
}

impl From<StopRule> for String {
    fn from(rule: StopRule) -> Self {
        rule.to_string()
    }
}

impl Stopping {
    /// The same seen as `a − b`.
    #[must_use]
    pub fn swapped(&self) -> Self {
        let rule = StopRule { a: self.rule.b.clone(), b: self.rule.a.clone(), ..self.rule.clone() };
        let (a_mean, b_mean, difference) = (self.b_mean, self.a_mean, self.difference.map(|of| -of));
        Self { rule, a_mean, b_mean, difference, low: -self.high, high: -self.low, ..self.clone() }
    }

    /// Such as `6 episodes after the stop are in no table`.
    pub fn after_stop(&self) -> String {
        let verb = if self.later == 1 { "is" } else { "are" };
        format!("{} after the stop {verb} in no table", counted(self.later, "episode"))
    }

    /// What the rule says, with these names of its variants and of its metric. They are not escaped.
    pub fn sentence(&self, a: &str, b: &str, metric: &str) -> String {
        let Self { rule, planned, looked, e_value, low, high, .. } = self;
        let points = |share: f64| format!("{:.1}", 100.0 * share + 0.0);
        let level = 100.0 * (1.0 - rule.alpha);
        let sequence = |low: f64, high: f64| {
            let level = format!("{level:.4}");
            let level = level.trim_end_matches('0').trim_end_matches('.');
            format!("{level} % confidence sequence {} to {}", points(low), points(high))
        };
        let difference = self.difference.unwrap_or_default();
        let mut text = if self.decided {
            let questions = counted(*planned, "question");
            let (better, worse, low, high) = if difference > 0.0 { (b, a, *low, *high) } else { (a, b, -high, -low) };
            let lead = points(difference.abs());
            format!(
                "stopped after {looked} of {questions}: {better} is better than {worse} in {metric}, {} points ({lead} at the stop; \
                 an estimate at a stop exaggerates), e = {e_value:.3}",
                sequence(low, high)
            )
        } else {
            let questions = counted(*planned, "question");
            let so_far = if looked < planned { format!("{looked} of {questions}") } else { questions };
            let limit = format!("{:.2}", rule.limit());
            let limit = limit.trim_end_matches('0').trim_end_matches('.');
            format!(
                "not decided after {so_far}: the difference {b} − {a} is {} points {metric}, {}, e = {e_value:.3} ({limit} decides)",
                points(difference),
                sequence(*low, *high)
            )
        };
        if self.left_out > 0 {
            let questions = counted(self.left_out, "question");
            text = format!("{text}; {questions} left out, not measured or scored in both");
        }
        if self.decided && self.later > 0 {
            text = format!("{text}; {}", self.after_stop());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{StopRule, Stopping};

    #[test]
    fn a_rule_is_read_and_written() {
        for (text, written) in [
            ("decided(em, a, b)", "decided(em, a, b)"),
            (" decided ( EM ,a,b , 0.05)", "decided(em, a, b)"),
            ("decided(f1, cot-sc->react, x/y (z), 0.01)", "decided(f1, cot-sc->react, x/y (z), 0.01)"),
            ("decided(recall, \"a, b\", c)", "decided(recall, \"a, b\", c)"),
        ] {
            let rule = StopRule::parse(text).expect(text);
            assert_eq!(rule.to_string(), written);
            assert_eq!(StopRule::parse(written), Ok(rule.clone()));
            let json = serde_json::to_string(&rule).expect("JSON");
            assert_eq!(serde_json::from_str::<StopRule>(&json).expect("a rule"), rule);
        }
    }

    #[test]
    fn what_is_not_a_rule_is_told() {
        for (text, message, hint) in [
            ("em(a) < em(b)", "is not a rule for stopping", "decided(em, A, B)"),
            ("decided(em, a, \"b)", "is not a rule for stopping", "decided(em, A, B)"),
            ("decided(em, a, )", "is not a rule for stopping", "decided(em, A, B)"),
            ("decided(em, a)", "does not name a metric and two variants", "decided(em, A, B)"),
            ("decided(steps, a, b)", "`steps` cannot stop a run", "em, f1, precision, recall"),
            ("decided(em, a, a)", "compares `a` with itself", "two different"),
            ("decided(em, a, b, 0)", "`0` is not a level", "such as 0.01"),
            ("decided(em, a, b, x)", "`x` is not a level", "such as 0.01"),
        ] {
            let error = StopRule::parse(text).expect_err(text);
            assert!(error.to_string().contains(message) && error.hint.contains(hint), "{error} {}", error.hint);
        }
    }

    #[test]
    fn a_sentence_names_the_better_one_first() {
        let rule = StopRule::parse("decided(em, a, b)").expect("a rule");
        let stopping = Stopping {
            rule,
            planned: 500,
            looked: 145,
            decided: true,
            n: 144,
            left_out: 1,
            later: 6,
            e_value: 21.44,
            a_mean: Some(0.5),
            b_mean: Some(0.4),
            difference: Some(-0.1),
            low: -0.19,
            high: -0.004,
        };
        assert_eq!(
            stopping.sentence("x", "y", "EM"),
            "stopped after 145 of 500 questions: x is better than y in EM, 95 % confidence sequence 0.4 to 19.0 points (10.0 at \
             the stop; an estimate at a stop exaggerates), e = 21.440; 1 question left out, not measured or scored in both; 6 \
             episodes after the stop are in no table"
        );
        assert_eq!(stopping.swapped().sentence("y", "x", "EM"), stopping.sentence("x", "y", "EM"));
        let open = Stopping { looked: 500, decided: false, left_out: 0, e_value: 2.0, ..stopping };
        assert_eq!(
            open.sentence("a", "b", "EM"),
            "not decided after 500 questions: the difference b − a is -10.0 points EM, 95 % confidence sequence -19.0 to -0.4, \
             e = 2.000 (20 decides)"
        );
        let rule = StopRule::parse("decided(em, a, b, 0.45)").expect("a rule");
        let sentence = Stopping { rule, ..open }.sentence("a", "b", "EM");
        assert!(sentence.contains("55 % confidence sequence") && sentence.ends_with("(2.22 decides)"), "{sentence}");
    }
}
