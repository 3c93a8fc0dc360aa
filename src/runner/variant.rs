//! One variant: from its settings to an agent.

use super::error::RunError;
use super::model::{BuiltModel, ModelSettings, is_on};
use super::pool::Pool;
use super::wiki::{BuiltWiki, WikiSettings};
use crate::base::text::{excerpt, printable};
use crate::base::{
    Decoding, Method, PriceRecord, RequestOption, RequestOptions, Role, ToolSet, Variant, Voting, Wording,
};
use crate::models::{BaselineSettings, LearnedOptions, Price};
use crate::prompting::protocol::{self, Options, Protocol, Setup, native};
use crate::prompting::{self, Exemplar, ExemplarOrder, PromptFile, PromptSource, RenderSettings, texts};
use crate::runner::agent::{Acting, Agent, Answering, Approach, StoredPrompt};
use crate::runner::experiment::{VariantSettings, VariantSpec, shipped};
use crate::wikipedia::SessionOptions;
use std::sync::Arc;

/// Maximum tokens of a direct answer, reasoning included, unless another number is set.
const DIRECT_TOKENS: u32 = 256;
const PROMPTS: [&str; 2] = ["prompts/hotpotqa.toml", "prompts/fever.toml"];
/// The prompts of agents that are offered passages, for questions and for claims.
const PASSAGES_PROMPTS: [&str; 2] = ["prompts/hotpotqa-passages.toml", "prompts/fever-passages.toml"];
/// Protocols whose agents can be offered passages.
const OFFERS_PASSAGES: [&str; 3] = [protocol::robust::ID, protocol::native::ID, protocol::lagent::ID];

pub(super) struct BuiltVariant {
    pub(super) variant: Variant,
    pub(super) agent: Agent,
    /// What a person may not expect of its prompt.
    pub(super) notes: Vec<String>,
}

struct Builder<'a> {
    settings: &'a VariantSettings,
    claims: bool,
    prompt: PromptSource,
    prompt_name: String,
    method: Method,
    protocol: Arc<dyn Protocol>,
    options: Options,
    order: ExemplarOrder,
    label: String,
}

/// Builds a variant. Reads its files; sends nothing.
pub(super) fn build(spec: &VariantSpec, pool: &mut Pool, claims: bool) -> Result<BuiltVariant, RunError> {
    if spec.settings.agent.is_some() {
        let (variant, agent) = program(spec, pool)?;
        return Ok(BuiltVariant { variant, agent, notes: Vec::new() });
    }
    let wiki = pool.wiki(&spec.settings)?;
    Builder::new(spec, claims)?.build(spec.name.clone(), pool, &wiki)
}

#[cfg(feature = "serve")]
use super::program::build as program;

#[cfg(not(feature = "serve"))]
fn program(_spec: &VariantSpec, _pool: &mut Pool) -> Result<(Variant, Agent), RunError> {
    let message = "this build of wikitrail runs no other agents (--agent)";
    Err(RunError::usage(message, "use a build with the feature `serve`, which is on by default"))
}

/// The protocol of that id; in the version that a recorded run `began` with, if it is that run's.
pub(crate) fn find_protocol(
    id: &str,
    options: &Options,
    began: Option<&(String, u32)>,
) -> Result<Arc<dyn Protocol>, RunError> {
    let version = began.filter(|(began, _)| began == id).map(|(_, version)| *version);
    let found = version.map_or_else(
        || protocol::find(id, options),
        // A version that is not known is refused where the settings are compared.
        |version| protocol::going_on(id, options, version).or_else(|| protocol::find(id, options)),
    );
    let found = found.ok_or_else(|| {
        RunError::usage(format!("unknown protocol `{id}`"), format!("known protocols: {}", protocol::IDS.join(", ")))
    })?;
    found.map_err(|error| RunError::usage(&error, error.hint()))
}

