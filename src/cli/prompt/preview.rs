//! A prompt rendered as flags say, and the first request that is made from it.

use super::super::failure::Failure;
use super::super::flags::{method, options};
use crate::base::{Decoding, Method, Question, Request};
use crate::prompting::protocol::direct::Direct;
use crate::prompting::protocol::{self, Dialogue, Protocol, Setup, Turn};
use crate::prompting::{self, PromptSource, RenderSettings, Rendered, texts};
use crate::runner::experiment::shipped;
use crate::runner::find_protocol;
use std::sync::Arc;

/// How a prompt is rendered.
#[derive(Debug, clap::Args)]
pub(super) struct How {
    /// File with the instruction before the exemplars of a JSON prompt [default: none].
    #[arg(long, value_name = "FILE")]
    pub(super) instruction: Option<String>,
    /// Protocol to render for; `wikitrail prompt protocols` lists them.
    #[arg(long, value_name = "ID", default_value = protocol::react_paper::ID, value_parser = protocol::IDS)]
    pub(super) protocol: String,
    /// Option of the protocol; may be repeated.
    #[arg(long, value_name = "K=V")]
    pub(super) option: Vec<String>,
    /// File with protocol texts, in the form of `wikitrail docs protocol-texts` [default: built in, in the prompt's language].
    #[arg(long, value_name = "FILE")]
    pub(super) texts: Option<String>,
    /// Prompting method; of two in a row, the first.
    #[arg(long, value_name = "NAME", default_value = "react", value_parser = method())]
    pub(super) method: Method,
    /// Label before the question [default: the prompt's].
    #[arg(long, value_name = "LABEL")]
    pub(super) question_label: Option<String>,
    /// Use only the first N exemplars [default: all].
    #[arg(long, value_name = "N")]
    pub(super) shots: Option<usize>,
    /// Step limit in the texts [default: the protocol's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(super) max_steps: Option<u16>,
}

pub(super) struct Preview {
    pub(super) source: PromptSource,
    protocol: Arc<dyn Protocol>,
    /// The method of the first part.
    method: Method,
    max_steps: usize,
    pub(super) rendered: Rendered,
}

impl How {
    pub(super) fn preview(&self, prompt: &str) -> anyhow::Result<Preview> {
        let options = options(&self.option)?;
        let protocol = find_protocol(&self.protocol, &options, None)?;
        let method = match self.method {
            Method::ReactThenCotSc => Method::React,
            Method::CotSc | Method::CotScThenReact => Method::Cot,
            method => method,
        };
        let source = prompting::load(prompt, self.instruction.as_deref(), &shipped::file)?;
        let section = texts::section(&self.protocol, &options);
        let texts = texts::load(self.texts.as_deref(), source.language(), &section, &shipped::file)?;
        let max_steps = self.max_steps.map_or(protocol.max_steps(), usize::from);
        let settings = RenderSettings {
            protocol: protocol.as_ref(),
            method,
            shots: self.shots,
            max_steps,
            ..RenderSettings::default()
        };
        let rendered = prompting::render(&source, &texts, &settings)?;
        Ok(Preview { source, protocol, method, max_steps, rendered })
    }

    pub(super) fn request(&self, shown: &Preview, question: &str) -> anyhow::Result<Request> {
        let label = self.question_label.as_deref().or(shown.source.question_label()).unwrap_or("Question");
        let setup = Arc::new(Setup {
            frame: shown.rendered.frame.clone(),
            question_label: label.to_owned(),
            max_steps: shown.max_steps,
            thoughts: shown.method != Method::Act,
            decoding: Decoding::default(),
            history: Vec::new(),
        });
        match preview_dialogue(shown, &setup).begin(&Question::new("question", question, Vec::new())) {
            Turn::Ask(request) => Ok(request),
            Turn::Use(_) | Turn::Stop(_) => {
                Err(Failure::unexpected("this question needs no request", "omit --question to see the prompt"))
            }
        }
    }
}

fn preview_dialogue(shown: &Preview, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
    match shown.method {
        Method::Standard | Method::Cot => Box::new(Direct::new(setup, shown.method == Method::Cot, false)),
        _ => shown.protocol.dialogue(setup),
    }
}
