//! Classes where the dataset names no evidence: what was read decides.

use super::{assess_by, bridge, episode, finished, missed, nothing, other, step};
use crate::base::{Outcome, Step, Tool, Trajectory};
use crate::scoring::Grounding::{Grounded, Ungrounded};
use crate::scoring::{Failure, FailureClass};

/// An episode about a claim or a question with this gold.
fn about(question: &str, gold: &str, steps: &[Step], answer: Option<&str>) -> Failure {
    let outcome = if answer.is_some() { Outcome::Finished } else { Outcome::StepLimit };
    let mut one = Trajectory { question: question.to_owned(), ..episode(steps, answer, outcome) };
    one.answers = vec![gold.to_owned()];
    assess_by(&one, None).failure.expect("wrong")
}

const NOT_ENOUGH: Option<&str> = Some("NOT ENOUGH INFO");

#[test]
fn who_abstains_without_the_sentence_failed_to_look_it_up() {
    let claim = "The Long Bridge was closed for repairs.";
    let given_up = about(claim, "REFUTES", &[bridge(), nothing("closed for repairs")], NOT_ENOUGH);
    assert_eq!(given_up.class, FailureClass::Lookup);
    assert!(given_up.evidence.ends_with("; 1 lookups on the open page found nothing"), "{}", given_up.evidence);
    let at_once = about(claim, "SUPPORTS", &[bridge()], NOT_ENOUGH);
    assert_eq!(at_once.class, FailureClass::Lookup);
    // The words of the claim were there to be read.
    let shown = step(Tool::Lookup, "repair", "(Result 1 / 1) The Long Bridge closed in 1950 for repair.", None);
    assert_eq!(about(claim, "SUPPORTS", &[bridge(), shown], NOT_ENOUGH).class, FailureClass::Reasoning);
    // No page, a page about something else, a list of what the name may mean.
    let blind = [nothing("Long Bridge"), nothing("repairs")];
    assert_eq!(about(claim, "REFUTES", &blind, NOT_ENOUGH).class, FailureClass::Search);
    assert_eq!(about("Harbours freeze.", "SUPPORTS", &[other()], NOT_ENOUGH).class, FailureClass::Search);
    let list =
        step(Tool::Search, "Long Bridge", "Long Bridge may refer to:. Long Bridge (Porto).", Some("Long Bridge"));
    assert_eq!(about(claim, "REFUTES", &[list], NOT_ENOUGH).class, FailureClass::Search);
    // Yes and no are verdicts too, and prose is an abstention.
    let unable = Some("Unable to find the answer");
    assert_eq!(about("Is the Long Bridge closed?", "yes", &[bridge()], unable).class, FailureClass::Lookup);
}

#[test]
fn a_page_says_first_what_its_subject_is() {
    let page = step(Tool::Search, "Long Bridge", "Long Bridge is a Portuguese bridge by the sea.", Some("Long Bridge"));
    let class = |claim: &str, gold: &str, answer| about(claim, gold, std::slice::from_ref(&page), answer).class;
    let [yes, no] = [Some("SUPPORTS"), Some("REFUTES")];
    // One word was changed, so the sentence that refutes was there; of two, who knows.
    assert_eq!(class("Long Bridge is Chilean.", "REFUTES", NOT_ENOUGH), FailureClass::Reasoning);
    assert_eq!(class("Long Bridge closed in May.", "REFUTES", NOT_ENOUGH), FailureClass::Lookup);
    assert_eq!(class("Long Bridge is Chilean.", "SUPPORTS", NOT_ENOUGH), FailureClass::Lookup);
    // The page is not that of the album.
    assert_eq!(class("Long Bridge is an album.", "SUPPORTS", no), FailureClass::Search);
    assert_eq!(class("Long Bridge is an old bridge.", "SUPPORTS", no), FailureClass::Reasoning);
    assert_eq!(class("Long Bridge is an album.", "REFUTES", yes), FailureClass::Reasoning);
    // Nothing more is known about the claim, and what was shown decides it.
    assert_eq!(class("Long Bridge is a Chilean bridge.", "NOT ENOUGH INFO", no), FailureClass::Label);
    assert_eq!(class("Long Bridge is a Portuguese bridge.", "NOT ENOUGH INFO", no), FailureClass::Reasoning);
    assert_eq!(class("Long Bridge was painted.", "NOT ENOUGH INFO", no), FailureClass::Reasoning);
    // A text without a word of the claim supports no verdict on it.
    let astray = about("A&E was a root beer brand.", "NOT ENOUGH INFO", &[page], no);
    assert_eq!(astray.class, FailureClass::Hallucination);
    assert!(astray.evidence.ends_with("no text that was shown has a word of the question"), "{}", astray.evidence);
}

