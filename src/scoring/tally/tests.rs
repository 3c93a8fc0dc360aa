//! What a run's sum counts, and what it leaves out.

use super::{QuestionMeans, RunScore, Tally};
use crate::base::{Call, Compat, Outcome, Repair, Step, Trajectory, Usage};
use crate::scoring::{AnswerScore, Metric, ScoredEpisode, fixtures};

fn episode(outcome: Outcome, answer: Option<&str>, answers: &[&str]) -> Trajectory {
    Trajectory {
        usage: Usage::new(10, 2),
        repairs: vec![Repair { step: 1, kind: "missing_action".into() }, Repair { step: 1, kind: "other".into() }],
        ..fixtures::episode(vec![Step::default()], answer, answers, outcome)
    }
}

fn score_of<'a>(dataset: &str, trajectories: impl IntoIterator<Item = &'a Trajectory>) -> RunScore {
    let mut tally = Tally::new(dataset);
    for trajectory in trajectories {
        tally.add(trajectory);
    }
    tally.score()
}

#[test]
fn tokens_that_only_some_episodes_count_have_no_mean() {
    let counted = Trajectory { steps_recorded: false, ..episode(Outcome::Finished, Some("x"), &["x"]) };
    let uncounted = Trajectory { usage: Usage::default(), ..counted.clone() };
    let score = score_of("hotpotqa", [&counted, &counted]);
    assert_eq!((score.counted_usage(), score.tokens_per_question()), (Some(Usage::new(20, 4)), Some(12.0)));
    let score = score_of("hotpotqa", [&counted, &uncounted]);
    assert_eq!(
        (score.counted_usage(), score.tokens_per_question(), score.tokens_per_correct()),
        (Some(Usage::new(10, 2)), None, None)
    );
}

#[test]
fn tokens_that_a_server_does_not_count_are_not_zero() {
    let call = |usage| Call { usage, attempts: 1, ..Call::default() };
    let asked = |usage| {
        let step = Step { calls: vec![call(Some(Usage::new(10, 2))), call(usage)], ..Step::default() };
        let episode = episode(Outcome::Finished, Some("x"), &["x"]);
        Trajectory { steps: vec![step], cost_usd: Some(0.5), compat: Some(Compat::Fixed), ..episode }
    };
    let (counted, half) = (asked(Some(Usage::default())), asked(None));
    assert_eq!((counted.counted_usage(), counted.cost()), (Some(Usage::new(10, 2)), Some(0.5)));
    assert_eq!((half.counted_usage(), half.cost()), (None, None));
    let score = score_of("hotpotqa", [&counted, &half]);
    assert_eq!((score.cost_usd, score.cost_per_question(), score.tokens_per_question()), (None, None, None));
    assert_eq!(score_of("hotpotqa", [&half, &counted]).cost_usd, None, "in any order");
    assert_eq!(score_of("hotpotqa", [&counted, &counted]).cost_usd, Some(1.0));
    // Rules in this process use no tokens.
    let mut rules = asked(None);
    rules.steps[0].calls.iter_mut().for_each(|call| (call.usage, call.attempts) = (None, 0));
    assert_eq!(rules.cost(), Some(0.5));
}

#[test]
fn not_measured_and_hidden_are_in_no_mean() {
    let mut paid = episode(Outcome::NotMeasured, None, &["x"]);
    paid.cost_usd = Some(0.25);
    let episodes = [
        episode(Outcome::Finished, Some("Ray Charles"), &["Charles"]),
        episode(Outcome::Finished, Some("the x"), &["X"]),
        episode(Outcome::StepLimit, None, &[""]),
        episode(Outcome::Finished, Some("y"), &[]),
        paid,
        episode(Outcome::NotMeasured, None, &[]),
    ];
    let score = score_of("hotpotqa", &episodes);
    let f1 = 2.0 * 0.5 * 1.0 / 1.5;
    assert_eq!((score.episodes, score.measured, score.scored, score.hidden, score.not_measured), (6, 4, 3, 1, 2));
    assert_eq!((score.correct, score.em, score.f1), (1, Some(1.0 / 3.0), Some((f1 + 1.0) / 3.0)));
    assert_eq!(score.em_bounds, Some([0.25, 0.5]));
    let outcomes: Vec<(&str, u64)> = score.outcomes.clone().into_iter().collect();
    assert_eq!(
        outcomes,
        [
            ("agent_failure", 0),
            ("budget", 0),
            ("context_overflow", 0),
            ("finished", 3),
            ("format_failure", 0),
            ("not_measured", 2),
            ("step_limit", 1)
        ]
    );
    assert_eq!((score.steps, score.calls, score.bad_calls, score.cost_usd), (Some(4), Some(0), Some(4), None));
    assert_eq!(score.usage, Usage::new(40, 8));
    assert_eq!(score.mean_steps(), Some(1.0));
    let mean = f64::midpoint(f1, 1.0) * 2.0 / 3.0;
    let variance = ((f1 - mean).powi(2) + (1.0 - mean).powi(2) + mean.powi(2)) / 2.0;
    assert!((score.f1_variance.expect("three scores") - variance).abs() < 1e-15);
}

