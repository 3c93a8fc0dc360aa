//! One question, answered step by step by the baseline over the shipped encyclopedia. Needs no key and no network.
//!
//! `cargo run --example one_question -- "Who wrote Solaris?"`

#![expect(clippy::print_stdout, reason = "a program for people prints")]

use wikitrail::run::{OneAgent, Question, RunError, VariantSettings};

#[tokio::main]
async fn main() -> Result<(), RunError> {
    let question = std::env::args().nth(1).unwrap_or_else(|| "Who was Blaise Pascal?".to_owned());
    // Another model: `model: Some("openai:NAME".to_owned())`; every setting of `wikitrail run` is a field.
    let settings = VariantSettings { protocol: Some("react-paper".to_owned()), ..Default::default() };
    let agent = OneAgent::new(settings)?;
    let trajectory = agent.answer(Question::new("q1", &question, Vec::new())).await;
    for step in &trajectory.steps {
        println!("{}. {}", step.n, step.thought.as_deref().unwrap_or_default());
        println!("   {}[{}]", step.tool.map_or("none", |tool| tool.name()), step.input.as_deref().unwrap_or_default());
        println!("   {}", step.observation.as_deref().unwrap_or_default());
    }
    println!("answer: {}", trajectory.answer.as_deref().unwrap_or("none"));
    Ok(())
}
