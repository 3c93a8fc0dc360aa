//! Every setting of a variant and of a dataset, declared once.
//!
//! Flags, experiment files, `--dry-run`, the refusal of a resumed run, the settings that `compare` lists and the table in
//! docs/experiments.md follow from these declarations. CONTRIBUTING.md shows how one is added.

use crate::base::manifest::UNKNOWN;
use crate::base::short_names::ShortNames;
use crate::base::{Method, PriceRecord, Reasoning, ToolSet, Variant, WikiKind, WikiName, has_prefill};
use crate::prompting::{self, ExemplarOrder, protocol};
use Kind::{
    Body, Choice, Headers, Number, Options, Path, Price, Prompt, Source, Switch, Text, Texts, Url, Urls, Whole,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A struct with a field for each setting, and the table of their declarations.
macro_rules! settings {
    (
        $(#[$of_struct:meta])* struct $name:ident;
        $(#[$of_table:meta])* const $table:ident;
        $([$heading:literal] $(
            $(#[doc = $help:literal])+
            $field:ident: $type:ty = $kind:expr, $value_name:literal $(, $key:ident: $value:expr)*;
        )+)+
    ) => {
        $(#[$of_struct])*
        #[allow(clippy::doc_markdown, reason = "the documentation of a field is the help of its flag")]
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(
                $(#[doc = $help])+
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )+)+
        }

        $(#[$of_table])*
        pub const $table: &[Setting] = &[$($(
            Setting {
                name: stringify!($field),
                heading: $heading,
                help: concat!($($help),+),
                value_name: $value_name,
                kind: $kind,
                $($key: $value,)*
                ..Setting::USUAL
            },
        )+)+];

        impl TryFrom<&[Assignment]> for $name {
            type Error = serde_json::Error;

            fn try_from(assignments: &[Assignment]) -> Result<Self, serde_json::Error> {
                serde_json::from_value(by_name(assignments))
            }
        }
    };
}

const PROTOCOLS: &[&str] = &protocol::IDS;
const TOOL_SETS: &[&str] = &{
    let [usual, passages, documents] = ToolSet::ALL;
    [usual.name(), passages.name(), documents.name()]
};
const ORDERS: &[&str] = &ExemplarOrder::NAMES;
/// A test holds this to the servers that `runner::model` knows.
const SERVERS: &[&str] =
    &["auto", "openai", "vllm", "sglang", "llama.cpp", "ollama", "tgi", "openrouter", "dashscope", "deepseek"];

settings! {
    /// How questions are answered: the settings of one variant. What is not set has its default.
    struct VariantSettings;
    /// The settings of a variant, in the order in which they are shown.
    const VARIANT_SETTINGS;

    ["Agent"]

    /// Another program as the agent, with its calls recorded: a command that is started for each question, or the http
    /// address of a server (`wikitrail docs agents`).
    agent: String = Text, "COMMAND|URL", default: "none";
    /// How long the program may take for a question, in seconds, the time of models and tools left out.
    agent_timeout: f64 = Number(f64::MIN_POSITIVE, 1e9), "SECONDS", default: "300", applies: Applies::Program;
    /// Prompt file (TOML or plain text), or a key of the paper's JSON.
    prompt: String = Prompt, "FILE[#KEY]", default: "prompts/hotpotqa.toml; prompts/fever.toml for claims",
        effect: Effect::Prompt, recorded: Some(|variant| Some(variant.prompt.clone()));
    /// File with the instruction before the exemplars of a JSON prompt.
    instruction: String = Path, "FILE", default: "none", effect: Effect::Prompt,
        recorded: Some(|variant| Some(or(variant.instruction.as_ref(), "none")));
    /// File with the protocols' texts, in the form of `wikitrail docs protocol-texts`.
    texts: String = Path, "FILE", default: "ours, in the prompt's language", applies: Applies::Protocol,
        effect: Effect::Prompt, recorded: Some(|variant| Some(or(variant.texts.as_ref(), "ours")));
    /// Label before the question.
    question_label: String = Text, "LABEL",
        default: "the prompt's, else `Claim` for claims and `Question` for questions",
        recorded: Some(|variant| Some(variant.question_label.clone()));
    /// Use only the first N exemplars of the order.
    shots: usize = Whole(0, u64::MAX), "N", default: "all", effect: Effect::Prompt,
        recorded: Some(|variant| Some(or(variant.shots, "all")));
    /// Order of the exemplars.
    exemplar_order: String = Choice(ORDERS), "ORDER", default: "file", effect: Effect::Prompt,
        recorded: Some(|variant| Some(or(variant.exemplar_order.as_ref(), "file")));
    /// Seed of the order `shuffled`.
    exemplar_seed: u64 = Whole(0, u64::MAX), "SEED", default: "0", effect: Effect::Prompt,
        recorded: Some(|variant| variant.exemplar_seed.map(|seed| seed.to_string()));
    /// How the agent talks to the model; `wikitrail prompt protocols` lists the protocols.
    protocol: String = Choice(PROTOCOLS), "ID", default: "robust with a chat model or passages, else react-paper",
        applies: Applies::Protocol, recorded: Some(|variant| Some(variant.protocol.clone()));
    /// Option of the protocol; may be repeated. With several protocols ID.K=V. `wikitrail prompt protocols` lists them.
    option: BTreeMap<String, String> = Options, "K=V", default: "the protocol's", applies: Applies::Protocol,
        recorded: Some(|variant| {
            let options = variant.options.iter().filter(|(name, _)| *name != protocol::TOOLS);
            let options: Vec<String> = options.map(|(name, value)| format!("{name}={value}")).collect();
            Some(if options.is_empty() { "default".to_owned() } else { options.join(", ") })
        });
    /// Steps before an episode ends without an answer.
    max_steps: usize = Whole(1, 100), "N", default: "the protocol's", applies: Applies::Protocol,
        recorded: Some(|variant| Some(or(variant.max_steps, UNKNOWN)));
    /// Tools of the agent: pages by title, or the best passages for a query, with whole documents by their ids.
    tools: String = Choice(TOOL_SETS), "TOOLS", default: "search,lookup", applies: Applies::Protocol,
        recorded: Some(|variant| {
            let all = variant.is_program() && !variant.options.contains_key(protocol::TOOLS);
            Some(if all { "all" } else { variant.tools().name() }.to_owned())
        });
    /// Passages that each call of the tool `passages` shows.
    passages: usize = Whole(1, 100), "N", default: "3", applies: Applies::Passages;
    /// Cut each observation of a tool after N characters, for models with a small context.
    observation_chars: usize = Whole(1, 1_000_000), "N", default: "whole observations", applies: Applies::Tool;

    ["Method"]

    /// Prompting method.
    method: String = Kind::Method, "NAME", default: "react", recorded: Some(|variant| Some(variant.method.clone()));
    /// Samples of a vote.
    samples: u32 = Whole(1, 1000), "N", default: "21", applies: Applies::Vote,
        recorded: Some(|variant| Some(variant.voting?.samples.to_string()));
    /// Sampling temperature of a vote.
    sample_temperature: f64 = Number(0.0, 2.0), "T", default: "0.7", applies: Applies::Vote,
        recorded: Some(|variant| Some(variant.voting?.temperature.to_string()));
    /// Share of the samples below which `cot-sc-react` asks the agent.
    majority: f64 = Number(0.0, 1.0), "SHARE", default: "0.5", applies: Applies::Majority,
        recorded: Some(|variant| Some(variant.voting?.majority.to_string()));
    /// Show direct methods nothing but the question, as is the default.
    closed_book: bool = Switch, "", applies: Applies::Direct, effect: Effect::Nothing, conflicts: &["oracle_context"];
    /// Show direct methods (standard, cot, cot-sc) the gold paragraphs of the dataset.
    oracle_context: bool = Switch, "", applies: Applies::Direct,
        recorded: Some(|variant| Some(variant.oracle_context.to_string()));

    ["Decoding"]

    /// Sampling temperature, 0 to 2.
    temperature: f64 = Number(0.0, 2.0), "T", default: "0",
        recorded: Some(|variant| Some(or(variant.decoding.temperature, UNKNOWN)));
    /// Nucleus sampling mass, above 0 and up to 1.
    top_p: f64 = Number(f64::MIN_POSITIVE, 1.0), "P", default: "1",
        recorded: Some(|variant| Some(or(variant.decoding.top_p, UNKNOWN)));
    /// Maximum number of tokens in a completion.
    max_tokens: u32 = Whole(1, 4_294_967_295), "N",
        default: "the protocol's, such as 100 for react-paper; 256 for direct methods",
        recorded: Some(|variant| Some(or(variant.decoding.max_tokens, UNKNOWN)));
    /// Seed sent to servers that take one; each sample of a vote adds its number to it, each repeat 1,000.
    seed: u64 = Whole(0, u64::MAX), "SEED", default: "none",
        recorded: Some(|variant| Some(or_usual(variant, variant.decoding.seed, "none")));
    /// How much a model that reasons is to do so: off, low, medium, high, or up to a number of tokens, which come on top of
    /// --max-tokens. Others ignore it.
    reasoning: Reasoning = Kind::Reasoning, "off|low|medium|high|TOKENS", default: "the model's own",
        recorded: Some(|variant| Some(or_usual(variant, variant.decoding.reasoning, "the model's own")));

    ["Model"]

    /// The model: `baseline` (rules, no key, no network), `openai:NAME` for a server that speaks OpenAI's API,
    /// `anthropic:NAME` or `gemini:NAME`.
    model: String = Text, "PROVIDER:NAME", default: "baseline", recorded: Some(|variant| Some(variant.model.clone()));
    /// Base URL of the server's API. With several, repeated or joined by commas, each request goes to the server with the
    /// fewest in flight.
    base_url: Vec<String> = Urls, "URL", default: "the provider's own", applies: Applies::Server,
        effect: Effect::Nothing, recorded: Some(|variant| variant.base_url.clone());
    /// Software of a server that speaks OpenAI's API; `auto` learns from what the server refuses.
    server: String = Choice(SERVERS), "NAME", default: "auto", applies: Applies::Server, effect: Effect::Nothing;
    /// Use the text completions endpoint instead of chat.
    completions: bool = Switch, "", applies: Applies::Server,
        recorded: Some(|variant| Some((variant.endpoint == "completions").to_string()));
    /// Use OpenAI's Responses API instead of chat.
    responses: bool = Switch, "", applies: Applies::Server, conflicts: &["completions", "prefill"],
        recorded: Some(|variant| Some((variant.endpoint == "responses").to_string()));
    /// Have a chat model continue the label that a prompt ends in, such as `Thought 1:`.
    prefill: bool = Switch, "", applies: Applies::Server, conflicts: &["completions"],
        recorded: Some(|variant| Some(has_prefill(&variant.endpoint).to_string()));
    /// Environment variable that holds the key.
    key_env: String = Text, "NAME",
        default: "OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, by provider; without it no key is sent",
        applies: Applies::Server, effect: Effect::Nothing, conflicts: &["key_file"], only_typed: true;
    /// File that holds the key and nothing else.
    key_file: String = Path, "FILE", applies: Applies::Server, effect: Effect::Nothing, only_typed: true;
    /// JSON object whose fields are added to the body of each request, such as '{"top_k": 20}'; they replace fields of the
    /// same name.
    extra_body: Map<String, Value> = Body, "JSON", default: "nothing", applies: Applies::Server,
        recorded: Some(|variant| {
            let body = &variant.decoding.extra_body;
            Some(if body.is_empty() { "none".to_owned() } else { value_text(&Value::Object(body.clone())) })
        });
    /// Header that is added to each request; may be repeated. Write NAME=env:VARIABLE for a secret, which is not recorded.
    extra_header: BTreeMap<String, String> = Headers, "NAME=VALUE", default: "none", applies: Applies::Server;
    /// Maximum time for one whole answer, streamed or not, in seconds.
    model_timeout: f64 = Number(f64::MIN_POSITIVE, 1e9), "SECONDS", default: "120", applies: Applies::Server,
        effect: Effect::Nothing;
    /// Maximum attempts of a request when the server is overloaded or broken.
    model_attempts: u32 = Whole(1, 100), "N", default: "5", applies: Applies::Server, effect: Effect::Nothing;

    ["Budget"]

    /// Price in US dollars of a million prompt tokens and of a million completion tokens, such as 0.15/0.60; a third amount
    /// is that of prompt tokens from the provider's cache, such as 0.15/0.60/0.075.
    price: String = Price, "IN/OUT[/CACHED]", default: "the model's, where it is known", effect: Effect::Nothing,
        recorded: Some(|variant| {
            let price = variant.price.as_ref()?;
            let amounts = [Some(price.prompt), Some(price.completion), price.cached];
            Some(amounts.iter().flatten().map(f64::to_string).collect::<Vec<_>>().join("/"))
        });

    ["Wikipedia"]

    /// Source of pages: `corpus:DIR` (built by `corpus build`, with articles.jsonl, or shipped), `api` (a wiki's API) or `html`
    /// (its pages), or `retriever:URL` (a server of passages, such as Search-R1's).
    wiki: String = Source, "SOURCE", default: "corpus:datasets/sample-wiki", applies: Applies::Tool,
        recorded: Some(|variant| Some(WikiName::of(&variant.wiki).name.to_owned()));
    /// Base URL of the site for `api` and `html`, or the URL of its api.php.
    wiki_url: String = Url, "BASE", default: "the English Wikipedia", applies: Applies::Site, effect: Effect::Nothing,
        recorded: Some(site);
    /// Semantics of the tool: `paper` reproduces the paper's environment, faults included; `fixed` corrects them.
    compat: String = Choice(&["paper", "fixed"]), "MODE", default: "fixed", applies: Applies::Tool,
        recorded: Some(|variant| Some(variant.compat_name().to_owned()));
    /// Language of the tool's own messages.
    wording: String = Choice(&["english", "chinese"]), "LANGUAGE",
        default: "chinese for react-zh and Chinese prompts, else english", applies: Applies::Tool,
        recorded: Some(|variant| Some(if variant.wording.is_english() { "english" } else { "chinese" }.to_owned()));
    /// Your mail address or page, for the User-Agent; public sites require it.
    contact: String = Text, "CONTACT", applies: Applies::Site, effect: Effect::Nothing;
    /// Read Wikipedia's pages as HTML, although its robots.txt asks programs not to.
    allow_html: bool = Switch, "", applies: Applies::Site, effect: Effect::Nothing;
    /// Keep footnote marks such as `[3]` in the text of pages from `api` and `html`; `paper` always keeps them.
    keep_footnotes: bool = Switch, "", applies: Applies::Site,
        recorded: Some(|variant| Some(WikiName::of(&variant.wiki).footnotes.to_string()));
    /// Maximum requests to the site at once; fewer while it refuses some.
    wiki_concurrency: usize = Whole(1, 65_535), "N", default: "1 for public sites, else 64", applies: Applies::Site,
        effect: Effect::Nothing;
    /// Maximum requests to the site in any minute.
    wiki_per_minute: u32 = Whole(1, 4_294_967_295), "N", default: "180 for public sites, else unlimited",
        applies: Applies::Site, effect: Effect::Nothing;
    /// Maximum wait for one whole page, in seconds.
    wiki_timeout: u64 = Whole(1, 1_000_000_000), "SECONDS", default: "30", applies: Applies::Site,
        effect: Effect::Nothing;
}

settings! {
    /// How a dataset's file is read, and which of its questions are asked. What is not set has its default.
    struct DatasetSettings;
    /// The settings of a dataset besides its path and its name.
    const DATASET_SETTINGS;

    ["Dataset"]

    /// Format of the file.
    format: String = Text, "NAME", default: "detected from the first record";
    /// Leave out bad records and count them, instead of refusing the file.
    skip_bad: bool = Switch, "";
    /// Column or key that holds the question (csv, tsv, jsonl).
    question_column: String = Text, "NAME", default: "question";
    /// Column or key that holds the answer (csv, tsv, jsonl).
    answer_column: String = Text, "NAME", default: "answer";
    /// What stands between several answers in one cell, such as `|` (csv, tsv).
    answer_separator: String = Text, "TEXT", default: "none: several answers are a JSON list";
    /// Run a file whose columns or keys name no answers, without scores.
    unscored: bool = Switch, "";
    /// Column or key that holds the id (csv, tsv, jsonl).
    id_column: String = Text, "NAME", default: "id";
    /// Maximum number of questions, after filters and shuffle.
    limit: usize = Whole(0, u64::MAX), "N", default: "all";
    /// Only the questions with the ids in this file, one a line, in its order.
    ids: String = Path, "FILE";
    /// Only questions of these types, such as `bridge,comparison`.
    types: Vec<String> = Texts, "TYPE", default: "all";
    /// Shuffle the questions with this seed.
    shuffle: u64 = Whole(0, u64::MAX), "SEED", default: "the file's order", conflicts: &["shuffle_like_paper"];
    /// Shuffle as Python's `random.Random(SEED).shuffle` does; the paper's seed is 233.
    shuffle_like_paper: u64 = Whole(0, u64::MAX), "SEED", default: "the file's order";
}

fn or(value: Option<impl ToString>, otherwise: &str) -> String {
    value.map_or_else(|| otherwise.to_owned(), |value| value.to_string())
}

/// What is usual where it was not set; it is not known either if another program says less than all.
fn or_usual(variant: &Variant, value: Option<impl ToString>, usual: &str) -> String {
    or(value, if variant.decoding.known().is_some() { usual } else { UNKNOWN })
}

fn site(variant: &Variant) -> Option<String> {
    let of_its_own = |kind| matches!(kind, WikiKind::Corpus | WikiKind::Retriever);
    variant.wiki_origin.clone().filter(|_| !of_its_own(WikiName::of(&variant.wiki).kind))
}

pub fn variant_setting(name: &str) -> Option<&'static Setting> {
    VARIANT_SETTINGS.iter().find(|setting| setting.name == name)
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Text,
    Texts,
    Path,
    /// A prompt: the path of a TOML file, or of a JSON file and a key, `FILE.json#KEY`.
    Prompt,
    /// A source of pages: `corpus:DIR`, `api`, `html` or `retriever:URL`.
    Source,
    Url,
    Urls,
    Choice(&'static [&'static str]),
    /// A method, by either name; the value is the name in records.
    Method,
    /// Two amounts in US dollars a million tokens, such as `0.15/0.60`.
    Price,
    /// A number of this range, both ends included.
    Number(f64, f64),
    Whole(u64, u64),
    Switch,
    Reasoning,
    Body,
    /// Names of headers with values.
    Headers,
    /// Names with values; of one protocol as `PROTOCOL.NAME`.
    Options,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applies {
    Always,
    Protocol,
    /// Methods that search. A direct method is recorded with the first value, which changes nothing.
    Tool,
    /// Agents that are offered passages.
    Passages,
    Direct,
    Vote,
    /// The method that asks the agent when its majority is too small.
    Majority,
    Server,
    Site,
    /// Other programs as agents.
    Program,
}

/// What a change of a setting means for a run that is resumed or compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Episodes differ: a resumed run must have the same value.
    Decides,
    /// It is a part of the prompt, whose digest decides.
    Prompt,
    /// Episodes stay the same: where something is, or how long to wait for it.
    Nothing,
}

/// Its flag is the name with `-` for `_`; its key in an experiment file is the name.
#[derive(Debug)]
pub struct Setting {
    pub name: &'static str,
    pub heading: &'static str,
    pub help: &'static str,
    /// What stands for its value in help.
    pub value_name: &'static str,
    pub kind: Kind,
    /// What holds where it is not set, in words; empty where that is nothing.
    pub default: &'static str,
    pub applies: Applies,
    pub effect: Effect,
    /// Whether an experiment file that is run may not set it: others may have written it, and it does not say where keys are.
    pub only_typed: bool,
    pub conflicts: &'static [&'static str],
    /// Its value in a manifest, for reading. Without this it is recorded under its name in [`Variant::settings`].
    pub recorded: Option<fn(&Variant) -> Option<String>>,
}

impl Setting {
    const USUAL: Self = Self {
        name: "",
        heading: "",
        help: "",
        value_name: "VALUE",
        kind: Kind::Text,
        default: "",
        applies: Applies::Always,
        effect: Effect::Decides,
        only_typed: false,
        conflicts: &[],
        recorded: None,
    };

    /// The flag, such as `--max-steps`.
    pub fn flag(&self) -> String {
        format!("--{}", self.name.replace('_', "-"))
    }

    /// Whether a manifest holds it under its name in [`Variant::settings`].
    pub fn is_recorded_by_name(&self) -> bool {
        self.recorded.is_none() && self.effect != Effect::Nothing
    }

    pub fn is_used_by(&self, variant: &Variant) -> bool {
        self.applies_to(&Facts::of(variant))
    }

    /// Its value in a manifest; nothing where the variant does not use it.
    pub fn of(&self, variant: &Variant) -> Option<String> {
        if !self.is_used_by(variant) {
            return None;
        }
        if let Some(recorded) = self.recorded {
            return recorded(variant);
        }
        let usual = || self.is_recorded_by_name().then(|| self.default.to_owned());
        variant.settings.get(self.name).map(value_text).or_else(usual)
    }

    /// Whether variants with these facts use it.
    pub(super) fn applies_to(&self, facts: &Facts<'_>) -> bool {
        self.is_kept(facts) && (facts.method.agent().is_some() || self.applies != Applies::Tool)
    }

    /// The same, but that a direct method keeps the source of pages, with which it is recorded.
    pub(super) fn is_kept(&self, facts: &Facts<'_>) -> bool {
        if facts.is_program {
            return self.applies_to_programs();
        }
        let method = facts.method;
        match self.applies {
            Applies::Always | Applies::Tool => true,
            Applies::Protocol => method.agent().is_some(),
            Applies::Passages => method.agent().is_some() && facts.tools != ToolSet::default().name(),
            Applies::Direct => method.direct().is_some(),
            Applies::Vote => method.votes(),
            Applies::Majority => method == Method::CotScThenReact,
            Applies::Server => facts.model != "baseline",
            Applies::Site => WikiName::of(facts.wiki).kind != WikiKind::Corpus,
            Applies::Program => false,
        }
    }

    /// Whether other programs as agents use it: their prompts, protocols and decoding are their own.
    pub fn applies_to_programs(&self) -> bool {
        const OF_AGENTS: [&str; 4] = ["agent", "tools", "passages", "observation_chars"];
        const OF_DIALOGUES: [&str; 5] = ["server", "completions", "responses", "prefill", "wording"];
        match self.heading {
            "Model" | "Budget" | "Wikipedia" => !OF_DIALOGUES.contains(&self.name),
            _ => self.applies == Applies::Program || OF_AGENTS.contains(&self.name),
        }
    }

    /// Reads a value that was typed, without further checks where a text will do.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let value = match self.kind {
            Kind::Switch => text.parse().ok().map(Value::Bool),
            Kind::Whole(..) => text.parse::<u64>().ok().map(Value::from),
            Kind::Number(..) => text.parse::<f64>().ok().map(Value::from),
            _ => Some(Value::from(text)),
        };
        let value = value.filter(|value| self.kind.holds(value)).ok_or_else(|| self.kind.expected())?;
        // An empty text is never meant; it is what an unset variable of a shell leaves.
        if value.as_str().is_some_and(|text| text.trim().is_empty()) { Err(self.kind.expected()) } else { Ok(value) }
    }
}

