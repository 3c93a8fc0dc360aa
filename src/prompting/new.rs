//! A new prompt file, written from another one: comments and layout stay, so that it explains itself.

use super::bytes::{BuiltIn, PromptError, text_of};
use super::file::PromptFile;
use super::load::{PromptSource, load, source};
use super::numbered;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Value};

/// What stands behind an empty list of exemplars.
const NONE: &str = " # none; for examples, put [[exemplar]] blocks below in place of this line";

/// A sound prompt file that is called `name`, made from `from` with its first `exemplars`, or all of them: a copy of a
/// prompt file, or a text with numbered steps, taken apart.
pub fn new(
    file: &str,
    name: &str,
    from: &str,
    exemplars: Option<usize>,
    builtin: BuiltIn<'_>,
) -> Result<NewPrompt, PromptError> {
    let text = match load(from, None, builtin)? {
        PromptSource::File(_) => edited(name, from, exemplars, builtin)?,
        PromptSource::Text(text) => numbered::prompt_file(&text, name, exemplars)?,
    };
    let prompt = PromptFile::parse(file, &text).map_err(PromptError::Invalid)?;
    Ok(NewPrompt { text, prompt })
}

fn edited(name: &str, from: &str, exemplars: Option<usize>, builtin: BuiltIn<'_>) -> Result<String, PromptError> {
    let bytes = source(from, builtin)?;
    let text = text_of(from, &bytes)?.replace("\r\n", "\n");
    // It is what was just read as a prompt, by the same parser.
    let unreadable =
        |error: toml_edit::TomlError| PromptError::NotEditable(from.to_owned(), error.message().to_owned());
    let mut document: DocumentMut = text.parse().map_err(unreadable)?;
    rename(&mut document, name);
    if let Some(wanted) = exemplars {
        shorten(&mut document, from, wanted)?;
    }
    Ok(document.to_string())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPrompt {
    pub text: String,
    pub prompt: PromptFile,
}

/// Sets `name`, and keeps what stands around the old one.
fn rename(document: &mut DocumentMut, name: &str) {
    let Some(old) = document.get_mut("name").and_then(Item::as_value_mut) else { return };
    let mut new = Value::from(name);
    old.decor().clone_into(new.decor_mut());
    *old = new;
}

fn shorten(document: &mut DocumentMut, from: &str, wanted: usize) -> Result<(), PromptError> {
    let available = count(document.get("exemplar"));
    if wanted > available {
        return Err(PromptError::TooFewToKeep { file: from.to_owned(), wanted, available });
    }
    if wanted == 0 {
        // The key comes before all tables, where a value of the file has to be.
        document.remove("exemplar");
        let mut none = Value::Array(toml_edit::Array::new());
        none.decor_mut().set_suffix(NONE);
        document.insert("exemplar", Item::Value(none));
    }
    match document.get_mut("exemplar") {
        Some(Item::ArrayOfTables(tables)) => (wanted..available).rev().for_each(|at| {
            tables.remove(at);
        }),
        Some(Item::Value(Value::Array(tables))) => (wanted..tables.len()).rev().for_each(|at| {
            tables.remove(at);
        }),
        _ => {}
    }
    Ok(())
}

fn count(exemplars: Option<&Item>) -> usize {
    match exemplars {
        Some(Item::ArrayOfTables(tables)) => ArrayOfTables::len(tables),
        Some(Item::Value(Value::Array(tables))) => tables.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::new;

    fn made(from: &str, exemplars: Option<usize>) -> String {
        let builtin =
            |name: &str| (name == "from.toml").then(|| -> &'static [u8] { from.to_owned().leak().as_bytes() });
        new("b.toml", "b", "from.toml", exemplars, &builtin).expect("sound").text
    }

    #[test]
    fn comments_and_layout_stay() {
        let from = "# Why.\n\nname   = 'a' # short\nlanguage = \"en\"\nquestion_label = \"Question\"\n\n[instruction]\n\
                    # For the agent.\nreact = \"\"\"\nFind it. \\\n  Now.\n\"\"\"\n";
        let exemplar = |n: usize| {
            format!(
                "\n# Number {n}.\n[[exemplar]]\nquestion = \"Q{n}?\"\nanswer = \"{n}\"\n\n[[exemplar.step]]\nthought = \"T\"\n\
                 action = \"Finish[{n}]\"\n"
            )
        };
        let renamed = from.replace("'a'", "\"b\"");
        let whole = format!("{from}{}{}", exemplar(1), exemplar(2));
        assert_eq!(made(&whole, None), format!("{renamed}{}{}", exemplar(1), exemplar(2)));
        assert_eq!(made(&whole, Some(1)), format!("{renamed}{}", exemplar(1)));
        let none = made(&whole, Some(0));
        assert!(none.contains("question_label = \"Question\"\nexemplar = [] # none;"), "{none}");
        assert!(!none.contains("exemplar]]\nquestion"), "{none}");
        // Lists in one line are a way to write them, too.
        let inline = format!(
            "exemplar = [{{ question = \"Q\", answer = \"1\", step = [{{ thought = \"T\", action = \"Finish[1]\" }}] }}]\n{from}"
        );
        assert!(made(&inline, Some(0)).contains("exemplar = [] #"));
        assert!(made(&inline, Some(1)).contains("Finish[1]"));
    }
}
