//! Tests of the floor as a whole.

mod bad_input;
mod frames;
mod recorded;
mod rendering;
mod shipped;
mod texts;
mod words;

use super::{PromptError, PromptSource, ProtocolTexts, RenderSettings, Rendered, load};
use std::path::{Path, PathBuf};

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

/// Writes `content` into a file of its own and loads it; `spec` may add a key to the file's name.
fn load_bytes(name: &str, key: &str, content: &[u8]) -> Result<PromptSource, PromptError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    load(&format!("{}{key}", path.display()), None, &no_builtin)
}

/// Renders for a protocol without texts of its own.
fn render(source: &PromptSource, settings: &RenderSettings<'_>) -> Result<Rendered, PromptError> {
    super::render(source, &ProtocolTexts::default(), settings)
}

fn load_toml(text: &str) -> Result<PromptSource, PromptError> {
    load_bytes("trial.toml", "", text.as_bytes())
}

/// The shared material beside the repository; `None` where it is absent, which continuous integration refuses.
fn shared(path: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    if root.is_dir() {
        return Some(root.join(path));
    }
    assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "../shared must be here");
    eprintln_skipped();
    None
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn eprintln_skipped() {
    eprintln!("skipped: ../shared is not here");
}
