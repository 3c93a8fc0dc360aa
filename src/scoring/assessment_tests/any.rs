//! Arbitrary episodes: exactly one class for a wrong measured answer, and no panic.

use super::{episode, question, score, step};
use crate::base::{Outcome, Step, Tool};
use crate::scoring::{Assessment, GoldEvidence, RunAssessment};
use proptest::prelude::*;

fn any_step() -> impl Strategy<Value = Step> {
    let tool = prop::option::of(prop::sample::select(vec![
        Tool::Search,
        Tool::Lookup,
        Tool::Finish,
        Tool::Think,
        Tool::Invalid,
    ]));
    let text = prop_oneof![
        Just("Could not find x. Similar: ['Ines Mora'].".to_owned()),
        Just("No more results.\n".to_owned()),
        Just("He was taught by Ines Mora in Porto..".to_owned()),
        "(Result [0-9]{1,2} / 3\\) )?[a-c\\[\\]. é东\n]{0,20}",
        any::<String>(),
    ];
    let title = prop::option::of(prop::sample::select(vec!["Long Bridge", "otto_pell", "", "\u{130}"]));
    (tool, "[a-b\\[\\] ]{0,3}", prop::option::of(text), title).prop_map(|(tool, input, observation, title)| Step {
        tool,
        action_text: tool.is_none().then(|| format!("Search[{input}]")),
        observation,
        ..step(Tool::Think, &input, "", title)
    })
}

proptest! {
    #[test]
    fn a_wrong_measured_answer_has_exactly_one_class_and_a_right_one_none(
        steps in prop::collection::vec(any_step(), 0..9),
        answer in prop::option::of(prop_oneof![
            Just("Ines Mora".to_owned()), Just("yes".to_owned()), "[a-cI .]{0,6}", any::<String>(),
        ]),
        golds in prop::collection::vec(prop_oneof![
            Just("Ines Mora".to_owned()), Just("no".to_owned()), Just("REFUTES".to_owned()), any::<String>(),
        ], 0..3),
        outcome in prop::sample::select(Outcome::ALL.to_vec()),
        known in any::<bool>(),
    ) {
        let mut trajectory = episode(&steps, answer.as_deref(), outcome);
        trajectory.answers = golds;
        let score = trajectory.measured().then(|| score(&trajectory)).flatten();
        let evidence = GoldEvidence::of(&question()).filter(|_| known);
        let assessment = Assessment::of(&trajectory, score, evidence.as_ref());
        prop_assert_eq!(assessment.is_some(), trajectory.measured());
        let mut sum = RunAssessment::default();
        if let Some(assessment) = &assessment {
            sum.add(assessment);
        }
        let wrong = u64::from(score.is_some_and(|score| score.em == 0.0));
        prop_assert_eq!(sum.wrong, wrong);
        prop_assert_eq!(sum.failures.iter().map(|(_, count)| count).sum::<u64>(), wrong);
        let parts = [sum.grounded, sum.lucky, sum.ungrounded].map(|share| share.count);
        prop_assert_eq!(parts.iter().sum::<u64>(), sum.grounded.of);
    }
}
