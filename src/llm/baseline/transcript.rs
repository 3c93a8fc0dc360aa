//! From a prompt to the question and the steps so far, and from a decision back to text.
//!
//! This is the numbered form of the `ReAct` paper, with or without thoughts, as one text or as messages:
//!
//! ```text
//! Question: …
//! Thought 1: …
//! Action 1: Search[…]
//! Observation 1: …
//! Thought 2:
//! ```
//!
//! Where the prompt asks for an answer at once (`Answer:` at its end), the guess follows without a tool.

use super::BaselineSettings;
use crate::types::Prompt;

/// As much of a text as is read, in bytes; what is longer is cut.
const MOST_QUESTION: usize = 4 << 10;
const MOST_OBSERVATION: usize = 16 << 10;
/// More steps than this are not read.
const MOST_STEPS: usize = 64;

/// A prompt, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// The question or the claim.
    pub question: String,
    /// Whether it is a claim to judge.
    pub is_claim: bool,
    /// The steps that have an observation.
    pub steps: Vec<Past>,
    /// What the prompt leaves to be written.
    pub wanted: Wanted,
}

/// One finished step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// The action as it was written.
    pub action: String,
    /// What the tool answered.
    pub observation: String,
}

/// What the prompt leaves to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Thought and action of this step; the label of the thought is there already if `labelled`.
    Step {
        /// Number of the step, from 1.
        n: usize,
        /// Whether `Thought n:` ends the prompt.
        labelled: bool,
    },
    /// The action of this step, after its label.
    Action(usize),
    /// An answer without tools.
    Answer,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Open a page.
    Search(String),
    /// Find a word on the open page.
    Lookup(String),
    /// Answer.
    Finish(String),
}

/// A decision with the thought that explains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// One sentence.
    pub thought: String,
    /// What to do.
    pub action: Action,
}

impl Transcript {
    /// Reads a prompt. Anything can be read; what is missing is empty.
    pub fn read(prompt: &Prompt, settings: &BaselineSettings) -> Self {
        let text = match prompt {
            Prompt::Text { prefix, rest } => {
                // The question stands in the part of its own, unless someone put all of it into one.
                let own = labelled(rest, settings).is_some();
                if own { rest.clone() } else { format!("{prefix}{rest}") }
            }
            Prompt::Messages(messages) => {
                messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n")
            }
        };
        let (question, is_claim, after) = labelled(&text, settings).unwrap_or((text.trim(), false, ""));
        let steps = steps(after);
        let wanted = wanted(&text, steps.len() + 1);
        Self { question: cap(question, MOST_QUESTION).trim().to_owned(), is_claim, steps, wanted }
    }

    /// The number of the step that is to be written, from 1.
    pub fn step(&self) -> usize {
        match self.wanted {
            Wanted::Step { n, .. } | Wanted::Action(n) => n,
            Wanted::Answer => self.steps.len() + 1,
        }
    }

    /// Whether there is no tool to use.
    pub fn must_answer(&self) -> bool {
        self.wanted == Wanted::Answer
    }

    /// A decision as the text that continues the prompt.
    pub fn write(&self, decision: &Decision) -> String {
        let action = match &decision.action {
            Action::Search(query) => format!("Search[{query}]"),
            Action::Lookup(keyword) => format!("Lookup[{keyword}]"),
            Action::Finish(answer) => format!("Finish[{answer}]"),
        };
        match self.wanted {
            Wanted::Step { n, labelled: true } => format!(" {}\nAction {n}: {action}", decision.thought),
            Wanted::Step { n, labelled: false } => format!("Thought {n}: {}\nAction {n}: {action}", decision.thought),
            Wanted::Action(_) => format!(" {action}"),
            Wanted::Answer => match &decision.action {
                Action::Finish(answer) => format!(" {answer}"),
                Action::Search(_) | Action::Lookup(_) => String::new(),
            },
        }
    }
}

/// The last question of a text: its words, whether it is a claim, and what follows its line.
fn labelled<'a>(text: &'a str, settings: &BaselineSettings) -> Option<(&'a str, bool, &'a str)> {
    let find = |label: &str| {
        let label = format!("{label}:");
        // Observations are single lines, so a label at the start of a line is the protocol's own.
        let at = text.rmatch_indices(&label).find(|(at, _)| *at == 0 || text[..*at].ends_with('\n'));
        at.map(|(at, _)| at + label.len())
    };
    let (question, claim) = (find(&settings.question_label), find(&settings.claim_label));
    let start = question.max(claim)?;
    let line = text[start..].split('\n').next().unwrap_or_default();
    Some((line, claim == Some(start) && question != claim, &text[start + line.len()..]))
}