/// The protocol of a model and a prompt, where none is named: chat models run ahead and answer in prose, which our own
/// protocol is made for. A finished text of the paper's has the paper's form, so it goes with the paper's protocol.
pub(crate) fn usual_protocol(settings: &VariantSettings, prompt: &PromptSource) -> Result<&'static str, RunError> {
    ModelSettings(settings).provider()?;
    let of_paper = matches!(prompt, PromptSource::Text(text) if !text.is_plain());
    let ours = offers_passages(settings) || (ModelSettings(settings).is_chat() && !of_paper);
    Ok(if ours { protocol::robust::ID } else { protocol::react_paper::ID })
}

/// Whether other tools than search and lookup are set.
fn offers_passages(settings: &VariantSettings) -> bool {
    settings.tools.as_deref().is_some_and(|tools| tools != ToolSet::default().name())
}

/// The options of the protocol, the tools of `--tools` among them.
fn protocol_options(settings: &VariantSettings, method: Method, id: &str) -> Result<Options, RunError> {
    let mut options = Options(settings.option.clone().unwrap_or_default());
    if let Some(tools) = options.get(protocol::TOOLS) {
        let tools = excerpt(tools);
        let message = format!("--option tools={tools} has a flag of its own");
        return Err(RunError::usage(message, format!("use --tools {tools}")));
    }
    if let Some(tools) = settings.tools.as_deref().filter(|_| offers_passages(settings)) {
        if method.agent().is_some() && !OFFERS_PASSAGES.contains(&id) {
            let message = format!("protocol `{id}` has the tools search and lookup only, and --tools is `{tools}`");
            return Err(RunError::usage(message, format!("protocols with passages: {}", OFFERS_PASSAGES.join(", "))));
        }
        options.0.insert(protocol::TOOLS.to_owned(), tools.to_owned());
    }
    Ok(options)
}

impl<'a> Builder<'a> {
    fn new(spec: &'a VariantSpec, claims: bool) -> Result<Self, RunError> {
        let settings = &spec.settings;
        let usual_prompts = if offers_passages(settings) { PASSAGES_PROMPTS } else { PROMPTS };
        let usual_prompt = usual_prompts[usize::from(claims)];
        let prompt_name = settings.prompt.clone().unwrap_or_else(|| usual_prompt.to_owned());
        let prompt = prompting::load(&prompt_name, settings.instruction.as_deref(), &shipped::file)?;
        let method = settings.method.as_deref().unwrap_or(Method::React.name());
        let method = Method::parse(method).ok_or_else(|| {
            let known = format!("known methods: {}", Method::ALL.map(Method::typed).join(", "));
            RunError::usage(format!("unknown method `{method}`"), known)
        })?;
        let usual = usual_protocol(settings, &prompt)?;
        let id = settings.protocol.as_deref().unwrap_or(usual);
        let options = protocol_options(settings, method, id)?;
        let protocol = find_protocol(id, &options, spec.began.as_ref())?;
        if is_on(settings.completions) && protocol.observation_role() == Role::Tool {
            let message = format!("protocol `{}` calls functions, and text completions cannot", protocol.id());
            return Err(RunError::usage(message, "leave out --completions, or use another --protocol"));
        }
        let order = order(settings)?;
        if matches!(prompt, PromptSource::Text(_)) && method.agent().is_some() && method.direct().is_some() {
            let parts = format!("`{}` has two parts", method.name());
            let hint = "use a prompt file (TOML), from which each part is rendered in its own form";
            let message = format!("{parts}, and the finished text `{prompt_name}` fits only one of them");
            return Err(RunError::usage(message, hint));
        }
        if is_on(settings.oracle_context) && method.direct().is_none() {
            return Err(RunError::usage(
                format!("--oracle-context is about direct methods, and `{}` uses tools", method.name()),
                "direct methods are standard, cot and cot-sc; the back-offs have a direct part",
            ));
        }
        if is_on(settings.oracle_context) && matches!(&prompt, PromptSource::Text(text) if text.has_question()) {
            return Err(RunError::usage(
                format!("`{prompt_name}` says where the question stands, and has no place for --oracle-context"),
                "the gold paragraphs are shown before the question: use a prompt file (TOML), or a text without {question}",
            ));
        }
        // A text of the paper's does not say which of the two it is for; the dataset does.
        let usual = if claims { "Claim" } else { "Question" };
        let label = settings.question_label.as_deref().or(prompt.question_label()).unwrap_or(usual).to_owned();
        Ok(Self { settings, claims, prompt, prompt_name, method, protocol, options, order, label })
    }

