//! A list of what is wrong with files that people write by hand: each problem with its line, so that all can be mended at
//! once. Prompt files and experiment files have one each.

use std::fmt;

/// What can be wrong in one kind of file, said in a sentence.
pub trait Fault: fmt::Display {
    /// Where the format is explained.
    const KEY_BY_KEY: &'static str;

    /// What the author can do about it; [`Self::KEY_BY_KEY`] where nothing better can be said.
    fn hint(&self) -> String;
}

/// One problem of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem<K> {
    /// The file as it was named.
    pub file: String,
    /// Line of the file, from 1.
    pub line: usize,
    /// What is wrong there.
    pub kind: K,
}

/// Why a file cannot be used: its problems, in the order of their lines; never empty inside an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems<K>(pub Vec<Problem<K>>);

impl<K: Fault> fmt::Display for Problem<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.kind)
    }
}

impl<K: Fault> fmt::Display for Problems<K> {
    /// One problem as its line; several with their own hints, each below its problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [problem] = self.0.as_slice() {
            return problem.fmt(f);
        }
        write!(f, "{} problems", self.0.len())?;
        for problem in &self.0 {
            write!(f, "\n{problem}")?;
            let hint = problem.kind.hint();
            // Where to read up is said once, at the end.
            if hint != K::KEY_BY_KEY {
                write!(f, "\nhint: {hint}")?;
            }
        }
        Ok(())
    }
}

impl<K: Fault + fmt::Debug> std::error::Error for Problems<K> {}

impl<K: Fault> Problems<K> {
    /// What the author can do: the hint of a single problem, or where the format is explained.
    pub fn hint(&self) -> String {
        match self.0.as_slice() {
            [problem] => problem.kind.hint(),
            _ => K::KEY_BY_KEY.to_owned(),
        }
    }
}

/// The candidate that looks most like `word`, when one is near enough to be a slip of the pen.
pub(crate) fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A key of a page's length is no slip, and comparing it would cost its length squared.
    if word.len() > 64 {
        return None;
    }
    candidates
        .into_iter()
        .filter(|known| known.len() <= 64)
        .map(|known| (strsim::jaro_winkler(&word.to_lowercase(), &known.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

/// `text` as it may stand in a message: control characters escaped, at most 80 characters.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().nth(80).is_some() {
        shown.push('…');
    }
    // Quotes are no danger to a terminal, and an escaped one is hard to compare with the file.
    shown.replace("\\\"", "\"").replace("\\'", "'")
}

#[cfg(test)]
mod tests {
    use super::{closest, quoted};

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        assert_eq!(closest("exampler", ["exemplar", "instruction"]), Some("exemplar"));
        assert_eq!(closest("Claims", ["Question", "Claim"]), Some("Claim"));
        assert_eq!(closest("colour", ["exemplar", "instruction"]), None);
        assert_eq!(closest(&"x".repeat(100_000), ["exemplar"]), None);
    }

    #[test]
    fn quoted_text_is_short_and_harmless() {
        assert_eq!(quoted("it's \"a\" \u{1b}[31m\n"), "it's \"a\" \\u{1b}[31m\\n");
        assert_eq!(quoted(&"é".repeat(81)), format!("{}…", "é".repeat(80)));
    }
}
