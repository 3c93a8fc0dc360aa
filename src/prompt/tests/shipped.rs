//! The prompts that come with the program.

use super::load_toml;
use crate::prompt::{Exemplar, METHODS, PromptSource, RenderSettings, render};
use crate::types::Tool;
use std::collections::BTreeSet;

const HOTPOTQA: &str = include_str!("../../../prompts/hotpotqa.toml");
const FEVER: &str = include_str!("../../../prompts/fever.toml");

fn exemplars(text: &str) -> Vec<Exemplar> {
    let PromptSource::File(file) = load_toml(text).unwrap() else { panic!("a prompt file was loaded") };
    assert!(METHODS.iter().all(|method| file.instructions.contains_key(*method)));
    file.exemplars
}

#[test]
fn both_cover_what_their_tasks_need() {
    let covers = |text| exemplars(text).into_iter().filter_map(|exemplar| exemplar.covers).collect::<Vec<_>>();
    let tricks = ["bridge", "comparison", "yes/no", "missed search", "lookup", "disambiguation"];
    assert_eq!(covers(HOTPOTQA), tricks);
    assert_eq!(covers(FEVER), ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]);
}

#[test]
fn observations_look_like_the_tools() {
    for exemplar in exemplars(HOTPOTQA).into_iter().chain(exemplars(FEVER)) {
        assert!(exemplar.rationale.is_some(), "{}", exemplar.question);
        let mut lookups = 0;
        for step in &exemplar.steps {
            let Some(observation) = &step.observation else { continue };
            let action = step.action.replacen('S', "s", 1).replacen('L', "l", 1);
            let (tool, input) = Tool::parse_action(&action);
            if observation.starts_with("Could not find ") {
                let start = format!("Could not find {input}. Similar: ['");
                assert!(observation.starts_with(&start) && observation.ends_with("']."), "{observation}");
                assert_eq!(observation.matches("', '").count(), 4, "five titles: {observation}");
            } else if tool == Tool::Lookup {
                lookups += 1;
                let start = format!("(Result {lookups} / 2) ");
                let holds = observation.starts_with(&start) && observation.contains(input);
                assert!(holds || observation == "No more results.\n", "{observation}");
            } else {
                assert_eq!(observation.split(". ").count(), 5, "five sentences: {observation}");
                assert!(observation.ends_with('.') && !observation.contains(".."), "{observation}");
            }
        }
    }
}

#[test]
fn subjects_differ_between_exemplars() {
    let mut seen = BTreeSet::new();
    for exemplar in exemplars(HOTPOTQA).into_iter().chain(exemplars(FEVER)) {
        let steps = exemplar.steps.iter().filter(|step| step.action.starts_with("Search["));
        let searched: BTreeSet<String> = steps.map(|step| step.action.clone()).collect();
        assert!(searched.iter().all(|action| seen.insert(action.clone())), "{searched:?}");
    }
    assert_eq!(seen.len(), 14);
}

#[test]
fn rendered_prompts_begin_with_the_instruction_and_end_with_a_finish() {
    for (text, label, finish) in
        [(HOTPOTQA, "Question", "Finish[Alpha Phoenicis]\n"), (FEVER, "Claim", "Finish[NOT ENOUGH INFO]\n")]
    {
        let rendered = render(&load_toml(text).unwrap(), &RenderSettings::default()).unwrap();
        assert!(rendered.text.ends_with(finish));
        assert!(rendered.text.contains("within 7 steps. The answer is short"));
        assert!(
            rendered.text.contains("\n(1) Search[title] opens ")
                && rendered.text.contains("\n(3) Finish[answer] gives ")
        );
        assert!(rendered.text.contains(&format!("\n\n{label}: ")));
        assert!(rendered.text.len() < 10_000, "{} bytes", rendered.text.len());
    }
}