    fn build(self, name: String, pool: &mut Pool, wiki: &BuiltWiki) -> Result<BuiltVariant, RunError> {
        self.check_source(wiki)?;
        let price = pool.prices.of(self.settings);
        let known_price = price.as_ref().map(Price::from);
        let wording = WikiSettings(self.settings).wording().unwrap_or_else(|| self.wording());
        let oracle_context = is_on(self.settings.oracle_context);
        let (voting, notes) = (self.voting(), self.notes());
        let approach = Approach::of(
            self.method,
            |method| Ok(Acting { protocol: Arc::clone(&self.protocol), setup: self.setup(method)? }),
            |method| {
                let (setup, reasons) = (self.setup(method)?, method == Method::Cot);
                Ok::<_, RunError>(Answering { setup, reasons, oracle_context })
            },
            voting.unwrap_or_default(),
        )?;
        let server = pool.server(self.settings)?;
        let journaled = server.is_some() && !pool.is_offline();
        let model = server.unwrap_or_else(|| pool.tapes.model(ModelSettings::baseline(self.rules(&approach))));
        model.fits(&self.decoding(self.method), voting, self.forces_calls())?;
        let prompts = approach.prompts();
        let agent = Agent {
            model: pool.budgeted(Arc::clone(&model.model), known_price),
            source: Arc::clone(&wiki.source),
            session: SessionOptions {
                wording,
                passages: self.passages(wiki),
                observation_chars: self.settings.observation_chars,
                ..SessionOptions::default()
            },
            approach,
            price: known_price,
            journaled,
            breaker: model.breaker.clone(),
            learned: model.learned.clone(),
        };
        let variant = self.record(name, wording, price, prompts, model, wiki)?;
        Ok(BuiltVariant { variant, agent, notes })
    }

    /// That the exemplars show a tool which the agent is not offered; in numbered protocols that is an error.
    fn other_tools(&self, file: &PromptFile) -> Option<String> {
        self.method.agent()?;
        let offered = self.protocol.offers();
        let shown = file.exemplars.iter().take(self.settings.shots.unwrap_or(usize::MAX));
        let tool = shown.flat_map(Exemplar::tools).find(|tool| !offered.offers(*tool))?;
        let (name, offered) = (excerpt(&self.prompt_name), offered.name());
        Some(format!(
            "note: the exemplars of `{name}` show the tool `{}`, and the agent is offered `{offered}`\n\
             hint: use --shots 0, or a prompt whose exemplars use these tools, such as {}",
            tool.name(),
            PASSAGES_PROMPTS[usize::from(self.claims)]
        ))
    }

    /// How many passages a call shows: as set, or as many as the retriever's address says.
    fn passages(&self, wiki: &BuiltWiki) -> usize {
        self.settings.passages.or(wiki.passages).unwrap_or(SessionOptions::default().passages)
    }

    /// Refuses tools that the source of pages has nothing for.
    fn check_source(&self, wiki: &BuiltWiki) -> Result<(), RunError> {
        let tools = self.protocol.offers();
        if tools.tools().iter().all(|tool| wiki.tools().contains(tool)) || self.method.agent().is_none() {
            return Ok(());
        }
        let message = format!("--tools {} needs another source of pages than `{}`", tools.name(), excerpt(&wiki.label));
        Err(RunError::usage(
            message,
            "a corpus (`--wiki corpus:DIR`) has passages and documents; a retriever (`--wiki retriever:URL`) has passages only",
        ))
    }

