//! Tests of prompts, exemplars and rendering together.

mod bad_input;
mod frames;
mod recorded;
mod rendering;
mod shipped;
mod texts;
mod words;

use super::{PromptError, PromptSource, ProtocolTexts, RenderSettings, Rendered, load};
use crate::tests::shared;

/// A sound prompt file with two exemplars.
const SOUND: &str = r#"name = "trial"
language = "en"
question_label = "Question"

[instruction]
react = """
Answer within {{ max_steps }} steps:
{{ tools }}
"""

[tools]
search = "opens."
lookup = "finds."
finish = "ends."

[texts]
force_stop = "Answer now."

[[exemplar]]
covers = "bridge"
question = "Who built it?"
answer = "Ada"

[[exemplar.step]]
thought = "Search first."
action = "Search[It]"
observation = "It was built by Ada."

[[exemplar.step]]
thought = "Ada did."
action = "Finish[Ada]"

[[exemplar]]
question = "Is it old?"
answer = "yes"

[[exemplar.step]]
thought = "It is."
action = "Finish[yes]"
"#;

fn no_builtin(_: &str) -> Option<&'static [u8]> {
    None
}

/// Writes a file of that name into a folder of its own and gives its path to `use_it`.
fn with_file<T>(name: &str, content: &[u8], use_it: impl FnOnce(&str) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    use_it(&path.display().to_string())
}

/// Writes `content` into a file and loads it; `key` is added to the file's name.
fn load_bytes(name: &str, key: &str, content: &[u8]) -> Result<PromptSource, PromptError> {
    with_file(name, content, |path| load(&format!("{path}{key}"), None, &no_builtin))
}

/// What was done to a file called `name`, and what it is refused with, its folder left out.
fn refusal<T>(what: &str, name: &str, content: &[u8], load: impl FnOnce(&str) -> Result<T, PromptError>) -> String {
    with_file(name, content, |path| {
        let error = load(path).err().unwrap_or_else(|| panic!("{what} is taken"));
        let text = format!("{what}\nerror: {error}\nhint: {}\n\n", error.hint());
        text.replace(path.strip_suffix(name).unwrap(), "")
    })
}

/// [`refusal`] of `text` for each pair, after the first of the two was replaced by the second.
fn refusals<T>(
    name: &str,
    text: &str,
    changes: &[(&str, &str)],
    load: impl Fn(&str) -> Result<T, PromptError>,
) -> String {
    let refused = |(from, to): &(&str, &str)| {
        assert!(text.contains(from), "{from}");
        refusal(&format!("{from:?} becomes {to:?}"), name, text.replacen(from, to, 1).as_bytes(), &load)
    };
    changes.iter().map(refused).collect()
}

/// Renders for a protocol without texts of its own.
fn render(source: &PromptSource, settings: &RenderSettings<'_>) -> Result<Rendered, PromptError> {
    super::render(source, &ProtocolTexts::default(), settings)
}

fn load_toml(text: &str) -> Result<PromptSource, PromptError> {
    load_bytes("trial.toml", "", text.as_bytes())
}
