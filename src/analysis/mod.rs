//! What runs left behind, read back: scored episodes, judgements, comparisons, exports and reports.

pub mod annotations;
pub(crate) mod compare;
pub mod export;
pub(crate) mod judges;
#[cfg(feature = "serve")]
pub(crate) mod live_view;
mod merge;
pub(crate) mod report;
pub(crate) mod results;

pub(crate) use merge::{Merged, merge};
