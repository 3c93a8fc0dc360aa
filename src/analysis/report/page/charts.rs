//! The charts, for the page and as files of their own.

use super::html::{Attributes, Html, minus, without_folders};
use crate::analysis::compare::verdict::{percent, value};
use crate::analysis::compare::{FigureComparison, MethodInterval, Pair, Unit, VariantMean, Word};
use crate::analysis::results::{Group, Source};
use crate::base::text::{counted, cut, joined};
use crate::scoring::{figure, float};
use std::fmt::Write as _;

/// Size of a chart in a cell of a table.
const CELL: (f64, f64) = (240.0, 24.0);

/// Room at both ends of an axis, for half a dot.
const EDGE: f64 = 6.0;

/// The sentence of a mean: what somebody hears who cannot see its chart.
fn sentence(mean: &VariantMean, label: &str) -> String {
    let shown = |share: f64| value(Unit::Share, share);
    let at = mean.mean.map_or_else(|| "not measured".to_owned(), |at| format!("{} % {label}", shown(at)));
    let ends = mean.interval.map(|of| format!(", 95 % interval {} to {}", shown(of.low), shown(of.high)));
    format!("{}: {at}{}", mean.variant, ends.unwrap_or_default())
}

fn estimate(mean: &VariantMean) -> Option<Estimate> {
    Some(Estimate { at: mean.mean?, interval: mean.interval, hollow: false })
}

/// `40 to 85 %`
pub(super) fn ends_of((low, high): (f64, f64)) -> String {
    format!("{:.0} to {:.0} %", 100.0 * low, 100.0 * high)
}

/// A mean with its interval on that axis.
pub(super) fn score(html: &mut Html, mean: &VariantMean, ends: (f64, f64), label: &str) {
    let scale = Scale::new(ends, (EDGE, CELL.0 - EDGE));
    picture(html, CELL, &sentence(mean, label), |html| {
        for tick in scale.ticks(4.0) {
            line(html, "axis", (scale.of(tick), 2.0), (scale.of(tick), CELL.1 - 2.0));
        }
        if let Some(estimate) = estimate(mean) {
            interval_mark(html, &scale, CELL.1 / 2.0, estimate);
        }
    });
}

/// The means of two variants on one axis that fits their intervals.
pub(super) fn pair_of_means(html: &mut Html, means: &[&VariantMean], label_: &str) {
    const ROW: f64 = 28.0;
    let (width, base) = (560.0, 8.0 + ROW * float(means.len()));
    let x = Scale::new(score_scale(means.iter().copied()), (170.0, width - 16.0));
    let about = joined(means.iter().map(|mean| sentence(mean, label_)), "; ").unwrap_or_default();
    picture(html, (width, base + 22.0), &about, |html| {
        for tick in x.ticks(5.0) {
            line(html, "axis", (x.of(tick), 4.0), (x.of(tick), base));
            label(html, "axis", (x.of(tick), base + 16.0), "middle", &short(100.0 * tick));
        }
        label(html, "axis", (160.0, base + 16.0), "end", &format!("{label_} %"));
        for (at, mean) in means.iter().enumerate() {
            let y = 8.0 + ROW * (float(at) + 0.5);
            label(html, "label", (160.0, y + 4.0), "end", &cut(&mean.variant, 22));
            if let Some(estimate) = estimate(mean) {
                interval_mark(html, &x, y, estimate);
            }
        }
    });
}

/// What an axis of shares has to reach to hold these means with their intervals, in steps of five points.
pub(super) fn score_scale<'a>(means: impl Iterator<Item = &'a VariantMean>) -> (f64, f64) {
    let ends = means.filter_map(estimate).map(|one| one.interval.map_or((one.at, one.at), |of| (of.low, of.high)));
    let (low, high) = ends.fold((1.0_f64, 0.0_f64), |(low, high), (l, h)| (low.min(l), high.max(h)));
    if low > high { (0.0, 1.0) } else { ((low * 20.0).floor().max(0.0) / 20.0, (high * 20.0).ceil().min(20.0) / 20.0) }
}

/// A count as a bar, as a share of the greatest one.
pub(super) fn count_bar(html: &mut Html, share: f64) {
    html.element("svg", &[("aria-hidden", "true"), ("class", "share"), ("width", "64"), ("height", "10")], |html| {
        bar(html, "bar", (64.0 - 64.0 * share, 0.0), (64.0 * share, 10.0));
    });
}

