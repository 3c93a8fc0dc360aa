//! Two prompts on the same questions, and the paired verdict. Needs no key and no network.
//!
//! `cargo run --example two_prompts -- results/two-prompts`

#![expect(clippy::print_stdout, reason = "a program for people prints")]

use std::path::PathBuf;
use wikitrail::compare::{Settings, compare_run};
use wikitrail::run::{Experiment, Interrupts, RunError, RunEvent, VariantSettings, prepare};

#[tokio::main]
async fn main() -> Result<(), RunError> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "results/two-prompts".to_owned()));
    // From the same exemplars: one prompt with thoughts, actions and observations, one with thoughts alone.
    let prompt = |method: &str| VariantSettings {
        prompt: Some("prompts/hotpotqa.toml".to_owned()),
        method: Some(method.to_owned()),
        ..Default::default()
    };
    let experiment = Experiment::over("datasets/sample.jsonl")
        .variant("react", prompt("react"))
        .variant("cot", prompt("cot"))
        .output(&folder);
    // Reads every file and looks into the folder; writes and sends nothing.
    let prepared = prepare(&experiment)?;
    let mut recorded = 0;
    let mut listener = |event: &RunEvent| recorded += usize::from(matches!(event, RunEvent::Recorded(_)));
    let finished = prepared.execute(&mut listener, Interrupts::signals()).await?;
    println!("{recorded} episodes recorded in {}", folder.display());
    for variant in finished.summaries.iter().flat_map(|summary| &summary.variants) {
        println!("{}: EM {:.3}", variant.name, variant.score.em.unwrap_or(f64::NAN));
    }
    let comparison = compare_run(&folder, &Settings::default())?;
    for pair in comparison.figures.iter().flat_map(|figure| &figure.pairs) {
        println!("{}", pair.verdict.sentence);
    }
    Ok(())
}
