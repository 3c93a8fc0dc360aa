//! Prompts and transcripts of the source articles, as the program prints them.

use crate::common::{WorkDir, shared};
use serde_json::json;
use std::fmt::Write as _;

fn toml(instruction: &str, exemplars: &str) -> String {
    format!(
        "name = \"s\"\nlanguage = \"zh\"\nquestion_label = \"Question\"\ntask = \"t\"\n[instruction]\n\
         react = {}\n{exemplars}",
        json!(instruction)
    )
}

/// An exemplar of a prompt file; a step is thought, action and observation.
fn exemplar(question: &str, answer: &str, steps: &[[Option<&str>; 3]]) -> String {
    let mut text = format!("[[exemplar]]\nquestion = {}\nanswer = {}\n", json!(question), json!(answer));
    for step in steps {
        text += "[[exemplar.step]]\n";
        for (key, value) in ["thought", "action", "observation"].iter().zip(step) {
            if let Some(value) = value {
                writeln!(text, "{key} = {}", json!(value)).expect("a string");
            }
        }
    }
    text
}

/// The article's own three exemplars.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_scripts_prompt_is_made_of_its_exemplars() {
    let page = shared::text("sources/001_60287820b8d93760.txt");
    let (_, rest) = page.split_once("REACT_PROMPT = \"\"\"").expect("the prompt");
    let (script, _) = rest.split_once("\"\"\"").expect("its end");
    let mut parts = script.split("\nQuestion:");
    let instruction = parts.next().expect("an instruction");
    let exemplars: String = parts.map(read_exemplar).collect();
    let dir = WorkDir::new();
    dir.write("article.toml", toml(instruction, &exemplars));
    let shown = dir.wikitrail(&["prompt", "show", "article.toml", "--protocol", "react-zh"]).ok().stdout;
    assert_eq!(shown, script);
    assert_eq!(shown.matches("\nQuestion:").count(), 3);
}

/// An exemplar of the article as one of a prompt file.
fn read_exemplar(text: &str) -> String {
    let (question, mut rest) = text.trim_end().split_once("\nThought 1:").expect("a question");
    let mut steps = Vec::new();
    let mut answer = "";
    for n in 1.. {
        let (thought, behind) = rest.split_once(&format!("\nAction {n}:")).expect("an action");
        let Some((action, behind)) = behind.split_once(&format!("\nObservation {n}:")) else {
            answer = behind.strip_prefix("Finish[").and_then(|end| end.strip_suffix(']')).expect("an answer");
            steps.push([Some(thought), Some(behind), None]);
            break;
        };
        let (observation, behind) = behind.split_once(&format!("\nThought {}:", n + 1)).expect("a thought");
        steps.push([Some(thought), Some(action), Some(observation)]);
        rest = behind;
    }
    exemplar(question, answer, &steps)
}

/// The questions of docs/commands.md and docs/methods.md.
#[test]
fn the_example_questions_have_sensible_answers() {
    let dir = WorkDir::new();
    let pages = [crate::common::repository("docs/commands.md"), crate::common::repository("docs/methods.md")].concat();
    let asked: Vec<&str> =
        pages.lines().filter(|line| line.starts_with("wikitrail ask \"") && !line.contains("--model")).collect();
    let answers = ["Lwów", "a French mathematician", "Blaise Pascal"];
    assert_eq!(asked.len(), answers.len(), "{asked:?}");
    for (line, answer) in asked.iter().zip(answers) {
        let said = crate::common::shell(dir.root(), &line.replace("results/", "")).ok().stdout;
        assert_eq!(said.lines().last(), Some(&*format!("answer       {answer}")), "{line}");
    }
}
