//! Answers without tools: the paper's `standard` (the answer at once) and `cot` (reasoning, then the answer).
//!
//! One text: instruction and examples, the gold paragraphs where they are shown, the question's line, and the label
//! that the model continues. A chain of thought that does not come to its `Answer:` is asked for it once more, as
//! the paper's loop asks for a missing action.

use super::numbered::question_line;
use super::{Dialogue, Setup, Stop, Turn};
use crate::types::{Outcome, Paragraph, Prompt, Question, Repair, Reply, Request, Tool, ToolCall};
use std::fmt::Write as _;
use std::sync::Arc;

/// Label before the answer.
pub const ANSWER: &str = "Answer:";
/// Label before the reasoning.
pub const THOUGHT: &str = "Thought:";

/// The dialogue of one question.
#[derive(Debug)]
pub struct Direct {
    setup: Arc<Setup>,
    reasons: bool,
    oracle: bool,
    /// Paragraphs and question, as they follow the prefix.
    asked: String,
    /// The reasoning, once its answer is asked for apart; or once the answer was taken.
    thought: Option<String>,
    answer: Option<String>,
    repairs: Vec<Repair>,
}

/// An example of it, as instruction files are followed by: `{label}: {question}`, the reasoning if there is one, the
/// answer, each on its line.
pub fn example(label: &str, question: &str, rationale: Option<&str>, answer: &str) -> String {
    let mut text = question_line(label, question);
    if let Some(rationale) = rationale {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{THOUGHT} {rationale}");
    }
    let _ = writeln!(text, "{ANSWER} {answer}");
    text
}

/// The paragraphs of a question that its answer needs, in the file's order: those whose title a supporting fact names.
/// Empty where the dataset gives none.
pub fn gold_paragraphs(question: &Question) -> Vec<&Paragraph> {
    let is_gold = |paragraph: &&Paragraph| question.supporting_facts.iter().any(|fact| fact.0 == paragraph.title);
    question.context.iter().filter(is_gold).collect()
}

impl Direct {
    /// A dialogue that continues the prefix of `setup`: with reasoning or without, with the gold paragraphs or without.
    pub fn new(setup: &Arc<Setup>, reasons: bool, oracle: bool) -> Self {
        let setup = Arc::clone(setup);
        Self { setup, reasons, oracle, asked: String::new(), thought: None, answer: None, repairs: Vec::new() }
    }

    fn ask(&self, tail: &str) -> Turn {
        let stop = if self.reasons && self.thought.is_none() {
            format!("\n{}:", self.setup.question_label)
        } else {
            // An answer is a line.
            "\n".to_owned()
        };
        Turn::Ask(Request {
            prompt: Prompt::text(self.setup.frame.prefix.clone(), format!("{}{tail}", self.asked)),
            stop: vec![stop],
            decoding: self.setup.decoding.clone(),
        })
    }

    fn finish(&mut self, thought: Option<String>, text: &str) -> Turn {
        let answer = first_line(text);
        if answer.is_empty() {
            return self.stop(Outcome::FormatFailure, Some("the reply holds no answer".to_owned()));
        }
        self.answer = Some(answer.to_owned());
        Turn::Use(ToolCall {
            step: 1,
            thought,
            action_text: format!("{ANSWER} {answer}"),
            tool: Tool::Finish,
            input: answer.to_owned(),
            discarded: None,
            reply: Reply::None,
        })
    }

    fn stop(&mut self, outcome: Outcome, detail: Option<String>) -> Turn {
        let (answer, repairs) = (self.answer.take(), std::mem::take(&mut self.repairs));
        Turn::Stop(Stop { outcome, answer, detail, repairs })
    }
}

impl Dialogue for Direct {
    fn begin(&mut self, question: &Question) -> Turn {
        if self.oracle {
            for paragraph in gold_paragraphs(question) {
                let _ = writeln!(self.asked, "{}: {}", paragraph.title, paragraph.sentences.concat());
            }
        }
        self.asked += &question_line(&self.setup.question_label, &question.question);
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
        self.repairs.push(Repair { step: 1, kind: Repair::MISSING_ANSWER.to_owned() });
        let tail = format!("{THOUGHT} {thought}\n{ANSWER}");
        self.thought = Some(thought);
        self.ask(&tail)
    }

