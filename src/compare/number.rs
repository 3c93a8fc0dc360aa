//! How figures are written in sentences.

use super::Unit;

/// Below this a p is only said to be smaller.
const SMALLEST_P: f64 = 0.0001;

/// A value without its unit: shares in per cent, their differences in percentage points; other numbers with three
/// digits or so.
pub fn value(unit: Unit, value: f64) -> String {
    let text = match unit {
        Unit::Share => format!("{:.1}", 100.0 * value),
        Unit::Amount => amount(value),
    };
    // No minus before nothing.
    let nothing = text.chars().all(|c| !c.is_ascii_digit() || c == '0');
    text.strip_prefix('-').filter(|_| nothing).map_or_else(|| text.clone(), str::to_owned)
}

/// `p = 0.008`, `p < 0.0001`.
pub fn p_equals(p: f64) -> String {
    if p < SMALLEST_P {
        return format!("p < {SMALLEST_P}");
    }
    let text = format!("{p:.4}");
    format!("p = {}", text.trim_end_matches('0').trim_end_matches('.'))
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
    use super::{Unit, p_equals, value};

    #[test]
    fn figures_have_as_many_digits_as_are_of_use() {
        assert_eq!([0.0421, -0.0421, -0.0001].map(|share| value(Unit::Share, share)), ["4.2", "-4.2", "0.0"]);
        let amounts = [12345.6, 123.45, 12.345, 0.012_345_6, 0.000_012_3, 0.0, -3.0];
        let shown = amounts.map(|amount| value(Unit::Amount, amount));
        assert_eq!(shown, ["12346", "123.5", "12.35", "0.012346", "1.23e-5", "0", "-3.00"]);
        let p = [1.0, 0.008, 0.03125, 0.000_05].map(p_equals);
        assert_eq!(p, ["p = 1", "p = 0.008", "p = 0.0312", "p < 0.0001"]);
    }
}