#[test]
fn nothing_scored_has_no_mean() {
    let score = Tally::new("sample").score();
    assert_eq!((score.em, score.f1, score.f1_variance, score.em_bounds), (None, None, None, None));
    let lost = score_of("sample", &[episode(Outcome::NotMeasured, None, &["x"])]);
    assert_eq!((lost.em, lost.em_bounds), (None, Some([0.0, 1.0])));
}

#[test]
fn the_rule_is_the_datasets_or_the_given_one() {
    let claim = episode(Outcome::Finished, Some("supports."), &["SUPPORTS"]);
    let mut official = Tally::new("sample-claims");
    assert_eq!(official.add(&claim), Some(AnswerScore::ZERO));
    let mut paper = Tally::with_metric(Metric::Paper);
    assert_eq!(paper.add(&claim), Some(AnswerScore::right(true)));
    assert_eq!((paper.score().em, official.score().em), (Some(1.0), Some(0.0)));
}

#[test]
fn what_a_budget_cut_short_is_counted_apart() {
    let paid = |outcome, answer| Trajectory { cost_usd: Some(0.5), ..episode(outcome, answer, &["x"]) };
    let episodes =
        [paid(Outcome::Finished, Some("x")), paid(Outcome::Finished, Some("y")), paid(Outcome::Budget, Some("y"))];
    let score = score_of("hotpotqa", &episodes);
    assert_eq!((score.episodes, score.measured, score.not_measured, score.budget), (3, 2, 0, 1));
    assert_eq!((score.em, score.em_bounds), (Some(0.5), Some([1.0 / 3.0, 2.0 / 3.0])));
    // Twelve tokens and half a dollar a measured episode; one of two answers is right.
    assert_eq!((score.tokens_per_question(), score.tokens_per_correct()), (Some(12.0), Some(24.0)));
    assert_eq!((score.cost_per_question(), score.cost_per_correct()), (Some(0.5), Some(1.0)));
    let hidden = Trajectory { answers: vec![], ..episodes[0].clone() };
    let score = score_of("hotpotqa", &[episodes[0].clone(), hidden]);
    // The other one may be right or wrong.
    assert_eq!((score.tokens_per_question(), score.tokens_per_correct()), (Some(12.0), Some(12.0)));
    assert_eq!((score.cost_per_question(), score.cost_per_correct()), (Some(0.5), Some(0.5)));
    let lost = score_of("hotpotqa", &[episode(Outcome::Finished, Some("y"), &["x"])]);
    assert_eq!((lost.cost_per_question(), lost.tokens_per_correct()), (None, None));
}

#[test]
fn repeats_of_a_question_are_averaged_first() {
    let of = |id: &str, answer: &str| Trajectory { id: id.into(), ..episode(Outcome::Finished, Some(answer), &["x"]) };
    let lost = |id: &str| Trajectory { id: id.into(), ..episode(Outcome::NotMeasured, None, &["x"]) };
    // `a` is right twice in two, `b` once in four, `c` was never measured, and `d` is wrong and half lost.
    let mut episodes = vec![of("a", "x"), of("b", "y"), of("b", "x"), of("b", "y"), of("a", "x"), of("b", "y")];
    episodes.extend([lost("c"), lost("c"), of("d", "y"), lost("d")]);
    let sum = |episodes: &[Trajectory], repeats| {
        let mut tally = Tally::new("hotpotqa").by_question(repeats);
        for episode in episodes {
            tally.add(episode);
        }
        tally.score()
    };
    let score = sum(&episodes, 4);
    let mean = 1.25 / 3.0;
    let variance = ((1.0 - mean) * (1.0 - mean) + (0.25 - mean) * (0.25 - mean) + mean * mean) / 2.0;
    let questions = score.questions.expect("repeats");
    assert_eq!((score.scored, score.correct, score.not_measured, questions.n), (7, 3, 3, 3));
    assert!((score.em.expect("a mean") - mean).abs() < 1e-15, "{score:?}");
    assert!((questions.em_variance.expect("three") - variance).abs() < 1e-15, "{score:?}");
    assert_eq!((score.f1, questions.f1_variance, score.f1_variance), (score.em, questions.em_variance, None));
    let bounds = score.em_bounds.expect("bounds");
    assert!((bounds[0] - 1.25 / 4.0).abs() < 1e-15 && (bounds[1] - 2.75 / 4.0).abs() < 1e-15, "{bounds:?}");
    // The order of the episodes does not matter, to the last bit.
    episodes.reverse();
    assert_eq!(sum(&episodes, 4), score);
    // Questions that are run once are summed as ever; one question has no variance.
    let once = sum(&episodes, 1);
    assert_eq!((once.questions, once.em), (None, Some(3.0 / 7.0)));
    // So are questions that are to be repeated, before one of them was.
    let begun = [of("a", "x"), of("b", "y"), of("d", "z")];
    assert_eq!(sum(&begun, 3), sum(&begun, 1));
    let single = sum(&[of("a", "x"), of("a", "y")], 2);
    assert_eq!(single.questions, Some(QuestionMeans { n: 1, em_variance: None, f1_variance: None }));
    assert_eq!((single.em, sum(&[], 2).em, sum(&[], 2).em_bounds), (Some(0.5), None, None));
}

