//! From a prompt to the few-shot prefix that every request of a variant begins with.

use super::error::PromptError;
use super::exemplar::Exemplar;
use super::file::PromptFile;
use super::load::PromptSource;
use super::problem::{closest, quoted};
use super::template::{self, Values};
use crate::protocol::numbered::{action_text, question_line, step_text};
use crate::types::sha256_hex;
use std::sync::Arc;

/// Protocols that a prompt can be rendered for.
pub const PROTOCOLS_RENDERED: [&str; 1] = ["react-paper"];

/// Prompting methods that a prompt can be rendered for.
pub const METHODS_RENDERED: [&str; 1] = ["react"];

/// How a prompt is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderSettings<'a> {
    /// Protocol id, one of [`PROTOCOLS_RENDERED`].
    pub protocol: &'a str,
    /// Prompting method, one of [`METHODS_RENDERED`].
    pub method: &'a str,
    /// How many exemplars are shown, the first ones of the order; all when absent.
    pub shots: Option<usize>,
    /// Order of the exemplars.
    pub order: ExemplarOrder,
    /// Step limit, for instructions that name it.
    pub max_steps: usize,
}

/// Order of the exemplars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExemplarOrder {
    /// As in the file.
    #[default]
    File,
    /// By SHA-256 of `{seed}`, a line break and the question. A seed gives the same order wherever an exemplar
    /// stands in its file, and fewer shots are a part of more shots.
    Seeded(u64),
}

/// A rendered prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The prefix; the question's line follows it without anything between.
    pub text: Arc<str>,
    /// SHA-256 of its UTF-8 bytes, hexadecimal.
    pub sha256: String,
    /// Its length in characters (Unicode scalar values).
    pub chars: usize,
    /// How many exemplars it shows; unknown for a finished text.
    pub exemplars: Option<usize>,
}

/// Renders a prompt in the paper's layout: the instruction, an empty line, then each exemplar's question, its
/// steps, and its last thought and action. A finished text comes back as it is.
pub fn render(source: &PromptSource, settings: &RenderSettings<'_>) -> Result<Rendered, PromptError> {
    if !PROTOCOLS_RENDERED.contains(&settings.protocol) {
        return Err(PromptError::UnknownProtocol {
            protocol: quoted(settings.protocol),
            available: PROTOCOLS_RENDERED.join(", "),
            suggestion: closest(settings.protocol, PROTOCOLS_RENDERED),
        });
    }
    if !METHODS_RENDERED.contains(&settings.method) {
        return Err(PromptError::UnknownMethod {
            method: quoted(settings.method),
            available: METHODS_RENDERED.join(", "),
            suggestion: closest(settings.method, METHODS_RENDERED),
        });
    }
    match source {
        PromptSource::Text(paper) => {
            if settings.shots.is_some() || settings.order != ExemplarOrder::File {
                return Err(PromptError::FinishedText { spec: paper.spec.clone() });
            }
            Ok(rendered(paper.text.clone(), None))
        }
        PromptSource::File(file) => render_file(file, settings),
    }
}

fn render_file(file: &PromptFile, settings: &RenderSettings<'_>) -> Result<Rendered, PromptError> {
    let method = settings.method;
    let instruction = file
        .instructions
        .get(method)
        .ok_or_else(|| PromptError::NoInstruction { file: file.file.clone(), method: method.to_owned() })?;
    let exemplars = chosen(file, settings)?;
    let values =
        Values { question_label: &file.question_label, max_steps: settings.max_steps, tools: file.tools.as_ref() };
    let instruction = template::fill(&instruction.template, values).map_err(|error| PromptError::Template {
        file: file.file.clone(),
        method: method.to_owned(),
        reason: error.kind().to_string(),
    })?;
    let examples: String = exemplars.iter().map(|exemplar| example(&file.question_label, exemplar)).collect();
    Ok(rendered(format!("{instruction}\n{examples}"), Some(exemplars.len())))
}

fn chosen<'f>(file: &'f PromptFile, settings: &RenderSettings<'_>) -> Result<Vec<&'f Exemplar>, PromptError> {
    let mut exemplars: Vec<&Exemplar> = file.exemplars.iter().collect();
    if let ExemplarOrder::Seeded(seed) = settings.order {
        let seed = format!("{seed}\n");
        exemplars.sort_by_cached_key(|exemplar| sha256_hex([seed.as_bytes(), exemplar.question.as_bytes()]));
    }
    let wanted = settings.shots.unwrap_or(exemplars.len());
    if wanted > exemplars.len() {
        let (file, available) = (file.file.clone(), exemplars.len());
        return Err(PromptError::TooFewExemplars { file, wanted, available });
    }
    exemplars.truncate(wanted);
    Ok(exemplars)
}

fn example(label: &str, exemplar: &Exemplar) -> String {
    let mut text = question_line(label, &exemplar.question);
    for (n, step) in (1..).zip(&exemplar.steps) {
        text += &match &step.observation {
            Some(observation) => step_text(n, &step.thought, &step.action, observation),
            None => action_text(n, &step.thought, &step.action),
        };
    }
    text
}

fn rendered(text: String, exemplars: Option<usize>) -> Rendered {
    let sha256 = sha256_hex([text.as_bytes()]);
    Rendered { sha256, chars: text.chars().count(), exemplars, text: text.into() }
}

impl Default for RenderSettings<'_> {
    /// The paper's: protocol `react-paper`, method `react`, all exemplars in the file's order, 7 steps.
    fn default() -> Self {
        Self { protocol: "react-paper", method: "react", shots: None, order: ExemplarOrder::File, max_steps: 7 }
    }
}
