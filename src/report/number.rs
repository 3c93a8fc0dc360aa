//! Figures as a person reads them.

/// There is no figure.
pub(super) fn dash() -> String {
    "–".to_owned()
}

/// A share from 0 to 1 in per cent, with one decimal.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// A count with its noun: `1 episode`, `1,200 episodes`.
pub fn counted(n: impl TryInto<u64>, noun: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    if n == 1 { format!("1 {noun}") } else { format!("{} {noun}s", thousands(n)) }
}

/// A count with commas: `1,200`.
pub fn thousands(n: impl TryInto<u64>) -> String {
    let digits = n.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time in milliseconds: `25 ms`, `1.8 s`, `12 s`, `3 min 5 s`, `2 h 7 min`.
pub(super) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..10 => format!("{seconds}.{} s", ms % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::{counted, duration, thousands};

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([0_u64, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0_u64, 1, 2_000].map(|n| counted(n, "question")), ["0 questions", "1 question", "2,000 questions"]);
        assert_eq!(
            [25, 9_999, 12_000, 185_000, 7_620_000].map(duration),
            ["25 ms", "9.9 s", "12 s", "3 min 5 s", "2 h 7 min"]
        );
    }
}
