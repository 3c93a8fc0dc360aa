//! How a setting is declared, and what follows from the declaration.

use crate::prompt;
use crate::types::{Method, PriceRecord, Reasoning, Variant, WikiKind, WikiName};
use serde_json::{Map, Value};

/// Which values a setting takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Text,
    /// A text, or a list of them.
    Texts,
    Path,
    /// A prompt: the path of a TOML file, or of a JSON file and a key, `FILE.json#KEY`.
    Prompt,
    /// A source of pages: `corpus:DIR`, `api`, `html` or `retriever:URL`.
    Source,
    /// An address without user part and query.
    Url,
    /// An address, or a list of them.
    Urls,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A method, by either name; the value is the name in records.
    Method,
    /// Two amounts in US dollars a million tokens, such as `0.15/0.60`.
    Price,
    /// A number of this range, both ends included.
    Number(f64, f64),
    /// A whole number of this range, both ends included.
    Whole(u64, u64),
    Switch,
    /// How much to reason: a word, or a number of tokens.
    Reasoning,
    /// A JSON object that is added to bodies.
    Body,
    /// Names of headers with values.
    Headers,
    /// Names with values; of one protocol as `PROTOCOL.NAME`.
    Options,
}

/// Which variants use a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applies {
    Always,
    /// Methods with a part that speaks a protocol.
    Protocol,
    /// Methods that search. A direct method is recorded with the first value, which changes nothing.
    Tool,
    /// Methods with a part that answers directly.
    Direct,
    /// Methods that vote.
    Vote,
    /// The method that asks the agent when its majority is too small.
    Majority,
    /// Models behind a server.
    Server,
    /// Sources of pages behind a server.
    Site,
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

/// The declaration of a setting.
///
/// Its flag is the name with `-` for `_`; its key in an experiment file is the name.
#[derive(Debug)]
pub struct Setting {
    /// The name, such as `max_steps`.
    pub name: &'static str,
    /// The group under which help shows it.
    pub heading: &'static str,
    /// What it does, in one or two sentences.
    pub help: &'static str,
    /// What stands for its value in help.
    pub value_name: &'static str,
    pub kind: Kind,
    /// What holds where it is not set, in words; empty where that is nothing.
    pub default: &'static str,
    pub applies: Applies,
    pub effect: Effect,
    /// Whether an experiment file that is run may not set it: a file may come from somebody else, and does not say where
    /// keys are. Files of earlier runs may have it.
    pub only_typed: bool,
    /// Settings that cannot be set together with it.
    pub conflicts: &'static [&'static str],
    /// Its value in a manifest, for reading. Without this it is recorded under its name in [`Variant::settings`].
    pub recorded: Option<fn(&Variant) -> Option<String>>,
}

impl Setting {
    /// What most settings have in common.
    pub(super) const USUAL: Self = Self {
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
        variant.settings.get(self.name).map(shown).or_else(usual)
    }

    /// Whether variants with these facts use it.
    pub(super) fn applies_to(&self, facts: &Facts<'_>) -> bool {
        self.is_kept(facts) && (facts.method.agent().is_some() || self.applies != Applies::Tool)
    }

    /// The same, but that a direct method keeps the source of pages, with which it is recorded.
    pub(super) fn is_kept(&self, facts: &Facts<'_>) -> bool {
        let method = facts.method;
        match self.applies {
            Applies::Always | Applies::Tool => true,
            Applies::Protocol => method.agent().is_some(),
            Applies::Direct => method.direct().is_some(),
            Applies::Vote => method.votes(),
            Applies::Majority => method == Method::CotScThenReact,
            Applies::Server => facts.model != "baseline",
            Applies::Site => WikiName::of(facts.wiki).kind != WikiKind::Corpus,
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

impl Kind {
    /// The path in a value, between what stands before and after it; nothing where values of this kind name no file.
    pub fn path_in(self, value: &str) -> Option<(&str, &str, &str)> {
        match self {
            Self::Path => Some(("", value, "")),
            Self::Prompt => {
                let (path, key) = value.split_at(prompt::file_of(value).len());
                Some(("", path, key))
            }
            Self::Source => {
                let folder = value.strip_prefix("corpus:").filter(|folder| !folder.is_empty())?;
                Some(("corpus:", folder, ""))
            }
            Self::Text
            | Self::Texts
            | Self::Url
            | Self::Urls
            | Self::Choice(_)
            | Self::Price
            | Self::Number(..)
            | Self::Whole(..)
            | Self::Switch
            | Self::Reasoning
            | Self::Body
            | Self::Headers
            | Self::Options
            | Self::Method => None,
        }
    }

    /// What a value must be, in words.
    pub fn expected(self) -> String {
        match self {
            Self::Text | Self::Path | Self::Prompt | Self::Source | Self::Url => "a string".to_owned(),
            Self::Texts | Self::Urls => "a string or a list of strings".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Method => format!("one of {}", Method::TYPED.join(", ")),
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

/// A price as it is written: US dollars of a million prompt tokens and of a million completion tokens; and of a million
/// prompt tokens from the provider's cache, where they have another price.
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

/// A value for reading.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string()),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Object(options) => {
            options.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// What decides which settings a variant uses. What is not set is what `run` takes without flags.
pub(super) struct Facts<'a> {
    method: Method,
    model: &'a str,
    wiki: &'a str,
}

impl<'a> Facts<'a> {
    fn of(variant: &'a Variant) -> Self {
        let method = Method::parse(&variant.method).unwrap_or(Method::React);
        Self { method, model: &variant.model, wiki: &variant.wiki }
    }

    /// The facts of settings that are to become a variant.
    pub(super) fn set(assignments: &'a [Assignment]) -> Self {
        Self {
            method: text_of(assignments, "method").and_then(Method::parse).unwrap_or(Method::React),
            model: text_of(assignments, "model").unwrap_or("baseline"),
            wiki: text_of(assignments, "wiki").unwrap_or("corpus:"),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Assignment {
    pub setting: &'static Setting,
    /// Its value, of the setting's kind.
    pub value: Value,
    /// Line of the experiment file, from 1; 0 for a value that was typed.
    pub line: usize,
}

impl Assignment {
    /// Whether it sets the same as another one.
    pub(super) fn sets(&self, setting: &Setting) -> bool {
        self.setting.name == setting.name
    }
}

/// The text that a setting has among several.
pub(super) fn text_of<'a>(assignments: &'a [Assignment], name: &str) -> Option<&'a str> {
    assignments.iter().find(|assignment| assignment.setting.name == name)?.value.as_str()
}

/// Settings by name, as the typed structs are read from them.
pub(super) fn by_name(assignments: &[Assignment]) -> Value {
    let of = |assignment: &Assignment| (assignment.setting.name.to_owned(), assignment.value.clone());
    Value::Object(assignments.iter().map(of).collect::<Map<_, _>>())
}
