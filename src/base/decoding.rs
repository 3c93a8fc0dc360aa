//! How a model is asked to choose its words: the settings of decoding, how much to reason, options of a request.

use super::named;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt;
use std::num::NonZeroU32;

/// How a model chooses its words. The default is the paper's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decoding {
    /// 0 for greedy decoding; up to 2.
    pub temperature: f64,
    /// Nucleus sampling mass, 0 to 1.
    pub top_p: f64,
    /// Upper bound of the completion's length, in the model's tokens; a budget for reasoning comes on top.
    pub max_tokens: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How much to reason; the model's own way if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// What is added to the body of each request, key by key.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra_body: Map<String, Value>,
    /// Which of them a person has set. No record has it: an answer is the same however its settings came about.
    #[serde(skip)]
    pub typed: RequestOptions,
}

impl Decoding {
    pub fn reasons(&self) -> bool {
        self.reasoning.is_some_and(Reasoning::is_on)
    }

    /// The most tokens that a completion may have, those of the reasoning included where their number is known.
    pub fn max_total_tokens(&self) -> u32 {
        self.max_tokens.saturating_add(self.reasoning.and_then(Reasoning::budget).unwrap_or(0))
    }

    /// What must not be left out where a server refuses it: settings that a person has set, other than to what a model
    /// does without them.
    pub fn required(&self) -> RequestOptions {
        let usual = [
            (RequestOption::Temperature, (self.temperature - 1.0).abs() < f64::EPSILON),
            (RequestOption::TopP, self.top_p >= 1.0),
        ];
        self.typed.without(usual.into())
    }
}

impl Default for Decoding {
    /// The paper's: greedy, 100 tokens.
    fn default() -> Self {
        Self {
            temperature: 0.0,
            top_p: 1.0,
            max_tokens: 100,
            seed: None,
            reasoning: None,
            extra_body: Map::new(),
            typed: RequestOptions::default(),
        }
    }
}

/// How much to reason: by a name that models know, or up to a number of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reasoning {
    Off,
    Low,
    Medium,
    High,
    /// At most this many tokens, which do not count as the answer's; up to [`Reasoning::MAX_TOKENS`].
    Budget(NonZeroU32),
}

impl Reasoning {
    pub const LEVELS: [Self; 4] = [Self::Off, Self::Low, Self::Medium, Self::High];
    pub const EXPECTED: &str = "off, low, medium, high or a number of tokens from 1 to 1000000";
    /// Largest number of tokens. It is added to the limit of the answer, and no model reasons longer.
    pub const MAX_TOKENS: u32 = 1_000_000;

    /// Reads a name or a number as it is written out, without a sign and without zeros in front.
    pub fn parse(text: &str) -> Option<Self> {
        let named = Self::LEVELS.into_iter().find(|reasoning| reasoning.name() == Some(text));
        let budget =
            || text.parse::<NonZeroU32>().ok().filter(|n| n.get() <= Self::MAX_TOKENS && n.to_string() == text);
        named.or_else(|| budget().map(Self::Budget))
    }

    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Off => Some("off"),
            Self::Low => Some("low"),
            Self::Medium => Some("medium"),
            Self::High => Some("high"),
            Self::Budget(_) => None,
        }
    }

    pub fn is_on(self) -> bool {
        self != Self::Off
    }

    pub fn budget(self) -> Option<u32> {
        match self {
            Self::Budget(tokens) => Some(tokens.get()),
            _ => None,
        }
    }
}

impl fmt::Display for Reasoning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget(tokens) => tokens.fmt(f),
            named => f.write_str(named.name().unwrap_or_default()),
        }
    }
}

impl Serialize for Reasoning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Budget(tokens) => tokens.serialize(serializer),
            named => serializer.collect_str(named),
        }
    }
}

