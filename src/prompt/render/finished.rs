//! Finished texts: those of the paper as they are, plain ones with their placeholders filled in.

use super::RenderSettings;
use crate::prompt::finished::FinishedText;
use crate::prompt::plain::{Plain, QUESTION};
use crate::prompt::texts::{ProtocolTexts, Slotted};
use crate::prompt::{ExemplarOrder, PromptError, template};
use crate::protocol::{Frame, Layout, react_zh};
use crate::types::{Method, Role};
use std::sync::Arc;

pub(super) fn finished_frame(
    text: &FinishedText,
    texts: &ProtocolTexts,
    settings: &RenderSettings<'_>,
) -> Result<Frame, PromptError> {
    let RenderSettings { protocol, method, .. } = *settings;
    if settings.shots.is_some() || settings.order != ExemplarOrder::File {
        return Err(PromptError::FinishedText(text.spec.clone()));
    }
    let direct = matches!(method, Method::Standard | Method::Cot);
    let one_text = direct || protocol.layout() == Layout::Text;
    let Some(plain) = &text.plain else {
        if !one_text {
            return Err(PromptError::FinishedForm(text.spec.clone(), protocol.id()));
        }
        return Ok(Frame::text(text.text.as_str()));
    };
    // Systems with named tools say in words of their own how a step is written; without them no reply would be read.
    let calls_functions = protocol.observation_role() == Role::Tool;
    if !(one_text || calls_functions || protocol.layout() == Layout::Instruction) {
        return Err(PromptError::PlainForm(text.spec.clone(), protocol.id()));
    }
    let tools = if direct { None } else { tools_text(text, plain, texts, settings, calls_functions) };
    let fill = |part: &Slotted| {
        let value = |name: &str| tools.as_deref().filter(|_| name != QUESTION);
        part.fill(value).map_err(|_| PromptError::NoTools(text.spec.clone(), method.name()))
    };
    let (before, after) = match plain.slotted.split_at(QUESTION) {
        Some((before, after)) => (fill(&before)?, Some(fill(&after)?)),
        None => (fill(&plain.slotted)?, None),
    };
    if one_text {
        return one_text_frame(text, before, after);
    }
    let mut frame = match after {
        Some(after) => Frame::around(before, after.trim_end_matches('\n')),
        None => Frame { system: Some(before.trim_end_matches('\n').into()), ..Frame::default() },
    };
    if calls_functions {
        frame.tools = protocol.tools(&texts.tools);
    }
    let occasions = texts.occasions().map(|(key, text)| (key.to_owned(), Arc::from(text.fill_known(|_| None))));
    frame.texts = occasions.collect();
    Ok(frame)
}

/// The protocol's own description of its tools.
fn tools_text(
    text: &FinishedText,
    plain: &Plain,
    texts: &ProtocolTexts,
    settings: &RenderSettings<'_>,
    calls_functions: bool,
) -> Option<String> {
    if calls_functions {
        let specs = settings.protocol.tools(&texts.tools);
        let line =
            |spec: &crate::protocol::ToolSpec| format!("{}({}): {}", spec.name, spec.parameter, spec.description);
        return Some(specs.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
    let chinese = settings.protocol.id() == react_zh::ID || text.language().starts_with("zh");
    let language = if chinese { "zh" } else { "en" };
    plain.tools.get(usize::from(chinese)).map(|tools| template::tool_list(tools, language))
}

/// What the protocol or the method adds begins on a line of its own.
fn one_text_frame(text: &FinishedText, before: String, after: Option<String>) -> Result<Frame, PromptError> {
    let last = after.as_deref().unwrap_or(&before);
    let line = last.trim_end().rsplit('\n').next().unwrap_or_default().trim();
    let asks = after.is_none() && ["Question:", "Claim:"].contains(&line);
    if asks || is_step_label(line) {
        return Err(PromptError::EndsInLabel(text.spec.clone(), line.to_owned()));
    }
    let ended = |text: String| if text.ends_with('\n') { text } else { text + "\n" };
    Ok(match after {
        Some(after) => Frame::around(before, ended(after)),
        None => Frame::text(ended(before)),
    })
}

/// Whether a line is what the protocol or the method writes next: `Thought 1:`, `Answer:`.
fn is_step_label(line: &str) -> bool {
    let Some(words) = line.strip_suffix(':') else { return false };
    let (word, number) = words.split_once(' ').unwrap_or((words, "1"));
    ["Thought", "Action", "Answer"].contains(&word) && number.bytes().all(|byte| byte.is_ascii_digit())
}
