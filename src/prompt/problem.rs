//! What can be wrong inside a prompt file.

use super::problems::Fault;

/// The kinds of problems. Keys are written as a path, such as `exemplar[2].step[1].action` (counted from 1).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProblemKind {
    /// The file is not TOML.
    #[error("not valid TOML: {0}")]
    NotToml(String),
    /// A key that no prompt file has.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// The key, with the table it stands in.
        key: String,
        /// The known key that looks most like it.
        suggestion: Option<&'static str>,
    },
    /// A key that every prompt file needs.
    #[error("missing key `{0}`")]
    MissingKey(String),
    /// A value of another type.
    #[error("`{key}` must be {expected}, but is {found}")]
    WrongType {
        /// The key.
        key: String,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A text without content.
    #[error("`{0}` is empty")]
    Empty(String),
    /// A text that must stay on one line does not.
    #[error("`{0}` holds a line break")]
    LineBreak(String),
    /// A question label that no protocol knows.
    #[error("unknown question_label `{label}`, must be `Question` or `Claim`")]
    UnknownLabel {
        /// The label.
        label: String,
        /// The known label that looks most like it.
        suggestion: Option<&'static str>,
    },
    /// An instruction names a placeholder that does not exist.
    #[error("unknown placeholder `{name}` in `{key}`")]
    UnknownPlaceholder {
        /// The placeholder's name.
        name: String,
        /// The instruction's key.
        key: String,
        /// The known placeholder that looks most like it.
        suggestion: Option<&'static str>,
    },
    /// An instruction whose template does not parse or cannot be filled in.
    #[error("`{key}` is not a usable template: {reason}")]
    BadTemplate {
        /// The instruction's key.
        key: String,
        /// The template engine's reason.
        reason: String,
    },
    /// An instruction wants the tools, but the file does not describe them.
    #[error("`{0}` uses the placeholder `tools`, but the file has no [tools]")]
    NoTools(String),
    /// An action that no tool understands.
    #[error("`{key}` is not an action: `{action}`")]
    BadAction {
        /// The step's key.
        key: String,
        /// The action.
        action: String,
    },
    /// The last step does not finish.
    #[error("the last step's action `{action}` is not `Finish[…]` (`{key}`)")]
    NoFinish {
        /// The step's key.
        key: String,
        /// The action.
        action: String,
    },
    /// A step finishes before the last one.
    #[error("`{0}` finishes, but steps follow")]
    EarlyFinish(String),
    /// The last step has an observation.
    #[error("`{0}` is never shown: the step finishes the exemplar")]
    ObservationAfterFinish(String),
    /// The finish gives another answer than the exemplar.
    #[error("`{key}` finishes with `{finished}`, but the exemplar's answer is `{answer}`")]
    AnswerDiffers {
        /// The step's key.
        key: String,
        /// The answer of the finish.
        finished: String,
        /// The answer of the exemplar.
        answer: String,
    },
    /// A protocol's text has a slot that the protocol does not fill.
    #[error("unknown slot `{name}` in `{key}`")]
    UnknownSlot {
        /// The slot's name.
        name: String,
        /// The text's key.
        key: String,
        /// The known slot that looks most like it.
        suggestion: Option<&'static str>,
        /// The slots that the text may have.
        slots: String,
    },
    /// A slot that a protocol's text must have once.
    #[error("`{key}` must have the slot `{slot}` once, but has it {count} times")]
    SlotCount {
        /// The text's key.
        key: String,
        /// The slot's name.
        slot: &'static str,
        /// How often it stands there.
        count: usize,
    },
    /// Braces in a protocol's text that are no slot.
    #[error("`{key}` has {reason}")]
    BadSlot {
        /// The text's key.
        key: String,
        /// What is there.
        reason: String,
    },
    /// A protocol's text does not end as its loop needs it.
    #[error("`{key}` must end with \"{ending}\"")]
    Ending {
        /// The text's key.
        key: String,
        /// The ending, escaped.
        ending: String,
    },
    /// An exemplar without steps.
    #[error("`{0}` has no steps")]
    NoSteps(String),
    /// Two exemplars with one question.
    #[error("`{key}` repeats the question of line {first_line}")]
    DuplicateQuestion {
        /// The exemplar's key.
        key: String,
        /// Line of the question's first occurrence.
        first_line: usize,
    },
}

impl Fault for ProblemKind {
    const KEY_BY_KEY: &'static str = "prompts/README.md explains the file key by key";

    fn hint(&self) -> String {
        match self {
            Self::UnknownKey { suggestion: Some(known), .. }
            | Self::UnknownLabel { suggestion: Some(known), .. }
            | Self::UnknownPlaceholder { suggestion: Some(known), .. }
            | Self::UnknownSlot { suggestion: Some(known), .. } => format!("did you mean `{known}`?"),
            Self::UnknownPlaceholder { .. } => {
                "an instruction may use {{ question_label }}, {{ max_steps }} and {{ tools }}".into()
            }
            Self::UnknownSlot { slots, .. } if slots.is_empty() => "this text has no slots".into(),
            Self::UnknownSlot { slots, .. } => format!("this text may have the slots {slots}"),
            Self::SlotCount { slot, .. } => format!("write {{{slot}}} where it is to stand"),
            Self::Ending { .. } => "put the closing quotes right behind it, without a line break".into(),
            Self::MissingKey(key) if key == "exemplar" => {
                "add [[exemplar]] blocks, or write `exemplar = []` for a prompt without examples".into()
            }
            Self::LineBreak(_) => "keep it on one line; a backslash at a line's end joins it to the next".into(),
            Self::BadAction { .. } => "write Search[…], Lookup[…] or Finish[…], and nothing after it".into(),
            Self::NoFinish { .. } => "end every exemplar with Finish[answer]".into(),
            Self::AnswerDiffers { .. } => "the two must be the same text".into(),
            Self::NoTools(_) => "add [tools] with search, lookup and finish".into(),
            Self::ObservationAfterFinish(_) => "leave the observation of the last step out".into(),
            _ => Self::KEY_BY_KEY.into(),
        }
    }
}
