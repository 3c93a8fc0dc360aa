//! The texts of each protocol and their slots.

use super::slots::Style;

/// The texts of one protocol.
#[derive(Debug)]
pub(super) struct SectionForm {
    /// Name of the section: the protocol's id, with a suffix for forms of it.
    pub(super) id: &'static str,
    pub(super) keys: &'static [KeyForm],
}

#[derive(Debug)]
pub(in crate::prompt) struct KeyForm {
    pub(super) name: &'static str,
    pub(super) needed: bool,
    pub(super) style: Style,
    pub(super) slots: &'static [&'static str],
    /// The slot that it must have exactly once.
    pub(super) must: Option<&'static str>,
    pub(super) ending: &'static str,
    /// Whether a user's file without it has ours.
    pub(super) ours: bool,
}

impl KeyForm {
    const fn new(name: &'static str, slots: &'static [&'static str]) -> Self {
        Self { name, needed: true, style: Style::Python, slots, must: None, ending: "", ours: false }
    }

    /// The instruction of a method in a prompt file.
    pub(in crate::prompt) const fn instruction(method: &'static str) -> Self {
        Self { style: Style::Instruction, ..Self::new(method, &["question_label", "max_steps", "tools"]) }
    }

    const fn optional(self) -> Self {
        Self { needed: false, ..self }
    }

    /// A sentence for an occasion. Ours is used where a file has none, and English ones are the protocol's own.
    const fn said(name: &'static str, slots: &'static [&'static str]) -> Self {
        Self { ours: true, ..Self::new(name, slots).optional() }
    }
}

/// The ending of a template, where the model continues.
pub(in crate::prompt) const TEMPLATE_ENDING: &str = "\nThought: ";

/// What the protocol of native tool calls says; both its sections have these keys.
const TOOL_CALLS: &[KeyForm] = &[
    KeyForm::new("system", &["task", "max_steps"]),
    KeyForm::new("feedback", &["error"]),
    KeyForm::new("no_call", &[]),
    KeyForm::new("force_stop", &[]),
    KeyForm::said("unknown_tool", &["tool", "tools"]),
    KeyForm::said("not_json", &[]),
    KeyForm::said("unknown_argument", &["argument"]),
    KeyForm::said("missing_argument", &["argument"]),
    KeyForm::said("extra_call", &[]),
];

pub(super) const FORMS: [SectionForm; 8] = [
    SectionForm {
        id: "qwen-agent",
        keys: &[
            KeyForm {
                must: Some("query"),
                ending: TEMPLATE_ENDING,
                ..KeyForm::new("template", &["task", "tool_descs", "tool_names", "examples", "query"])
            },
            KeyForm::new("system", &["task"]).optional(),
            KeyForm::new("args_format", &[]).optional(),
            KeyForm::said("unknown_argument", &["tool", "parameter", "argument"]),
            KeyForm::said("missing_argument", &["tool", "parameter"]),
        ],
    },
    SectionForm {
        id: "llama-index",
        keys: &[
            KeyForm::new("system", &["task", "tool_desc", "tool_names", "context_prompt"]),
            KeyForm { must: Some("context"), ..KeyForm::new("context", &["context"]) }.optional(),
            KeyForm::new("feedback", &["error"]),
            KeyForm::new("empty_reply", &[]),
            KeyForm::new("force_stop", &["max_steps", "max_iterations"]),
            KeyForm::said("unknown_argument", &["tool", "parameter", "argument"]),
            KeyForm::said("missing_argument", &["tool", "parameter"]),
        ],
    },
    SectionForm {
        id: "go-blog",
        keys: &[
            KeyForm { style: Style::Go, ..KeyForm::new("system", &["Background", "ToolDesc", "ToolNames"]) },
            KeyForm::new("feedback", &["error"]),
            KeyForm::said("unknown_tool", &["tool", "tools"]),
            KeyForm::said("no_action", &[]),
            KeyForm::said("bad_call", &[]),
            KeyForm::said("bad_answer", &[]),
            KeyForm::said("not_json", &[]),
            KeyForm::said("unknown_argument", &["argument"]),
            KeyForm::said("missing_argument", &["argument"]),
        ],
    },
    SectionForm {
        id: "lagent",
        keys: &[
            KeyForm::new(
                "system",
                &[
                    "task",
                    "tool_description",
                    "action_names",
                    "thought",
                    "action",
                    "action_input",
                    "response",
                    "finish",
                ],
            ),
            KeyForm::new("force_stop", &[]),
        ],
    },
    SectionForm {
        id: "lagent-json",
        keys: &[
            KeyForm::new("system", &["task", "tool_description", "action_names"]),
            KeyForm::new("force_stop", &[]).optional(),
        ],
    },
    SectionForm { id: "tool-calls", keys: TOOL_CALLS },
    SectionForm { id: "tool-calls-text", keys: TOOL_CALLS },
    SectionForm {
        id: "robust",
        keys: &[
            KeyForm::new("feedback", &["error", "n"]),
            KeyForm::new("force_stop", &[]),
            KeyForm::said("reply_empty", &[]),
            KeyForm::said("reply_cut", &[]),
            KeyForm::said("no_action", &[]),
            KeyForm::said("unknown_tool", &["tool"]),
            KeyForm::said("no_argument", &["tool"]),
            KeyForm::said("empty_argument", &["tool"]),
            KeyForm::said("placeholder", &[]),
            KeyForm::said("not_json", &[]),
            KeyForm::said("several_actions", &[]),
        ],
    },
];

pub(super) fn of(section: &str) -> Option<&'static SectionForm> {
    FORMS.iter().find(|form| form.id == section)
}
