//! Reads prompts: a protocol's labels, learned from what it writes, and conversations by them.

use super::History;
use super::is_error;
use super::{Action, Decision, MAX_STEPS, Transcript, Wanted};
use super::{ParsedAction, argument, read_reply, written};
use crate::base::{Completion, FunctionCall, Functions, Message, Role, Tool};
use crate::models::baseline::BaselineSettings;
use crate::prompting::protocol::{Layout, Protocol, react_paper};
use serde_json::json;
use std::collections::HashMap;

/// Placeholder that no protocol escapes.
const MARK: &str = "⁂";
/// A step number that no label contains otherwise.
const NUMBER: usize = 7;
/// Both colons: Chinese text may use either.
pub(super) const COLONS: [char; 2] = [':', '：'];
/// Shortest part that identifies a force-stop text, in bytes.
const MIN_FORCE_STOP: usize = 8;

/// How conversations of this protocol look.
#[expect(clippy::struct_excessive_bools, reason = "each is a trait of its own")]
#[derive(Debug)]
pub(super) struct Labels<'a> {
    /// Writes the steps.
    pub(super) protocol: &'a dyn Protocol,
    /// Labels before a question, with their colon, and whether they announce a claim.
    questions: Vec<(String, bool)>,
    /// Whether questions are messages without a label.
    pub(super) raw: bool,
    pub(super) claims: bool,
    /// Whether tools are called natively.
    pub(super) calls: bool,
    pub(super) numbered: bool,
    /// The label of an observation, split at the step's number if it has one.
    observation: (String, Option<String>),
    /// A part of the force-stop text.
    force_stop: Option<&'a str>,
}

impl<'a> Labels<'a> {
    pub(super) fn of(settings: &'a BaselineSettings) -> Self {
        let protocol: &dyn Protocol = settings.protocol.as_deref().unwrap_or(&react_paper::Paper);
        let number = NUMBER.to_string();
        let shown = protocol.observation(NUMBER, MARK);
        let observation = before_mark(&shown).to_owned();
        let observation = match observation.split_once(&number) {
            Some((left, right)) => (left.to_owned(), Some(right.to_owned())),
            None => (observation, None),
        };
        let label = before_mark(&protocol.question(&settings.question_label, MARK)).to_owned();
        let raw = label.is_empty() && matches!(protocol.layout(), Layout::System | Layout::Instruction);
        Self {
            protocol,
            questions: question_labels(protocol, settings),
            raw,
            claims: settings.claims,
            calls: protocol.observation_role() == Role::Tool,
            numbered: protocol.step(NUMBER, Some(MARK), Tool::Search, MARK).contains(&number),
            observation,
            force_stop: piece(&settings.force_stop),
        }
    }

    /// Whether question and steps are in one message.
    pub(super) fn template(&self) -> bool {
        self.protocol.layout() == Layout::Template
    }

    /// Whether observations are messages without a label.
    pub(super) fn bare(&self) -> bool {
        self.observation.0.is_empty()
    }

