//! Each class with episodes whose class is beyond doubt.

use super::{assert_class, assess, assess_by, bridge, episode, finished, missed, nothing, other, pell, step, taught};
use crate::base::{Call, Evidence, Outcome, Question, Repair, Step, Tool, Trajectory};
use crate::scoring::{Assessment, FailureClass, GoldEvidence, GoldRetrieval, Grounding, Share};

#[test]
fn a_page_that_was_never_opened_is_a_search_failure() {
    let one = assess(&finished(&[bridge(), missed("Otto Pell")], "1901"));
    assert_class(&one, FailureClass::Search, "`Otto Pell` was never opened; 1 of 2 gold pages were not opened");
    assert_eq!(one.grounding, Some(Grounding::Grounded));
    let gold = one.retrieval.gold.expect("gold");
    assert!(gold.first_hop() && !gold.all_hops());
    // The answer of another page: something supports it, but it is not the right page.
    let none = assess(&finished(&[other()], "Ada Quint"));
    assert_class(&none, FailureClass::Search, "`Long Bridge` was never opened; 2 of 2 gold pages were not opened");
}

#[test]
fn a_sentence_that_was_never_seen_is_a_lookup_failure() {
    let unseen = "`Otto Pell` was opened, but `He was taught by Ines Mora in Porto.` was never seen";
    assert_class(&assess(&finished(&[bridge(), pell(), nothing("teacher")], "1901")), FailureClass::Lookup, unseen);
    // Made up or not: both gold pages were read.
    let made_up = assess(&finished(&[bridge(), pell()], "Rosa Luna"));
    assert_class(&made_up, FailureClass::Lookup, unseen);
    assert_eq!(made_up.grounding, Some(Grounding::Ungrounded));
}

#[test]
fn everything_seen_and_still_wrong_is_a_reasoning_failure() {
    let wrong = assess(&finished(&[bridge(), pell(), taught()], "Otto Pell"));
    assert_class(&wrong, FailureClass::Reasoning, "2 of 2 gold sentences were seen");
}

#[test]
fn a_matter_of_wording_is_a_label_failure() {
    let steps = [bridge(), pell(), taught()];
    let near = assess(&finished(&steps, "Mora"));
    assert_class(&near, FailureClass::Label, "F1 0.67 of `Mora` with `Ines Mora`");
    let long = assess(&finished(&steps, "He had been a pupil of the engineer Ines Mora"));
    let evidence = "one of `He had been a pupil of the engineer Ines Mora` and `Ines Mora` contains the other";
    assert_class(&long, FailureClass::Label, evidence);
    // An alias that the metric does not count, and a gold verdict inside other words, which is not a label.
    let mut alias = finished(&steps, "I. M. Mora-Diaz of Porto");
    alias.answers.push("Mora-Diaz".into());
    assert_eq!(assess(&alias).failure.expect("wrong").class, FailureClass::Label);
    let mut verdict = finished(&steps, "there is no bridge");
    verdict.answers = vec!["no".into()];
    assert_ne!(assess(&verdict).failure.expect("wrong").class, FailureClass::Label);
    verdict.answer = Some("No, it was not".into());
    assert_eq!(assess(&verdict).failure.expect("wrong").class, FailureClass::Label);
}

#[test]
fn an_answer_out_of_nowhere_is_a_hallucination() {
    let at_once = assess(&finished(&[], "Rosa Luna"));
    assert_class(&at_once, FailureClass::Hallucination, "answered `Rosa Luna`: no page text was seen");
    assert_eq!(at_once.grounding, Some(Grounding::Ungrounded));
    // An echo of the query supports nothing.
    let echo = assess(&finished(&[missed("Rosa Luna")], "Rosa Luna"));
    assert_eq!(echo.failure.expect("wrong").class, FailureClass::Hallucination);
    let elsewhere = assess(&finished(&[other()], "Rosa Luna"));
    let evidence =
        "answered `Rosa Luna`: it appears in no observation, and none of the pages opened (1) is a gold page";
    assert_class(&elsewhere, FailureClass::Hallucination, evidence);
}

#[test]
fn the_same_again_and_again_is_a_loop() {
    let circle: Vec<Step> = std::iter::repeat_n(missed("The  Bridge"), 7).collect();
    let stuck = assess(&episode(&circle, None, Outcome::StepLimit));
    let evidence = "the last 6 of 7 actions repeat earlier ones, `search[the bridge]` 7 times in all";
    assert_class(&stuck, FailureClass::Loop, evidence);
    assert_eq!(stuck.grounding, None);
    let pair = [bridge(), nothing("x"), missed("a"), missed("b"), missed("a"), missed("b")];
    let alternating = assess(&episode(&pair, None, Outcome::StepLimit));
    assert_eq!(alternating.failure.expect("wrong").class, FailureClass::Loop);
    // The same keyword shows the next result, or is tried on another page: that is not a loop.
    let reading = [bridge(), nothing("Pell"), pell(), nothing("Pell"), taught(), taught(), taught()];
    let reading = assess(&episode(&reading, None, Outcome::StepLimit));
    assert_eq!(reading.failure.expect("wrong").class, FailureClass::Reasoning, "all that was needed was seen");
    // A third of all actions is a loop too, wherever the repeated ones are.
    let back = [missed("a"), missed("b"), missed("a"), bridge(), missed("a"), missed("c")];
    let back = assess(&episode(&back, None, Outcome::StepLimit));
    let evidence = "2 of 6 actions repeat earlier ones, `search[a]` 3 times in all";
    assert_class(&back, FailureClass::Loop, evidence);
}

