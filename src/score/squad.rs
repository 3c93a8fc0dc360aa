//! `SQuAD` 1.1, `SQuAD` 2.0 and `MuSiQue` answers: one normalisation, three ways with what normalises to nothing.

use super::normalize::normalize;
use super::overlap::{EmF1, overlap};

/// `SQuAD` 1.1: the maxima of EM and F1 over the golds. Two empty texts give EM 1 and F1 0.
pub fn squad11<S: AsRef<str>>(prediction: &str, golds: &[S]) -> EmF1 {
    let prediction = normalize(prediction);
    best(golds.iter().map(|gold| EmF1::from(overlap(&prediction, &normalize(gold.as_ref())))))
}

/// `SQuAD` 2.0: as 1.1, but golds that normalise to nothing are dropped, where all do one empty gold is left, and an
/// empty side scores F1 1 against an empty side.
pub fn squad20<S: AsRef<str>>(prediction: &str, golds: &[S]) -> EmF1 {
    let prediction = normalize(prediction);
    let mut golds: Vec<String> =
        golds.iter().map(|gold| normalize(gold.as_ref())).filter(|gold| !gold.is_empty()).collect();
    if golds.is_empty() {
        golds.push(String::new());
    }
    best(golds.iter().map(|gold| with_empty_sides(&prediction, gold)))
}

/// `MuSiQue`: `SQuAD` 2.0's comparison over all golds, none dropped.
pub fn musique<S: AsRef<str>>(prediction: &str, golds: &[S]) -> EmF1 {
    let prediction = normalize(prediction);
    best(golds.iter().map(|gold| with_empty_sides(&prediction, &normalize(gold.as_ref()))))
}

fn with_empty_sides(prediction: &str, gold: &str) -> EmF1 {
    if prediction.is_empty() || gold.is_empty() {
        let same = f64::from(u8::from(prediction == gold));
        return EmF1 { em: same, f1: same };
    }
    overlap(prediction, gold).into()
}

pub(crate) fn best(scores: impl Iterator<Item = EmF1>) -> EmF1 {
    scores.fold(EmF1::default(), |best, score| EmF1 { em: best.em.max(score.em), f1: best.f1.max(score.f1) })
}

#[cfg(test)]
mod tests {
    use super::{musique, squad11, squad20};
    use crate::score::EmF1;

    #[test]
    fn what_normalises_to_nothing_is_told_apart() {
        let score = |em, f1| EmF1 { em, f1 };
        assert_eq!(squad11("the", &["a"]), score(1.0, 0.0));
        assert_eq!(squad20("the", &["a"]), score(1.0, 1.0));
        assert_eq!(squad20("the", &["a", "x"]), score(0.0, 0.0));
        assert_eq!(musique("the", &["a", "x"]), score(1.0, 1.0));
        assert_eq!(squad20("", &[] as &[&str]), score(1.0, 1.0));
        assert_eq!(squad11("", &[] as &[&str]), score(0.0, 0.0));
    }
}
