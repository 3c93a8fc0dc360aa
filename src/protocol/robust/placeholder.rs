//! Placeholders: what the model was shown in place of an argument, as in `Search[title]`.
//!
//! A weak model echoes them, and executed they are a search for nothing or an answer that nobody gave.

use super::super::numbered::PLACEHOLDERS;
use super::label::is_mark;
use super::verb::verb_before;
use crate::types::Tool;
use crate::types::python::is_python_space;

/// Longest placeholder that is looked for in a text, in characters.
const MAX_PLACEHOLDER: usize = 40;
/// Answers that instructions list, and that look like placeholders.
const ANSWERS: [&str; 4] = ["yes", "no", "true", "false"];

/// Tools with the words that stood in place of their arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placeholders(Vec<(Tool, String)>);

impl Default for Placeholders {
    /// Those of our instructions.
    fn default() -> Self {
        let ours = PLACEHOLDERS.iter().flat_map(|(tool, english, chinese)| [(*tool, *english), (*tool, *chinese)]);
        Self(ours.map(|(tool, word)| (tool, word.to_owned())).collect())
    }
}

impl Placeholders {
    /// Ours, and those in what the model is told: arguments in small letters, such as `entity` in `Search[entity]`.
    /// Others may be examples.
    pub(super) fn of_texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut all = Self::default();
        for line in texts.into_iter().flat_map(str::lines) {
            for (open, _) in line.match_indices('[') {
                let inside = &line[open + 1..];
                let close = inside.char_indices().take(MAX_PLACEHOLDER).find(|(_, c)| *c == ']').map(|(at, _)| at);
                let Some((argument, (_, tool))) = close.map(|close| &inside[..close]).zip(verb_before(&line[..open]))
                else {
                    continue;
                };
                let word = placeholder_word(argument);
                let is_small = argument.chars().all(|c| c.is_ascii_lowercase() || (!c.is_alphanumeric() && c != ']'));
                if is_small
                    && !ANSWERS.contains(&word.as_str())
                    && !all.0.iter().any(|one| *one == (tool, word.clone()))
                {
                    all.0.push((tool, word));
                }
            }
        }
        all
    }

    /// Whether an argument is one. A lookup may be for a word that stood with another tool: pages hold the word "title".
    pub(super) fn contain(&self, tool: Tool, argument: &str) -> bool {
        let word = placeholder_word(argument);
        let same = |of: Tool| of == tool || tool != Tool::Lookup;
        tool != Tool::Think && self.0.iter().any(|(of, one)| same(*of) && *one == word)
    }
}

/// What counts of a placeholder: its words in small letters, without marks around them or an article before.
fn placeholder_word(argument: &str) -> String {
    let around = |c: char| is_python_space(c) || is_mark(c) || "<{([])}'\"….".contains(c);
    let word = argument.trim_matches(around).to_lowercase();
    let bare = ["the ", "your ", "a ", "an "].iter().find_map(|article| word.strip_prefix(article));
    bare.map_or(word.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::Placeholders;
    use crate::types::Tool::{Finish, Lookup, Search};

    #[test]
    fn ours_are_known_in_every_form() {
        let ours = Placeholders::default();
        for word in ["title", "Title", "<title>", "the title", "{title}", "**title**", "标题"] {
            assert!(ours.contain(Search, word), "{word}");
        }
        assert!(
            ours.contain(Finish, "your answer") && ours.contain(Lookup, "keyword") && ours.contain(Finish, "title")
        );
        for (tool, word) in
            [(Lookup, "title"), (Search, "entity"), (Finish, "yes"), (Search, "Title (album)"), (Search, "")]
        {
            assert!(!ours.contain(tool, word), "{word}");
        }
    }

    #[test]
    fn what_the_model_is_told_adds_its_own() {
        let told = "(1) Search[entity], which searches; (2) Lookup[a word];\nFinish[final answer] or Search[…]. \
                    For instance Search[Milhouse], Finish[1994], Lookup[abc [d], Finish[yes], Finish[SUPPORTS], Re[search]";
        let shown = Placeholders::of_texts([told]);
        for (tool, word) in
            [(Search, "entity"), (Lookup, "word"), (Finish, "final answer"), (Search, "..."), (Finish, "title")]
        {
            assert!(shown.contain(tool, word), "{word}");
        }
        for (tool, word) in
            [(Search, "Milhouse"), (Finish, "1994"), (Finish, "yes"), (Finish, "supports"), (Lookup, "abc")]
        {
            assert!(!shown.contain(tool, word), "{word}");
        }
        assert_eq!(Placeholders::of_texts(["[".repeat(100_000).as_str()]), Placeholders::default());
    }
}
