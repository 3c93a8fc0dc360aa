//! One sentence about a pair, and how its figures are written.

use super::comparison::{Bounds, Verdict, Word};
use super::{Better, MethodInterval, NamedFigure, Pair, Settings, Unit};
use crate::base::stats::{Interval, Reach};
use crate::base::text::{counted, joined};
use crate::scoring::float;

impl Verdict {
    /// What follows from a pair, one of `pairs` that were corrected together.
    pub(super) fn of(pair: &Pair, figure: &NamedFigure, pairs: usize, settings: &Settings) -> Self {
        if let Some(found) = &pair.stopping {
            let better = if found.difference > Some(0.0) { &pair.b } else { &pair.a };
            let winner = found.decided.then(|| better.clone());
            let word = if found.decided { Word::Beats } else { Word::Undecided };
            let sentence = found.sentence(&pair.a, &pair.b, figure.label());
            return Self { word, distinguishable: found.decided, winner, sentence };
        }
        let words = VerdictWords { pair, figure, pairs, settings };
        let mut verdict = match (pair.difference, pair.p_holm) {
            (Some(difference), Some(p)) if difference != 0.0 && p < settings.alpha => words.apart(difference, p),
            (Some(difference), Some(p)) => Self { sentence: words.not_apart(difference, p), ..Self::default() },
            _ => Self { word: Word::CannotBeCompared, sentence: words.not_compared(), ..Self::default() },
        };
        if let Some(rule) = &pair.stopped_by {
            let Self { sentence, .. } = &verdict;
            verdict.sentence = format!("{sentence}; not valid at its nominal level, as the run had the rule {rule}");
        }
        if verdict.word == Word::Undecided {
            let commands = joined(pair.resume.iter().map(|command| format!("`{command}`")), " and ");
            let next = commands.as_deref().unwrap_or("measure them to decide");
            verdict.sentence = format!("{}: {next}", verdict.sentence);
        }
        verdict
    }
}

impl Pair {
    /// Adds to the verdict on a judge's figure the difference that so many labels make of it, and its interval of this level; absent
    /// where these are too few. A lead that labels do not confirm is undecided.
    pub(crate) fn hold_against_labels(&mut self, labels: usize, found: Option<(f64, Interval)>, level: f64) {
        let verdict = &mut self.verdict;
        let Some((mean, interval)) = found else {
            if labels > 0 {
                let few = counted(labels, "label");
                verdict.sentence = format!("{}; {few} are too few to correct the judge in both", verdict.sentence);
            }
            return;
        };
        let swapped = match &verdict.winner {
            Some(winner) => *winner == self.a,
            None => verdict.distinguishable && self.difference < Some(0.0),
        };
        let shown = signed(Unit::Share, if swapped { -mean } else { mean });
        let ends = ends([interval.low, interval.high], swapped, |end| signed(Unit::Share, end));
        let corrected =
            format!("{} make it {shown} points, {} % interval {ends}", counted(labels, "label"), percent(level));
        let is_confirmed = if self.difference > Some(0.0) { interval.low > 0.0 } else { interval.high < 0.0 };
        if verdict.winner.is_some() && !is_confirmed {
            (verdict.word, verdict.winner, self.unconfirmed_by_labels) = (Word::Undecided, None, true);
            verdict.sentence = format!("undecided, as labels do not confirm that {}", verdict.sentence);
        }
        verdict.sentence = format!("{}; {corrected}", verdict.sentence);
    }
}

/// The test of right and wrong answers, which assumes nothing about their distribution.
const EXACT: &str = "mcnemar exact";

/// The verdict on a pair whose number of questions was fixed before.
struct VerdictWords<'a> {
    pair: &'a Pair,
    figure: &'a NamedFigure,
    pairs: usize,
    settings: &'a Settings,
}