fn steps(text: &str) -> Vec<Past> {
    let mut steps = Vec::new();
    let mut rest = text;
    for n in 1..=MOST_STEPS {
        let Some((_, after)) = split_label(rest, "Action", n) else { break };
        let Some((action, after)) = split_label(after, "Observation", n) else { break };
        let next = n + 1;
        let end = [("Thought", next), ("Action", next)]
            .into_iter()
            .filter_map(|(label, n)| after.find(&format!("\n{label} {n}:")))
            .min()
            .unwrap_or(after.len());
        let observation = cap(&after[..end], MOST_OBSERVATION).trim().to_owned();
        steps.push(Past { action: cap(action, MOST_QUESTION).trim().to_owned(), observation });
        rest = &after[end..];
    }
    steps
}

fn split_label<'a>(text: &'a str, label: &str, n: usize) -> Option<(&'a str, &'a str)> {
    text.split_once(&format!("\n{label} {n}:"))
}

fn wanted(text: &str, next: usize) -> Wanted {
    let line = text.trim_end().rsplit('\n').next().unwrap_or_default().trim();
    let number = |label: &str| line.strip_prefix(label)?.trim().strip_suffix(':')?.trim().parse().ok();
    // A prompt that ends in a newline after the label's line is still the same request.
    if let Some(n) = number("Action") {
        return Wanted::Action(n);
    }
    if let Some(n) = number("Thought") {
        return Wanted::Step { n, labelled: true };
    }
    if line == "Answer:" { Wanted::Answer } else { Wanted::Step { n: next, labelled: false } }
}

/// At most `bytes` of `text`, cut between characters.
fn cap(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::{Action, BaselineSettings, Decision, Past, Transcript, Wanted};
    use crate::types::{Message, Prompt, Role};

    fn read(prefix: &str, rest: &str) -> Transcript {
        Transcript::read(&Prompt::text(prefix.into(), rest), &BaselineSettings::default())
    }

    fn decision() -> Decision {
        Decision { thought: "I think.".into(), action: Action::Search("X".into()) }
    }

    #[test]
    fn the_paper_s_prompt() {
        let rest = "Question: Who?\nThought 1: a\nAction 1: Search[B]\nObservation 1: C. D.\nThought 2: e\nAction 2: Lookup[f]\nObservation 2: (Result 1 / 1) g.\nThought 3:";
        let got = read("Question: other\nThought 1: x\nAction 1: Finish[y]\n", rest);
        let past = |action: &str, observation: &str| Past { action: action.into(), observation: observation.into() };
        assert_eq!(got.question, "Who?");
        assert!(!got.is_claim);
        assert_eq!(got.steps, [past("Search[B]", "C. D."), past("Lookup[f]", "(Result 1 / 1) g.")]);
        assert_eq!(got.wanted, Wanted::Step { n: 3, labelled: true });
        assert_eq!(got.write(&decision()), " I think.\nAction 3: Search[X]");
    }

    #[test]
    fn an_action_alone_an_answer_alone_and_a_claim() {
        let got = read("", "Claim: It is so.\nThought 1: a\nAction 1:");
        assert_eq!((got.is_claim, got.wanted), (true, Wanted::Action(1)));
        assert_eq!(got.write(&decision()), " Search[X]");
        let got = read("", "Question: Who?\nAnswer:");
        assert!(got.must_answer());
        assert_eq!(got.write(&Decision { action: Action::Finish("Me".into()), ..decision() }), " Me");
        let got = read("", "Question: Who?\nAction 1: Search[B]\nObservation 1: C.\nAction 2:");
        assert_eq!((got.steps.len(), got.wanted), (1, Wanted::Action(2)));
    }

    #[test]
    fn messages_and_all_in_one() {
        let message = |role, content: &str| Message { role, content: content.into() };
        let prompt = Prompt::Messages(vec![
            message(Role::System, "Rules."),
            message(Role::User, "Question: Who?"),
            message(Role::Assistant, "Thought 1: a\nAction 1: Search[B]"),
            message(Role::User, "Observation 1: C."),
        ]);
        let got = Transcript::read(&prompt, &BaselineSettings::default());
        assert_eq!((got.question.as_str(), got.steps.len()), ("Who?", 1));
        assert_eq!(got.wanted, Wanted::Step { n: 2, labelled: false });
        assert_eq!(got.write(&decision()), "Thought 2: I think.\nAction 2: Search[X]");
        let got = read("Question: a\nAnswer: b\nQuestion: Who is it?\n", "Thought 1:");
        assert_eq!((got.question.as_str(), got.step()), ("Who is it?", 1));
    }

    #[test]
    fn anything_can_be_read() {
        for text in [
            "",
            "Question:",
            "\n\n",
            "Observation 1: x",
            "Question: é\nAction 1: \nObservation 1:",
            "Action 99999999999999999999:",
        ] {
            let got = read("", text);
            assert!(got.step() >= 1, "{text:?}");
        }
        let long = format!("Question: {}\nThought 1:", "é".repeat(100_000));
        assert!(read("", &long).question.len() <= 4096);
    }
}
