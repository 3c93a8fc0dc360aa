//! The episode that makes a request, and how often it made the same request before.
//!
//! The scope is task-local rather than an argument of every function between an episode and its requests: nothing but a
//! recording or a cache may depend on it.

use super::asked::{Digest, sha256};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

tokio::task_local! {
    static SCOPE: Scope;
}

/// An episode, or one sample of its vote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Scope {
    episode: String,
    /// Which repeat of the question the episode is, from 0.
    pub(super) repeat: u32,
    /// Which sample of a vote, from 0.
    pub(super) sample: Option<u32>,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} repeat {}", self.episode, self.repeat)?;
        self.sample.map_or(Ok(()), |sample| write!(f, " sample {sample}"))
    }
}

/// Runs `future` as an episode, whose requests are counted separately.
///
/// `episode` names variant and question, and must be the same in a replay.
pub fn in_episode<F: Future>(episode: String, repeat: u32, future: F) -> impl Future<Output = F::Output> {
    SCOPE.scope(Scope { episode, repeat, sample: None }, future)
}

/// Runs `future` as a sample (from 0) of the current episode.
pub fn in_sample<F: Future>(sample: u32, future: F) -> impl Future<Output = F::Output> {
    SCOPE.scope(Scope { sample: Some(sample), ..current_scope().unwrap_or_default() }, future)
}

/// The scope of the current task.
pub(super) fn current_scope() -> Option<Scope> {
    SCOPE.try_with(Clone::clone).ok()
}

/// Counts the occurrences of each request in each scope.
#[derive(Debug, Default)]
pub(super) struct Counter {
    /// By half a digest of scope and request, which is enough to distinguish them.
    asked: Mutex<HashMap<[u8; 16], u32>>,
}

impl Counter {
    /// How often this was requested before: 0 the first time.
    pub(super) fn next(&self, digest: &Digest, scope: &str) -> u32 {
        let whole = sha256([digest.as_slice(), scope.as_bytes()]);
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let count = asked.entry(half).or_default();
        let before = *count;
        *count = count.saturating_add(1);
        before
    }
}