impl VerdictWords<'_> {
    /// The two are distinguishable: the better one, or the one with more, comes first, and its lead is positive.
    fn apart(&self, difference: f64, p: f64) -> Verdict {
        let Pair { a, b, .. } = self.pair;
        let b_first = match self.figure.better {
            Better::Higher | Better::Neither => difference > 0.0,
            Better::Lower => difference < 0.0,
        };
        let (first, second) = if b_first { (b, a) } else { (a, b) };
        let less = if self.figure.better == Better::Lower { " (less is better)" } else { "" };
        let size = format!("{}{less}", self.amount(difference.abs()));
        let swapped = difference < 0.0;
        let evidence = format!("{}, {}", self.interval(swapped), self.p(p));
        let (bounds, neither) = (self.pair.bounds, self.figure.better == Better::Neither);
        let open = self.pair.p_highest.is_some_and(|p| p >= self.settings.alpha);
        if let Some(open) = bounds.filter(|_| open) {
            let lead = match (neither, self.pairs) {
                (true, _) => format!("{first} lies above {second}"),
                // There is no other variant to be ahead of.
                (false, 1) => format!("{first} leads"),
                (false, _) => format!("{first} leads {second}"),
            };
            let sentence = format!("{lead} by {size}{}{evidence}", self.undecided(open, swapped));
            return Verdict { word: Word::Undecided, distinguishable: true, winner: None, sentence };
        }
        let bounds = bounds.map_or_else(
            || self.without_bounds(),
            |of| {
                // The difference is of the measured questions only.
                let is_outside = difference < of.low || difference > of.high;
                let over = if is_outside { format!(" over all {} questions tried", of.n) } else { String::new() };
                format!(" ({}{over})", self.bounds(of, swapped))
            },
        );
        // Whatever the distribution of the questions' differences.
        let by_test = self.pair.p.is_some_and(|p| p.test == EXACT);
        let is_sure = by_test || self.pair.distribution_free.is_some_and(|interval| !interval.contains(0.0));
        let word = if is_sure { Word::Beats } else { Word::IsAheadOf };
        let verb = if neither { "lies above" } else { word.name() };
        let caveat = if word == Word::IsAheadOf { self.caveat(swapped) } else { String::new() };
        let sentence = format!("{first} {verb} {second} by {size}{bounds}{evidence}{caveat}");
        Verdict { word, distinguishable: true, winner: (!neither).then(|| first.clone()), sentence }
    }

    /// ` without the 37 unmeasured questions`, of a figure whose values have no range.
    fn without_bounds(&self) -> String {
        match self.pair.unmeasured {
            0 => String::new(),
            1 => " without the one unmeasured question".to_owned(),
            unmeasured => format!(" without the {unmeasured} unmeasured questions"),
        }
    }

    /// ` on the 163 measured questions; undecided, as the 37 unmeasured could reverse it (bounds -0.5 to +18.0)`
    fn undecided(&self, open: Bounds, swapped: bool) -> String {
        let n = self.pair.n;
        let whom = match open.unmeasured {
            // Some repeats of a question may have been measured.
            unmeasured if n + unmeasured > open.n => {
                format!("{} with unmeasured repeats", counted(unmeasured, "question"))
            }
            1 => "the one unmeasured".to_owned(),
            unmeasured => format!("the {unmeasured} unmeasured"),
        };
        let measured = format!("on the {n} measured questions");
        let could = match self.pair.p_highest {
            Some(p) if !open.hold_zero() => format!("bring it to {}", self.p(p)),
            _ if open.low == 0.0 || open.high == 0.0 => "undo it".to_owned(),
            _ => "reverse it".to_owned(),
        };
        format!(" {measured}; undecided, as {whom} could {could} ({})", self.bounds(open, swapped))
    }

    /// `bounds -0.5 to +18.0`, as the difference is named.
    fn bounds(&self, Bounds { low, high, .. }: Bounds, swapped: bool) -> String {
        format!("bounds {}", ends([low, high], swapped, |end| signed(self.figure.unit, end)))
    }

    fn not_compared(&self) -> String {
        let Pair { a, b, shares_none, .. } = self.pair;
        let none = format!("no question has a value for {} in both", self.figure.label());
        let why = if *shares_none { "they share no question" } else { &none };
        format!("{b} and {a} cannot be compared: {why}")
    }

    fn not_apart(&self, difference: f64, p: f64) -> String {
        let Pair { a, b, n, reach: Reach { mde, .. }, .. } = self.pair;
        let unlike = format!("{b} and {a} are not distinguishable");
        let questions = counted(*n, "question");
        // The signed-rank test leaves out what is 0, and is absent if that is all.
        if *n > 0 && self.pair.tests.wilcoxon.is_none() {
            return format!("{unlike}: they never differ in {} on {questions}", self.figure.label());
        }
        let shown =
            mde.map_or_else(|| self.nothing_shown(), |mde| format!("with {questions} {}", self.detectable(mde)));
        let found = format!("observed: {}{}, {}", self.amount(difference), self.interval(false), self.p(p));
        format!("{unlike}: {shown}; {found}")
    }

    /// Such as `the smallest detectable difference is 42.0 points EM (80 % power, if 53 % of them differ)`.
    fn detectable(&self, least: f64) -> String {
        let Pair { n, p, reach: Reach { units, differing, .. }, .. } = self.pair;
        let unit = if units == n { "of them" } else { "of the clusters" };
        let share = 100.0 * float(*differing) / float(*units);
        let share = if differing == units { "all".to_owned() } else { format!("{share:.0} %") };
        // What McNemar's test sees of a question is whether it differs, others see by how much.
        let spread = if p.is_some_and(|p| p.test == EXACT) { "" } else { " with the same spread" };
        let power = percent(self.settings.power);
        let least = self.amount(least);
        format!("the smallest detectable difference is {least} ({power} % power, if {share} {unit} differ{spread})")
    }

    /// On what the lead depends, where only sign flips show it.
    fn caveat(&self, swapped: bool) -> String {
        let Some(MethodInterval { level, low, high, .. }) = self.pair.distribution_free else {
            let Pair { n, reach: Reach { units, .. }, .. } = self.pair;
            let clusters = if n == units { "" } else { " clusters" };
            // Of a kind of question that so many lack with this chance, the largest share in per cent.
            let share = 100.0 * (1.0 - self.settings.alpha.powf(1.0 / float(*units)));
            let share = if share < 10.0 { format!("{share:.1}") } else { format!("{share:.0}") };
            return format!(
                "; a kind of question that makes up {share} % could be missing from these {units}{clusters}"
            );
        };
        let unit = self.figure.unit;
        let ends = ends([low, high], swapped, |at| signed(unit, shown_end(unit, at)));
        let corrected = if self.pairs > 1 { format!(" at {} %", percent(level)) } else { String::new() };
        format!(", unless rare questions differ much more than these: without that assumption {ends}{corrected}")
    }

    /// Why the questions show no difference, however large.
    fn nothing_shown(&self) -> String {
        let Pair { n, reach: Reach { units, differing, least_differing, too_few_resamples, .. }, .. } = self.pair;
        let unit = if units == n { "question" } else { "cluster" };
        let among = if units == n { String::new() } else { format!(" in {}", counted(*units, "cluster")) };
        let some = if differing == units {
            String::new()
        } else {
            format!(", of which {differing} differ{},", if *differing == 1 { "s" } else { "" })
        };
        let all = format!("{}{among}{some}", counted(*n, "question"));
        let holm = if self.pairs > 1 { " after Holm" } else { "" };
        let below = format!("at p < {}{holm}", self.settings.alpha);
        if u64::try_from(*differing).is_ok_and(|differing| differing < *least_differing) {
            format!("{all} cannot show any difference {below}, as at least {least_differing} {unit}s must differ")
        } else if *too_few_resamples {
            format!("so few resamples cannot show any difference {below}")
        } else {
            format!("{all} cannot show any difference {below} with {} % power", percent(self.settings.power))
        }
    }

    /// `4.2 points EM`, `131.5 tokens`.
    fn amount(&self, number: f64) -> String {
        let points = if self.figure.unit == Unit::Share { "points " } else { "" };
        let (shown, nothing) = (value(self.figure.unit, number), value(self.figure.unit, 0.0));
        let shown = if shown == nothing && number != 0.0 { "less than 0.1".to_owned() } else { shown };
        format!("{shown} {points}{}", self.figure.label())
    }

    /// `, 95 % interval 1.1 to 7.3`; with the ends swapped where the sentence names `b` first. It is not corrected for the number
    /// of pairs: where it excludes 0 and the corrected p shows nothing, it says so.
    fn interval(&self, swapped: bool) -> String {
        self.pair.interval.map_or_else(String::new, |interval| {
            let alone = self.pair.p_holm.is_some_and(|p| p >= self.settings.alpha) && !interval.contains(0.0);
            let alone = if alone { " of this pair alone" } else { "" };
            let shown = |at| value(self.figure.unit, shown_end(self.figure.unit, at));
            let ends = interval.is_bounded().then(|| ends([interval.low, interval.high], swapped, shown));
            let ends = ends.unwrap_or_else(|| "unbounded".to_owned());
            format!(", {} % interval{alone} {ends}", percent(interval.level))
        })
    }

    fn p(&self, p: f64) -> String {
        let corrected = if self.pairs > 1 { " after Holm" } else { "" };
        format!("{}{corrected}", p_equals(p))
    }
}

