//! Formatting of figures, in sentences and in tables.

use super::Unit;

/// Smaller p values are shown as below this.
const SMALLEST_P: f64 = 0.0001;

/// A value without its unit: shares in per cent, their differences in percentage points; other numbers with three
/// digits or so.
pub(crate) fn value(unit: Unit, value: f64) -> String {
    let text = match unit {
        Unit::Share => format!("{:.1}", 100.0 * value),
        Unit::Amount => amount(value),
    };
    text.strip_prefix('-').filter(|text| is_nothing(text)).map_or_else(|| text.clone(), str::to_owned)
}

/// The end of the interval of a difference as it is shown: shares differ by 100 points at most, but an interval from the t
/// distribution may exceed that.
pub(crate) fn end(unit: Unit, end: f64) -> f64 {
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

/// A probability in a sentence: `p = 0.008`, `p < 0.0001`.
pub(crate) fn p_equals(p: f64) -> String {
    if p < SMALLEST_P {
        return format!("p < {SMALLEST_P}");
    }
    format!("p = {}", p_value(p).trim_end_matches('0').trim_end_matches('.'))
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
    use super::{Unit, end, p_equals, p_value, signed, value};

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
            assert!((end(unit, value) - shown).abs() < 1e-12, "{value}");
        }
        let p = [1.0, 0.008, 0.03125, 0.000_05];
        assert_eq!(p.map(p_value), ["1.0000", "0.0080", "0.0312", "<0.0001"]);
        assert_eq!(p.map(p_equals), ["p = 1", "p = 0.008", "p = 0.0312", "p < 0.0001"]);
    }
}
