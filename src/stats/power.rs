//! The power of a paired comparison: the number of questions it needs, and the smallest difference it detects.
//!
//! The usual normal approximation: `n = (z(1 − α/2) + z(power))² · ω² / δ²`, with ω² the variance of the differences
//! within a question and δ the difference of the means (Miller, "Adding error bars to evals", 2024).

use super::quantile::normal_quantile;

/// The number of questions, not rounded, at which a two-sided test at alpha detects the difference with this power.
///
/// Absent for a difference of 0, a negative variance, and alpha or power outside 0 to 1.
pub fn questions_needed(variance: f64, difference: f64, alpha: f64, power: f64) -> Option<f64> {
    let n = reach(alpha, power)?.powi(2) * variance / (difference * difference);
    (n.is_finite() && variance >= 0.0).then_some(n)
}

/// The smallest difference that n questions detect with this power; the inverse of [`questions_needed`].
///
/// Absent for n of 0, a negative variance, and alpha or power outside 0 to 1.
pub fn smallest_difference(variance: f64, n: f64, alpha: f64, power: f64) -> Option<f64> {
    let difference = reach(alpha, power)? * (variance / n).sqrt();
    (difference.is_finite() && n > 0.0).then_some(difference)
}

/// The detectable difference in standard errors; absent for a power that chance alone has.
fn reach(alpha: f64, power: f64) -> Option<f64> {
    let reach = normal_quantile(1.0 - alpha / 2.0)? + normal_quantile(power)?;
    (alpha > 0.0 && alpha < 1.0 && reach > 0.0).then_some(reach)
}

/// The variance of a question's difference between two variants, in two parts: how far questions differ, and how far repeats of
/// one question do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceParts {
    /// Where every question is asked once.
    once: f64,
    /// What no number of repeats takes away; absent where nothing was repeated.
    between: Option<f64>,
}

impl VarianceParts {
    /// From the variance that was found, and, where questions were repeated, the variance of repeats (the sum of both variants')
    /// and how much it added to what was found.
    pub fn of(found: f64, repeats: Option<(f64, f64)>) -> Self {
        match repeats {
            None => Self { once: found, between: None },
            Some((within, added)) => {
                let between = (found - added).max(0.0);
                Self { once: between + within, between: Some(between) }
            }
        }
    }

    /// With so many repeats of each question; absent where the parts are not known.
    pub fn with_repeats(self, repeats: u64) -> Option<f64> {
        if repeats == 1 {
            return Some(self.once);
        }
        #[expect(clippy::cast_precision_loss, reason = "a number of repeats")]
        self.between.map(|between| between + (self.once - between) / repeats as f64)
    }

    /// The fewest questions that show a difference, each asked so often.
    pub fn questions_needed(self, repeats: u64, difference: f64, alpha: f64, power: f64) -> Option<u64> {
        let needed = questions_needed(self.with_repeats(repeats)?, difference, alpha, power)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and cut at the most"
        )]
        let needed = (needed - 1e-9).ceil() as u64;
        Some(needed.max(super::least_differing(alpha)))
    }

    /// The fewest repeats with which so many questions show a difference; absent where no number is enough.
    pub fn repeats_needed(self, questions: u64, difference: f64, alpha: f64, power: f64) -> Option<u64> {
        const MOST: u64 = 1000;
        let enough = |repeats: &u64| {
            self.questions_needed(*repeats, difference, alpha, power).is_some_and(|needed| needed <= questions)
        };
        (1..=MOST).find(enough)
    }
}

#[cfg(test)]
mod tests {
    use super::{VarianceParts, questions_needed};

    #[test]
    fn repeats_take_away_what_is_within_questions_and_never_save_episodes() {
        // Between 0.10, within 0.20, found with two repeats: 0.10 + 0.20 / 2.
        let parts = VarianceParts::of(0.20, Some((0.20, 0.10)));
        for (repeats, variance) in [(1, 0.30), (2, 0.20), (4, 0.15)] {
            let found = parts.with_repeats(repeats).expect("known");
            assert!((found - variance).abs() < 1e-12, "{repeats}: {found}");
            let needed = questions_needed(variance, 0.05, 0.05, 0.8).expect("a number").ceil();
            assert_eq!(
                parts.questions_needed(repeats, 0.05, 0.05, 0.8).map(|n| n.to_string()),
                Some(needed.to_string())
            );
        }
        let episodes: Vec<u64> =
            (1..9).map(|k| k * parts.questions_needed(k, 0.05, 0.05, 0.8).expect("a number")).collect();
        assert!(episodes.is_sorted(), "{episodes:?}");
        // 0.3 needs 942, 0.2 needs 628, and without any noise of repeats 314 remain.
        let repeats = [1000, 942, 941, 628, 627, 315, 300].map(|n| parts.repeats_needed(n, 0.05, 0.05, 0.8));
        assert_eq!(repeats[..4], [Some(1), Some(1), Some(2), Some(2)]);
        assert!(repeats[4] == Some(3) && repeats[5].is_none_or(|n| n > 100) && repeats[6].is_none(), "{repeats:?}");
    }

    #[test]
    fn what_was_asked_once_does_not_say_what_repeats_save() {
        let parts = VarianceParts::of(0.3, None);
        assert_eq!((parts.with_repeats(1), parts.with_repeats(2)), (Some(0.3), None));
        assert_eq!(
            (parts.repeats_needed(100, 0.05, 0.05, 0.8), parts.repeats_needed(950, 0.05, 0.05, 0.8)),
            (None, Some(1))
        );
        // Noise alone can be larger than what was found.
        assert_eq!(VarianceParts::of(0.1, Some((0.4, 0.2))).with_repeats(4), Some(0.1));
        // Fewer than 6 questions show nothing, whatever a formula says.
        assert_eq!(parts.questions_needed(1, 1.0, 0.05, 0.8), Some(6));
    }
}