/// `1.1 to 7.3`, those of `a − b` if `swapped`.
fn ends([low, high]: [f64; 2], swapped: bool, shown: impl Fn(f64) -> String) -> String {
    let [low, high] = if swapped { [-high, -low] } else { [low, high] };
    format!("{} to {}", shown(low), shown(high))
}

/// Smaller p values are shown as below this.
const SMALLEST_P: f64 = 0.0001;

/// A value without its unit: shares in per cent or percentage points, other numbers with three digits or so.
pub(crate) fn value(unit: Unit, value: f64) -> String {
    let text = match unit {
        Unit::Share => format!("{:.1}", 100.0 * value),
        Unit::Amount => amount(value),
    };
    text.strip_prefix('-').filter(|text| is_nothing(text)).map_or_else(|| text.clone(), str::to_owned)
}

/// The end of an interval as it is shown: shares differ by 100 points at most, which a t interval may exceed.
pub(crate) fn shown_end(unit: Unit, end: f64) -> f64 {
    if unit == Unit::Share { end.clamp(-1.0, 1.0) } else { end }
}

/// A level in per cent: 95 rather than 95.0, and 99.9 as it is.
pub(crate) fn percent(level: f64) -> String {
    let text = format!("{:.3}", 100.0 * level);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A difference: the same, with its sign.
pub(crate) fn signed(unit: Unit, difference: f64) -> String {
    let text = value(unit, difference);
    if difference > 0.0 && !is_nothing(&text) { format!("+{text}") } else { text }
}

/// Whether it is shown as 0, which has no sign.
fn is_nothing(text: &str) -> bool {
    text.chars().all(|c| !c.is_ascii_digit() || c == '0')
}

/// A probability in a table: `0.0080`, `<0.0001`.
pub(crate) fn p_value(p: f64) -> String {
    if p < SMALLEST_P { format!("<{SMALLEST_P}") } else { format!("{p:.4}") }
}

/// A probability in a sentence: `p = 0.0080`, `p < 0.0001`.
pub(crate) fn p_equals(p: f64) -> String {
    if p < SMALLEST_P {
        return format!("p < {SMALLEST_P}");
    }
    format!("p = {}", p_value(p))
}

fn amount(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        1000.0.. => format!("{value:.0}"),
        100.0.. => format!("{value:.1}"),
        0.1.. => format!("{value:.2}"),
        0.0001.. => format!("{value:.6}"),
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Unit, p_equals, p_value, shown_end, signed, value};

    #[test]
    fn figures_have_useful_digits() {
        assert_eq!([0.0421, -0.0421, -0.0001].map(|share| value(Unit::Share, share)), ["4.2", "-4.2", "0.0"]);
        let amounts = [12345.6, 123.45, 12.345, 0.012_345_6, 0.000_012_3, 0.0, -3.0];
        let shown = amounts.map(|amount| value(Unit::Amount, amount));
        assert_eq!(shown, ["12346", "123.5", "12.35", "0.012346", "1.23e-5", "0", "-3.00"]);
        let differences = [0.151, -0.151, 0.0, -0.0001, 0.0001].map(|value| signed(Unit::Share, value));
        assert_eq!(differences, ["+15.1", "-15.1", "0.0", "0.0", "0.0"]);
        assert_eq!(signed(Unit::Amount, 2.0), "+2.00");
        for (unit, value, shown) in [(Unit::Share, -1.768, -1.0), (Unit::Share, 0.5, 0.5), (Unit::Amount, 1.1, 1.1)] {
            assert!((shown_end(unit, value) - shown).abs() < 1e-12, "{value}");
        }
        let p = [1.0, 0.008, 0.03125, 0.000_05];
        assert_eq!(p.map(p_value), ["1.0000", "0.0080", "0.0312", "<0.0001"]);
        assert_eq!(p.map(p_equals), ["p = 1.0000", "p = 0.0080", "p = 0.0312", "p < 0.0001"]);
    }
}