#[test]
fn what_a_page_supports_it_names() {
    let denied = Some("REFUTES");
    let unseen = about("The Long Bridge was painted by Rosa Luna.", "SUPPORTS", &[bridge()], denied);
    assert_eq!(unseen.class, FailureClass::Lookup);
    assert!(unseen.evidence.contains("`Rosa` was in no text that was shown"), "{}", unseen.evidence);
    assert_eq!(about("The Long Bridge was painted.", "SUPPORTS", &[bridge()], denied).class, FailureClass::Reasoning);
    // What it refutes, it need not name; and of a question's pages one was not opened.
    let claimed = about("The Long Bridge was painted by Rosa Luna.", "REFUTES", &[bridge()], Some("SUPPORTS"));
    assert_eq!(claimed.class, FailureClass::Reasoning);
    let both = about("Are the Long Bridge and Rosa Luna Portuguese?", "yes", &[bridge()], Some("no"));
    assert_eq!(both.class, FailureClass::Search);
}

#[test]
fn a_gold_of_not_enough_info_is_named() {
    let class = |claim: &str, answer: Option<&str>| about(claim, "NOT ENOUGH INFO", &[bridge()], answer);
    let read_into = class("The Long Bridge is made of cheese.", Some("SUPPORTS"));
    assert_eq!(read_into.class, FailureClass::Reasoning);
    assert_eq!(read_into.evidence, "the gold is NOT ENOUGH INFO: the dataset names no evidence for `SUPPORTS`");
    // All the words of the claim are on the page: the label is in doubt.
    let shown = step(Tool::Search, "Long Bridge", "The Long Bridge is a bridge over the Douro.", Some("Long Bridge"));
    let said =
        about("The Long Bridge is over the Douro.", "NOT ENOUGH INFO", std::slice::from_ref(&shown), Some("SUPPORTS"));
    assert_eq!(said.class, FailureClass::Label);
    let denied = about("The Long Bridge is over the Douro.", "NOT ENOUGH INFO", &[shown], Some("REFUTES"));
    assert_eq!(denied.class, FailureClass::Reasoning);
    assert_eq!(class("The Long Bridge is old.", None).class, FailureClass::Reasoning);
}

#[test]
fn a_suggestion_that_was_not_opened_is_named() {
    let similar = "Could not find [Rosa Luna]. Similar: ['Rosa Luna (singer)', \"Luna's Rose\", 'Porto'].";
    let missed_twice = [step(Tool::Search, "Rosa Luna", similar, None), missed("Luna singer")];
    let never = about("Who is Rosa Luna?", "a singer", &missed_twice, None);
    assert_eq!((never.class, never.step_limit), (FailureClass::Search, true));
    assert_eq!(never.evidence, "no page text was seen; `Rosa Luna (singer)` was suggested and never opened");
    // A title that was only suggested is not evidence, so there was nothing to reason from.
    let named = about("Where is Rosa Luna from?", "Porto", &missed_twice, Some("I cannot say: unknown"));
    assert_ne!(named.class, FailureClass::Reasoning);
    let opened = step(Tool::Search, "Rosa Luna (singer)", "Rosa Luna sang.", Some("Rosa Luna (singer)"));
    let opened = about("Who is Rosa Luna?", "a tenor", &[missed_twice[0].clone(), opened], Some("Rosa"));
    assert!(!opened.evidence.contains("suggested"), "{}", opened.evidence);
}

#[test]
fn most_words_of_a_long_answer_in_one_observation_ground_it() {
    let page =
        step(Tool::Search, "Fleet", "It had new, small and fast ships such as boats and later ferries.", Some("Fleet"));
    let grounding = |answer: &str| assess_by(&finished(std::slice::from_ref(&page), answer), None).grounding;
    assert_eq!(grounding("new, small, and fast ships like boats and ferries"), Some(Grounded));
    assert_eq!(grounding("old, large, and slow ships like boats and rafts"), Some(Ungrounded));
    assert_eq!(grounding("fast small ships"), Some(Ungrounded), "a short answer has to be there as it is");
}
