//! Hand-made episodes about one question in two hops, and what is tested with them.

mod any;
mod classes;
mod figures;
mod unnamed;

use super::{AnswerScore, Assessment, FailureClass, GoldEvidence, Metric, fixtures, score_answers};
use crate::base::{Outcome, Paragraph, Provenance, Question, Step, SupportingFact, Tool, Trajectory};

/// Who designed the bridge over the strait, in two hops of one sentence each; the second is not shown by the search.
fn question() -> Question {
    let mut question = Question::new("q", "Who taught the designer of the Long Bridge?", vec!["Ines Mora".into()]);
    let page = |title: &str, sentences: &[&str]| Paragraph {
        title: title.into(),
        sentences: sentences.iter().map(ToString::to_string).collect(),
    };
    question.context = vec![
        page("Long Bridge", &["The Long Bridge is a bridge.", " It was designed by Dr. Otto Pell in 1901."]),
        page("Otto Pell", &["Otto Pell was an engineer.", " He was taught by Ines Mora in Porto."]),
    ];
    question.supporting_facts = vec![SupportingFact("Long Bridge".into(), 1), SupportingFact("Otto Pell".into(), 1)];
    question
}

fn step(tool: Tool, input: &str, observation: &str, title: Option<&str>) -> Step {
    let provenance = title.map(|title| Provenance {
        source: "corpus".into(),
        url: String::new(),
        title: title.into(),
        pageid: None,
        revid: None,
        status: 200,
        fetched_at: String::new(),
        sha256: String::new(),
        sentences: None,
        hits: Vec::new(),
    });
    Step { provenance, ..fixtures::step(tool, input, observation) }
}

fn bridge() -> Step {
    // As the tool shows it: cut at `. `, full stops doubled; the page carries a footnote mark.
    let shown = "The Long Bridge is a bridge.[1] It was designed by Dr. Otto Pell in 1901.. It crosses the strait..";
    step(Tool::Search, "long bridge", shown, Some("Long_Bridge"))
}

fn pell() -> Step {
    step(Tool::Search, "Otto Pell", "Otto Pell was an engineer. He built eleven bridges..", Some("Otto Pell"))
}

fn taught() -> Step {
    step(Tool::Lookup, "taught", "(Result 1 / 1) He was taught by Ines Mora in Porto..", None)
}

fn missed(query: &str) -> Step {
    let shown = format!("Could not find {query}. Similar: ['Short Bridge', 'Bridge (game)'].");
    step(Tool::Search, query, &shown, Some(query))
}

fn other() -> Step {
    let shown = "The Short Bridge is in Lima. It was designed by Ada Quint..";
    step(Tool::Search, "Short Bridge", shown, Some("Short Bridge"))
}

fn nothing(keyword: &str) -> Step {
    step(Tool::Lookup, keyword, "No more results.\n", None)
}

fn episode(steps: &[Step], answer: Option<&str>, outcome: Outcome) -> Trajectory {
    let mut steps = steps.to_vec();
    steps.push(step(Tool::Finish, answer.unwrap_or_default(), "Episode finished, reward = 0\n", None));
    fixtures::episode(steps, answer, &["Ines Mora"], outcome)
}

fn finished(steps: &[Step], answer: &str) -> Trajectory {
    episode(steps, Some(answer), Outcome::Finished)
}

fn score(trajectory: &Trajectory) -> Option<AnswerScore> {
    let metric = Metric::for_answers("sample", &trajectory.answers);
    score_answers(metric, trajectory.answer.as_deref(), &trajectory.answers)
}

fn assess_by(trajectory: &Trajectory, evidence: Option<&GoldEvidence>) -> Assessment {
    Assessment::of(trajectory, score(trajectory), evidence).expect("it was measured")
}

fn assess(trajectory: &Trajectory) -> Assessment {
    assess_by(trajectory, GoldEvidence::of(&question()).as_ref())
}

#[track_caller]
fn assert_class(assessment: &Assessment, class: FailureClass, evidence: &str) {
    let failure = assessment.failure.as_ref().expect("a wrong answer");
    assert_eq!((failure.class, failure.evidence.as_str()), (class, evidence));
}
