//! Which shards of a run lack episodes.

use super::error::RunError;
use super::plan;
use crate::store::{Records, RunFolder};
use crate::types::{Manifest, Shard};
use serde::Serialize;
use std::collections::HashSet;

/// A shard that is not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UnfinishedShard {
    pub shard: Shard,
    /// Episodes that it is to have.
    pub planned: u64,
    /// Those that are recorded, in whatever file.
    pub recorded: u64,
}

/// The shards that are not complete. None where the run was not split, or in several ways, or does not hold its questions.
pub(super) fn unfinished(
    folder: &RunFolder,
    manifest: &Manifest,
    records: &Records,
) -> Result<Vec<UnfinishedShard>, RunError> {
    let shards: Vec<Shard> = folder.shards()?.iter().map(|record| record.shard).collect();
    let Some(&one) = shards.first().filter(|one| shards.iter().all(|shard| shard.count() == one.count())) else {
        return Ok(Vec::new());
    };
    let Some(questions) = folder.questions(None)? else { return Ok(Vec::new()) };
    let questions = questions.collect::<Result<Vec<_>, _>>()?;
    let recorded: HashSet<&str> = records.keys().map(|(key, ..)| key).collect();
    let counts = plan::by_shard(questions, manifest, one, |key| recorded.contains(key));
    let all = counts.into_iter().map(|(shard, (planned, recorded))| UnfinishedShard { shard, planned, recorded });
    Ok(all.filter(|shard| shard.recorded < shard.planned).collect())
}
