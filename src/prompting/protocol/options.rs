//! Options of a protocol, as typed: `--option key=value`.

use std::collections::BTreeMap;

/// Options by name. Each protocol defines its names and values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options(pub BTreeMap<String, String>);

/// An option that a protocol does not have, or a value that it does not accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    #[error("protocol `{protocol}` has no option `{name}`")]
    Unknown {
        protocol: &'static str,
        name: String,
        /// What there is, as `name=values`.
        known: &'static [&'static str],
    },
    #[error("option `{name}` of protocol `{protocol}` cannot be `{value}`")]
    Value { protocol: &'static str, name: String, value: String, possible: &'static str },
}

impl OptionError {
    pub(super) fn value(protocol: &'static str, name: &str, value: &str, possible: &'static str) -> Self {
        Self::Value { protocol, name: name.to_owned(), value: value.to_owned(), possible }
    }

    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { known: [], .. } => "leave --option out".to_owned(),
            Self::Unknown { known, .. } => format!("it has {}", known.join(", ")),
            Self::Value { possible, .. } => format!("it can be {possible}"),
        }
    }
}

impl Options {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Refuses names that are not among `known`, each given as `name=values` for the hint.
    pub fn known(&self, protocol: &'static str, known: &'static [&'static str]) -> Result<(), OptionError> {
        let is_known = |name: &str| known.iter().any(|entry| entry.split('=').next() == Some(name));
        match self.0.keys().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => Err(OptionError::Unknown { protocol, name: name.clone(), known }),
        }
    }

    pub fn none(&self, protocol: &'static str) -> Result<(), OptionError> {
        self.known(protocol, &[])
    }

    /// The option `arguments`: whether misnamed arguments are repaired (`mend`, the default) or not (`strict`).
    pub(super) fn mends(&self, protocol: &'static str) -> Result<bool, OptionError> {
        self.choice(protocol, "arguments", &[("mend", true), ("strict", false)], "`mend` or `strict`")
    }

    pub(super) fn number(&self, protocol: &'static str, name: &str, default: usize) -> Result<usize, OptionError> {
        let Some(value) = self.get(name) else { return Ok(default) };
        let number = value.parse().ok().filter(|number| (1..=1_000_000_000).contains(number));
        number.ok_or_else(|| OptionError::value(protocol, name, value, "a number from 1 to 1000000000"))
    }

    /// The value of an option that takes one of a few words; the first is the default.
    pub fn choice<T: Copy>(
        &self,
        protocol: &'static str,
        name: &str,
        choices: &[(&str, T)],
        possible: &'static str,
    ) -> Result<T, OptionError> {
        let value = self.get(name).unwrap_or(choices[0].0);
        let choice = choices.iter().find(|(word, _)| *word == value).map(|(_, choice)| *choice);
        choice.ok_or_else(|| OptionError::value(protocol, name, value, possible))
    }
}
