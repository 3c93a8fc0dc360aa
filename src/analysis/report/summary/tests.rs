use super::RunSummary;
use crate::base::short_names::ShortNames;
use crate::base::{Outcome, Usage};
use crate::runner::VariantScore;
use crate::scoring::retrieval::Retrieval;
use crate::scoring::tally::QuestionMeans;
use crate::scoring::{Assessment, Failure, FailureClass, GoldRetrieval, Grounding, RunAssessment, RunScore};
use unicode_width::UnicodeWidthStr as _;

fn score() -> RunScore {
    let mut outcomes: std::collections::BTreeMap<_, _> = Outcome::ALL.iter().map(|o| (o.name(), 0)).collect();
    outcomes.insert("finished", 480);
    outcomes.insert("step_limit", 20);
    outcomes.insert("not_measured", 3);
    RunScore {
        uncounted: 0,
        episodes: 503,
        measured: 500,
        scored: 499,
        hidden: 1,
        not_measured: 3,
        budget: 2,
        correct: 137,
        attempted: 480,
        em: Some(137.0 / 499.0),
        f1: Some(0.35),
        f1_variance: Some(0.16),
        questions: None,
        em_bounds: Some([0.2729, 0.2789]),
        outcomes,
        steps: Some(1625),
        calls: Some(1800),
        bad_calls: Some(12),
        usage: Usage::new(3_500_000, 98_765),
        cost_usd: Some(1.5),
        ..RunScore::default()
    }
}

/// Three episodes: a grounded right answer, a wrong one out of nowhere, and one that never came.
fn assessment() -> RunAssessment {
    let gold = GoldRetrieval { pages: 2, pages_opened: 1, sentences: 3, sentences_seen: 2, ..GoldRetrieval::default() };
    let retrieval = Retrieval { searches: 4, missed_searches: 1, lookups: 2, empty_lookups: 2, gold: Some(gold) };
    let failure = |class| Some(Failure { class, evidence: "e".into(), step_limit: false });
    let mut sum = RunAssessment::default();
    for (grounding, failure) in [
        (Some(Grounding::Grounded), None),
        (Some(Grounding::Ungrounded), failure(FailureClass::Search)),
        (None, failure(FailureClass::Limit)),
    ] {
        sum.add(&Assessment { retrieval, grounding, failure, leak: Some(false) });
    }
    sum
}

fn variants(names: &[&str]) -> Vec<VariantScore> {
    let variant = |name: &&str| {
        let mut variant = VariantScore::default();
        (variant.name, variant.score, variant.assessment) = ((*name).to_owned(), score(), assessment());
        variant.episode_ms = Some(503 * 185_000);
        variant
    };
    names.iter().map(variant).collect()
}

fn summary(rows: &[VariantScore]) -> RunSummary<'_> {
    RunSummary {
        short: ShortNames::default(),
        title: "results/first".into(),
        accuracy: false,
        rows,
        joined: &[],
        wall_ms: Some(7_620_000),
        notes: vec!["3 of 9 planned episodes are not recorded yet".into()],
        below: String::new(),
        next: vec!["wikitrail show results/first ID".into()],
    }
}