#[test]
fn an_attempt_is_an_answer_that_does_not_abstain() {
    let of =
        |answer, golds: &[&str]| ScoredEpisode::unassessed(episode(Outcome::Finished, answer, golds), Metric::Hotpot);
    for (answer, gold, attempted) in [
        (Some("y"), "x", true),
        (Some("a"), "x", true),
        (Some("-5"), "x", true),
        (Some("?"), "x", false),
        (Some(""), "x", false),
        (None, "x", false),
        (Some("I don't know."), "x", false),
        (Some("Unable to find the page"), "x", false),
        (Some("未找到"), "x", false),
        (Some("Unknown."), "x", false),
        (Some("unknown (no page has it)"), "x", false),
        (Some("Unknown based on the pages"), "x", false),
        // Names begin with the word too.
        (Some("Unknown Pleasures"), "x", true),
        (Some("Unknown-word problem"), "x", true),
        // A right answer is one, whatever its words.
        (Some("unknown"), "Unknown", true),
        // To a claim this is an answer, to a question it is not.
        (Some("NOT ENOUGH INFO"), "SUPPORTS", true),
        (Some("NOT ENOUGH INFO"), "x", false),
    ] {
        assert_eq!(of(answer, &[gold]).attempted(), Some(attempted), "{answer:?} {gold}");
    }
    assert_eq!(of(Some("y"), &[]).attempted(), None);
    let limit = ScoredEpisode::unassessed(episode(Outcome::StepLimit, None, &["x"]), Metric::Hotpot);
    let lost = ScoredEpisode::unassessed(episode(Outcome::NotMeasured, None, &["x"]), Metric::Hotpot);
    assert_eq!((limit.attempted(), lost.attempted()), (Some(false), None));
}

#[test]
fn right_given_attempted_and_its_harmonic_mean_with_em() {
    let of =
        |id: &str, answer: Option<&str>| Trajectory { id: id.into(), ..episode(Outcome::Finished, answer, &["x"]) };
    let score = |episodes: &[Trajectory], repeats| {
        let mut tally = Tally::new("hotpotqa").by_question(repeats);
        for episode in episodes {
            tally.add(episode);
        }
        tally.score()
    };
    let close = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found - expected).abs() < 1e-15);
    let once = score(&[of("a", Some("x")), of("b", Some("y")), of("c", Some("x")), of("d", None), of("e", None)], 1);
    let harmonic = |a: f64, b: f64| 2.0 * a * b / (a + b);
    assert_eq!((once.attempted, once.correct), (3, 2));
    assert!(close(once.given_attempted.mean(), 2.0 / 3.0) && close(once.simpleqa_f1.mean(), harmonic(0.4, 2.0 / 3.0)));
    // `a`: right in 1 of 2, attempted in both; `b`: right in 1 of 4, attempted in 2.
    let repeated = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("b", "?"), ("b", "?")];
    let repeated = score(&repeated.map(|(id, answer)| of(id, Some(answer))), 4);
    assert!(close(repeated.given_attempted.mean(), 0.75 / 1.5), "{repeated:?}");
    assert!(close(repeated.simpleqa_f1.mean(), harmonic(0.375, 0.5)), "{repeated:?}");
    let never = score(&[of("a", None)], 1);
    assert_eq!((never.given_attempted.mean(), never.simpleqa_f1.mean()), (None, Some(0.0)));
}
