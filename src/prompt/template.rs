//! Instructions as templates with placeholders.

use super::texts::{Slotted, Style};
use crate::protocol::numbered::{self, PLACEHOLDERS};

/// Descriptions of the tools; each continues a sentence that begins with the action (`Search[title] …`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTexts {
    pub search: String,
    pub lookup: String,
    pub finish: String,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) question_label: &'a str,
    pub(super) max_steps: usize,
    pub(super) tools: Option<&'a ToolTexts>,
    /// Language of the prompt, for the words inside the brackets.
    pub(super) language: &'a str,
}

/// Fills in an instruction; the error is the reason. The result ends with exactly one line break.
pub(super) fn fill_template(template: &str, values: Values<'_>) -> Result<String, String> {
    let slotted = Slotted::parse(template, Style::Instruction).map_err(|bad| format!("it has {}", bad.reason))?;
    let max_steps = values.max_steps.to_string();
    let tools = values.tools.map(|tools| tool_list(tools, values.language));
    let value = |name: &str| match name {
        "question_label" => Some(values.question_label),
        "max_steps" => Some(max_steps.as_str()),
        "tools" => tools.as_deref(),
        _ => None,
    };
    let text = slotted.fill(value).map_err(|name| format!("the placeholder `{name}` has no value"))?;
    Ok(format!("{}\n", text.trim_end_matches(['\n', '\r'])))
}

pub(super) fn tool_list(tools: &ToolTexts, language: &str) -> String {
    let is_chinese = language.starts_with("zh");
    let texts = [&tools.search, &tools.lookup, &tools.finish];
    let lines = PLACEHOLDERS.iter().zip(texts).enumerate().map(|(at, ((tool, english, chinese), text))| {
        let (word, between) = if is_chinese { (chinese, "：") } else { (english, " ") };
        format!("({}) {}{between}{text}", at + 1, numbered::action(*tool, word))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{ToolTexts, Values, fill_template};

    #[test]
    fn placeholders_are_filled_in() {
        let tools = ToolTexts { search: "opens.".into(), lookup: "finds.".into(), finish: "ends.".into() };
        let values = Values { question_label: "Claim", max_steps: 7, tools: Some(&tools), language: "en" };
        assert_eq!(
            fill_template("{{ question_label }} in {{max_steps}} steps:\n{{ tools }}\n\n", values).unwrap(),
            "Claim in 7 steps:\n(1) Search[title] opens.\n(2) Lookup[keyword] finds.\n(3) Finish[answer] ends.\n"
        );
    }

    #[test]
    fn placeholders_without_a_value_are_refused() {
        let values = Values { question_label: "Claim", max_steps: 7, tools: None, language: "en" };
        assert_eq!(fill_template("{{ tools }}", values).unwrap_err(), "the placeholder `tools` has no value");
        assert!(fill_template("{{ range(9) }}", values).is_err());
    }

    #[test]
    fn nothing_is_computed_and_nothing_grows() {
        let values = Values { question_label: "Claim", max_steps: 7, tools: None, language: "en" };
        let nested = |piece: &str, end: &str| format!("{{{{ {}{end} }}}}", piece.repeat(40_000));
        for template in [
            nested("-", "1"),
            nested("1+", "1"),
            nested("a.", "a"),
            nested("not ", "a"),
            nested("(", "1"),
            "{{ 'x'|indent(3999999999) }}".to_owned(),
            "{% for x in range(99999999) %}x{% endfor %}".to_owned(),
            "{{ max_steps }}".repeat(33),
        ] {
            let reason = fill_template(&template, values).unwrap_err();
            assert!(reason.starts_with("it has ") && reason.len() < 200, "{reason}");
        }
        assert_eq!(fill_template(&"{{ max_steps }}".repeat(32), values).unwrap().len(), 33);
    }
}
