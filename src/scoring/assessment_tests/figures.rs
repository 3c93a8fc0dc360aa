//! What is counted, and of how many.

use super::{assert_class, assess, assess_by, bridge, episode, finished, missed, nothing, other, pell, step, taught};
use crate::base::{Evidence, Outcome, Question, Step, Tool};
use crate::scoring::{Assessment, FailureClass, GoldEvidence, GoldRetrieval, Grounding, RunAssessment, Share};

#[test]
fn a_whole_retrieval_is_counted_and_a_right_answer_has_no_class() {
    let all = assess(&finished(&[missed("Bridge"), bridge(), pell(), taught(), nothing("taught")], "ines mora"));
    let gold = GoldRetrieval {
        pages: 2,
        pages_opened: 2,
        sentences: 2,
        sentences_seen: 2,
        sentences_unknown: 0,
        r_precision: Share { count: 2, of: 2 },
        recall_at_5: Share { count: 1, of: 1 },
    };
    assert_eq!(all.retrieval.gold, Some(gold));
    assert_eq!((all.retrieval.searches, all.retrieval.missed_searches), (3, 1));
    assert_eq!((all.retrieval.lookups, all.retrieval.empty_lookups), (2, 1));
    assert_eq!((all.grounding, all.failure), (Some(Grounding::Grounded), None));
    assert!(gold.first_hop() && gold.all_hops() && gold.all_seen());
}

#[test]
fn a_search_that_missed_opened_nothing_whatever_its_title_says() {
    // The provenance of a miss carries the query, which here is a gold page's title.
    let assessment = assess(&finished(&[missed("Long Bridge"), missed("Otto Pell"), other()], "Lima"));
    assert_eq!(assessment.retrieval.gold.expect("gold").pages_opened, 0);
    let mut empty = missed("Long Bridge");
    empty.observation = Some("There were no results matching the query..".into());
    let mut gone = bridge();
    gone.provenance.as_mut().expect("it has one").status = 404;
    let assessment = assess(&finished(&[empty, gone, other()], "Lima"));
    assert_eq!(assessment.retrieval.gold.expect("gold").pages_opened, 0);
    assert_eq!((assessment.retrieval.searches, assessment.retrieval.missed_searches), (3, 2));
}

#[test]
fn a_right_answer_that_was_never_seen_is_lucky() {
    let lucky = assess(&finished(&[bridge()], "Ines Mora"));
    assert_eq!((lucky.grounding, lucky.failure), (Some(Grounding::Lucky), None));
    // What stands after the answer was not seen before it.
    let mut late = finished(&[], "Ines Mora");
    late.steps.push(taught());
    assert_eq!(assess(&late).grounding, Some(Grounding::Lucky));
}

#[test]
fn a_redirect_that_the_site_did_not_tell_is_known_by_its_sentence() {
    let mut redirected = bridge();
    redirected.provenance.as_mut().expect("it has one").title = "The bridge at Lund".into();
    assert_eq!(assess(&finished(&[redirected], "1901")).retrieval.gold.expect("gold").pages_opened, 1);
}

#[test]
fn a_sentence_in_pieces_is_seen_when_its_pieces_are() {
    let piece = step(Tool::Lookup, "1901", "(Result 1 / 1) Otto Pell in 1901..", None);
    let first = step(Tool::Lookup, "designed", "(Result 1 / 1) It was designed by Dr.", None);
    let seen = |steps: &[Step]| assess(&finished(steps, "x")).retrieval.gold.expect("gold").sentences_seen;
    assert_eq!(seen(std::slice::from_ref(&piece)), 0);
    assert_eq!(seen(&[piece, first]), 1);
}

#[test]
fn sentences_that_a_step_names_are_counted_by_their_numbers() {
    let naming = |mut step: Step, sentences: &[[usize; 3]]| {
        step.provenance.as_mut().expect("it has one").sentences = Some(sentences.to_vec());
        step
    };
    let gold = |steps: &[Step]| assess(&finished(steps, "x")).retrieval.gold.expect("gold");
    assert_eq!(gold(&[bridge(), taught()]).sentences_seen, 2, "by text");
    let first = || naming(bridge(), &[[0, 0, 1], [1, 1, 2], [0, 3, 2], [0, 7, usize::MAX]]);
    assert_eq!(gold(&[first(), taught()]).sentences_seen, 1, "the text of a page that names sentences says nothing");
    let looked_up = naming(step(Tool::Lookup, "1901", "x", Some("long bridge")), &[[0, 1, 2]]);
    assert_eq!(gold(&[first(), looked_up, taught()]).sentences_seen, 2);

    // FEVER gives numbers and no texts; sentence 1 of this page is empty.
    let mut claim = Question::new("q", "?", vec!["SUPPORTS".into()]);
    let piece = |page: &str, number| Evidence(Some(page.to_owned()), number);
    claim.evidence_sets =
        vec![vec![piece("Long_Bridge", Some(2)), piece("Pell_-LRB-man-RRB-", Some(0)), piece("Long_Bridge", None)]];
    let evidence = GoldEvidence::of(&claim).expect("evidence");
    let counts = |steps: &[Step]| {
        let gold = assess_by(&finished(steps, "REFUTES"), Some(&evidence)).retrieval.gold.expect("gold");
        (gold.sentences, gold.sentences_seen, gold.sentences_unknown)
    };
    let pell = step(Tool::Search, "Pell", "Pell was a man.", Some("Pell (man)"));
    assert_eq!(counts(&[bridge(), pell.clone()]), (0, 0, 3));
    assert_eq!(counts(&[naming(bridge(), &[[0, 0, 1], [0, 2, 4]])]), (2, 1, 1), "the other page was not opened");
    assert_eq!(counts(&[naming(bridge(), &[]), pell.clone()]), (1, 0, 2), "the other page gives no sentences");
    assert_eq!(counts(&[naming(bridge(), &[[0, 2, 3]]), naming(pell, &[[0, 0, 1]])]), (2, 2, 1));
    let unseen = assess_by(&finished(&[naming(bridge(), &[])], "REFUTES"), Some(&evidence));
    assert_class(
        &unseen,
        FailureClass::Search,
        "`Pell_-LRB-man-RRB-` was never opened; 1 of 2 gold pages were not opened",
    );
}

