//! The golden answer scores: what the official scripts gave for 4,522 pairs, and for 1,000 that were made for the tests.

use super::{
    AnswerScore, fid_em, hotpot, hotpot_max, musique, normalize, normalize_fid, normalize_orqa, normalize_trivia,
    orqa_em, squad11, squad20, trivia,
};
use crate::tests::{golden, shared};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    pred: String,
    golds: Vec<String>,
    norm: String,
    norm_gold: String,
    norm_trivia: String,
    norm_orqa: String,
    norm_fid: String,
    hotpot: [f64; 4],
    wiki2_max: [f64; 4],
    squad11: [f64; 2],
    squad20: [f64; 2],
    musique: [f64; 2],
    trivia: [f64; 2],
    orqa_em: f64,
    fid_em: f64,
}

fn cases() -> Vec<Case> {
    let text = shared::text("golden/scoring/answer_scores.jsonl");
    let cases: Vec<Case> = text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect();
    assert_eq!(cases.len(), 4522);
    cases
}

fn bits(score: AnswerScore) -> [u64; 4] {
    [score.em, score.f1, score.precision, score.recall].map(f64::to_bits)
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn normalised_texts_are_the_official_ones() {
    for case in cases() {
        assert_eq!(normalize(&case.pred), case.norm, "{:?}", case.pred);
        assert_eq!(normalize_fid(&case.pred), case.norm_fid, "{:?}", case.pred);
        assert_eq!(normalize(&case.golds[0]), case.norm_gold, "{:?}", case.golds[0]);
        assert_eq!(normalize_trivia(&case.pred), case.norm_trivia, "{:?}", case.pred);
        assert_eq!(normalize_orqa(&case.pred), case.norm_orqa, "{:?}", case.pred);
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn answer_scores_are_the_official_ones_to_the_bit() {
    for case in cases() {
        let at = format!("{:?} against {:?}", case.pred, case.golds);
        assert_eq!(bits(hotpot(&case.pred, &case.golds[0])), case.hotpot.map(f64::to_bits), "{at}");
        assert_eq!(bits(hotpot_max(&case.pred, &case.golds)), case.wiki2_max.map(f64::to_bits), "{at}");
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_other_scorers_are_the_official_ones_to_the_bit() {
    let pair = |score: AnswerScore| [score.em, score.f1].map(f64::to_bits);
    let truth = |right: bool| f64::from(u8::from(right)).to_bits();
    for case in cases() {
        let at = format!("{:?} against {:?}", case.pred, case.golds);
        let (pred, golds) = (case.pred.as_str(), case.golds.as_slice());
        assert_eq!(pair(squad11(pred, golds)), case.squad11.map(f64::to_bits), "SQuAD 1.1: {at}");
        assert_eq!(pair(squad20(pred, golds)), case.squad20.map(f64::to_bits), "SQuAD 2.0: {at}");
        assert_eq!(pair(musique(pred, golds)), case.musique.map(f64::to_bits), "MuSiQue: {at}");
        assert_eq!(pair(trivia(pred, golds)), case.trivia.map(f64::to_bits), "TriviaQA: {at}");
        assert_eq!(truth(orqa_em(pred, golds)), case.orqa_em.to_bits(), "ORQA: {at}");
        assert_eq!(truth(fid_em(pred, golds)), case.fid_em.to_bits(), "FiD: {at}");
    }
}

/// A pair that `scripts/fidelity.sh --vectors` made, with what the original functions give.
#[derive(Deserialize)]
struct MadePair {
    prediction: String,
    golds: Vec<String>,
    squad20: [f64; 2],
    squad11: Option<[f64; 2]>,
    hotpot: Option<[f64; 4]>,
}

#[test]
fn made_answers_score_as_by_the_original_functions_to_the_bit() {
    let text = golden::text("scoring/answer_pairs.jsonl");
    let pairs: Vec<MadePair> = text.lines().map(|line| serde_json::from_str(line).expect("a pair")).collect();
    assert_eq!(pairs.len(), 1000);
    let pair = |score: AnswerScore| [score.em, score.f1].map(f64::to_bits);
    let mut figures = 0;
    for case in &pairs {
        let at = format!("{:?} against {:?}", case.prediction, case.golds);
        let (prediction, golds) = (case.prediction.as_str(), case.golds.as_slice());
        assert_eq!(pair(squad20(prediction, golds)), case.squad20.map(f64::to_bits), "SQuAD 2.0: {at}");
        figures += 2;
        let Some((squad, four)) = case.squad11.zip(case.hotpot) else { continue };
        assert_eq!(pair(squad11(prediction, golds)), squad.map(f64::to_bits), "SQuAD 1.1: {at}");
        assert_eq!(bits(hotpot(prediction, &golds[0])), four.map(f64::to_bits), "HotpotQA: {at}");
        figures += 6;
    }
    golden::checked("scoring/answer_pairs.jsonl, figures", figures);
}
