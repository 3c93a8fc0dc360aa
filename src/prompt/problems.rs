//! The problems of a prompt or experiment file, each with its line.

use crate::types::text::cut;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub file: String,
    /// Line of the file, from 1.
    pub line: usize,
    pub message: String,
    pub hint: Option<String>,
}

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// The problems in the order of their lines, at least one.
    pub list: Vec<Problem>,
    /// Where the format is explained.
    pub help: &'static str,
}

#[derive(Debug)]
pub(crate) struct Fault {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self { message, hint: None }
    }
}

impl Fault {
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// With a hint that names the known word, if one comes close.
    pub(crate) fn did_you_mean(self, known: Option<&str>) -> Self {
        match known {
            Some(known) => self.hint(format!("did you mean `{known}`?")),
            None => self,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl fmt::Display for Problems {
    /// One problem as its line; several with their own hints, each below its problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [problem] = self.list.as_slice() {
            return problem.fmt(f);
        }
        write!(f, "{} problems", self.list.len())?;
        for problem in &self.list {
            write!(f, "\n{problem}")?;
            if let Some(hint) = &problem.hint {
                write!(f, "\nhint: {hint}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl Problems {
    /// The hint of a single problem, or where the format is explained.
    pub fn hint(&self) -> String {
        match self.list.as_slice() {
            [Problem { hint: Some(hint), .. }] => hint.clone(),
            _ => self.help.to_owned(),
        }
    }
}

/// `text` for a message: control characters escaped, at most 80 characters.
pub(crate) fn quoted(text: &str) -> String {
    let shown: String = cut(text, 80).chars().flat_map(char::escape_debug).collect();
    // Quotes are harmless, and escaped ones are hard to compare with the file.
    shown.replace("\\\"", "\"").replace("\\'", "'")
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quoted_text_is_short_and_harmless() {
        assert_eq!(quoted("it's \"a\" \u{1b}[31m\n"), "it's \"a\" \\u{1b}[31m\\n");
        assert_eq!(quoted(&"é".repeat(81)), format!("{}…", "é".repeat(80)));
    }
}