#[test]
fn prose_is_a_matter_of_format_and_a_broken_search_that_is_repeated_a_loop() {
    let prose = |n: usize| step(Tool::Invalid, &format!("I am sorry, {n}"), "Invalid action: I am sorry", None);
    let sorry = [bridge(), nothing("x"), missed("a"), prose(1), prose(1), prose(1), prose(1)];
    let sorry = assess(&episode(&sorry, None, Outcome::StepLimit));
    assert_class(&sorry, FailureClass::Format, "no answer; 4 of 7 actions named no tool");
    assert!(sorry.failure.expect("wrong").step_limit);
    let few = [bridge(), missed("a"), missed("b"), missed("c"), prose(1), prose(2), prose(2)];
    let few = assess(&episode(&few, None, Outcome::StepLimit)).failure.expect("wrong");
    assert_eq!(few.class, FailureClass::Search, "{}", few.evidence);
    let broken = step(Tool::Invalid, "lookup[Pell] elsewhere", "Invalid action: lookup[Pell] elsewhere", None);
    let broken: Vec<Step> = std::iter::once(bridge()).chain(std::iter::repeat_n(broken, 5)).collect();
    let broken = assess(&episode(&broken, None, Outcome::StepLimit));
    assert_eq!(broken.failure.expect("wrong").class, FailureClass::Loop);
}

#[test]
fn text_that_cannot_be_followed_is_a_format_failure() {
    let mut unreadable = episode(&[bridge()], None, Outcome::FormatFailure);
    unreadable.detail = Some("an empty action".into());
    let evidence = "the model's text could not be parsed: `an empty action`";
    assert_class(&assess(&unreadable), FailureClass::Format, evidence);
    // The same nonsense seven times is a matter of format before it is a loop.
    let nonsense = step(Tool::Invalid, "I would search", "Invalid action: I would search", None);
    let steps: Vec<Step> = std::iter::repeat_n(nonsense, 7).collect();
    let nonsense = assess(&episode(&steps, None, Outcome::StepLimit));
    assert_class(&nonsense, FailureClass::Format, "no answer; 7 of 7 actions named no tool");
    // Replies that a system refused and asked for again led to no step.
    let again = |kinds: &[&str], steps: &[Step]| {
        let mut refused = episode(steps, None, Outcome::StepLimit);
        refused.repairs = kinds.iter().map(|kind| Repair { step: 1, kind: (*kind).to_owned() }).collect();
        assess(&refused)
    };
    let (unreadable, empty) = (Repair::UNREADABLE_REPLY, Repair::EMPTY_REPLY);
    let all = again(&[unreadable, unreadable, empty], &[]);
    assert_class(&all, FailureClass::Format, "no answer; 3 of 3 replies named no tool");
    let one = again(&[unreadable], &[missed("a"), bridge()]);
    assert_class(&one, FailureClass::Search, "`Otto Pell` was never opened; 1 of 2 gold pages were not opened");
    let paper = again(&[Repair::MISSING_ACTION; 2], &[missed("a"), bridge()]);
    assert_eq!(paper.failure.expect("wrong").class, FailureClass::Search, "the thought of such a reply is used");
    assert_class(
        &assess(&finished(&[bridge()], " ?! ")),
        FailureClass::Format,
        "ended with `?!`, an answer without words",
    );
}

#[test]
fn what_was_cut_or_declined_is_no_matter_of_format() {
    let called = |reasons: &[&str], trajectory: Trajectory| {
        let call = |reason: &&str| Call { finish_reason: Some((*reason).to_owned()), ..Call::default() };
        let step = Step { n: 9, calls: reasons.iter().map(call).collect(), ..Step::default() };
        let steps = [&trajectory.steps[..], &[step]].concat();
        assess(&Trajectory { steps, ..trajectory }).failure.expect("wrong").class
    };
    let unreadable = || episode(&[bridge()], None, Outcome::FormatFailure);
    let stuck = || episode(&[missed("a"), bridge(), nothing("b"), pell()], None, Outcome::StepLimit);
    for (reasons, trajectory, class) in [
        (&["length", "length"][..], unreadable(), FailureClass::Cut),
        (&["stop", "stop", "length"], unreadable(), FailureClass::Cut),
        (&["length", "stop", "stop"], unreadable(), FailureClass::Format),
        (&["stop", "refusal"], unreadable(), FailureClass::Declined),
        (&["length", "length", "stop"], stuck(), FailureClass::Cut),
        // The last step was no worse than the others.
        (&["stop", "stop", "length"], stuck(), FailureClass::Lookup),
        (&["content_filter", "stop"], stuck(), FailureClass::Declined),
        (&[], episode(&[bridge()], None, Outcome::ContextOverflow), FailureClass::Cut),
        // What was said instead of an answer; and an answer with something after it.
        (&["refusal"], finished(&[], "I cannot help with that"), FailureClass::Declined),
        (&["length"], finished(&[bridge(), pell(), taught()], "Otto Pell"), FailureClass::Reasoning),
    ] {
        assert_eq!(called(reasons, trajectory), class, "{reasons:?}");
    }
    // Right is right.
    let right = finished(&[bridge()], "Ines Mora");
    assert_eq!(assess(&right).failure, None);
}