/// How far the axis of differences reaches to both sides of 0.
pub(super) fn reach(figure: &FigureComparison) -> f64 {
    let ends = figure.pairs.iter().flat_map(|pair| {
        let bounded = pair.interval.filter(MethodInterval::is_bounded);
        let ends = bounded.map(|of| [of.low.abs(), of.high.abs()]).unwrap_or_default();
        ends.into_iter().chain(pair.difference.map(f64::abs))
    });
    let widest = ends.fold(0.01_f64, f64::max).min(1.0);
    (widest * 20.0).ceil() / 20.0
}

pub(super) fn difference_scale(figure: &FigureComparison) -> Scale {
    let reach = reach(figure);
    Scale::new((-reach, reach), (EDGE, CELL.0 - EDGE))
}

fn pair_estimate(pair: &Pair) -> Option<Estimate> {
    let hollow = pair.verdict.word >= Word::Undecided;
    Some(Estimate { at: pair.difference?, interval: pair.interval, hollow })
}

/// The level in per cent of the interval of a rule's pair, where it is not the 95 of the page.
pub(super) fn own_level(pair: &Pair) -> Option<String> {
    let level = percent(pair.interval.filter(|_| pair.stopping.is_some())?.level);
    (level != "95").then_some(level)
}

/// A difference with its interval around 0.
pub(super) fn pair(html: &mut Html, pair: &Pair, scale: &Scale) {
    picture(html, CELL, &minus(&without_folders(&pair.verdict.sentence)), |html| {
        line(html, "zero", (scale.of(0.0), 0.0), (scale.of(0.0), CELL.1));
        if let Some(estimate) = pair_estimate(pair) {
            interval_mark(html, scale, CELL.1 / 2.0, estimate);
        }
    });
}

/// What an episode cost in the best unit that is known: US dollars, tokens, steps.
fn cost_of(sources: &[Source]) -> (&'static str, Vec<Option<f64>>) {
    let of = |figure: &figure::Figure| sources.iter().map(|source| source.mean(figure)).collect::<Vec<_>>();
    let known = |means: &[Option<f64>]| means.iter().all(|mean| mean.is_some_and(|mean| mean > 0.0));
    let (cost, tokens) = (of(&figure::COST_USD), of(&figure::TOKENS));
    if known(&cost) {
        ("US $ a question", cost)
    } else if known(&tokens) {
        ("tokens a question", tokens)
    } else {
        ("steps a question", of(&figure::STEPS))
    }
}

/// The means that are known, each with what a question cost, and the unit of that.
pub(super) fn cost_points(group: &Group) -> (Vec<(&VariantMean, f64)>, &'static str) {
    let (unit, costs) = cost_of(&group.sources);
    let known = group.means().into_iter().zip(costs);
    let points = known.filter_map(|(mean, cost)| Some((mean.filter(|mean| mean.mean.is_some())?, cost?)));
    (points.collect(), unit)
}