impl VariantSettings {
    /// What a manifest holds under the names of settings.
    pub fn recorded_by_name(&self) -> serde_json::Result<BTreeMap<String, Value>> {
        let all = serde_json::to_value(self)?;
        let by_name = VARIANT_SETTINGS.iter().filter(|setting| setting.is_recorded_by_name());
        Ok(by_name.filter_map(|setting| Some((setting.name.to_owned(), all.get(setting.name)?.clone()))).collect())
    }
}

impl Kind {
    /// The path in a value, between what stands before and after it; nothing where values of this kind name no file.
    pub fn path_in(self, value: &str) -> Option<(&str, &str, &str)> {
        match self {
            Self::Path => Some(("", value, "")),
            Self::Prompt => {
                let (path, key) = value.split_at(prompting::file_of(value).len());
                Some(("", path, key))
            }
            Self::Source => {
                let folder = value.strip_prefix("corpus:").filter(|folder| !folder.is_empty())?;
                Some(("corpus:", folder, ""))
            }
            _ => None,
        }
    }

    pub fn expected(self) -> String {
        match self {
            Self::Text | Self::Path | Self::Prompt | Self::Source | Self::Url => "a string".to_owned(),
            Self::Texts | Self::Urls => "a string or a list of strings".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Method => format!("one of {}", Method::ALL.map(Method::typed).join(", ")),
            Self::Price => "two or three amounts such as \"0.15/0.60\"".to_owned(),
            Self::Number(low, f64::MAX) if low > 0.0 => "a number above 0".to_owned(),
            Self::Number(low, high) if low > 0.0 => format!("a number above 0, up to {high}"),
            Self::Number(low, high) => format!("a number from {low} to {high}"),
            Self::Whole(0, u64::MAX) => "a whole number, 0 or more".to_owned(),
            Self::Whole(low, u64::MAX) => format!("a whole number, {low} or more"),
            Self::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Self::Switch => "true or false".to_owned(),
            Self::Reasoning => Reasoning::EXPECTED.to_owned(),
            Self::Body => "a JSON object such as {\"top_k\": 20}; in a file a table".to_owned(),
            Self::Headers => "a table such as { x-title = \"test\" }".to_owned(),
            Self::Options => "a table such as { labels = \"v0.1\" }".to_owned(),
        }
    }

