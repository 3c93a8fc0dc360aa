//! Prompting methods, and the language that the tool answers in.

use super::named;
use serde::{Deserialize, Serialize};

named! {
    /// A prompting method of the `ReAct` paper.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Method {
        /// The answer at once.
        #[serde(rename = "standard")]
        Standard = "standard",
        /// Reasoning, then the answer.
        #[serde(rename = "cot")]
        Cot = "cot",
        /// The majority of sampled chains of reasoning.
        #[serde(rename = "cot-sc")]
        CotSc = "cot-sc",
        /// Actions and observations without thoughts.
        #[serde(rename = "act")]
        Act = "act",
        /// Thoughts, actions and observations.
        #[serde(rename = "react")]
        React = "react",
        /// [`Method::CotSc`]; where its majority is too small, [`Method::React`].
        #[serde(rename = "cot-sc->react")]
        CotScThenReact = "cot-sc->react",
        /// [`Method::React`]; where it gives no answer within its steps, [`Method::CotSc`].
        #[serde(rename = "react->cot-sc")]
        ReactThenCotSc = "react->cot-sc",
    }
}

impl Method {
    /// The name on the command line. Records have `->` in it, which a shell would take for a redirection.
    pub const fn typed(self) -> &'static str {
        match self {
            Self::ReactThenCotSc => "react-cot-sc",
            Self::CotScThenReact => "cot-sc-react",
            other => other.name(),
        }
    }

    /// The method of that name, as `--method` or a record has it.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| [method.name(), method.typed()].contains(&name))
    }

    /// The part that uses tools, [`Method::Act`] or [`Method::React`]; none for direct methods.
    pub fn agent(self) -> Option<Self> {
        match self {
            Self::Act => Some(Self::Act),
            Self::React | Self::ReactThenCotSc | Self::CotScThenReact => Some(Self::React),
            Self::Standard | Self::Cot | Self::CotSc => None,
        }
    }

    /// The part that answers without tools, [`Method::Standard`] or [`Method::Cot`]; none for agents.
    pub fn direct(self) -> Option<Self> {
        match self {
            Self::Standard => Some(Self::Standard),
            Self::Cot | Self::CotSc | Self::ReactThenCotSc | Self::CotScThenReact => Some(Self::Cot),
            Self::Act | Self::React => None,
        }
    }

    /// Whether samples are drawn and a majority decides.
    pub fn votes(self) -> bool {
        matches!(self, Self::CotSc | Self::ReactThenCotSc | Self::CotScThenReact)
    }
}

/// How a vote over sampled answers is held. The defaults are the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voting {
    /// Samples drawn, 1 or more.
    pub samples: u32,
    /// Sampling temperature of each, 0 to 2.
    pub temperature: f64,
    /// Share of the samples that the majority must have, 0 to 1; with less, `cot-sc-react` asks the agent.
    pub majority: f64,
}

impl Default for Voting {
    /// 21 samples at temperature 0.7; a majority has at least half of them.
    fn default() -> Self {
        Self { samples: 21, temperature: 0.7, majority: 0.5 }
    }
}

/// Language of the Wikipedia tool's own messages; what pages say is as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wording {
    /// The paper's messages.
    #[default]
    English,
    /// Those of the simplified Chinese script.
    Chinese,
}

impl Wording {
    /// Whether it is the paper's own; what is usual is not written down.
    pub fn is_english(&self) -> bool {
        *self == Self::English
    }
}
