//! Conversations with native tool calls: read, and continued.

use super::history::History;
use super::labels::Labels;
use super::step::{self, ParsedAction};
use super::{Action, Decision, Transcript, Wanted};
use crate::types::{Completion, FunctionCall, Functions, Message, Role};
use serde_json::json;
use std::collections::HashMap;

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
                    let did = ParsedAction::call(&call.name, &step::argument(&call.arguments), String::new());
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