    /// Whether a value of the right type is also one of those allowed.
    pub(super) fn holds(self, value: &Value) -> bool {
        match self {
            Self::Choice(words) => value.as_str().is_some_and(|text| words.contains(&text)),
            Self::Method => value.as_str().is_some_and(|text| Method::parse(text).is_some()),
            Self::Reasoning => value.as_str().is_some_and(|text| Reasoning::parse(text).is_some()),
            Self::Price => value.as_str().is_some_and(|text| price(text).is_some()),
            Self::Number(low, high) => value.as_f64().is_some_and(|number| (low..=high).contains(&number)),
            Self::Whole(low, high) => value.as_u64().is_some_and(|number| (low..=high).contains(&number)),
            _ => true,
        }
    }
}

/// US dollars of a million prompt tokens, of as many completion tokens, and, if given, of as many from the cache.
pub fn price(text: &str) -> Option<PriceRecord> {
    let amount = |text: &str| text.parse::<f64>().ok().filter(|amount| (0.0..=1e6).contains(amount));
    let amounts = text.split('/').map(amount).collect::<Option<Vec<f64>>>()?;
    let (prompt, completion, cached) = match amounts[..] {
        [prompt, completion] => (prompt, completion, None),
        [prompt, completion, cached] => (prompt, completion, Some(cached)),
        _ => return None,
    };
    Some(PriceRecord { prompt, completion, cached, cache_write: None, as_of: None, source: None })
}

pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string()),
        Value::Array(values) => values.iter().map(value_text).collect::<Vec<_>>().join(", "),
        Value::Object(options) => {
            options.iter().map(|(name, value)| format!("{name}={}", value_text(value))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// What decides which settings a variant uses. What is not set is what `run` takes without flags.
pub(super) struct Facts<'a> {
    method: Method,
    model: &'a str,
    wiki: &'a str,
    tools: &'a str,
    is_program: bool,
}

impl<'a> Facts<'a> {
    fn of(variant: &'a Variant) -> Self {
        let method = Method::parse(&variant.method).unwrap_or(Method::React);
        let (tools, is_program) = (variant.tools().name(), variant.is_program());
        Self { method, model: &variant.model, wiki: &variant.wiki, tools, is_program }
    }

    pub(super) fn set(assignments: &'a [Assignment]) -> Self {
        Self {
            method: text_of(assignments, "method").and_then(Method::parse).unwrap_or(Method::React),
            model: text_of(assignments, "model").unwrap_or("baseline"),
            wiki: text_of(assignments, "wiki").unwrap_or("corpus:"),
            tools: text_of(assignments, "tools").unwrap_or(ToolSet::default().name()),
            is_program: text_of(assignments, "agent").is_some(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Assignment {
    pub setting: &'static Setting,
    pub value: Value,
    /// Line of the experiment file, from 1; 0 for a value that was typed.
    pub line: usize,
}

impl Assignment {
    pub(super) fn sets(&self, setting: &Setting) -> bool {
        self.setting.name == setting.name
    }
}

pub(super) fn text_of<'a>(assignments: &'a [Assignment], name: &str) -> Option<&'a str> {
    assignments.iter().find(|assignment| assignment.setting.name == name)?.value.as_str()
}

fn by_name(assignments: &[Assignment]) -> Value {
    let of = |assignment: &Assignment| (assignment.setting.name.to_owned(), assignment.value.clone());
    Value::Object(assignments.iter().map(of).collect::<Map<_, _>>())
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Differing {
    pub settings: Vec<String>,
    /// The name of each variant, and its value of each of these settings; nothing where it does not use one.
    pub rows: Vec<(String, Vec<Option<String>>)>,
    /// Prompt, protocol, method and model where they are the same in all variants.
    pub same: Vec<(&'static str, String)>,
}

pub type OfVariant = fn(&Variant) -> Option<String>;

/// What a manifest has of a variant besides its settings: what was found when they were read.
pub const FACTS: [(&str, OfVariant); 7] = [
    ("protocol_version", |variant| Some(variant.protocol_version.to_string())),
    ("prompt_sha256", |variant| Some(variant.prompt_sha256.clone()).filter(|sha256| !sha256.is_empty())),
    ("direct_prompt_sha256", |variant| variant.direct_prompt_sha256.clone()),
    ("direct_max_tokens", |variant| variant.direct_max_tokens.map(|tokens| tokens.to_string())),
    ("endpoint", |variant| Some(variant.endpoint.clone())),
    ("wiki_origin", |variant| variant.wiki_origin.clone()),
    (AGENT_FILES, |variant| variant.settings.get(AGENT_FILES).map(value_text)),
];

/// The digests of the files that the command of an agent names, among the recorded settings.
pub const AGENT_FILES: &str = "agent_files";

/// Settings that are named even where all variants have the same.
const NAMED: [&str; 4] = ["prompt", "protocol", "method", "model"];

impl Differing {
    pub fn of<'v>(variants: impl IntoIterator<Item = &'v Variant>) -> Self {
        let variants: Vec<&Variant> = variants.into_iter().collect();
        let mut differing = Self::default();
        let mut rows: Vec<(String, Vec<_>)> = variants.iter().map(|variant| (variant.name.clone(), vec![])).collect();
        for setting in VARIANT_SETTINGS {
            let values: Vec<Option<String>> = variants.iter().map(|variant| setting.of(variant)).collect();
            let columns = match setting.kind {
                Kind::Options => options(&variants),
                Kind::Prompt => vec![(setting.name.to_owned(), shortened(values))],
                _ => vec![(setting.name.to_owned(), values)],
            };
            for (name, values) in columns {
                if count(&values) > 1 {
                    differing.settings.push(name);
                    rows.iter_mut().zip(values).for_each(|((_, row), value)| row.push(value));
                } else if let Some(value) =
                    values.into_iter().flatten().next().filter(|_| NAMED.contains(&setting.name))
                {
                    differing.same.push((setting.name, value));
                }
            }
        }
        differing.rows = rows;
        differing
    }

    /// The same with the variants called as tables call them.
    pub(crate) fn called(mut self, short: &ShortNames) -> Self {
        for (name, _) in &mut self.rows {
            *name = short.of_name(name).to_owned();
        }
        self
    }
}

/// Each option by itself, in the variants of protocols that it is given to.
fn options(variants: &[&Variant]) -> Vec<(String, Vec<Option<String>>)> {
    let names: BTreeSet<&String> =
        variants.iter().flat_map(|variant| variant.options.keys()).filter(|name| *name != protocol::TOOLS).collect();
    let column = |name: &String| {
        let given = variants.iter().filter(|variant| variant.options.contains_key(name));
        let protocols: BTreeSet<&str> = given.map(|variant| variant.protocol.as_str()).collect();
        let value = |variant: &&Variant| {
            let speaks = Method::parse(&variant.method).is_none_or(|method| method.agent().is_some());
            let takes = speaks && protocols.contains(variant.protocol.as_str());
            takes.then(|| variant.options.get(name).map_or_else(|| "default".to_owned(), Clone::clone))
        };
        (name.clone(), variants.iter().map(value).collect())
    };
    names.into_iter().map(column).collect()
}

fn count(values: &[Option<String>]) -> usize {
    values.iter().flatten().collect::<BTreeSet<_>>().len()
}

/// Prompts by their short names, where these distinguish them.
fn shortened(values: Vec<Option<String>>) -> Vec<Option<String>> {
    let short: Vec<_> = values.iter().map(|value| value.as_deref().map(prompt_name)).collect();
    if count(&short) == count(&values) { short } else { values }
}

/// What a prompt is called in the name of a variant: its key in the paper's JSON, else its file's name.
pub fn prompt_name(spec: &str) -> String {
    match spec.split_once(".json#") {
        Some((_, key)) => key.to_owned(),
        None => stem(spec).unwrap_or_else(|| spec.to_owned()),
    }
}

pub(super) fn stem(path: &str) -> Option<String> {
    std::path::Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Assignment, DATASET_SETTINGS, Differing, VARIANT_SETTINGS, VariantSettings, variant_setting};
    use crate::base::Variant;
    use crate::tests::made_up::variant;
    use serde_json::json;

    #[test]
    fn names_are_unique_and_conflicts_name_settings() {
        for table in [VARIANT_SETTINGS, DATASET_SETTINGS] {
            for (i, setting) in table.iter().enumerate() {
                assert!(table[..i].iter().all(|other| other.name != setting.name), "{}", setting.name);
                let known = |name: &&str| table.iter().any(|other| other.name == *name);
                assert!(setting.conflicts.iter().all(known), "{}", setting.name);
                assert!(setting.help.trim().ends_with('.'), "{}", setting.name);
            }
        }
    }

    #[test]
    fn a_typed_value_is_checked_and_becomes_the_field() {
        let assign = |name: &str, text: &str| {
            let setting = variant_setting(name).expect("a setting");
            Assignment { setting, value: setting.parse(text).expect(text), line: 0 }
        };
        let set =
            [assign("temperature", "0"), assign("method", "cot"), assign("max_steps", "5"), assign("price", "1/2")];
        let settings = VariantSettings::try_from(set.as_slice()).expect("of their kinds");
        assert_eq!(settings.temperature, Some(0.0));
        assert_eq!(serde_json::to_value(&settings).expect("JSON")["max_steps"], json!(5));
        for (name, bad) in [
            ("temperature", "2.1"),
            ("temperature", "nan"),
            ("top_p", "0"),
            ("max_steps", "0"),
            ("max_steps", "101"),
            ("method", "raect"),
            ("price", "1"),
            ("price", "1/-2"),
            ("price", "1/2/3/4"),
            ("model_timeout", "0"),
            ("base_url", ""),
            ("max_tokens", "4294967296"),
        ] {
            assert!(variant_setting(name).expect("a setting").parse(bad).is_err(), "{name} {bad}");
        }
    }

    #[test]
    fn variants_are_shown_by_what_differs_and_what_they_use() {
        let react = Variant { max_steps: Some(5), ..variant("a") };
        let cot = Variant { method: "cot".to_owned(), prompt: "x/short.toml".to_owned(), ..variant("b") };
        let set = [("top_k".to_owned(), 3.into())].into();
        let other = Variant { settings: set, ..variant("c") };
        let differing = Differing::of([&react, &cot, &other]);
        assert_eq!(differing.settings, ["prompt", "max_steps", "method"]);
        let value = |text: &str| Some(text.to_owned());
        assert_eq!(differing.rows[0].1, [value("hotpotqa"), value("5"), value("react")]);
        assert_eq!(differing.rows[1], ("b".to_owned(), vec![value("short"), None, value("cot")]));
        assert_eq!(differing.same, [("protocol", "react-paper".to_owned()), ("model", "made".to_owned())]);
    }
}