    /// What differs from the paper's notebook with a text of its prompt files, and whether the text is for this method.
    fn notes(&self) -> Vec<String> {
        let text = match &self.prompt {
            PromptSource::File(file) => return self.other_tools(file).into_iter().collect(),
            PromptSource::Text(text) => text,
        };
        let Some(method) = self.method.agent().filter(|_| !text.is_plain()) else { return Vec::new() };
        let (name, mut notes) = (excerpt(&self.prompt_name), Vec::new());
        let has = |label: &str| text.text.lines().any(|line| line.starts_with(label));
        if self.protocol.id() != protocol::react_paper::ID || !has("Action 1:") {
            return notes;
        }
        let thinks = has("Thought 1:");
        if thinks != (method == Method::React) {
            let (has, other) = if thinks { ("thoughts", Method::React) } else { ("no thoughts", Method::Act) };
            let meant = format!("it is a text for {}, and the method is {}", other.name(), method.name());
            notes.push(format!("note: the exemplars of `{name}` have {has}: {meant}"));
        } else if method == Method::React && text.text.trim_start().starts_with(&format!("{}:", self.label)) {
            notes.push(format!(
                "note: `{name}` begins with its exemplars; the paper's notebook puts its instruction before them, without which the \
                 prompts and answers differ from the notebook's\nhint: write the instruction into a file and name it with --instruction FILE"
            ));
        }
        notes
    }

    fn record(
        self,
        name: String,
        wording: Wording,
        price: Option<PriceRecord>,
        (prompt, direct_prompt): (StoredPrompt, Option<StoredPrompt>),
        model: BuiltModel,
        wiki: &BuiltWiki,
    ) -> Result<Variant, RunError> {
        let mut by_name = self.settings.recorded_by_name().map_err(RunError::unwritable)?;
        if self.protocol.offers() != ToolSet::default() && self.method.agent().is_some() {
            by_name.insert("passages".to_owned(), self.passages(wiki).into());
        }
        let (decoding, direct_max_tokens) = (self.decoding(self.method).into(), self.direct_max_tokens());
        let (max_steps, voting) = (Some(self.max_steps()), self.voting());
        Ok(Variant {
            name,
            protocol: self.protocol.id().to_owned(),
            // Direct methods do not speak it.
            protocol_version: if self.method.agent().is_some() { self.protocol.version() } else { 1 },
            method: self.method.name().to_owned(),
            voting,
            oracle_context: is_on(self.settings.oracle_context),
            max_steps,
            prompt: self.prompt_name,
            prompt_sha256: prompt.sha256,
            direct_prompt_sha256: direct_prompt.map(|prompt| prompt.sha256),
            texts: self.settings.texts.clone(),
            instruction: self.settings.instruction.clone(),
            shots: self.settings.shots,
            exemplar_order: (self.order != ExemplarOrder::File).then(|| self.order.name().to_owned()),
            exemplar_seed: self.order.seed(),
            question_label: self.label,
            model: model.label,
            endpoint: model.endpoint.to_owned(),
            base_url: model.base_url,
            direct_max_tokens,
            price,
            decoding,
            wiki: wiki.label.clone(),
            wiki_origin: wiki.origin.clone(),
            compat: Some(WikiSettings(self.settings).compat()),
            wording,
            settings: by_name,
            options: self.options.0,
            ..Variant::default()
        })
    }

