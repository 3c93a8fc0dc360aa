//! Charts as SVG, coloured by classes: the page's style sheet has them in light and dark, a file by itself has its own.

use super::html::{Attributes, Html};
use std::fmt::Write as _;

/// From values to places in a picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// A mean or a difference with the ends of its interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate {
    pub(super) at: f64,
    pub(super) ends: Option<(f64, f64)>,
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
pub(super) fn interval_mark(html: &mut Html, scale: &Scale, y: f64, estimate: Estimate) {
    let hollow = if estimate.hollow { " un" } else { "" };
    if let Some((low, high)) = estimate.ends {
        line(html, &format!("ci{hollow}"), (scale.of(low), y), (scale.of(high), y));
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
