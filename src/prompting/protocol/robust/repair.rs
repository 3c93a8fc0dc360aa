//! The kinds of deviations that are repaired, as listed in a trajectory's `repairs`.
//!
//! Each is counted at most once per step. An unusable reply is not a repair: it is a step with the tool
//! [`Invalid`](crate::base::Tool::Invalid). Only [`ECHOED_PLACEHOLDER`] is counted there too.

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $kind:literal,)*) => {
        $($(#[$doc])* pub const $name: &str = $kind;)*

        /// All kinds, in the order in which a step's repairs are listed.
        pub const ALL: [&str; 26] = [$($name),*];
    };
}

kinds! {
    /// A `<think>` block before the reply was left out.
    THINK_BLOCK = "think_block",
    /// Reasoning and markers of `OpenAI`'s harmony format, such as `<|channel|>`, were left out.
    CHANNEL_MARKERS = "channel_markers",
    /// Marks of a code fence, or tags of a tool call, were left out.
    FENCE = "fence",
    /// Tags such as `<action>` were left out.
    ACTION_TAGS = "action_tags",
    /// Text before the thought's label was set aside.
    PREAMBLE = "preamble",
    /// A label in another case, without its number, with markdown, with a full-width colon, in Chinese, or written twice.
    LABEL_FORM = "label_form",
    /// A label had the number of another step.
    RENUMBERED = "renumbered",
    /// Thought or action had no label.
    MISSING_LABEL = "missing_label",
    /// The thought had several lines.
    THOUGHT_LINES = "thought_lines",
    /// A thought, although the method has none.
    UNASKED_THOUGHT = "unasked_thought",
    /// The action was on a line below its label.
    ACTION_BELOW = "action_below",
    /// The action was `Verb: x`, `Verb(x)`, `Verb "x"`, `Verb [x]`, `Verb【x】`, JSON, or had its argument at `Action Input:`.
    ACTION_FORM = "action_form",
    /// The action was a native tool call as text: `[TOOL_CALLS][…]`, `<|python_tag|>…`, `to=functions.…`.
    NATIVE_CALL = "native_call",
    /// Quotes or markdown surrounded the action.
    ACTION_MARKS = "action_marks",
    /// The action was part of a line of prose.
    INLINE_ACTION = "inline_action",
    /// A line `Final Answer: x` or `Answer: x` was taken as `Finish[x]`.
    ANSWER_LABEL = "answer_label",
    /// The answer behind `Final Answer:` or `Action Input:` had several lines, which were joined.
    ANSWER_LINES = "answer_lines",
    /// The verb was written in another case, in two words, or in Chinese.
    VERB_FORM = "verb_form",
    /// A bracket was not closed on its line.
    UNCLOSED_BRACKET = "unclosed_bracket",
    /// Quotes around the whole argument were removed.
    ARGUMENT_QUOTES = "argument_quotes",
    /// Brackets around the whole argument, inside those of the action, were removed.
    DOUBLED_BRACKETS = "doubled_brackets",
    /// The argument had several lines.
    ARGUMENT_LINES = "argument_lines",
    /// An action was not taken, because its argument was a placeholder of the instruction, as in `Search[title]`.
    ECHOED_PLACEHOLDER = "echoed_placeholder",
    /// An invented observation after the action was set aside.
    INVENTED_OBSERVATION = "invented_observation",
    /// Further thoughts or actions after the first action were set aside.
    LATER_STEP = "later_step",
    /// Other text after the action was set aside.
    LATER_TEXT = "later_text",
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Repairs(u32);

impl Repairs {
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

    pub(super) fn kinds(self) -> impl Iterator<Item = &'static str> {
        ALL.into_iter().enumerate().filter(move |(at, _)| self.0 & (1 << at) != 0).map(|(_, kind)| kind)
    }
}
