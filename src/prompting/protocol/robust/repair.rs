//! The kinds of deviations that are repaired, as listed in a trajectory's `repairs`.
//!
//! Each is counted at most once per step. An unusable reply is not a repair: it is a step with the tool
//! [`Invalid`](crate::base::Tool::Invalid). Only [`ECHOED_PLACEHOLDER`] is counted there too.

/// A `<think>` block before the reply was left out.
pub const THINK_BLOCK: &str = "think_block";
/// Reasoning and markers of `OpenAI`'s harmony format, such as `<|channel|>`, were left out.
pub const CHANNEL_MARKERS: &str = "channel_markers";
/// Marks of a code fence, or tags of a tool call, were left out.
pub const FENCE: &str = "fence";
/// Tags such as `<action>` were left out.
pub const ACTION_TAGS: &str = "action_tags";
/// Text before the thought's label was set aside.
pub const PREAMBLE: &str = "preamble";
/// A label in another case, without its number, with markdown, with a full-width colon, in Chinese, or written twice.
pub const LABEL_FORM: &str = "label_form";
/// A label had the number of another step.
pub const RENUMBERED: &str = "renumbered";
/// Thought or action had no label.
pub const MISSING_LABEL: &str = "missing_label";
/// The thought had several lines.
pub const THOUGHT_LINES: &str = "thought_lines";
/// A thought, although the method has none.
pub const UNASKED_THOUGHT: &str = "unasked_thought";
/// The action was on a line below its label.
pub const ACTION_BELOW: &str = "action_below";
/// The action was `Verb: x`, `Verb(x)`, `Verb "x"`, `Verb [x]`, `Verb【x】`, JSON, or had its argument at `Action Input:`.
pub const ACTION_FORM: &str = "action_form";
/// The action was a native tool call as text: `[TOOL_CALLS][…]`, `<|python_tag|>…`, `to=functions.…`.
pub const NATIVE_CALL: &str = "native_call";
/// Quotes or markdown surrounded the action.
pub const ACTION_MARKS: &str = "action_marks";
/// The action was part of a line of prose.
pub const INLINE_ACTION: &str = "inline_action";
/// A line `Final Answer: x` or `Answer: x` was taken as `Finish[x]`.
pub const ANSWER_LABEL: &str = "answer_label";
/// The answer behind `Final Answer:` or `Action Input:` had several lines, which were joined.
pub const ANSWER_LINES: &str = "answer_lines";
/// The verb was written in another case, in two words, or in Chinese.
pub const VERB_FORM: &str = "verb_form";
/// A bracket was not closed on its line.
pub const UNCLOSED_BRACKET: &str = "unclosed_bracket";
/// Quotes around the whole argument were removed.
pub const ARGUMENT_QUOTES: &str = "argument_quotes";
/// Brackets around the whole argument, inside those of the action, were removed.
pub const DOUBLED_BRACKETS: &str = "doubled_brackets";
/// The argument had several lines.
pub const ARGUMENT_LINES: &str = "argument_lines";
/// An action was not taken, because its argument was a placeholder of the instruction, as in `Search[title]`.
pub const ECHOED_PLACEHOLDER: &str = "echoed_placeholder";
/// An invented observation after the action was set aside.
pub const INVENTED_OBSERVATION: &str = "invented_observation";
/// Further thoughts or actions after the first action were set aside.
pub const LATER_STEP: &str = "later_step";
/// Other text after the action was set aside.
pub const LATER_TEXT: &str = "later_text";

/// All kinds, in the order in which a step's repairs are listed.
pub const ALL: [&str; 26] = [
    THINK_BLOCK,
    CHANNEL_MARKERS,
    FENCE,
    ACTION_TAGS,
    PREAMBLE,
    LABEL_FORM,
    RENUMBERED,
    MISSING_LABEL,
    THOUGHT_LINES,
    UNASKED_THOUGHT,
    ACTION_BELOW,
    ACTION_FORM,
    NATIVE_CALL,
    ACTION_MARKS,
    INLINE_ACTION,
    ANSWER_LABEL,
    ANSWER_LINES,
    VERB_FORM,
    UNCLOSED_BRACKET,
    ARGUMENT_QUOTES,
    DOUBLED_BRACKETS,
    ARGUMENT_LINES,
    ECHOED_PLACEHOLDER,
    INVENTED_OBSERVATION,
    LATER_STEP,
    LATER_TEXT,
];

/// The kinds of one reply's repairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Repairs(u32);

impl Repairs {
    /// Counts a kind, once.
    pub(super) fn note(&mut self, kind: &str) {
        if let Some(at) = ALL.iter().position(|known| *known == kind) {
            self.0 |= 1 << at;
        }
    }

    pub(super) fn note_if(&mut self, applies: bool, kind: &str) {
        if applies {
            self.note(kind);
        }
    }

    pub(super) fn has(self, kind: &str) -> bool {
        self.kinds().any(|noted| noted == kind)
    }

    pub(super) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// The kinds, in the order of [`ALL`].
    pub(super) fn kinds(self) -> impl Iterator<Item = &'static str> {
        ALL.into_iter().enumerate().filter(move |(at, _)| self.0 & (1 << at) != 0).map(|(_, kind)| kind)
    }
}
