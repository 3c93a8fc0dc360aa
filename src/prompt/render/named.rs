//! Protocols with named tools, which use the protocol's own instructions.

use super::{Job, examples};
use crate::prompt::PromptError;
use crate::prompt::texts::{self, Slotted};
use crate::protocol::{Frame, ToolSpec};
use std::sync::Arc;

/// One message around the question, with examples if the template has a slot for them.
pub(super) fn named_template(job: &Job<'_>) -> Result<(Frame, usize), PromptError> {
    let key = "template";
    let template = job.texts.needed(key)?;
    let fits = template.has("examples");
    if let Some(shots) = job.settings.shots.filter(|shots| *shots > 0 && !fits) {
        return Err(PromptError::NoPlaceForExamples { file: job.texts.file.clone(), key, shots });
    }
    let mut tools = job.settings.protocol.tools(&job.texts.tools);
    if let Some(text) = job.texts.get("args_format") {
        let text = text.fill_known(|_| None);
        for tool in &mut tools {
            text.clone_into(&mut tool.args_format);
        }
    }
    let mut slots = Slots::new(job, &tools);
    slots.set("examples", examples_text(job));
    let (before, after) = template.split_at("query").ok_or_else(|| job.texts.lacks(key))?;
    let frame = Frame {
        prefix: slots.fill(key, &before)?,
        suffix: slots.fill(key, &after)?,
        system: job.texts.get("system").map(|system| slots.fill("system", system)).transpose()?,
        texts: slots.occasions(),
        tools,
        ..Frame::default()
    };
    Ok((frame, if fits { job.exemplars.len() } else { 0 }))
}

/// A system message, then the exemplars as turns.
pub(super) fn named_conversation(job: &Job<'_>) -> Result<(Frame, usize), PromptError> {
    let key = "system";
    let system = job.texts.needed(key)?;
    let tools = job.settings.protocol.tools(&job.texts.tools);
    let mut slots = Slots::new(job, &tools);
    let context = match job.texts.get("context") {
        Some(context) if system.has("context_prompt") && !system.has("task") => {
            slots.fill::<String>("context", context)?
        }
        _ => String::new(),
    };
    slots.set("context_prompt", context);
    let frame = Frame {
        system: Some(slots.fill(key, system)?),
        examples: examples::exemplar_turns(job),
        texts: slots.occasions(),
        tools,
        ..Frame::default()
    };
    Ok((frame, job.exemplars.len()))
}

/// The exemplars as transcripts of the template, each followed by an empty line: the question, the end of the template,
/// then steps and observations with the system's own separators.
fn examples_text(job: &Job<'_>) -> String {
    let mut text = String::new();
    for exemplar in &job.exemplars {
        text += &job.settings.protocol.question(QUESTION_LABEL, &exemplar.question);
        text += texts::TEMPLATE_ENDING;
        text.extend(examples::exemplar_steps(job, exemplar).iter().map(|message| &*message.content));
        text += "\n\n";
    }
    text
}

/// Label before a question in templates, whatever the prompt's own label.
const QUESTION_LABEL: &str = "Question";

/// Values of the slots in a protocol's texts.
struct Slots<'a> {
    job: &'a Job<'a>,
    values: Vec<(&'static str, String)>,
}

/// Names of the slot for the task.
const TASK: [&str; 3] = ["task", "context", "Background"];

impl<'a> Slots<'a> {
    fn new(job: &'a Job<'a>, tools: &[ToolSpec]) -> Self {
        let mut slots = Self { job, values: job.settings.protocol.slots(tools) };
        let max_steps = job.settings.max_steps;
        slots.set("max_steps", max_steps.to_string());
        slots.set("max_iterations", max_steps.to_string());
        if let Some(task) = &job.file.task {
            for name in TASK {
                slots.set(name, task.trim_end().to_owned());
            }
        }
        slots
    }

    fn id(&self) -> &'static str {
        self.job.settings.protocol.id()
    }

    fn set(&mut self, name: &'static str, value: String) {
        self.values.push((name, value));
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(slot, _)| *slot == name).map(|(_, value)| value.as_str())
    }

    fn fill<T: From<String>>(&self, key: &'static str, text: &Slotted) -> Result<T, PromptError> {
        text.fill(|name| self.value(name)).map(T::from).map_err(|slot| {
            let protocol = self.id();
            if TASK.contains(&slot) {
                return PromptError::NoTask { file: self.job.file.file.clone(), protocol };
            }
            PromptError::NoSlotValue { protocol, slot: slot.to_owned(), key, file: self.job.texts.file.clone() }
        })
    }

    /// Messages for later requests; slots that only the dialogue knows stay.
    fn occasions(&self) -> std::collections::BTreeMap<String, Arc<str>> {
        let known = |text: &Slotted| Arc::from(text.fill_known(|name| self.value(name)));
        self.job.texts.occasions().map(|(key, text)| (key.to_owned(), known(text))).collect()
    }
}
