//! The part of a prompt that all questions share.

use super::digest::Digester;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Instruction and exemplars as one text, several times as long as what follows it.
///
/// It is sent with every request of a run, so it is shared, and what is made of it for a request is made once.
#[derive(Clone)]
pub struct Prefix(Arc<Shared>);

struct Shared {
    text: Box<str>,
    chars: OnceLock<usize>,
    digester: OnceLock<Digester>,
    json: OnceLock<Box<str>>,
}

impl Prefix {
    /// Length in characters (Unicode scalar values).
    pub fn chars(&self) -> usize {
        *self.0.chars.get_or_init(|| self.0.text.chars().count())
    }

    /// SHA-256 of the prefix and what follows it, as 64 lower-case hexadecimal digits.
    pub fn sha256_with(&self, rest: &str) -> String {
        self.0
            .digester
            .get_or_init(|| Digester::default().and(self.0.text.as_bytes()))
            .clone()
            .and(rest.as_bytes())
            .hex()
    }

    /// The text as it stands inside a JSON string, quotes left away.
    pub fn json(&self) -> &str {
        self.0.json.get_or_init(|| {
            // Strings always serialise, into quotes.
            let quoted = serde_json::to_string(&self.0.text).unwrap_or_default();
            quoted.get(1..quoted.len() - 1).unwrap_or_default().into()
        })
    }
}

impl Deref for Prefix {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.text
    }
}

impl<T: Into<Box<str>>> From<T> for Prefix {
    fn from(text: T) -> Self {
        let (chars, digester, json) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self(Arc::new(Shared { text: text.into(), chars, digester, json }))
    }
}

impl Default for Prefix {
    fn default() -> Self {
        Self::from("")
    }
}

impl PartialEq for Prefix {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl Eq for Prefix {}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl Serialize for Prefix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<str>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::Prefix;
    use crate::types::sha256_hex;

    #[test]
    fn what_is_made_once_is_what_would_be_made_each_time() {
        let prefix = Prefix::from("Q: \"é\"\n\u{1}");
        for rest in ["", "a", "ü\n"] {
            assert_eq!(prefix.sha256_with(rest), sha256_hex([prefix.as_bytes(), rest.as_bytes()]));
        }
        assert_eq!(prefix.chars(), 8);
        assert_eq!(format!("\"{}\"", prefix.json()), serde_json::to_string(&prefix).expect("a string"));
        assert_eq!(serde_json::from_str::<Prefix>("\"a\\n\"").expect("a string"), Prefix::from("a\n"));
        assert_eq!((Prefix::default().json(), Prefix::default().chars()), ("", 0));
    }
}