    /// The last question of a text: its words, whether it is a claim, and what follows its line.
    pub(super) fn labelled<'t>(&self, text: &'t str) -> Option<(&'t str, bool, &'t str)> {
        let last = |label: &str| {
            // Observations are single lines, so a label at the start of a line comes from the protocol.
            let at = text.rmatch_indices(label).find(|(at, _)| *at == 0 || text[..*at].ends_with('\n'));
            at.map(|(at, _)| at + label.len())
        };
        let found: Vec<(usize, bool)> =
            self.questions.iter().filter_map(|(label, claim)| Some((last(label)?, *claim))).collect();
        let start = found.iter().map(|(start, _)| *start).max()?;
        // If questions and claims share a label, it does not decide.
        let claim = found.iter().filter(|(at, _)| *at == start).all(|(_, claim)| *claim);
        let line = text[start..].split('\n').next().unwrap_or_default();
        Some((line, claim, &text[start + line.len()..]))
    }

    /// The last question with a label inside a message, where a plain text stands around it, and whether it is a claim.
    pub(super) fn inside<'t>(&self, message: &'t str) -> Option<(&'t str, bool)> {
        let (question, claim, _) = self.labelled(message).filter(|_| !self.raw)?;
        Some((question, claim)).filter(|_| !question.trim().is_empty())
    }

    /// What follows the label of a question at the start of a message, and whether it is a claim.
    pub(super) fn question<'t>(&self, message: &'t str) -> Option<(&'t str, bool)> {
        let message = message.trim_start();
        let found: Vec<(&str, bool)> = self
            .questions
            .iter()
            .filter_map(|(label, claim)| Some((message.strip_prefix(&**label)?, *claim)))
            .collect();
        let claim = found.iter().all(|(_, claim)| *claim);
        found.first().map(|(rest, _)| (*rest, claim))
    }

    /// What follows the label of an observation at the start of a message, and its number if it has one.
    pub(super) fn observation<'t>(&self, message: &'t str) -> Option<(&'t str, Option<usize>)> {
        let (left, right) = &self.observation;
        if self.bare() {
            return None;
        }
        let rest = message.trim_start().strip_prefix(&**left)?;
        let Some(right) = right else { return Some((rest, None)) };
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = rest[..digits].parse().ok()?;
        Some((rest[digits..].strip_prefix(&**right)?, Some(number)))
    }

    /// A message without a force-stop text at its end, and whether there was one.
    pub(super) fn force_stop<'t>(&self, message: &'t str) -> (&'t str, bool) {
        if let Some((before, _)) = self.force_stop.and_then(|part| message.rsplit_once(part)) {
            return (before, true);
        }
        // Without a known text: a last line that names the finish action is not from a tool. But error messages name
        // all actions.
        match message.trim_end().rsplit_once('\n') {
            Some((before, last)) if self.numbered && last.contains("Finish[") && !message.lines().any(is_error) => {
                (before, true)
            }
            _ => (message, false),
        }
    }

    /// What to write after a prompt that ends in this line; `None` if the line is not a label.
    pub(super) fn wanted(&self, line: &str, next: usize) -> Option<Wanted> {
        let label = line.trim().strip_suffix(COLONS)?.trim_end();
        let number = |word: &str| -> Option<usize> { label.strip_prefix(word)?.trim().parse().ok() };
        if let Some(n) = number("Action") {
            return Some(Wanted::Action(n));
        }
        if let Some(n) = number("Thought") {
            return Some(Wanted::Step { n, labelled: true });
        }
        match label {
            "Answer" | "答案" | "回答" => Some(Wanted::Answer),
            "Thought" if self.numbered => Some(Wanted::Reasons),
            "Thought" => Some(Wanted::Step { n: next, labelled: true }),
            _ => None,
        }
    }
}

/// The text before the placeholder on its line, trimmed.
fn before_mark(shown: &str) -> &str {
    let before = shown.split(MARK).next().unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default().trim()
}

/// Labels as the protocol writes them, as they are set, and the one of templates that only have one.
fn question_labels(protocol: &dyn Protocol, settings: &BaselineSettings) -> Vec<(String, bool)> {
    let mut labels: Vec<(String, bool)> = Vec::new();
    let mut add = |label: String, claim: bool| {
        if !label.is_empty() && !labels.contains(&(label.clone(), claim)) {
            labels.push((label, claim));
        }
    };
    for (label, claim) in [(&settings.question_label, false), (&settings.claim_label, true)] {
        add(before_mark(&protocol.question(label, MARK)).to_owned(), claim);
        for colon in COLONS {
            add(format!("{label}{colon}"), claim);
        }
    }
    add("Question:".to_owned(), false);
    labels
}

/// The longest part of a text between slots (`{…}`).
fn piece(text: &str) -> Option<&str> {
    let pieces = text.split('{').map(|part| part.split_once('}').map_or(part, |(_, after)| after));
    let longest = pieces.map(str::trim).max_by_key(|piece| piece.len())?;
    (longest.len() >= MIN_FORCE_STOP).then_some(longest)
}

// Parses conversations.
//
// Solved examples are turns before the question, so a question discards what was before it. Observations are recognised
// by their label, whatever their role; in protocols without a label before a question, every other message of the user
// is one.

pub(super) fn read_messages(messages: &[Message], labels: &Labels<'_>) -> Transcript {
    if labels.template()
        && let Some(last) = messages.iter().rfind(|message| message.role == Role::User)
    {
        return read_text(&last.content, labels);
    }
    let mut history = History::default();
    for message in messages {
        match message.role {
            Role::Assistant if history.asked() => history.step(read_reply(&message.content, labels, history.next)),
            Role::Assistant => {}
            Role::Tool => history.observe(&message.content, None),
            Role::System => read_system(&message.content, labels, &mut history),
            Role::User => {
                let (text, forced) = labels.force_stop(&message.content);
                read_user(text, labels, &mut history);
                history.forced |= forced;
            }
        }
    }
    if !history.asked() {
        let all: Vec<&str> = messages.iter().map(|message| &*message.content).collect();
        history.ask(&all.join("\n"), false);
    }
    let wanted = wanted_after(messages, labels, &history);
    Transcript { history, wanted, spaced: true }
}

/// An observation, if the system role is used for them. Otherwise an instruction: after the question, to answer now.
fn read_system(text: &str, labels: &Labels<'_>, history: &mut History) {
    match labels.observation(text) {
        Some((observation, number)) if history.waits() => history.observe(observation, number),
        _ => history.forced = history.asked(),
    }
}

