//! `--bounds`: the smallest and the largest value that a figure allows.

use super::canonical;
use crate::cli::failure::Failure;
use crate::compare::NamedFigure;
use crate::stats::Interval;
use crate::types::text::visible_line;

/// A figure and its bounds, as they were typed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bounds {
    figure: String,
    range: Interval,
}

pub(super) fn parsed_bounds(text: &str) -> Result<Bounds, String> {
    let wanted = || "expected NAME=LOW..HIGH with LOW below HIGH, such as tokens=0..20000".to_owned();
    let (figure, ends) = text.rsplit_once('=').ok_or_else(wanted)?;
    let (low, high) = ends.split_once("..").ok_or_else(wanted)?;
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(wanted);
    let range = Interval { low: number(low)?, high: number(high)? };
    if range.low >= range.high || figure.trim().is_empty() {
        return Err(wanted());
    }
    Ok(Bounds { figure: canonical(figure), range })
}

/// Sets the bounds that were typed.
pub(super) fn set_bounds(bounds: &[Bounds], figures: &mut [NamedFigure]) -> anyhow::Result<()> {
    for Bounds { figure, range } in bounds {
        let name = visible_line(figure, 80);
        let Some(found) = figures.iter_mut().find(|other| other.name.eq_ignore_ascii_case(figure)) else {
            let known: Vec<String> = figures.iter().map(|figure| visible_line(&figure.name, 80)).collect();
            return Err(Failure::usage(
                format!("--bounds names `{name}`, which is not compared"),
                format!("name one of {}, or add `{name}` to --metric", known.join(", ")),
            ));
        };
        if found.range.is_some() {
            let message = format!("`{name}` has the bounds 0..1 already, or --bounds names it twice");
            return Err(Failure::usage(message, "remove --bounds for it"));
        }
        found.range = Some(*range);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Bounds, parsed_bounds};
    use crate::stats::Interval;

    #[test]
    fn bounds_are_read() {
        for (text, figure, low, high) in [
            ("tokens=0..20000", "tokens", 0.0, 20000.0),
            ("a=b=-1..1.5", "a=b", -1.0, 1.5),
            ("m = -2..-1", "m", -2.0, -1.0),
        ] {
            assert_eq!(
                parsed_bounds(text),
                Ok(Bounds { figure: figure.to_owned(), range: Interval { low, high } }),
                "{text}"
            );
        }
        for text in ["tokens", "tokens=3", "tokens=1..1", "tokens=2..1", "=0..1", "tokens=0..inf", "tokens=nan..1"] {
            assert!(parsed_bounds(text).is_err_and(|error| error.contains("NAME=LOW..HIGH")), "{text}");
        }
    }
}
