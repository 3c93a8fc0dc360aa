//! Figures as a person reads them.

pub(super) fn dash() -> String {
    "–".to_owned()
}

/// A share from 0 to 1 in per cent, with one decimal.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// A time in milliseconds: `25 ms`, `1.8 s`, `12 s`, `3 min 5 s`, `2 h 7 min`.
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..10 => format!("{seconds}.{} s", ms % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// How many there are in a time, so that the number says something: `4.0/s`, `3.2/min`, `12.5/h`.
pub(super) fn rate(per_second: f64) -> String {
    let (number, unit) = match per_second {
        fast if fast >= 1.0 => (fast, "s"),
        slow if 60.0 * slow >= 1.0 => (60.0 * slow, "min"),
        slower => (3600.0 * slower, "h"),
    };
    // More digits than three are read by nobody.
    let digits = usize::from(number < 100.0);
    format!("{number:.digits$}/{unit}")
}

#[cfg(test)]
mod tests {
    use super::{duration, rate};

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(
            [25, 9_999, 12_000, 185_000, 7_620_000].map(duration),
            ["25 ms", "9.9 s", "12 s", "3 min 5 s", "2 h 7 min"]
        );
        assert_eq!([250.0, 4.0, 0.999, 0.0525, 0.004].map(rate), ["250/s", "4.0/s", "59.9/min", "3.1/min", "14.4/h"]);
    }
}
