//! The options of a request that a server may refuse.

/// An option of a request to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOption {
    Temperature,
    TopP,
    Seed,
    Stop,
    /// The limit of tokens under the name `max_tokens`, which newer models take under another one.
    MaxTokens,
    /// An answer as a stream.
    Stream,
    /// A count of tokens at the end of a stream.
    StreamUsage,
    /// An answer that is not a stream.
    Whole,
    /// Whether one reply may call several functions.
    ParallelCalls,
    /// Encrypted reasoning, to be sent back with the results of calls.
    Include,
    /// A summary of the reasoning.
    Summary,
    /// Which part of the prompt the provider is to keep for later requests.
    CacheControl,
    /// The reasoning of earlier replies, sent back in the field `reasoning`.
    Thoughts,
    /// The same in the field `reasoning_content`.
    ThoughtsContent,
    /// The same in the field `reasoning_details`.
    ThoughtsDetails,
    /// A message of the model's without `reasoning_content`.
    Thoughtless,
    /// A message of the user's right after the result of a call.
    UserAfterTool,
    /// A call without a signature.
    Unsigned,
}

impl RequestOption {
    pub const ALL: [Self; 18] = [
        Self::Temperature,
        Self::TopP,
        Self::Seed,
        Self::Stop,
        Self::MaxTokens,
        Self::Stream,
        Self::StreamUsage,
        Self::Whole,
        Self::ParallelCalls,
        Self::Include,
        Self::Summary,
        Self::CacheControl,
        Self::Thoughts,
        Self::ThoughtsContent,
        Self::ThoughtsDetails,
        Self::Thoughtless,
        Self::UserAfterTool,
        Self::Unsigned,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::TopP => "top_p",
            Self::Seed => "seed",
            Self::Stop => "stop",
            Self::MaxTokens => "max_tokens",
            Self::Stream => "stream",
            Self::StreamUsage => "stream_options",
            Self::Whole => "whole",
            Self::ParallelCalls => "parallel_tool_calls",
            Self::Include => "include",
            Self::Summary => "reasoning.summary",
            Self::CacheControl => "cache_control",
            Self::Thoughts => "messages.reasoning",
            Self::ThoughtsContent => "messages.reasoning_content",
            Self::ThoughtsDetails => "messages.reasoning_details",
            Self::Thoughtless => "messages without reasoning_content",
            Self::UserAfterTool => "a user after a tool",
            Self::Unsigned => "calls without a signature",
        }
    }
}

/// A set of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestOptions(u32);

impl RequestOptions {
    /// The settings by which a model chooses its words, the stops, what decides about costs, and what the model sees of its
    /// earlier reasoning: what a person should know if it is not sent.
    pub fn notable() -> Self {
        use RequestOption::{CacheControl, Seed, Stop, Temperature, Thoughts, ThoughtsContent, ThoughtsDetails, TopP};
        let thoughts = [Thoughts, ThoughtsContent, ThoughtsDetails];
        [Temperature, TopP, Seed, Stop, CacheControl].into_iter().chain(thoughts).collect()
    }

    pub fn contains(self, option: RequestOption) -> bool {
        self.0 & Self::bit(option) != 0
    }

    pub fn insert(&mut self, option: RequestOption) {
        self.0 |= Self::bit(option);
    }

    /// The options that are in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The options that are in either.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The options that are not in `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub fn iter(self) -> impl Iterator<Item = RequestOption> {
        RequestOption::ALL.into_iter().filter(move |option| self.contains(*option))
    }

    /// The names of the options, in a fixed order.
    pub fn names(self) -> Vec<&'static str> {
        self.iter().map(RequestOption::name).collect()
    }

    fn bit(option: RequestOption) -> u32 {
        1 << option as u8
    }
}

impl FromIterator<RequestOption> for RequestOptions {
    fn from_iter<I: IntoIterator<Item = RequestOption>>(options: I) -> Self {
        let mut set = Self::default();
        options.into_iter().for_each(|option| set.insert(option));
        set
    }
}

/// The options for which the condition beside them holds.
impl<const N: usize> From<[(RequestOption, bool); N]> for RequestOptions {
    fn from(options: [(RequestOption, bool); N]) -> Self {
        options.into_iter().filter_map(|(option, holds)| holds.then_some(option)).collect()
    }
}