#[test]
fn what_was_not_measured_or_is_hidden_has_no_class() {
    let mut trajectory = finished(&[], "Rosa Luna");
    trajectory.answers.clear();
    let hidden = Assessment::of(&trajectory, None, None).expect("it was measured");
    assert_eq!((hidden.grounding, hidden.failure), (None, None));
    trajectory.outcome = Outcome::NotMeasured;
    assert_eq!(Assessment::of(&trajectory, None, None), None);
}

#[test]
fn sums_are_of_counts_and_say_of_how_many() {
    let mut sum = RunAssessment::default();
    for trajectory in [
        finished(&[bridge(), pell(), taught()], "Ines Mora"),
        finished(&[bridge(), missed("x")], "1901"),
        finished(&[], "Ines Mora"),
        finished(&[], "yes"),
        episode(&[nothing("x")], None, Outcome::StepLimit),
    ] {
        sum.add(&assess(&trajectory));
    }
    let share = |count, of| Share { count, of };
    assert_eq!((sum.gold_pages, sum.first_hop, sum.all_hops), (share(3, 10), share(2, 5), share(1, 5)));
    assert_eq!((sum.sentences, sum.missed_searches, sum.empty_lookups), (share(3, 10), share(1, 4), share(1, 2)));
    assert_eq!((sum.grounded, sum.lucky, sum.ungrounded, sum.verdicts), (share(2, 3), share(1, 3), share(0, 3), 1));
    assert_eq!((sum.wrong, sum.failures.iter().map(|(_, count)| count).sum::<u64>()), (3, 3));
    let json = serde_json::to_value(sum).expect("plain data");
    assert_eq!(json["grounded"], serde_json::json!({"count": 2, "of": 3, "share": 2.0 / 3.0}));
    assert_eq!(
        json["failures"].to_string(),
        r#"{"search":2,"lookup":0,"reasoning":0,"label":0,"hallucination":1,"loop":0,"format":0,"cut":0,"declined":0,"limit":0,"agent":0}"#
    );
    assert_eq!(sum.step_limit, 1);
    assert_eq!(
        json["paper"].to_string(),
        r#"{"true_positive":1,"false_positive":1,"undecided":0,"reasoning_error":0,"search_result_error":2,"hallucination":1,"label_ambiguity":0,"other":0}"#
    );
    assert_eq!(Share::default().value(), None);
}

#[test]
fn a_leak_is_eight_words_in_a_row_of_the_question() {
    let leak = |question: &str, shown: &[&str]| {
        let mut episode = finished(&[], "x");
        episode.question = question.into();
        episode.steps.splice(0..0, shown.iter().map(|text| step(Tool::Search, "x", text, Some("Page"))));
        Assessment::of(&episode, None, None).expect("measured").leak
    };
    let asked = "In which year did Otto Pell design the bridge at Lund?";
    assert_eq!(leak(asked, &["Q: in WHICH year, did Otto Pell design (a) bridge elsewhere?"]), Some(true));
    assert_eq!(leak(asked, &["In which year did Otto Pell design one bridge at Lund"]), Some(false));
    // Not across two observations.
    assert_eq!(leak(asked, &["In which year did Otto", "Pell design the bridge at Lund"]), Some(false));
    assert_eq!(leak(asked, &[]), Some(false));
    assert_eq!(leak("Who designed the long bridge at Lund?", &["Who designed the long bridge at Lund?"]), None);
    // The tool's echo of a query is not what it found.
    assert_eq!(leak(asked, &[&format!("Could not find {asked}. Similar: ['Lund'].")]), Some(false));
    let chinese = "隆德的那座长桥是由哪一位工程师设计的";
    assert_eq!(leak(chinese, &["隆德的那座长桥是由哪一位工程师设计的?"]), Some(true));
    assert_eq!(leak(chinese, &["隆德的那座长桥是由工程师设计的"]), Some(false));
}