    fn setup(&self, method: Method) -> Result<Arc<Setup>, RunError> {
        let section = texts::section(self.protocol.id(), &self.options);
        let texts = texts::load(self.settings.texts.as_deref(), self.prompt.language(), &section, &shipped::file)?;
        let (protocol, shots, order, max_steps) =
            (self.protocol.as_ref(), self.settings.shots, self.order, self.max_steps());
        let settings = RenderSettings { protocol, method, shots, order, max_steps };
        let frame = prompting::render(&self.prompt, &texts, &settings)?.frame;
        let (thoughts, decoding) = (method != Method::Act, self.decoding(method));
        Ok(Arc::new(Setup { thoughts, decoding, ..Setup::new(frame, &self.label, max_steps) }))
    }

    fn max_steps(&self) -> usize {
        self.settings.max_steps.unwrap_or(self.protocol.profile().max_steps)
    }

    fn voting(&self) -> Option<Voting> {
        let usual = Voting::default();
        self.method.votes().then(|| Voting {
            samples: self.settings.samples.unwrap_or(usual.samples),
            temperature: self.settings.sample_temperature.unwrap_or(usual.temperature),
            majority: self.settings.majority.unwrap_or(usual.majority),
        })
    }

    /// Sampling settings of a method, or of a part of one.
    fn decoding(&self, method: Method) -> Decoding {
        let settings = self.settings;
        let usual = if method.agent().is_some() { self.protocol.profile().max_tokens } else { DIRECT_TOKENS };
        let typed = [
            (RequestOption::Temperature, settings.temperature.or(settings.sample_temperature).is_some()),
            (RequestOption::TopP, settings.top_p.is_some()),
            (RequestOption::Seed, settings.seed.is_some()),
        ];
        Decoding {
            temperature: settings.temperature.unwrap_or(0.0),
            top_p: settings.top_p.unwrap_or(1.0),
            max_tokens: settings.max_tokens.unwrap_or(usual),
            seed: settings.seed,
            reasoning: settings.reasoning,
            extra_body: ModelSettings(settings).extra_body(),
            typed: typed.into(),
        }
    }

    fn forces_calls(&self) -> bool {
        let forced = self.options.0.get("choice").is_some_and(|choice| choice == "required");
        forced && self.method.agent().is_some() && self.protocol.observation_role() == Role::Tool
    }

    /// A back-off answers directly as the method alone does.
    fn direct_max_tokens(&self) -> Option<u32> {
        let (whole, direct) = (self.decoding(self.method), self.decoding(self.method.direct()?));
        (whole.max_tokens != direct.max_tokens).then_some(direct.max_tokens)
    }

    /// The script's tool speaks Chinese; otherwise the tool speaks the prompt's language.
    fn wording(&self) -> Wording {
        let chinese = self.protocol.id() == protocol::react_zh::ID || self.prompt.language().starts_with("zh");
        if chinese { Wording::Chinese } else { Wording::English }
    }

    fn rules(&self, approach: &Approach) -> BaselineSettings {
        BaselineSettings {
            claims: self.claims,
            // The rules know what to do in seven steps; more of them are repetition.
            last_step: self.protocol.last_answer(self.max_steps()).min(BaselineSettings::default().last_step),
            protocol: self.method.agent().map(|_| Arc::clone(&self.protocol)),
            thoughts: self.method != Method::Act,
            force_stop: approach.acting().map_or("", |acting| acting.setup.frame.text_for("force_stop")).to_owned(),
        }
    }
}

fn order(settings: &VariantSettings) -> Result<ExemplarOrder, RunError> {
    let order = settings.exemplar_order.as_deref().unwrap_or("file");
    match (order, settings.exemplar_seed) {
        ("shuffled", seed) => Ok(ExemplarOrder::Seeded(seed.unwrap_or(0))),
        (order, Some(_)) => Err(RunError::usage(
            format!("--exemplar-seed is the seed of a shuffle, but the order of the exemplars is `{order}`"),
            "add --exemplar-order shuffled",
        )),
        ("reversed", None) => Ok(ExemplarOrder::Reversed),
        _ => Ok(ExemplarOrder::File),
    }
}

