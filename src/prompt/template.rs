//! Instructions as templates: which placeholders they may use, and how they are filled in.

use super::problem::ProblemKind;
use super::problems::{closest, quoted};
use super::reader::{Reader, Section};
use minijinja::{Environment, UndefinedBehavior, context};

/// Descriptions of the tools, each the rest of a sentence that begins with the action's form
/// (`Search[title] …`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTexts {
    /// What `Search[title]` does.
    pub search: String,
    /// What `Lookup[keyword]` does.
    pub lookup: String,
    /// What `Finish[answer]` does.
    pub finish: String,
}

/// What an instruction may refer to.
const PLACEHOLDERS: [&str; 3] = ["question_label", "max_steps", "tools"];

/// Steps of the template engine per instruction. Real ones need a dozen; a file from elsewhere must not keep
/// the program busy with nested loops.
const FUEL: u64 = 20_000;

/// Values of the placeholders.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) question_label: &'a str,
    pub(super) max_steps: usize,
    pub(super) tools: Option<&'a ToolTexts>,
    /// Language of the prompt, for the words inside the brackets.
    pub(super) language: &'a str,
}

/// Fills in an instruction. The result ends with exactly one line break.
pub(super) fn fill(template: &str, values: Values<'_>) -> Result<String, minijinja::Error> {
    let environment = environment();
    let template = environment.template_from_str(template)?;
    let text = match values.tools {
        Some(tools) => template.render(context! {
            question_label => values.question_label, max_steps => values.max_steps, tools => list(tools, values.language),
        }),
        // Left out, so that strict mode refuses its use.
        None => template.render(context! {
            question_label => values.question_label, max_steps => values.max_steps,
        }),
    }?;
    Ok(format!("{}\n", text.trim_end_matches(['\n', '\r'])))
}

/// Notes what is wrong with the instruction `section.key`, whose text is `template`.
pub(super) fn check(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    key: &str,
    template: &str,
    tools: Option<&ToolTexts>,
) {
    let environment = environment();
    let parsed = match environment.template_from_str(template) {
        Ok(parsed) => parsed,
        Err(error) => return note_engine_error(reader, section, key, &error),
    };
    let mut names: Vec<String> = parsed.undeclared_variables(false).into_iter().collect();
    names.sort_unstable();
    let mut sound = true;
    // A few wrong names are enough to see what happened; each costs a pass over the text.
    for name in names.iter().filter(|name| !PLACEHOLDERS.contains(&name.as_str())).take(20) {
        let line = reader.line_in_value(section, key, |source| find_in_tags(source, name));
        let kind = ProblemKind::UnknownPlaceholder {
            name: quoted(name),
            key: section.path(key),
            suggestion: closest(name, PLACEHOLDERS),
        };
        reader.note(line, kind);
        sound = false;
    }
    if tools.is_none() && names.iter().any(|name| name == "tools") {
        let line = reader.line_in_value(section, key, |source| find_in_tags(source, "tools"));
        reader.note(line, ProblemKind::NoTools(section.path(key)));
        sound = false;
    }
    if sound
        && let Err(error) = fill(template, Values { question_label: "Question", max_steps: 7, tools, language: "en" })
    {
        note_engine_error(reader, section, key, &error);
    }
}

fn note_engine_error(reader: &mut Reader<'_>, section: &Section<'_>, key: &str, error: &minijinja::Error) {
    let in_template = error.line().unwrap_or(1).max(1);
    let line = reader.line_in_value(section, key, |source| {
        // TOML drops a line break right after the opening quotes, the template's first line is the one after.
        let opened = source.len() - source.trim_start_matches(['"', '\'']).len();
        let skipped = usize::from(source[opened..].starts_with(['\n', '\r']));
        source.match_indices('\n').nth((in_template + skipped).checked_sub(2)?).map(|(at, _)| at + 1)
    });
    let reason = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    reader.note(line, ProblemKind::BadTemplate { key: section.path(key), reason: quoted(&reason) });
}

/// Offset of `name` as a word of its own inside the first template tag that holds it.
fn find_in_tags(source: &str, name: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(open) = source[from..].find('{').map(|at| from + at) {
        let close = match source.as_bytes().get(open + 1) {
            Some(b'{') => "}}",
            Some(b'%') => "%}",
            _ => {
                from = open + 1;
                continue;
            }
        };
        let end = source[open..].find(close).map_or(source.len(), |at| open + at);
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        for (at, _) in source[open..end].match_indices(name) {
            let at = open + at;
            let (before, after) = (&source[..at], &source[at + name.len()..]);
            if !is_word(before.chars().next_back()) && !is_word(after.chars().next()) {
                return Some(at);
            }
        }
        from = end;
    }
    None
}

fn list(tools: &ToolTexts, language: &str) -> String {
    let ToolTexts { search, lookup, finish } = tools;
    if language.starts_with("zh") {
        return format!("(1) Search[标题]：{search}\n(2) Lookup[关键词]：{lookup}\n(3) Finish[答案]：{finish}");
    }
    format!("(1) Search[title] {search}\n(2) Lookup[keyword] {lookup}\n(3) Finish[answer] {finish}")
}

fn environment<'a>() -> Environment<'a> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // Placeholders only: a prompt that depends on functions of the engine is hard to read and to cite.
    let globals: Vec<String> = environment.globals().map(|(name, _)| name.to_owned()).collect();
    for name in globals {
        environment.remove_global(&name);
    }
    environment
}

#[cfg(test)]
mod tests {
    use super::{ToolTexts, Values, fill, find_in_tags};

    fn tools() -> ToolTexts {
        ToolTexts { search: "opens.".into(), lookup: "finds.".into(), finish: "ends.".into() }
    }

    #[test]
    fn placeholders_are_filled_in() {
        let tools = tools();
        let values = Values { question_label: "Claim", max_steps: 7, tools: Some(&tools), language: "en" };
        assert_eq!(
            fill("{{ question_label }} in {{ max_steps }} steps:\n{{ tools }}\n\n", values).unwrap(),
            "Claim in 7 steps:\n(1) Search[title] opens.\n(2) Lookup[keyword] finds.\n(3) Finish[answer] ends.\n"
        );
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let values = Values { question_label: "Claim", max_steps: 7, tools: None, language: "en" };
        assert!(fill("{{ tools }}", values).is_err());
        assert!(fill("{{ range(9) }}", values).is_err());
        let loops = "{% for a in question_label %}".repeat(12) + &"{% endfor %}".repeat(12);
        assert!(fill(&loops, values).is_err(), "the engine's work is bounded");
    }

    #[test]
    fn a_name_is_found_as_a_word_inside_a_tag() {
        let source = "steps { {{ max_steps }} {{ steps }}";
        assert_eq!(find_in_tags(source, "steps"), Some(source.rfind("steps").unwrap()));
        assert_eq!(find_in_tags("steps", "steps"), None);
        assert_eq!(find_in_tags("{{ é", "x"), None);
    }
}
