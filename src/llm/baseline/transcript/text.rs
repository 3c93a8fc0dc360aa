//! Parses prompts that are one text, in which each part follows a label at the start of a line.
//!
//! ```text
//! Question: …              Question: …
//! Thought 1: …             Thought: …
//! Action 1: Search[…]      Action: Search
//! Observation 1: …         Action Input: {"query": "…"}
//! Thought 2:               Observation: …
//!                          Thought:
//! ```

use super::history::History;
use super::labels::{COLONS, Labels};
use super::step::{ParsedAction, argument, written};
use super::{MAX_STEPS, Transcript, Wanted};

/// More parts than this cannot add a step.
const MAX_PARTS: usize = 6 * MAX_STEPS;

/// What a label announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Thought,
    Action,
    Input,
    Observation,
    Answer,
    Error,
}

pub(super) fn read_text(text: &str, labels: &Labels<'_>) -> Transcript {
    let (question, is_claim, after) = labels.labelled(text).unwrap_or((text.trim(), false, ""));
    let mut history = History::default();
    history.ask(question, is_claim);
    if labels.numbered {
        read_numbered(after, &mut history);
    } else {
        read_named(after, &mut history);
    }
    // Trailing newlines after the label make no difference.
    let line = text.trim_end().rsplit('\n').next().unwrap_or_default();
    let wanted = labels.wanted(line, history.next).unwrap_or(Wanted::Step { n: history.next, labelled: false });
    Transcript { history, wanted, spaced: text.ends_with(char::is_whitespace) }
}

/// The action of one reply, if there is one, whatever the numbers of its labels.
pub(super) fn action_of(reply: &str, numbered: bool) -> Option<ParsedAction> {
    let parts = parts(reply, numbered, |_, _| true);
    let content = |wanted: Part| parts.iter().find(|(part, _, _)| *part == wanted).map(|(_, _, content)| *content);
    match (content(Part::Action), content(Part::Answer)) {
        (Some(action), _) if numbered => Some(written(action)),
        (Some(tool), _) => {
            let input = content(Part::Input).unwrap_or_default();
            Some(ParsedAction::call(tool, &argument(input), input.to_owned()))
        }
        (None, answer) => answer.map(ParsedAction::finish),
    }
}

fn read_numbered(text: &str, history: &mut History) {
    // The open step, the lowest number of the next one, and the number of the latest one.
    let (mut open, mut least, mut newest) = (None, 1, 0);
    // An unexpected number is part of a page.
    let in_turn = |part: Part, n: usize| match part {
        Part::Thought => open.is_none() && (least..=newest + 1).contains(&n),
        Part::Action if open.is_none() && (least..=newest + 1).contains(&n) => {
            (open, newest) = (Some(n), n);
            true
        }
        Part::Observation if open == Some(n) => {
            (open, least) = (None, n.saturating_add(1));
            true
        }
        Part::Error => open.take().is_some(),
        _ => false,
    };
    for (part, n, content) in parts(text, true, in_turn) {
        match part {
            Part::Action => history.step(written(content)),
            Part::Observation => history.observe(content, Some(n)),
            Part::Error => history.fail(),
            _ => {}
        }
    }
}

fn read_named(text: &str, history: &mut History) {
    let mut before = None;
    let in_turn = |part: Part, _: usize| {
        let follows = match part {
            Part::Thought => true,
            Part::Action | Part::Answer => matches!(before, None | Some(Part::Thought)),
            Part::Input => before == Some(Part::Action),
            Part::Observation => matches!(before, Some(Part::Input | Part::Answer)),
            Part::Error => matches!(before, Some(Part::Action | Part::Input | Part::Answer)),
        };
        if follows {
            before = Some(part);
        }
        follows
    };
    let mut tool = "";
    for (part, _, content) in parts(text, false, in_turn) {
        match part {
            Part::Thought => {}
            Part::Action => tool = content,
            Part::Input => history.step(ParsedAction::call(tool, &argument(content), content.to_owned())),
            Part::Observation => history.observe(content, None),
            Part::Answer => history.step(ParsedAction::finish(content)),
            Part::Error => history.fail(),
        }
    }
}

/// The parts after labels that are `in_turn`, each with its number (0 for none) and its content.
fn parts(text: &str, numbered: bool, mut in_turn: impl FnMut(Part, usize) -> bool) -> Vec<(Part, usize, &str)> {
    let mut parts: Vec<(Part, usize, &str)> = Vec::new();
    let (mut at, mut begun): (usize, Option<(Part, usize, usize)>) = (0, None);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if let Some((part, n, rest)) = label_of(line, numbered).filter(|(part, n, _)| in_turn(*part, *n)) {
            if parts.len() == MAX_PARTS {
                return parts;
            }
            parts.extend(begun.map(|(part, n, from)| (part, n, &text[from..start])));
            begun = Some((part, n, at - rest.len()));
        }
    }
    parts.extend(begun.map(|(part, n, from)| (part, n, &text[from..])));
    parts
}

/// A line's label, its number, and what follows on the line.
fn label_of(line: &str, numbered: bool) -> Option<(Part, usize, &str)> {
    const LABELS: [(&str, Part); 8] = [
        ("Thought", Part::Thought),
        ("Action", Part::Action),
        ("Action Input", Part::Input),
        ("ActionInput", Part::Input),
        ("Observation", Part::Observation),
        ("Answer", Part::Answer),
        ("Final Answer", Part::Answer),
        ("FinalAnswer", Part::Answer),
    ];
    let colon = line.find(COLONS)?;
    let name = &line[..colon];
    let rest = line[colon..].strip_prefix(COLONS)?;
    if name == "Error" {
        return Some((Part::Error, 0, rest));
    }
    let (word, n) = if numbered { name.split_once(' ')? } else { (name, "0") };
    let (_, part) = LABELS.iter().find(|(known, _)| *known == word)?;
    Some((*part, n.parse().ok()?, rest))
}