#[test]
fn steps_that_ran_out_have_the_cause_as_their_class_and_the_limit_as_a_fact() {
    let steps = [missed("a"), bridge(), nothing("b"), pell()];
    let evidence = "`Otto Pell` was opened, but `He was taught by Ines Mora in Porto.` was never seen";
    let stuck = assess(&episode(&steps, None, Outcome::StepLimit));
    assert_class(&stuck, FailureClass::Lookup, evidence);
    let stuck = stuck.failure.expect("wrong");
    assert_eq!((stuck.step_limit, stuck.described()), (true, format!("{evidence}; ended at the step limit")));
    // The paper's harness records the empty answer with which it closes an episode.
    assert_class(&assess(&episode(&steps, Some(""), Outcome::StepLimit)), FailureClass::Lookup, evidence);
    let ended = assess(&finished(&steps, "1901")).failure.expect("wrong");
    assert_eq!((ended.step_limit, ended.described()), (false, evidence.to_owned()));
    // Nothing was tried that could explain it.
    let thoughts = ["hm", "and so", "but then"].map(|text| step(Tool::Think, text, "OK.", None));
    let idle = assess(&episode(&thoughts, None, Outcome::StepLimit));
    assert_class(&idle, FailureClass::Limit, "step_limit: no answer after 3 actions");
    // An episode that the run's budget cut short is not a failure of the agent.
    assert_eq!(Assessment::of(&episode(&steps, None, Outcome::Budget), None, None), None);
}

#[test]
fn without_supporting_facts_the_answer_string_decides() {
    let class = |trajectory: &Trajectory| assess_by(trajectory, None).failure.expect("wrong").class;
    assert_eq!(class(&finished(&[bridge(), taught()], "Porto")), FailureClass::Reasoning);
    assert_eq!(class(&finished(&[bridge(), pell()], "1901")), FailureClass::Search);
    assert_eq!(class(&finished(&[bridge(), pell()], "Rosa Luna")), FailureClass::Hallucination);
    assert_eq!(assess_by(&finished(&[bridge()], "1901"), None).retrieval.gold, None);
    let mut verdict = finished(&[bridge()], "no");
    verdict.answers = vec!["yes".into()];
    assert_eq!(class(&verdict), FailureClass::Reasoning);
    verdict.steps.remove(0);
    assert_eq!(class(&verdict), FailureClass::Hallucination);
}

#[test]
fn a_claim_needs_one_of_its_evidence_sets() {
    let mut claim = Question::new("c", "Otto Pell built it.", vec!["SUPPORTS".into()]);
    let piece = |page: &str| Evidence(Some(page.into()), Some(0));
    claim.evidence_sets = vec![vec![piece("Long_Bridge"), piece("Porto")], vec![piece("Otto_Pell")]];
    let evidence = GoldEvidence::of(&claim);
    let judge = |steps: &[Step], answer: &str| {
        let mut trajectory = finished(steps, answer);
        trajectory.answers.clone_from(&claim.answers);
        assess_by(&trajectory, evidence.as_ref())
    };
    let half = judge(&[bridge()], "REFUTES");
    assert_class(&half, FailureClass::Search, "`Porto` was never opened; 1 of 2 gold pages were not opened");
    assert_eq!(half.grounding, Some(Grounding::Verdict));
    let whole = judge(&[bridge(), pell()], "REFUTES");
    let gold = GoldRetrieval {
        pages: 1,
        pages_opened: 1,
        sentences: 0,
        sentences_seen: 0,
        sentences_unknown: 1,
        r_precision: Share { count: 1, of: 2 },
        recall_at_5: Share { count: 1, of: 2 },
    };
    assert_eq!(whole.retrieval.gold, Some(gold));
    assert_eq!(whole.failure.expect("wrong").class, FailureClass::Reasoning);
    assert_eq!(judge(&[], "REFUTES").failure.expect("wrong").class, FailureClass::Hallucination);
    // It asserts nothing, so it is not made up.
    assert_eq!(judge(&[], "NOT ENOUGH INFO").failure.expect("wrong").class, FailureClass::Search);
}
