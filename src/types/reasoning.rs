//! How much a model is asked to reason before it answers.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::Value;
use std::fmt;
use std::num::NonZeroU32;

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
    /// Those with a name.
    pub const LEVELS: [Self; 4] = [Self::Off, Self::Low, Self::Medium, Self::High];
    /// What a text must be, in words.
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

    /// Its name; nothing for a number of tokens.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Off => Some("off"),
            Self::Low => Some("low"),
            Self::Medium => Some("medium"),
            Self::High => Some("high"),
            Self::Budget(_) => None,
        }
    }

    /// Whether the model is to reason at all.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }

    /// The number of tokens, if it is one.
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