#[test]
fn the_table_has_figures_and_intervals() {
    let text = summary(&variants(&["main"])).render(80);
    let words: Vec<&str> = text.split_whitespace().collect();
    let said = words.join(" ");
    // Wilson's interval of 137 of 499 at 95 %; the padded t of 0.35 with variance 0.16: 501 values with 0 and 1.
    assert!(said.contains("27.5 [23.7, 31.5]"), "{text}");
    assert!(said.contains("35.0 [31.5, 38.6]"), "{text}");
    assert!(said.contains("intervals: Wilson's for EM, padded t for F1, 95 %"), "{text}");
    for part in [
        "3.25",
        "1,800",
        "12",
        "3,500,000",
        "98,765",
        "1.5000",
        "3 min 5 s",
        "time: mean per episode; the run took 2 h 7 min",
        "480 finished",
    ] {
        assert!(said.contains(part), "`{part}` is missing:\n{text}");
    }
    // Gold pages, all hops, sentences, missed searches, empty lookups, grounded, lucky, ungrounded.
    assert!(said.contains("50.0 0.0 66.7 25.0 100.0 50.0 0.0 50.0"), "{text}");
    assert!(said.contains("main 2 1 search, 1 limit"), "{text}");
    let missing = "results/first main: 3 episodes not measured, left out of all means; counting them, EM is between 27.3 \
                   and 27.9 % main: 2 episodes stopped by the budget, left out of all means; --resume runs them again \
                   main: 1 episode without a gold answer, not scored 3 of 9 planned episodes are not recorded yet ───";
    assert!(said.starts_with(missing), "{text}");
    let costs = "main: 7,198 tokens (0.003000 USD) per question; 26,268 tokens (0.010949 USD) per correct answer";
    assert!(said.ends_with(&format!("{costs} next: wikitrail show results/first ID")), "{text}");
}

#[test]
fn the_end_of_a_run_has_one_table_and_the_verdict() {
    let text = summary(&variants(&["main", "other"])).brief(&["main beats other".into()], 80);
    let table = "\
 variant    n        EM % [95 %]  F1 %  steps     USD       not  top failure
                                                       measured
───────────────────────────────────────────────────────────────────────────────
 main     499  27.5 [23.7, 31.5]  35.0   3.25  1.5000         3  search, 1 of 2
 other    499  27.5 [23.7, 31.5]  35.0   3.25  1.5000         3  search, 1 of 2
───────────────────────────────────────────────────────────────────────────────
intervals: Wilson's, 95 %; the run took 2 h 7 min
main beats other
next (`score` has costs, retrieval and failure classes):
  wikitrail show results/first ID
";
    assert!(text.ends_with(table), "{text}");
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
}

#[test]
fn repeated_questions_have_the_interval_of_their_means() {
    let mut rows = variants(&["main"]);
    let questions = QuestionMeans { n: 50, em_variance: Some(0.16), f1_variance: Some(0.09) };
    rows[0].score.questions = Some(questions);
    let text = summary(&rows).render(80);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // t(0.975, 49) = 2.0096, times the standard errors of 52 values, the 50 with 0 and 1: 0.0564 and 0.0432.
    assert!(said.contains("27.5 [17.0, 39.7]") && said.contains("35.0 [26.9, 44.3]"), "{text}");
    assert!(said.contains("intervals: padded t over the means of each question's repeats, 95 %"), "{text}");
    assert!(!said.contains("Wilson"), "{text}");
}

#[test]
fn eighty_columns_are_enough() {
    let text =
        summary(&variants(&["a", "a-variant-with-quite-a-long-name-\u{1b}[31m-and-more-of-it", "东京"])).render(80);
    let is_of_costs = |line: &str| line.contains(" per correct answer");
    assert!(text.lines().all(|line| line.width() <= 80 || is_of_costs(line)), "{text}");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn an_accuracy_is_said_once() {
    let rows = variants(&["main"]);
    let accuracy = RunSummary { accuracy: true, ..summary(&rows) };
    let text = accuracy.render(80);
    assert!(text.contains("accuracy % [95 %]") && !text.contains("F1"), "{text}");
    assert!(accuracy.lines().starts_with("main  accuracy 27.5 [23.7, 31.5]  n "), "{}", accuracy.lines());
}

#[test]
fn an_empty_run_has_no_numbers() {
    let mut row = VariantScore::default();
    row.name = "main".into();
    let text = RunSummary {
        short: ShortNames::default(),
        title: "t".into(),
        accuracy: false,
        rows: &[row],
        joined: &[],
        wall_ms: None,
        notes: vec![],
        below: String::new(),
        next: Vec::new(),
    }
    .render(80);
    assert_eq!(text, "t\n");
}
