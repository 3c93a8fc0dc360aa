//! How figures are shown.

use crate::compare::Unit;
use crate::compare::number::value;

/// Below this a p is shown as smaller than it.
const SMALLEST_P: f64 = 0.0001;

/// A difference with its sign: of shares in percentage points.
pub(super) fn difference(unit: Unit, difference: f64) -> String {
    let text = value(unit, difference);
    let something = text.chars().any(|c| c.is_ascii_digit() && c != '0');
    if something && difference > 0.0 { format!("+{text}") } else { text }
}

/// A probability, with as many digits as are of use.
pub(super) fn p_value(p: f64) -> String {
    if p < SMALLEST_P { format!("<{SMALLEST_P}") } else { format!("{p:.4}") }
}

#[cfg(test)]
mod tests {
    use super::{Unit, difference, p_value};

    #[test]
    fn figures_have_as_many_digits_as_are_of_use() {
        let differences = [0.151, -0.151, 0.0, -0.0001].map(|value| difference(Unit::Share, value));
        assert_eq!(differences, ["+15.1", "-15.1", "0.0", "0.0"]);
        assert_eq!([1.0, 0.03125, 0.000_05].map(p_value), ["1.0000", "0.0312", "<0.0001"]);
        assert_eq!(difference(Unit::Amount, 2.0), "+2.00");
    }
}
