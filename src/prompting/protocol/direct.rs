//! Answers without tools: the paper's `standard` (the answer at once) and `cot` (reasoning, then the answer).
//!
//! One text: instruction and examples, the gold paragraphs where they are shown, the question's line, and the label
//! that the model continues. A chain of thought that does not come to its `Answer:` is asked for it once more, as
//! the paper's loop asks for a missing action.

use super::react_paper::{Paper, question_line};
use super::{Dialogue, Episode, Setup, Turn};
use crate::base::{Outcome, Paragraph, Question, Repair};
use std::fmt::Write as _;
use std::sync::Arc;

pub const ANSWER: &str = "Answer:";
pub const THOUGHT: &str = "Thought:";

#[derive(Debug)]
pub struct Direct {
    episode: Episode,
    reasons: bool,
    oracle: bool,
    /// Paragraphs and question, as they follow the prefix.
    asked: String,
    /// The reasoning, when its answer is asked for separately.
    thought: Option<String>,
}

/// An example, a line each: `{label}: {question}`, the reasoning if there is one, the answer.
pub fn example(label: &str, question: &str, rationale: Option<&str>, answer: &str) -> String {
    let mut text = question_line(label, question);
    if let Some(rationale) = rationale {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{THOUGHT} {rationale}");
    }
    let _ = writeln!(text, "{ANSWER} {answer}");
    text
}

/// The paragraphs whose title a supporting fact names, in the file's order; empty where the dataset gives none.
pub fn gold_paragraphs(question: &Question) -> Vec<&Paragraph> {
    let is_gold = |paragraph: &&Paragraph| question.supporting_facts.iter().any(|fact| fact.0 == paragraph.title);
    question.context.iter().filter(is_gold).collect()
}

impl Direct {
    /// A dialogue that continues the prefix of `setup`: with reasoning or without, with the gold paragraphs or without.
    pub fn new(setup: &Arc<Setup>, reasons: bool, oracle: bool) -> Self {
        Self { episode: Episode::new(setup), reasons, oracle, asked: String::new(), thought: None }
    }

    fn ask(&self, tail: &str) -> Turn {
        let stop = if self.reasons && self.thought.is_none() {
            format!("\n{}:", self.episode.setup.question_label)
        } else {
            // An answer is one line.
            "\n".to_owned()
        };
        self.episode.ask_text(format!("{}{tail}", self.asked), vec![stop])
    }

    fn finish(&mut self, thought: Option<String>, text: &str) -> Turn {
        let answer = text.trim().lines().next().unwrap_or_default().trim();
        if answer.is_empty() {
            return self.episode.stop(Outcome::FormatFailure, "the reply holds no answer");
        }
        self.episode.finish(thought, format!("{ANSWER} {answer}"), answer.to_owned())
    }
}

impl Dialogue for Direct {
    fn begin(&mut self, question: &Question) -> Turn {
        if self.oracle {
            for paragraph in gold_paragraphs(question) {
                let _ = writeln!(self.asked, "{}: {}", paragraph.title, paragraph.sentences.concat());
            }
        }
        self.asked += &self.episode.question_text(&Paper, question);
        self.ask(if self.reasons { THOUGHT } else { ANSWER })
    }

    fn completion(&mut self, text: &str) -> Turn {
        if let Some(thought) = self.thought.take() {
            return self.finish(Some(thought), after_label(text));
        }
        if !self.reasons {
            return self.finish(None, after_label(text));
        }
        let text = text.trim();
        let text = text.strip_prefix(THOUGHT).map_or(text, str::trim_start);
        if let Some((thought, answer)) = split_answer(text) {
            return self.finish(Some(thought.to_owned()), answer);
        }
        let thought = text.to_owned();
        self.episode.repaired(Repair::MISSING_ANSWER);
        let tail = format!("{THOUGHT} {thought}\n{ANSWER}");
        self.thought = Some(thought);
        self.ask(&tail)
    }

