//! What runs left behind, read back: scored episodes, judgements, comparisons, exports and reports.

pub mod annotations;
mod branch;
pub(crate) mod compare;
pub mod export;
mod flipped;
pub(crate) mod judges;
#[cfg(feature = "serve")]
pub(crate) mod live_view;
mod merge;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod reproduction;
pub(crate) mod results;

pub(crate) use branch::Paths;
pub(crate) use flipped::flip_lists;
pub(crate) use merge::{Merged, merge};