impl<'de> Deserialize<'de> for Reasoning {
    /// Also takes a number as a text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = match Value::deserialize(deserializer)? {
            Value::String(text) => Self::parse(&text),
            value => value.as_u64().and_then(|tokens| Self::parse(&tokens.to_string())),
        };
        read.ok_or_else(|| D::Error::custom(format!("expected {}", Self::EXPECTED)))
    }
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RequestOption {
        Temperature = "temperature",
        TopP = "top_p",
        Seed = "seed",
        Stop = "stop",
        /// The limit of tokens under the name `max_tokens`, which newer models take under another one.
        MaxTokens = "max_tokens",
        Stream = "stream",
        /// A count of tokens at the end of a stream.
        StreamUsage = "stream_options",
        Whole = "whole",
        /// Whether one reply may call several functions.
        ParallelCalls = "parallel_tool_calls",
        /// Encrypted reasoning, to be sent back with the results of calls.
        Include = "include",
        Summary = "reasoning.summary",
        /// Which part of the prompt the provider is to keep for later requests.
        CacheControl = "cache_control",
        /// The reasoning of earlier replies, sent back in the field `reasoning`.
        Thoughts = "messages.reasoning",
        /// The same in the field `reasoning_content`.
        ThoughtsContent = "messages.reasoning_content",
        /// The same in the field `reasoning_details`.
        ThoughtsDetails = "messages.reasoning_details",
        /// A message of the model's without `reasoning_content`.
        Thoughtless = "messages without reasoning_content",
        /// A message of the user's right after the result of a call.
        UserAfterTool = "a user after a tool",
        /// A call without a signature.
        Unsigned = "calls without a signature",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestOptions(u32);

impl RequestOptions {
    /// The settings by which a model chooses its words, the stops, what decides about costs, and what the model sees of its
    /// earlier reasoning: what a person should know if it is not sent.
    pub fn notable() -> Self {
        use RequestOption::{CacheControl, Seed, Stop, Temperature, Thoughts, ThoughtsContent, ThoughtsDetails, TopP};
        let thoughts = [Thoughts, ThoughtsContent, ThoughtsDetails];
        [Temperature, TopP, Seed, Stop, CacheControl].into_iter().chain(thoughts).collect()
    }

    pub fn contains(self, option: RequestOption) -> bool {
        self.0 & Self::bit(option) != 0
    }

    pub fn insert(&mut self, option: RequestOption) {
        self.0 |= Self::bit(option);
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub fn iter(self) -> impl Iterator<Item = RequestOption> {
        RequestOption::ALL.into_iter().filter(move |option| self.contains(*option))
    }

    pub fn names(self) -> Vec<&'static str> {
        self.iter().map(RequestOption::name).collect()
    }

    fn bit(option: RequestOption) -> u32 {
        1 << option as u8
    }
}

impl FromIterator<RequestOption> for RequestOptions {
    fn from_iter<I: IntoIterator<Item = RequestOption>>(options: I) -> Self {
        let mut set = Self::default();
        options.into_iter().for_each(|option| set.insert(option));
        set
    }
}

/// The options for which the condition beside them holds.
impl<const N: usize> From<[(RequestOption, bool); N]> for RequestOptions {
    fn from(options: [(RequestOption, bool); N]) -> Self {
        options.into_iter().filter_map(|(option, holds)| holds.then_some(option)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Reasoning;
    use serde_json::json;

    #[test]
    fn it_is_a_word_or_a_number_of_tokens() {
        let most = Reasoning::MAX_TOKENS.to_string();
        for (text, json) in [
            ("off", json!("off")),
            ("medium", json!("medium")),
            ("4096", json!(4096)),
            (most.as_str(), json!(Reasoning::MAX_TOKENS)),
        ] {
            let read = Reasoning::parse(text).expect(text);
            assert_eq!((read.to_string().as_str(), serde_json::to_value(read).expect("JSON")), (text, json.clone()));
            assert_eq!(serde_json::from_value::<Reasoning>(json).expect(text), read);
        }
        for bad in ["", "0", "-1", "none", "Low", "1.5", "1000001", "4294967295", "4294967296", "+512", "00512"] {
            assert_eq!(Reasoning::parse(bad), None, "{bad}");
        }
        assert!(serde_json::from_value::<Reasoning>(json!(0)).is_err());
        assert!(serde_json::from_value::<Reasoning>(json!(true)).is_err());
    }
}
