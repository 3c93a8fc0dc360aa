//! Which part of a prompt the provider is to keep for later requests.
//!
//! | mark | where | why |
//! |---|---|---|
//! | what all questions share | after the prefix of a text prompt, else after the exemplars, the system text or the tools | it is written once and read by every request of a run |
//! | the conversation, top-level | its last block | each step reads what the step before has written |
//!
//! Writing costs a quarter more than sending, reading a tenth of it or less. A conversation is marked once the model has
//! spoken in it: it pays from two steps on, and many episodes have one. A text prompt that grows is one block, whose older
//! form is nowhere in the newer one, so only its prefix is marked. What is shorter than a model's minimum (512 to 4,096
//! tokens) is sent as ever: a mark does nothing there.
//!
//! Sources: <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>; shortest prefixes by model:
//! <https://dev.to/creeta/claudes-prompt-cache-fails-silently-below-1024-tokens-1ch1>; servers that refuse the mark:
//! <https://github.com/earendil-works/pi/issues/7938>.

use super::{Body, Content};
use crate::llm::remote::turns::{Part, Turn, Turns};
use crate::types::request::BYTES_PER_TOKEN;
use serde_json::{Value, json};

/// Tokens of the shortest prefix that a model keeps.
const MIN_CACHED: usize = 512;

/// Marks what is long enough. Returns whether anything is.
pub(super) fn mark_cacheable(body: &mut Body<'_>, turns: &Turns) -> bool {
    let tools: usize = body.tools.iter().map(|tool| tool.to_string().len()).sum();
    let before = tools + turns.system.len();
    let shared: usize = before + turns.turns.iter().take(turns.shared).map(length).sum::<usize>();
    let whole: usize = before + turns.turns.iter().map(length).sum::<usize>();
    let spoken = turns.label.is_empty() && turns.turns.iter().skip(turns.shared).any(|turn| turn.own);
    body.cache_control = (spoken && is_long(whole)).then(ephemeral);
    let marked = if is_long(turns.prefix) {
        split(&mut body.messages[0].content, turns.prefix)
    } else {
        is_long(shared) && mark_shared(body, turns.shared)
    };
    marked || body.cache_control.is_some()
}

fn is_long(bytes: usize) -> bool {
    bytes >= MIN_CACHED * BYTES_PER_TOKEN
}

fn ephemeral() -> Value {
    json!({ "type": "ephemeral" })
}

/// Marks the end of the shared turns, of the system text, or of the tools.
fn mark_shared(body: &mut Body<'_>, turns: usize) -> bool {
    let said = turns.checked_sub(1).and_then(|last| body.messages.get_mut(last)).map(|said| &mut said.content);
    let content = said.or_else(|| Some(&mut body.system).filter(|system| !system.is_empty()));
    let Some(content) = content else { return body.tools.last_mut().map(keep).is_some() };
    if let Content::Text(text) = content {
        *content = Content::Blocks(vec![json!({ "type": "text", "text": text })]);
    }
    let Content::Blocks(blocks) = content else { return false };
    blocks.last_mut().map(keep).is_some()
}

fn keep(block: &mut Value) {
    block["cache_control"] = ephemeral();
}

/// Makes the first bytes of a text a block of their own, and marks it.
fn split(content: &mut Content<'_>, at: usize) -> bool {
    let Content::Text(text) = *content else { return false };
    let Some((prefix, rest)) = text.split_at_checked(at).filter(|(_, rest)| !rest.trim().is_empty()) else {
        return false;
    };
    let prefix = json!({ "type": "text", "text": prefix, "cache_control": ephemeral() });
    *content = Content::Blocks(vec![prefix, json!({ "type": "text", "text": rest })]);
    true
}

/// About the length of a turn, in bytes.
fn length(turn: &Turn) -> usize {
    let part = |part: &Part| match part {
        Part::Text(text) | Part::Result { text, .. } => text.len(),
        Part::Call(call) => call.name.len() + call.arguments.len(),
        Part::Verbatim(content) => content.to_string().len(),
    };
    turn.parts.iter().map(part).sum()
}
