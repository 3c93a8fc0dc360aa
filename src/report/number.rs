//! Figures as a person reads them.

pub(super) fn dash() -> String {
    "–".to_owned()
}

/// A share from 0 to 1 in per cent, with one decimal.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
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
    use super::duration;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(
            [25, 9_999, 12_000, 185_000, 7_620_000].map(duration),
            ["25 ms", "9.9 s", "12 s", "3 min 5 s", "2 h 7 min"]
        );
    }
}
