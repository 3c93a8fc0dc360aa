//! Renders a prompt into the frame around the question, for every protocol and method.

mod direct;
mod examples;
mod finished;
mod named;
mod numbered;

use super::error::PromptError;
use super::exemplar::Exemplar;
use super::file::PromptFile;
use super::load::PromptSource;
use super::template::{self, Values};
use super::texts::ProtocolTexts;
use crate::protocol::{Frame, Layout, Protocol, react_paper};
use crate::types::{Method, sha256_hex};

/// How a prompt is rendered.
#[derive(Debug, Clone, Copy)]
pub struct RenderSettings<'a> {
    /// The protocol; it does not affect methods without tools.
    pub protocol: &'a dyn Protocol,
    /// Prompting method; each part of a combined method is rendered by itself.
    pub method: Method,
    /// Number of exemplars, the first ones of the order; all if absent.
    pub shots: Option<usize>,
    pub order: ExemplarOrder,
    /// Step limit, for texts that state it.
    pub max_steps: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExemplarOrder {
    #[default]
    File,
    /// The last of the file first.
    Reversed,
    /// By SHA-256 of `{seed}`, a line break and the question. The order does not depend on positions in the file, and
    /// fewer shots are a prefix of more shots.
    Seeded(u64),
}

impl ExemplarOrder {
    /// Names of the orders, as typed; the last one takes a seed.
    pub const NAMES: [&str; 3] = ["file", "reversed", "shuffled"];

    pub fn name(self) -> &'static str {
        match self {
            Self::File => Self::NAMES[0],
            Self::Reversed => Self::NAMES[1],
            Self::Seeded(_) => Self::NAMES[2],
        }
    }

    pub fn seed(self) -> Option<u64> {
        match self {
            Self::Seeded(seed) => Some(seed),
            Self::File | Self::Reversed => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub frame: Frame,
    /// The protocol's layout, or [`Layout::Text`] for methods without tools. It determines the stored form.
    pub layout: Layout,
    pub stored: String,
    /// SHA-256 of the stored form's UTF-8 bytes, hexadecimal.
    pub sha256: String,
    /// Its length in characters (Unicode scalar values).
    pub chars: usize,
    /// Number of exemplars; unknown for a finished text.
    pub exemplars: Option<usize>,
}

/// Renders a prompt for one of the methods standard, cot, act and react.
///
/// All methods use the same exemplars in the protocol's syntax and omit parts of them. `texts` is the protocol's section.
/// A text of the paper's stays unchanged.
pub fn render(
    source: &PromptSource,
    texts: &ProtocolTexts,
    settings: &RenderSettings<'_>,
) -> Result<Rendered, PromptError> {
    let (protocol, method) = (settings.protocol, settings.method);
    let direct = matches!(method, Method::Standard | Method::Cot);
    if !direct && !matches!(method, Method::Act | Method::React) {
        return Err(PromptError::Compound(method.name()));
    }
    if method == Method::Act && !protocol.acts_without_thoughts() {
        return Err(PromptError::NeedsThoughts(protocol.id()));
    }
    let layout = if direct { Layout::Text } else { protocol.layout() };
    let file = match source {
        PromptSource::File(file) => file,
        PromptSource::Text(text) => {
            return Ok(Rendered::new(finished::finished_frame(text, texts, settings)?, layout, None));
        }
    };
    let job = Job { file, texts, settings, exemplars: select_exemplars(file, settings)? };
    let (frame, shown) = match layout {
        _ if direct => direct::direct_frame(&job)?,
        Layout::Text => numbered::numbered_text(&job)?,
        Layout::Instruction => numbered::numbered_conversation(&job)?,
        Layout::Template => named::named_template(&job)?,
        Layout::System => named::named_conversation(&job)?,
    };
    Ok(Rendered::new(frame, layout, Some(shown)))
}

struct Job<'a> {
    file: &'a PromptFile,
    texts: &'a ProtocolTexts,
    settings: &'a RenderSettings<'a>,
    exemplars: Vec<&'a Exemplar>,
}

impl Job<'_> {
    /// The prompt file's instruction for the method, filled in; it ends with one line break.
    fn instruction(&self) -> Result<String, PromptError> {
        let (file, method) = (self.file, self.settings.method.name());
        let missing = || PromptError::NoInstruction(file.file.clone(), method);
        let instruction = file.instructions.get(method).ok_or_else(missing)?;
        let values = Values {
            question_label: &file.question_label,
            max_steps: self.settings.max_steps,
            tools: file.tools.as_ref(),
            language: &file.language,
        };
        let failed = |reason| PromptError::Template { file: file.file.clone(), method, reason };
        template::fill_template(instruction, values).map_err(failed)
    }
}

fn select_exemplars<'f>(file: &'f PromptFile, settings: &RenderSettings<'_>) -> Result<Vec<&'f Exemplar>, PromptError> {
    let mut exemplars: Vec<&Exemplar> = file.exemplars.iter().collect();
    match settings.order {
        ExemplarOrder::File => {}
        ExemplarOrder::Reversed => exemplars.reverse(),
        ExemplarOrder::Seeded(seed) => {
            let seed = format!("{seed}\n");
            exemplars.sort_by_cached_key(|exemplar| sha256_hex([seed.as_bytes(), exemplar.question.as_bytes()]));
        }
    }
    let wanted = settings.shots.unwrap_or(exemplars.len());
    if wanted > exemplars.len() {
        let (file, available) = (file.file.clone(), exemplars.len());
        return Err(PromptError::TooFewExemplars { file, wanted, available });
    }
    exemplars.truncate(wanted);
    Ok(exemplars)
}

impl Rendered {
    fn new(frame: Frame, layout: Layout, exemplars: Option<usize>) -> Self {
        let stored = frame.stored(layout);
        let (sha256, chars) = (sha256_hex([stored.as_bytes()]), stored.chars().count());
        Self { frame, layout, stored, sha256, chars, exemplars }
    }
}

impl Default for RenderSettings<'_> {
    /// The paper's: protocol `react-paper`, method `react`, all exemplars in the file's order, 7 steps.
    fn default() -> Self {
        Self {
            protocol: &react_paper::Paper,
            method: Method::React,
            shots: None,
            order: ExemplarOrder::File,
            max_steps: react_paper::MAX_STEPS,
        }
    }
}