/// Options that requests are sent without, as far as is known and where that changes something.
pub(super) fn unsent_options(variant: &Variant, learned: &LearnedOptions) -> RequestOptions {
    let Some(decoding) = variant.decoding.known() else { return RequestOptions::default() };
    // Native calls need no stops; methods that answer at once have them.
    let acts_only = [Method::Act.name(), Method::React.name()].contains(&variant.method.as_str());
    let has_stops = !(acts_only && variant.protocol == native::ID);
    let required = decoding.required();
    let unsent = learned.refused().and(RequestOptions::notable()).iter();
    unsent
        .filter(|option| match option {
            // A provider may have no seeds at all.
            RequestOption::Seed => decoding.seed.is_some(),
            RequestOption::Stop => has_stops,
            option => !required.contains(*option),
        })
        .collect()
}

pub(super) fn unsent_notes(variant: &Variant, learned: &LearnedOptions) -> Vec<String> {
    let model = printable(&variant.model, 80);
    let note = |option: RequestOption| {
        if option == RequestOption::Stop && variant.endpoint == "responses" {
            return "note: the Responses API has no stop sequences; they are applied here".to_owned();
        }
        let name = option.name();
        let means = match option {
            RequestOption::Stop => "stops are applied here",
            RequestOption::Seed => "repeats may differ",
            RequestOption::CacheControl => "every prompt costs its full price",
            RequestOption::Thoughts | RequestOption::ThoughtsContent | RequestOption::ThoughtsDetails => {
                "the model does not see its earlier reasoning again"
            }
            _ => "the model uses its own",
        };
        format!("note: {model} does not take {name}: requests are sent without it, and {means}")
    };
    let other = learned.other_model().map(|other| {
        format!("warning: {model} was asked, and the server's answers name `{}`: check --model", printable(other, 80))
    });
    other.into_iter().chain(unsent_options(variant, learned).iter().map(note)).collect()
}

#[cfg(test)]
mod tests {
    use super::{unsent_notes, unsent_options};
    use crate::base::{Decoding, Method, RequestOption, Variant};
    use crate::models::{Endpoint, OpenAiSettings, RemoteSettings, anthropic, openai};
    use crate::tests::made_up::variant;

    #[test]
    fn stops_are_told_about_where_requests_have_some() {
        let settings = RemoteSettings { base_urls: vec!["http://h".to_owned()], ..RemoteSettings::default() };
        let api = OpenAiSettings { endpoint: Endpoint::Responses, ..OpenAiSettings::default() };
        let model = openai::model(settings, api).expect("a model");
        let told = "note: the Responses API has no stop sequences; they are applied here";
        for (protocol, method, notes_expected) in [
            ("tools", Method::React, vec![]),
            ("tools", Method::ReactThenCotSc, vec![told]),
            ("robust", Method::React, vec![told]),
        ] {
            let (protocol, method) = (protocol.to_owned(), method.name().to_owned());
            let variant = Variant { protocol, method, endpoint: "responses".to_owned(), ..variant("a") };
            let name = format!("{} {}", variant.protocol, variant.method);
            assert_eq!(unsent_notes(&variant, model.learned()), notes_expected, "{name}");
        }
    }

    #[test]
    fn a_seed_that_the_provider_does_not_know_is_told_where_one_is_set() {
        let settings = RemoteSettings { base_urls: vec!["http://h".to_owned()], ..RemoteSettings::default() };
        let model = anthropic::model(settings, false).expect("a model");
        let typed = [RequestOption::Seed].into_iter().collect();
        let seeded = Decoding { seed: Some(7), typed, ..Decoding::default() };
        let seeded = Variant { decoding: seeded.into(), ..variant("a") };
        assert_eq!(unsent_options(&seeded, model.learned()).names(), ["seed"]);
        assert!(unsent_options(&variant("a"), model.learned()).names().is_empty());
        let told = "note: made does not take seed: requests are sent without it, and repeats may differ";
        assert_eq!(unsent_notes(&seeded, model.learned()), [told]);
    }
}