/// The score of each variant against what a question cost.
pub(super) fn cost(html: &mut Html, metric: &str, (points, unit): &(Vec<(&VariantMean, f64)>, &'static str)) {
    const SIZE: (f64, f64) = (520.0, 280.0);
    const FRAME: (f64, f64, f64, f64) = (44.0, 16.0, 510.0, 236.0);
    let x = Scale::new(cost_scale(points.iter().map(|(_, cost)| *cost)), (FRAME.0, FRAME.2));
    let y = Scale::new(score_scale(points.iter().map(|(mean, _)| *mean)), (FRAME.3, FRAME.1));
    let about = format!("{metric} against {unit} of {}", counted(points.len(), "variant"));
    picture(html, SIZE, &about, |html| {
        for tick in y.ticks(5.0) {
            line(html, "axis", (FRAME.0, y.of(tick)), (FRAME.2, y.of(tick)));
            label(html, "axis", (FRAME.0 - 6.0, y.of(tick) + 4.0), "end", &format!("{:.0}", 100.0 * tick));
        }
        for tick in x.ticks(6.0) {
            label(html, "axis", (x.of(tick), FRAME.3 + 16.0), "middle", &short(tick));
        }
        label(html, "axis", (FRAME.2, SIZE.1 - 8.0), "end", unit);
        label(html, "axis", (FRAME.0, 10.0), "start", &format!("{metric} %"));
        for (mean, cost) in points {
            let at = x.of(*cost);
            if let Some(of) = mean.interval {
                line(html, "ci", (at, y.of(of.low)), (at, y.of(of.high)));
            }
            if let Some(em) = mean.mean {
                interval_mark(html, &x, y.of(em), Estimate { at: *cost, interval: None, hollow: false });
            }
        }
        // Labels that would lie on others move up or down, and what finds no room is in the table.
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        for (name, (at, height)) in names(points, &x, &y) {
            let width = 7.0 * float(name.chars().count());
            let is_left = at + width > FRAME.2;
            let start = if is_left { at - 9.0 - width } else { at + 9.0 };
            let is_free = |base: &f64| {
                let apart = |(from, to, other): &(f64, f64, f64)| {
                    start > *to || start + width < *from || (base - other).abs() >= 13.0
                };
                (FRAME.1..FRAME.3).contains(base) && taken.iter().all(apart)
            };
            let Some(base) = [-7.0, 15.0, -20.0, 28.0, -33.0, 41.0].map(|by| height + by).into_iter().find(is_free)
            else {
                continue;
            };
            taken.push((start, start + width, base));
            let (at, anchor) = if is_left { (at - 9.0, "end") } else { (at + 9.0, "start") };
            label(html, "label", (at, base), anchor, &name);
        }
    });
}

/// What an axis of costs has to reach: from 0, unless all lie close together.
fn cost_scale(costs: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let (low, high) = (costs.clone().fold(f64::INFINITY, f64::min), costs.fold(0.0, f64::max));
    match (high - low, high) {
        (_, high) if high <= 0.0 => (0.0, 1.0),
        (span, high) if span > high / 2.0 => (0.0, 1.08 * high),
        (span, high) => (low - 0.2 * span - 0.02 * high, high + 0.2 * span + 0.02 * high),
    }
}

/// A number of an axis without the tail that floating point leaves.
fn short(tick: f64) -> String {
    let text = format!("{tick:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// One name for points that fall together.
fn names(points: &[(&VariantMean, f64)], x: &Scale, y: &Scale) -> Vec<(String, (f64, f64))> {
    const CLOSE: f64 = 13.0;
    let mut found: Vec<(Vec<&str>, (f64, f64))> = Vec::new();
    for (mean, cost) in points {
        let Some(em) = mean.mean else { continue };
        let at = (x.of(*cost), y.of(em));
        let near = |known: &&mut (Vec<&str>, (f64, f64))| {
            (known.1.0 - at.0).abs() < 3.0 * CLOSE && (known.1.1 - at.1).abs() < CLOSE
        };
        match found.iter_mut().find(near) {
            Some((names, _)) => names.push(&mean.variant),
            None => found.push((vec![&mean.variant], at)),
        }
    }
    let told = |names: Vec<&str>| match names[..] {
        [name] => name.to_owned(),
        [a, b] => format!("{a}, {b}"),
        [a, ..] => format!("{a} and {} more", names.len() - 1),
        [] => String::new(),
    };
    found.into_iter().map(|(names, at)| (told(names), at)).collect()
}

/// How many episodes took how many steps, and which of them are right.
pub(super) fn steps(html: &mut Html, name: &str, source: &Source) {
    const HEIGHT: f64 = 88.0;
    const BASE: f64 = 70.0;
    const MOST: usize = 12;
    let mut bins = [(0_u32, 0_u32); MOST];
    let mut shown = 1;
    for episode in source.episodes.iter().filter(|episode| episode.item.measured) {
        let Some(steps) = episode.item.values.get(2).copied().flatten() else { continue };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of steps")]
        let bin = (steps as usize).clamp(1, MOST) - 1;
        bins[bin].0 += 1;
        bins[bin].1 += u32::from(episode.right == Some(true));
        shown = shown.max(bin + 1);
    }
    let most = bins.iter().map(|bin| bin.0).max().unwrap_or_default().max(1);
    let height = |n: u32| 58.0 * f64::from(n) / f64::from(most);
    let listed = bins[..shown].iter().zip(1..).filter(|(bin, _)| bin.0 > 0);
    let listed = joined(listed.map(|((all, right), step)| format!("{step}: {all}, {right} right")), "; ");
    let about = format!("{name}: episodes by steps; {}", listed.unwrap_or_default());
    picture(html, (30.0 + 26.0 * 8.0_f64.max(float(shown)), HEIGHT), &about, |html| {
        for (at, (all, right)) in bins[..shown].iter().enumerate() {
            let x = 8.0 + 26.0 * float(at);
            bar(html, "bar wrong", (x, BASE - height(*all)), (20.0, height(*all)));
            bar(html, "bar", (x, BASE - height(*right)), (20.0, height(*right)));
            let more = if at + 1 == MOST { "+" } else { "" };
            label(html, "axis", (x + 10.0, BASE + 14.0), "middle", &format!("{}{more}", at + 1));
        }
    });
}

/// A chart of all rows of a table: a name and an estimate each.
fn chart(html: &mut Html, title: &str, scale: (f64, f64), zero: bool, rows: &[(String, Option<Estimate>)]) {
    const ROW: f64 = 26.0;
    let longest = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let names = (7.0 * float(longest) + 16.0).clamp(60.0, 320.0);
    let (width, base) = (names + 420.0, 16.0 + ROW * float(rows.len()));
    let x = Scale::new(scale, (names, width - 16.0));
    picture(html, (width, base + 40.0), title, |html| {
        for tick in x.ticks(6.0) {
            line(html, "axis", (x.of(tick), 8.0), (x.of(tick), base));
            label(html, "axis", (x.of(tick), base + 16.0), "middle", &minus(&short(100.0 * tick)));
        }
        if zero {
            line(html, "zero", (x.of(0.0), 8.0), (x.of(0.0), base));
        }
        label(html, "axis", (width - 16.0, base + 34.0), "end", title);
        for (at, (name, estimate)) in rows.iter().enumerate() {
            let y = 16.0 + ROW * (float(at) + 0.5);
            label(html, "label", (names - 10.0, y + 4.0), "end", name);
            if let Some(estimate) = estimate {
                interval_mark(html, &x, y, *estimate);
            }
        }
    });
}

pub(super) fn files(em: &FigureComparison, group: &Group) -> Vec<(String, String)> {
    let known: Vec<&VariantMean> = group.means().into_iter().flatten().filter(|mean| mean.mean.is_some()).collect();
    let means: Vec<_> = known.iter().map(|mean| (mean.variant.clone(), estimate(mean))).collect();
    let name = |pair: &Pair| {
        let level = own_level(pair).map_or_else(String::new, |level| format!(" ({level} %)"));
        format!("{} − {}{level}", pair.b, pair.a)
    };
    let compared = em.pairs.iter().filter(|pair| pair.difference.is_some());
    let pairs: Vec<_> = compared.map(|pair| (name(pair), pair_estimate(pair))).collect();
    let label = em.figure.label();
    let styled = |draw: &dyn Fn(&mut Html)| {
        let mut html = Html::default();
        draw(&mut html);
        html.text.replacen('>', &format!(">{STYLE}"), 1) + "\n"
    };
    let mut files = Vec::new();
    if !means.is_empty() {
        let (title, scale) = (format!("{label} %, 95 % intervals"), score_scale(known.iter().copied()));
        files.push(("scores".to_owned(), styled(&|html| chart(html, &title, scale, false, &means))));
    }
    if !pairs.is_empty() {
        let (title, reach) = (format!("differences in points {label}, 95 % intervals"), reach(em));
        files.push(("differences".to_owned(), styled(&|html| chart(html, &title, (-reach, reach), true, &pairs))));
    }
    let points = cost_points(group);
    if points.0.len() > 1 {
        files.push(("cost".to_owned(), styled(&|html| cost(html, label, &points))));
    }
    let is_measured = |source: &Source| source.episodes.iter().any(|episode| episode.item.measured);
    for (name, source) in group.names.iter().zip(&group.sources).filter(|(_, source)| is_measured(source)) {
        let name_of_file = format!("steps-{}", plain(name));
        let same = files.iter().filter(|(known, _)| known.starts_with(&name_of_file)).count();
        let name_of_file = if same == 0 { name_of_file } else { format!("{name_of_file}-{}", same + 1) };
        files.push((name_of_file, styled(&|html| steps(html, name, source))));
    }
    files
}

/// A name as part of a file's name.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).take(80).collect()
}

/// From values to places in a picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// A mean or a difference with its interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate {
    pub(super) at: f64,
    pub(super) interval: Option<MethodInterval>,
    /// Drawn hollow and grey: not distinguishable from 0.
    pub(super) hollow: bool,
}

impl Scale {
    /// `low..=high` drawn from `from` to `to`. A range of nothing is drawn in the middle.
    pub(super) fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        if low < high { Self { low, high, from, to } } else { Self { low: low - 0.5, high: low + 0.5, from, to } }
    }

    pub(super) fn of(&self, value: f64) -> f64 {
        let share = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    /// Round values inside the range, about `wanted` of them.
    pub(super) fn ticks(&self, wanted: f64) -> Vec<f64> {
        let rough = (self.high - self.low) / wanted.max(1.0);
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.low / step).ceil();
        let ticks = (0..100).map(|n| (first + f64::from(n)) * step);
        ticks.take_while(|tick| *tick <= self.high + step * 1e-9).collect()
    }
}

