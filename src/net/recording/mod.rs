//! Requests and their answers on disk: recordings that are replayed, and a cache.
//!
//! A recording is a file of JSON lines: a header, and one request with its answer per line.
//!
//! ```text
//! {"v":1,"tape":"wikitrail"}
//! {"v":1,"kind":"model","key":"<sha256>","request":{…},"n":0,"scope":"main/q1 repeat 0","answer":{…}}
//! ```
//!
//! `key` is the digest of kind and request. A request may have several answers, such as the samples of a vote: `scope`
//! names the episode that made it (absent outside episodes), and `n` counts its earlier occurrences in that scope, from
//! 0 in every process. A later line replaces an earlier one with the same key, scope and `n`, so an episode that is
//! repeated after a crash replaces its first attempt. Since scopes count separately, a replay does not depend on the
//! order in which episodes run.
//!
//! | file | what it holds |
//! |---|---|
//! | `line` | a request in canonical form with its key, the episode that makes it, and the lines of a recording |
//! | `recorder` | appending to a recording, locked and synced in batches; the wrapper of models and sources |
//! | `player` | reading: an index in memory, answers on demand, and for a miss the nearest recorded request |
//! | `cache` | answers in a database, for reuse by later runs |
//! | `own_file` | opening files that this program writes, without following links, and members of folders |
//! | `error` | why a recording or a cache cannot be used, with hints |
//!
//! `models` and `wikipedia` wrap their models and sources; `runner::store` opens and appends a run's files by the same means.

mod cache;
pub(crate) mod error;
mod line;
mod own_file;
mod player;
mod recorder;

pub use cache::{Cache, CacheCounts};
pub(crate) use error::FileError;
pub use error::{Kind, TapeError};
pub use line::{CanonicalRequest, in_episode, in_sample};
#[cfg(feature = "serve")]
pub(crate) use own_file::create_private_beside;
pub(crate) use own_file::{
    FolderBeside, Inside, NOT_OWN_HINT, TEMPORARY, check_own, create_beside, create_own_folder, is_hidden, is_not_own,
    machine, open_own, read_own, signature,
};
pub use player::Player;
pub(crate) use recorder::{LineFile, Writer, sync_folder};
pub use recorder::{Recorder, Wrapped};

#[cfg(test)]
mod tests;