fn read_user(text: &str, labels: &Labels<'_>, history: &mut History) {
    if labels.bare() && history.waits() && !history.finished() {
        history.observe(text, None);
    } else if let Some((observation, number)) = labels.observation(text).filter(|_| history.asked()) {
        history.observe(observation, number);
    } else if is_error(text) && (history.waits() || history.asked() && !labels.raw) {
        history.fail();
    } else if let Some((question, is_claim)) = labels.question(text) {
        history.ask(without_tail(question, labels), is_claim);
    } else if labels.raw || !history.asked() || history.finished() {
        let (question, is_claim) = labels.inside(text).unwrap_or((text, false));
        history.ask(without_tail(question, labels), is_claim);
    } else if history.waits() {
        history.fail();
    } else {
        // Neither a question nor about a reply: an instruction.
        history.forced = true;
    }
}

/// A question without the label below it that asks for the answer.
fn without_tail<'t>(question: &'t str, labels: &Labels<'_>) -> &'t str {
    match question.trim_end().rsplit_once('\n') {
        Some((before, line)) if labels.wanted(line, 1).is_some() => before,
        _ => question,
    }
}

fn wanted_after(messages: &[Message], labels: &Labels<'_>, history: &History) -> Wanted {
    let step = Wanted::Step { n: history.next.max(1), labelled: false };
    match messages.last() {
        // The request for an answer when no steps are left comes without the instructions.
        Some(last) if last.role == Role::System && labels.raw => {
            let explained = messages.first().is_some_and(|first| first.role == Role::System);
            if explained { step } else { Wanted::Answer }
        }
        Some(last) if last.role == Role::User => {
            let line = last.content.trim_end().rsplit('\n').next().unwrap_or_default();
            labels.wanted(line, history.next).unwrap_or(step)
        }
        _ => step,
    }
}

// Parses prompts that are one text, in which each part follows a label at the start of a line.
//
// ```text
// Question: …              Question: …
// Thought 1: …             Thought: …
// Action 1: Search[…]      Action: Search
// Observation 1: …         Action Input: {"query": "…"}
// Thought 2:               Observation: …
//                          Thought:
// ```

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

// Conversations with native tool calls: read, and continued.

/// Reads the messages of a request that offers functions. Solved examples come before the question, so a question that
/// follows an answer discards what was before it.
pub(super) fn read_calls(messages: &[Message], labels: &Labels<'_>) -> Transcript {
    let mut history = History::default();
    let mut called: HashMap<&str, ParsedAction> = HashMap::new();
    let mut answered = true;
    for message in messages {
        match message.role {
            Role::System => {}
            Role::User if answered => {
                let text = &message.content;
                let (question, is_claim) =
                    labels.question(text).or_else(|| labels.inside(text)).unwrap_or((text, false));
                history.ask(question, is_claim);
                answered = false;
            }
            // Neither a question nor a result: an instruction.
            Role::User => history.forced = true,
            Role::Assistant => {
                answered = message.calls.is_empty();
                for call in &message.calls {
                    let did = ParsedAction::call(&call.name, &argument(&call.arguments), String::new());
                    answered |= did.finish;
                    called.insert(&call.id, did);
                }
            }
            Role::Tool => {
                if let Some(did) = message.answers.as_deref().and_then(|id| called.remove(id)) {
                    history.step(did);
                    history.observe(&message.content, None);
                }
            }
        }
    }
    let wanted = Wanted::Step { n: history.next.max(1), labelled: false };
    Transcript { history, wanted, spaced: true }
}

/// The decision as a reply: a call of one of the functions, or the answer where there is none for it.
pub(super) fn write_call(decision: &Decision, functions: &Functions, n: usize) -> Completion {
    let (verb, argument) = match &decision.action {
        Action::Search(query) => ("search", query),
        Action::Lookup(keyword) => ("lookup", keyword),
        Action::Finish(answer) => ("finish", answer),
    };
    let Some(function) = functions.list.iter().find(|function| function.name.to_lowercase().contains(verb)) else {
        return Completion { text: argument.clone(), finish_reason: Some("stop".to_owned()), ..Completion::default() };
    };
    let parameter = function.parameters["properties"].as_object().and_then(|all| all.keys().next());
    let arguments = json!({ parameter.map_or("input", String::as_str): argument }).to_string();
    let call = FunctionCall { id: format!("call_{n}"), name: function.name.clone(), arguments };
    Completion {
        text: decision.thought.clone(),
        calls: vec![call],
        finish_reason: Some("tool_calls".to_owned()),
        ..Completion::default()
    }
}