/// The opening tag of a picture with its sentence.
pub(super) fn picture(html: &mut Html, (width, height): (f64, f64), label: &str, fill: impl FnOnce(&mut Html)) {
    let (w, h, size) = (number(width), number(height), format!("0 0 {width:.0} {height:.0}"));
    let attributes: Attributes<'_> = &[
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("role", "img"),
        ("aria-label", label),
        ("width", &w),
        ("height", &h),
        ("viewBox", &size),
    ];
    html.element("svg", attributes, fill);
}

pub(super) fn line(html: &mut Html, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    // Writing to a String cannot fail.
    let _ = write!(html.text, "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
}

pub(super) fn bar(html: &mut Html, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
    let _ = write!(
        html.text,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
    );
}

/// A text that begins, ends or has its middle (`start`, `end`, `middle`) at a point.
pub(super) fn label(html: &mut Html, class: &str, (x, y): (f64, f64), anchor: &str, text: &str) {
    let (x, y) = (number(x), number(y));
    html.leaf("text", &[("class", class), ("x", &x), ("y", &y), ("text-anchor", anchor)], text);
}

/// A dot with its whiskers, at height `y`.
fn interval_mark(html: &mut Html, scale: &Scale, y: f64, estimate: Estimate) {
    let hollow = if estimate.hollow { " un" } else { "" };
    if let Some(of) = estimate.interval {
        line(html, &format!("ci{hollow}"), (scale.of(of.low), y), (scale.of(of.high), y));
    }
    let _ =
        write!(html.text, "<circle class=\"pt{hollow}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>", scale.of(estimate.at));
}

fn number(value: f64) -> String {
    format!("{value:.1}")
}

/// Whether a file that begins like this is a chart of ours.
pub(crate) fn is_figure(start: &str) -> bool {
    start.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=")
        && start.contains("<style>text{font:")
}

/// The style of a picture that is a file of its own.
pub(super) const STYLE: &str = "<style>text{font:12px sans-serif;fill:#4a505a}text.label{fill:#16181d}line.axis{stroke:#d5d9e0}\
     .zero{stroke:#565d68}.ci{stroke:#0b57b0;stroke-width:2}.pt{fill:#0b57b0}.pt.un{fill:#fff;stroke:#6b7280;stroke-width:2}\
     .ci.un{stroke:#6b7280}.bar{fill:#0b57b0}.bar.wrong{fill:#d5d9e0}</style>";

#[cfg(test)]
mod tests {
    use super::Scale;

    #[test]
    fn ticks_are_round_and_inside() {
        let scale = Scale::new((0.0, 1.0), (0.0, 100.0));
        assert_eq!(scale.ticks(4.0).len(), 3, "0, 0.5, 1");
        assert_eq!(Scale::new((0.0, 6.2), (0.0, 1.0)).ticks(6.0), [0.0, 2.0, 4.0, 6.0]);
        assert!((scale.of(0.25) - 25.0).abs() < 1e-9);
        assert!((scale.of(7.0) - 100.0).abs() < 1e-9, "what is outside is drawn at the end");
        assert!(Scale::new((3.0, 3.0), (0.0, 10.0)).of(3.0) > 4.9, "a range of nothing");
    }
}
