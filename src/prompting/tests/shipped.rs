//! The prompts that come with the program.

use super::frames::{CHINESE, FEVER, HOTPOTQA};
use super::{load_toml, render};
use crate::base::Tool;
use crate::prompting::file::{self, Exemplar, METHODS};
use crate::prompting::{PromptSource, RenderSettings};
use std::collections::BTreeSet;

fn exemplars(text: &str) -> Vec<Exemplar> {
    let PromptSource::File(file) = load_toml(text).unwrap() else { panic!("a prompt file was loaded") };
    assert!(METHODS.iter().all(|method| file.instructions.contains_key(*method)));
    file.exemplars
}

#[test]
fn all_cover_what_their_tasks_need() {
    let covers = |text| exemplars(text).into_iter().filter_map(|exemplar| exemplar.covers).collect::<Vec<_>>();
    let tricks = ["bridge", "comparison", "yes/no", "missed search", "lookup", "disambiguation"];
    assert_eq!(covers(HOTPOTQA), tricks);
    assert_eq!(covers(CHINESE), tricks[..5]);
    assert_eq!(covers(FEVER), ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]);
}

#[test]
fn observations_look_like_the_tools() {
    for (exemplar, chinese) in [(HOTPOTQA, false), (FEVER, false), (CHINESE, true)]
        .into_iter()
        .flat_map(|(text, chinese)| exemplars(text).into_iter().map(move |exemplar| (exemplar, chinese)))
    {
        assert!(exemplar.rationale.is_some(), "{}", exemplar.question);
        let mut lookups = 0;
        for step in &exemplar.steps {
            let Some(observation) = &step.observation else { continue };
            let (tool, input) = file::parse_action(&step.action);
            lookups += usize::from(tool == Tool::Lookup);
            let (missed, end, result) = if chinese {
                (format!("找不到[{input}]。相似结果:['"), "']。", format!("(结果 {lookups} / 2) "))
            } else {
                (format!("Could not find {input}. Similar: ['"), "'].", format!("(Result {lookups} / 2) "))
            };
            if observation.starts_with(&missed) {
                let titles = observation.matches("', '").count() + 1;
                assert!(observation.ends_with(end) && titles == 5, "{observation}");
            } else if tool == Tool::Lookup {
                let found = observation.starts_with(&result) && observation.contains(&input);
                assert!(found || observation == "No more results.\n", "{observation}");
            } else if chinese {
                assert_eq!(observation.matches('。').count(), 5, "five sentences: {observation}");
                assert!(observation.ends_with('。') && !observation.contains([' ', '\n']), "{observation}");
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
    for exemplar in [HOTPOTQA, FEVER, CHINESE].into_iter().flat_map(exemplars) {
        let steps = exemplar.steps.iter().filter(|step| step.action.starts_with("Search["));
        let searched: BTreeSet<String> = steps.map(|step| step.action.clone()).collect();
        assert!(searched.iter().all(|action| seen.insert(action.clone())), "{searched:?}");
    }
    assert_eq!(seen.len(), 23);
}

const ENGLISH_TOOLS: [&str; 2] = ["\n(1) Search[title] opens ", "\n(3) Finish[answer] gives "];
const CHINESE_TOOLS: [&str; 2] = ["\n(1) Search[标题]：打开", "\n(3) Finish[答案]：给出"];

#[test]
fn rendered_prompts_begin_with_the_instruction_and_end_with_a_finish() {
    for (text, label, finish, limit, tools) in [
        (HOTPOTQA, "Question", "Finish[Alpha Phoenicis]\n", "within 7 steps. The answer is short", ENGLISH_TOOLS),
        (FEVER, "Claim", "Finish[NOT ENOUGH INFO]\n", "within 7 steps. The answer is short", ENGLISH_TOOLS),
        (CHINESE, "Question", "Finish[镇江]\n", "在 7 步之内结束。答案要简短", CHINESE_TOOLS),
    ] {
        let rendered = render(&load_toml(text).unwrap(), &RenderSettings::default()).unwrap();
        assert!(rendered.frame.prefix.ends_with(finish));
        assert!(rendered.frame.prefix.contains(limit));
        assert!(tools.iter().all(|tool| rendered.frame.prefix.contains(tool)), "{tools:?}");
        assert!(rendered.frame.prefix.contains(&format!("\n\n{label}: ")));
        assert!(rendered.frame.prefix.len() < 10_000, "{} bytes", rendered.frame.prefix.len());
    }
}
