//! What runs left behind, read back: scored episodes, judgements, comparisons, exports and reports.
//!
//! In reading order:
//!
//! | module | what it holds |
//! |---|---|
//! | `results` | runs read back with their scores, joined by question |
//! | [`annotations`], `judges` | judgements of people and of models |
//! | `compare`, `compare_request` | variants on the same questions: differences, intervals, tests, verdicts; what a person compares |
//! | `flip_lists` | answers that flip between variants |
//! | `branch_request`, `repair` | which episodes are branched off; what an edit repairs |
//! | `sample` | which episodes of a run a person judges |
//! | `replay`, `merge` | recorded episodes executed again; one folder from several of a run |
//! | `reproduction` | what is recorded of an experiment beside published figures |
//! | [`export`], `export_job` | a file for each format of other programs; which episodes of which runs go into it |
//! | `report` | tables, pages and charts for people |
//! | `output_file` | which existing file an output may replace |
//! | `scores` | a run's figures with what stands beside them |
//! | `dataset_info`, `fetch` | what a dataset holds, exemplars among its questions; files from public sources |
//! | `live_view` | runs in a browser while they go on |
//!
//! Commands load runs through `results`, and hand what they loaded to the others.

pub mod annotations;
pub(crate) mod branch_request;
pub(crate) mod compare;
pub(crate) mod compare_request;
pub(crate) mod dataset_info;
pub mod export;
pub(crate) mod export_job;
pub(crate) mod fetch;
mod flip_lists;
pub(crate) mod judges;
#[cfg(feature = "serve")]
pub(crate) mod live_view;
mod merge;
pub(crate) mod output_file;
pub(crate) mod repair;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod reproduction;
pub(crate) mod results;
pub(crate) mod sample;
pub(crate) mod scores;

use crate::base::text::visible_line;
pub(crate) use flip_lists::flip_lists;
pub(crate) use merge::{Merged, merge};

/// Takes what a reader should know, a sentence each.
pub(crate) type Notify<'a> = &'a dyn Fn(String);

fn warn(tell: Notify<'_>, warnings: &[String]) {
    for warning in warnings {
        tell(format!("warning: {}", visible_line(warning, 500)));
    }
}

/// The values of each key, in the order in which the keys come first.
fn grouped<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}