    fn observation(&mut self, _text: &str) -> Turn {
        self.episode.stop(Outcome::Finished, "")
    }
}

/// Reasoning and answer, split at the first line that begins with the answer's label.
fn split_answer(text: &str) -> Option<(&str, &str)> {
    if let Some(answer) = text.strip_prefix(ANSWER) {
        return Some(("", answer));
    }
    let at = text.match_indices(ANSWER).find(|(at, _)| text[..*at].ends_with('\n'))?.0;
    Some((text[..at].trim_end(), &text[at + ANSWER.len()..]))
}

fn after_label(text: &str) -> &str {
    let text = text.trim_start();
    text.strip_prefix(ANSWER).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{kinds, prompt_and_stop, setup, stopped, used};
    use super::*;
    use crate::base::SupportingFact;
    use crate::prompting::protocol::Frame;

    fn direct(reasons: bool, oracle: bool) -> Direct {
        Direct::new(&Arc::new(setup(Frame::text("EXAMPLES\n"), 1)), reasons, oracle)
    }

    fn begun(reasons: bool) -> (Direct, (String, Vec<String>)) {
        let mut dialogue = direct(reasons, false);
        let turn = dialogue.begin(&Question::new("q", "Who?", vec![]));
        (dialogue, prompt_and_stop(turn))
    }

    #[test]
    fn standard_takes_one_line() {
        let (mut dialogue, (prompt, stop)) = begun(false);
        assert_eq!((prompt.as_str(), stop[0].as_str()), ("EXAMPLES\nQuestion: Who?\nAnswer:", "\n"));
        assert_eq!(used(dialogue.completion("  Answer: Ada Lovelace \nmore")).input, "Ada Lovelace");
        assert_eq!(stopped(dialogue.observation("")).answer.as_deref(), Some("Ada Lovelace"));
        let stop = stopped(direct(false, false).completion(" \n"));
        assert_eq!((stop.outcome, stop.answer), (Outcome::FormatFailure, None));
    }

    #[test]
    fn reasoning_ends_at_its_answer() {
        let (mut dialogue, (prompt, stop)) = begun(true);
        assert_eq!((prompt.as_str(), stop[0].as_str()), ("EXAMPLES\nQuestion: Who?\nThought:", "\nQuestion:"));
        let call = used(dialogue.completion(" She wrote it. The Answer: is near.\nAnswer: Ada\nQuestion"));
        assert_eq!(call.thought.as_deref(), Some("She wrote it. The Answer: is near."));
        assert_eq!((call.input.as_str(), kinds(&stopped(dialogue.observation("")))), ("Ada", vec![]));
    }

    #[test]
    fn a_missing_answer_is_asked_for_once() {
        let (mut dialogue, _) = begun(true);
        let (prompt, stop) = prompt_and_stop(dialogue.completion(" It was Ada."));
        assert_eq!(prompt, "EXAMPLES\nQuestion: Who?\nThought: It was Ada.\nAnswer:");
        assert_eq!(stop, ["\n"]);
        let call = used(dialogue.completion(" Ada"));
        assert_eq!((call.thought.as_deref(), call.input.as_str()), (Some("It was Ada."), "Ada"));
        assert_eq!(kinds(&stopped(dialogue.observation(""))), ["missing_answer"]);
    }

    #[test]
    fn the_gold_paragraphs_precede_the_question() {
        let mut question = Question::new("q", "Who?", vec![]);
        let paragraph = |title: &str| Paragraph { title: title.into(), sentences: vec!["One.".into(), " Two.".into()] };
        question.context = vec![paragraph("A"), paragraph("B"), paragraph("C")];
        question.supporting_facts = vec![SupportingFact("C".into(), 0), SupportingFact("A".into(), 7)];
        let (prompt, _) = prompt_and_stop(direct(false, true).begin(&question));
        assert_eq!(prompt, "EXAMPLES\nA: One. Two.\nC: One. Two.\nQuestion: Who?\nAnswer:");
    }
}
