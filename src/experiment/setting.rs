//! The settings that a cell may have: each is a flag of `run` under another spelling.

use crate::types::Method;

/// What a value looks like in the file. Ranges are those of the flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A text.
    Text,
    /// A text, or a list of them.
    Texts,
    /// Any number.
    Number,
    /// A whole number, 0 or more.
    Whole,
    /// `true` or `false`.
    Switch,
    /// A table of texts, or of tables of texts by protocol.
    Options,
}

impl Kind {
    /// What a value must be, in words.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Texts => "a text or a list of texts",
            Self::Number => "a number",
            Self::Whole => "a whole number, 0 or more",
            Self::Switch => "true or false",
            Self::Options => "a table such as { labels = \"v0.1\" }",
        }
    }
}

/// Which cells have a use for a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// All.
    Every,
    /// Methods with a part that speaks a protocol.
    Protocol,
    /// The same: they search. What a direct method is recorded with is then the first named.
    Tool,
    /// Methods with a part that answers directly.
    Direct,
    /// Methods that vote.
    Vote,
    /// The method that asks the agent where its majority is too small.
    Majority,
    /// Models behind a server.
    Server,
    /// Wikipedia sources behind a server.
    Site,
}

/// A setting of a cell.
#[derive(Debug)]
pub struct Key {
    /// Its key in the file. The flag is the same with `-` for `_`.
    pub name: &'static str,
    pub(super) kind: Kind,
    pub(super) of_use: Use,
}

const fn key(name: &'static str, kind: Kind, of_use: Use) -> Key {
    Key { name, kind, of_use }
}

/// Every setting of a cell.
pub const CELL_KEYS: &[Key] = &[
    key("prompt", Kind::Text, Use::Every),
    key("instruction", Kind::Text, Use::Every),
    key("texts", Kind::Text, Use::Protocol),
    key("question_label", Kind::Text, Use::Every),
    key("shots", Kind::Whole, Use::Every),
    key("exemplar_order", Kind::Text, Use::Every),
    key("exemplar_seed", Kind::Whole, Use::Every),
    key("protocol", Kind::Text, Use::Protocol),
    key("option", Kind::Options, Use::Protocol),
    key("max_steps", Kind::Whole, Use::Protocol),
    key("method", Kind::Text, Use::Every),
    key("samples", Kind::Whole, Use::Vote),
    key("sample_temperature", Kind::Number, Use::Vote),
    key("majority", Kind::Number, Use::Majority),
    key("closed_book", Kind::Switch, Use::Direct),
    key("oracle_context", Kind::Switch, Use::Direct),
    key("temperature", Kind::Number, Use::Every),
    key("top_p", Kind::Number, Use::Every),
    key("max_tokens", Kind::Whole, Use::Every),
    key("seed", Kind::Whole, Use::Every),
    key("model", Kind::Text, Use::Every),
    key("base_url", Kind::Texts, Use::Server),
    key("server", Kind::Text, Use::Server),
    key("completions", Kind::Switch, Use::Server),
    key("prefill", Kind::Switch, Use::Server),
    key("key_env", Kind::Text, Use::Server),
    key("key_file", Kind::Text, Use::Server),
    key("model_timeout", Kind::Number, Use::Server),
    key("model_attempts", Kind::Whole, Use::Server),
    key("price", Kind::Text, Use::Every),
    key("wiki", Kind::Text, Use::Tool),
    key("wiki_url", Kind::Text, Use::Site),
    key("compat", Kind::Text, Use::Tool),
    key("wording", Kind::Text, Use::Tool),
    key("contact", Kind::Text, Use::Site),
    key("allow_html", Kind::Switch, Use::Site),
    key("keep_footnotes", Kind::Switch, Use::Site),
    key("wiki_concurrency", Kind::Whole, Use::Site),
    key("wiki_per_minute", Kind::Whole, Use::Site),
    key("wiki_timeout", Kind::Whole, Use::Site),
];

