//! One variant: from flags to an agent.

use super::{BuiltVariant, Common, VariantArgs};
use crate::agent::{Acting, Agent, Answering, Approach};
use crate::cli::builtin;
use crate::cli::failure::Failure;
use crate::cli::model_args::ModelArgs;
use crate::llm::{BaselineSettings, Price};
use crate::prompt::{self, ExemplarOrder, PromptSource, RenderSettings, texts};
use crate::protocol::{self, Options, Protocol, Setup};
use crate::types::{Decoding, Method, Variant, Voting, Wording};
use crate::wiki::SessionOptions;
use std::sync::Arc;

/// Most tokens of a direct answer, reasoning included, unless another number is given.
const DIRECT_TOKENS: u32 = 256;

/// One variant on its way from flags to an agent.
pub(super) struct One<'a> {
    pub(super) args: &'a VariantArgs,
    pub(super) common: &'a Common<'a>,
    pub(super) name: String,
    /// The prompt, and how it was named.
    pub(super) prompt: &'a (PromptSource, String),
    pub(super) options: &'a Options,
    pub(super) protocol: Arc<dyn Protocol>,
    pub(super) method: Method,
}

impl One<'_> {
    pub(super) fn build(self) -> anyhow::Result<BuiltVariant> {
        let (source, spec) = self.prompt;
        if matches!(source, PromptSource::Text(_)) && self.method.agent().is_some() && self.method.direct().is_some() {
            return Err(Failure::usage(
                format!(
                    "`{}` has two parts, and the finished text `{spec}` fits one of them at most",
                    self.method.name()
                ),
                "use a prompt file (TOML), from which each part is made in its own form",
            ));
        }
        let usual = if self.common.claims { "Claim" } else { "Question" };
        // A text of the paper's does not say which of the two it is for; the dataset does.
        let label = self.args.prompt.question_label.as_deref().or(source.question_label()).unwrap_or(usual).to_owned();
        let wording = self.common.wording.unwrap_or_else(|| self.wording(source));
        let oracle_context = self.oracle_context()?;
        let voting = self.voting();
        let approach = Approach::of(
            self.method,
            |method| Ok(Acting { protocol: Arc::clone(&self.protocol), setup: self.setup(source, method, &label)? }),
            |method| {
                let (setup, reasons) = (self.setup(source, method, &label)?, method == Method::Cot);
                anyhow::Ok(Answering { setup, reasons, oracle_context })
            },
            voting.unwrap_or_default(),
        )?;
        let rules = || self.common.tapes.model(ModelArgs::baseline(self.rules(&label, &approach)));
        let model = self.common.server.clone().unwrap_or_else(rules);
        model.fits(&self.decoding(self.method), voting)?;
        let (prompt, direct_prompt) = approach.prompts();
        let flags = &self.args.prompt;
        let order = flags.order()?;
        let variant = Variant {
            name: self.name.clone(),
            protocol: self.protocol.id().to_owned(),
            options: self.options.0.clone(),
            method: self.method.name().to_owned(),
            voting,
            oracle_context,
            max_steps: self.max_steps(),
            prompt: spec.clone(),
            prompt_sha256: prompt.sha256.clone(),
            direct_prompt_sha256: direct_prompt.as_ref().map(|prompt| prompt.sha256.clone()),
            texts: flags.texts.as_ref().map(|path| path.display().to_string()),
            instruction: flags.instruction.as_ref().map(|path| path.display().to_string()),
            shots: flags.shots,
            exemplar_order: (order != ExemplarOrder::File).then(|| order.name().to_owned()),
            exemplar_seed: order.seed(),
            question_label: label,
            model: model.label,
            endpoint: model.endpoint.to_owned(),
            base_url: model.base_url,
            direct_max_tokens: self.direct_max_tokens(),
            price: self.common.price.cloned(),
            decoding: self.decoding(self.method),
            wiki: self.common.wiki.label.clone(),
            wiki_origin: self.common.wiki.origin.clone(),
            compat: self.common.compat,
            wording,
        };
        let agent = Agent {
            model: model.model,
            source: Arc::clone(&self.common.wiki.source),
            session: SessionOptions { wording, ..SessionOptions::default() },
            approach,
            price: self.common.price.map(Price::from),
        };
        Ok(BuiltVariant { variant, agent, prompts: std::iter::once(prompt).chain(direct_prompt).collect() })
    }

    /// What the dialogues of one part of the method are built from.
    fn setup(&self, source: &PromptSource, method: Method, label: &str) -> anyhow::Result<Arc<Setup>> {
        let texts = self.args.prompt.texts.as_ref().map(|path| path.to_string_lossy().into_owned());
        let section = texts::section(self.protocol.id(), self.options);
        let texts = texts::load(texts.as_deref(), source.language(), &section, &builtin::file)?;
        let settings = RenderSettings {
            protocol: self.protocol.as_ref(),
            method,
            shots: self.args.prompt.shots,
            order: self.args.prompt.order()?,
            max_steps: self.max_steps(),
        };
        Ok(Arc::new(Setup {
            frame: prompt::render(source, &texts, &settings)?.frame,
            question_label: label.to_owned(),
            max_steps: self.max_steps(),
            thoughts: method != Method::Act,
            decoding: self.decoding(method),
            history: self.common.history.clone(),
        }))
    }

    fn max_steps(&self) -> usize {
        self.args.prompt.max_steps.map_or(self.protocol.max_steps(), usize::from)
    }

    fn voting(&self) -> Option<Voting> {
        self.method.votes().then(|| self.args.method.voting())
    }

    /// Sampling settings of a method, or of a part of one.
    fn decoding(&self, method: Method) -> Decoding {
        let flags = &self.args.decoding;
        let usual = if method.agent().is_some() { self.protocol.max_tokens() } else { DIRECT_TOKENS };
        Decoding {
            temperature: flags.temperature,
            top_p: flags.top_p,
            max_tokens: flags.max_tokens.unwrap_or(usual),
            seed: flags.seed,
        }
    }

    /// A back-off answers directly as the method alone does.
    fn direct_max_tokens(&self) -> Option<u32> {
        let (whole, direct) = (self.decoding(self.method), self.decoding(self.method.direct()?));
        (whole.max_tokens != direct.max_tokens).then_some(direct.max_tokens)
    }

    fn oracle_context(&self) -> anyhow::Result<bool> {
        let flags = &self.args.method;
        let flag = if flags.oracle_context { "--oracle-context" } else { "--closed-book" };
        if (flags.oracle_context || flags.closed_book) && self.method.direct().is_none() {
            return Err(Failure::usage(
                format!("{flag} is about direct methods, and `{}` uses tools", self.method.name()),
                "direct methods are standard, cot and cot-sc; the back-offs have a direct part",
            ));
        }
        Ok(flags.oracle_context)
    }

    /// The script's tool speaks Chinese; otherwise it speaks the prompt's language.
    fn wording(&self, source: &PromptSource) -> Wording {
        let chinese = self.protocol.id() == protocol::react_zh::ID || source.language().starts_with("zh");
        if chinese { Wording::Chinese } else { Wording::English }
    }

    fn rules(&self, label: &str, approach: &Approach) -> BaselineSettings {
        let mut rules = BaselineSettings {
            claims: self.common.claims,
            // The rules know what to do in seven steps; more of them are repetition.
            last_step: self.protocol.last_answer(self.max_steps()).min(BaselineSettings::default().last_step),
            protocol: self.method.agent().map(|_| Arc::clone(&self.protocol)),
            thoughts: self.method != Method::Act,
            force_stop: approach.acting().map_or("", |acting| acting.setup.frame.said("force_stop")).to_owned(),
            ..BaselineSettings::default()
        };
        let label_of = if self.common.claims { &mut rules.claim_label } else { &mut rules.question_label };
        label.clone_into(label_of);
        rules
    }
}
