//! What a person reads: the plan of a run, its progress, its summary, comparisons, and single episodes.
//!
//! | file | what it holds |
//! |---|---|
//! | `console, sheet` | the terminal; tables and their layouts (terminal, Markdown, LaTeX) |
//! | `plan, progress, summary` | a run before, while and after it runs |
//! | `episodes, trajectory` | lists of episodes; one episode, two side by side, or one as it runs |
//! | `comparison, repair, leaderboard` | variants compared, branches, lists of runs |
//! | `corpus` | a corpus, and how two differ |
//! | `agreement` | judgements of people and models |
//! | `page` | the page in HTML: its data, sections and charts |

pub(crate) mod agreement;
pub(crate) mod comparison;
pub(crate) mod console;
#[cfg(feature = "index")]
pub(crate) mod corpus;
pub(crate) mod episodes;
pub(crate) mod leaderboard;
pub(crate) mod page;
pub(crate) mod paper_table;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod repair;
pub(crate) mod sheet;
pub(crate) mod summary;
pub(crate) mod trajectory;
pub(crate) mod verdict;

pub(crate) use crate::base::text::{counted, thousands, visible};
#[cfg(feature = "index")]
pub(crate) use console::duration;
pub(crate) use console::{View, labelled, wrapped};
pub(crate) use episodes::EpisodeRow;
pub(crate) use progress::Progress;
pub(crate) use summary::{JoinedRow, RunSummary, repeats_json, repeats_tables};
pub(crate) use trajectory::Live;
