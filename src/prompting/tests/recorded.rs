//! The paper's own examples through our format. That its prompts equal the recorded ones is proven by the replays.

use super::{no_builtin, render, shared};
use crate::prompting::{PromptSource, RenderSettings, Rendered, load};
use std::fmt::Write as _;
use std::path::Path;

fn paper_prompt(file: &Path, key: &str, instruction: Option<&Path>) -> Rendered {
    let instruction = instruction.map(|path| path.display().to_string());
    let source = load(&format!("{}#{key}", file.display()), instruction.as_deref(), &no_builtin).unwrap();
    render(&source, &RenderSettings::default()).unwrap()
}

/// The paper's own examples, taken apart into our form and rendered, give the paper's text again.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn our_layout_is_the_papers() {
    let data = shared::folder().join("data/prompts");
    let instruction = data.join("hotpotqa_instruction.txt");
    let paper = paper_prompt(&data.join("prompts_naive.json"), "webthink_simple6", Some(&instruction));
    let examples = paper.frame.prefix.split_once("\n\n").expect("an empty line after the instruction").1;
    let toml = exemplars_as_toml(examples);
    let text = format!(
        "name = \"paper\"\nlanguage = \"en\"\nquestion_label = \"Question\"\n[instruction]\nreact = {}\n{toml}",
        quoted(&std::fs::read_to_string(instruction).unwrap())
    );
    let source = super::load_toml(&text).unwrap();
    let PromptSource::File(file) = &source else { panic!("a prompt file was loaded") };
    assert_eq!(file.exemplars.len(), 6);
    assert_eq!(render(&source, &RenderSettings::default()).unwrap().sha256, paper.sha256);
}

fn exemplars_as_toml(examples: &str) -> String {
    let mut toml = String::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in examples.lines() {
        let (label, text) = line.split_once(": ").unwrap_or((line, ""));
        let label = label.split(' ').next().unwrap();
        if ["Question", "Thought", "Action", "Observation"].contains(&label) {
            fields.push((label.to_owned(), text.to_owned()));
        } else {
            let last = &mut fields.last_mut().unwrap().1;
            *last = format!("{last}\n{line}");
        }
    }
    let mut questions = fields.split(|(label, _)| label == "Question").skip(1);
    for (_, question) in fields.iter().filter(|(label, _)| label == "Question") {
        let steps = questions.next().unwrap();
        let answer = steps.last().unwrap().1.strip_prefix("Finish[").unwrap().strip_suffix(']').unwrap();
        write!(toml, "[[exemplar]]\nquestion = {}\nanswer = {}\n", quoted(question), quoted(answer)).unwrap();
        for (label, text) in steps {
            if label == "Thought" {
                toml += "[[exemplar.step]]\n";
            }
            writeln!(toml, "{} = {}", label.to_lowercase(), quoted(text)).unwrap();
        }
    }
    toml
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
