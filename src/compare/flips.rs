//! Flipped answers: questions that one of two variants gets right and the other wrong.

use super::pairing::Pairing;
use super::{NamedFigure, Variant};
use serde::Serialize;

/// Questions whose answer flipped from `a` to `b`, in the order of `a`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Flips {
    /// Questions that both variants measured.
    pub n: usize,
    /// Right in `b` only.
    pub gained: Vec<String>,
    /// Right in `a` only.
    pub lost: Vec<String>,
}

/// The questions on which two variants differ in EM, among those that both measured.
///
/// A question is right if more than half of its measured repeats are: its mean EM is above 0.5. Variants without the
/// figure `em` have no question in common.
pub(crate) fn flips(a: &Variant, b: &Variant) -> Flips {
    let mut found = Flips::default();
    let Ok(pairing) = Pairing::of([a, b]) else { return found };
    let Ok(values) = pairing.values(&NamedFigure::new("em")) else { return found };
    let values = values.pair((0, 1));
    found.n = values.questions.len();
    for (at, question) in values.questions.iter().enumerate() {
        match [0, 1].map(|variant: usize| values.variants[variant][at] > 0.5) {
            [false, true] => found.gained.push(pairing.id(*question).to_owned()),
            [true, false] => found.lost.push(pairing.id(*question).to_owned()),
            _ => {}
        }
    }
    found
}