    fn observation(&mut self, _text: &str) -> Turn {
        self.stop(Outcome::Finished, None)
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

/// The text without a label that chat models like to repeat.
fn after_label(text: &str) -> &str {
    let text = text.trim_start();
    text.strip_prefix(ANSWER).unwrap_or(text)
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Frame;
    use crate::types::{Decoding, SupportingFact};

    fn setup() -> Arc<Setup> {
        Arc::new(Setup {
            frame: Frame::text("EXAMPLES\n"),
            question_label: "Question".to_owned(),
            max_steps: 1,
            thoughts: true,
            decoding: Decoding::default(),
            history: Vec::new(),
        })
    }

    fn asked(turn: Turn) -> (String, Vec<String>) {
        match turn {
            Turn::Ask(request) => (request.prompt.to_text(), request.stop),
            other => panic!("expected a request, got {other:?}"),
        }
    }

    fn answered(dialogue: &mut Direct, turn: &Turn) -> (Option<String>, String, Stop) {
        let Turn::Use(call) = turn else { panic!("expected an answer, got {turn:?}") };
        assert_eq!((call.tool, &call.reply), (Tool::Finish, &Reply::None));
        let Turn::Stop(stop) = dialogue.observation("") else { panic!("expected a stop") };
        assert_eq!(stop.answer.as_deref(), Some(call.input.as_str()));
        (call.thought.clone(), call.input.clone(), stop)
    }

    #[test]
    fn standard_takes_one_line() {
        let mut dialogue = Direct::new(&setup(), false, false);
        let (prompt, stop) = asked(dialogue.begin(&Question::new("q", "Who?", vec![])));
        assert_eq!((prompt.as_str(), stop), ("EXAMPLES\nQuestion: Who?\nAnswer:", vec!["\n".to_owned()]));
        let turn = dialogue.completion("  Answer: Ada Lovelace \nmore");
        assert_eq!(answered(&mut dialogue, &turn).1, "Ada Lovelace");
        let Turn::Stop(stop) = Direct::new(&setup(), false, false).completion(" \n") else { panic!("no stop") };
        assert_eq!((stop.outcome, stop.answer), (Outcome::FormatFailure, None));
    }

    #[test]
    fn reasoning_ends_at_its_answer() {
        let mut dialogue = Direct::new(&setup(), true, false);
        let (prompt, stop) = asked(dialogue.begin(&Question::new("q", "Who?", vec![])));
        assert_eq!((prompt.as_str(), stop), ("EXAMPLES\nQuestion: Who?\nThought:", vec!["\nQuestion:".to_owned()]));
        let turn = dialogue.completion(" She wrote it. The Answer: is near.\nAnswer: Ada\nQuestion");
        let (thought, answer, stop) = answered(&mut dialogue, &turn);
        assert_eq!(thought.as_deref(), Some("She wrote it. The Answer: is near."));
        assert_eq!((answer.as_str(), stop.repairs.len()), ("Ada", 0));
    }

    #[test]
    fn a_missing_answer_is_asked_for_once() {
        let mut dialogue = Direct::new(&setup(), true, false);
        dialogue.begin(&Question::new("q", "Who?", vec![]));
        let (prompt, stop) = asked(dialogue.completion(" It was Ada."));
        assert_eq!(prompt, "EXAMPLES\nQuestion: Who?\nThought: It was Ada.\nAnswer:");
        assert_eq!(stop, ["\n"]);
        let turn = dialogue.completion(" Ada");
        let (thought, answer, stop) = answered(&mut dialogue, &turn);
        assert_eq!((thought.as_deref(), answer.as_str()), (Some("It was Ada."), "Ada"));
        assert_eq!(stop.repairs, [Repair { step: 1, kind: "missing_answer".to_owned() }]);
    }

    #[test]
    fn the_gold_paragraphs_stand_before_the_question() {
        let mut question = Question::new("q", "Who?", vec![]);
        let paragraph = |title: &str| Paragraph { title: title.into(), sentences: vec!["One.".into(), " Two.".into()] };
        question.context = vec![paragraph("A"), paragraph("B"), paragraph("C")];
        question.supporting_facts = vec![SupportingFact("C".into(), 0), SupportingFact("A".into(), 7)];
        let (prompt, _) = asked(Direct::new(&setup(), false, true).begin(&question));
        assert_eq!(prompt, "EXAMPLES\nA: One. Two.\nC: One. Two.\nQuestion: Who?\nAnswer:");
    }
}