/// Every setting of a dataset besides its path and its name.
pub const DATASET_KEYS: &[Key] = &[
    key("format", Kind::Text, Use::Every),
    key("skip_bad", Kind::Switch, Use::Every),
    key("limit", Kind::Whole, Use::Every),
    key("ids", Kind::Text, Use::Every),
    key("types", Kind::Texts, Use::Every),
    key("shuffle", Kind::Whole, Use::Every),
    key("shuffle_like_paper", Kind::Whole, Use::Every),
    key("question_column", Kind::Text, Use::Every),
    key("answer_column", Kind::Text, Use::Every),
    key("id_column", Kind::Text, Use::Every),
];

/// A value as the flag takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// One value.
    One(String),
    /// The flag several times.
    Many(Vec<String>),
    /// A flag without value, given or not.
    Switch(bool),
}

/// A setting with its value and its place.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Which one.
    pub key: &'static Key,
    /// Its value.
    pub value: Value,
    /// Line of the file, from 1; 0 for one that was given elsewhere.
    pub line: usize,
}

impl Setting {
    /// The flag that it is, such as `--max-steps`.
    pub fn flag(&self) -> String {
        format!("--{}", self.key.name.replace('_', "-"))
    }

    /// The words of a command line that mean the same; none for a switch that is off.
    pub fn words(&self) -> Vec<String> {
        let flag = self.flag();
        match &self.value {
            Value::Switch(false) => Vec::new(),
            Value::Switch(true) => vec![flag],
            Value::One(value) => vec![format!("{flag}={value}")],
            Value::Many(values) => values.iter().map(|value| format!("{flag}={value}")).collect(),
        }
    }

    /// The value for a message.
    pub fn shown(&self) -> String {
        match &self.value {
            Value::Switch(on) => on.to_string(),
            Value::One(value) => value.clone(),
            Value::Many(values) => values.join(", "),
        }
    }
}

/// The value of a setting among several.
pub(super) fn value_of<'s>(settings: &'s [Setting], name: &str) -> Option<&'s str> {
    settings.iter().find(|setting| setting.key.name == name).and_then(|setting| match &setting.value {
        Value::One(value) => Some(value.as_str()),
        _ => None,
    })
}

impl Key {
    /// The value that was typed with its flag: none for a switch, the last where the setting has one alone.
    pub fn typed(&self, mut values: Vec<String>) -> Value {
        match (self.kind, values.pop()) {
            (_, None) => Value::Switch(true),
            (Kind::Texts | Kind::Options, Some(last)) => {
                values.push(last);
                Value::Many(values)
            }
            (_, Some(last)) => Value::One(last),
        }
    }

    /// Whether a cell with these settings has a use for this one. What is not said is what `run` takes without flags.
    pub fn of_use(&self, settings: &[Setting]) -> bool {
        let method = value_of(settings, "method").and_then(Method::parse).unwrap_or(Method::React);
        let tool = method.agent().is_some();
        match self.of_use {
            // Whether a site is needed, the source says; direct methods keep it beside their source.
            Use::Every | Use::Tool => true,
            Use::Protocol => tool,
            Use::Direct => method.direct().is_some(),
            Use::Vote => method.votes(),
            Use::Majority => method == Method::CotScThenReact,
            Use::Server => value_of(settings, "model").is_some_and(|model| model != "baseline"),
            Use::Site => value_of(settings, "wiki").is_some_and(|wiki| !wiki.starts_with("corpus:")),
        }
    }

    /// Whether the setting makes no difference to a cell with these settings, though it may be recorded.
    pub(super) fn idle(&self, settings: &[Setting]) -> bool {
        let direct =
            value_of(settings, "method").and_then(Method::parse).is_some_and(|method| method.agent().is_none());
        !self.of_use(settings) || direct && matches!(self.of_use, Use::Tool | Use::Site)
    }
}
