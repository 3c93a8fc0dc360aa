//! Text as Python sees and shows it.
//!
//! The original agents, environments and scorers are Python programs; what they take for white space or for a word, and
//! how they print a string, decides what a model is shown and what is counted as right.

mod repr;
mod text;

pub use repr::{repr, unrepr_list};
pub(crate) use text::{is_newer_than_python, is_regex_word, is_word, lower};

/// White space as Python's `str.strip` and `str.split` see it: Unicode's, and the separators U+001C to U+001F.
pub fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}
