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
//! | `asked` | a request in canonical form, and its key |
//! | `scope` | the episode that makes a request, and the count of its occurrences |
//! | `line` | the lines of a recording |
//! | `lines` | appending lines, locked and synced |
//! | `own_file` | opening files that this program writes, without following links, and members of folders |
//! | `recorder` | appending to a recording |
//! | `player` | reading: an index in memory, answers on demand |
//! | `miss` | the nearest recorded request, and the first difference |
//! | `cache` | answers in a database, for reuse by later runs |
//! | `wrapped` | what the wrappers of models and of sources have in common |
//! | `writer` | a thread that writes and syncs in batches |

mod asked;
mod cache;
mod error;
mod line;
mod lines;
mod miss;
mod own_file;
mod player;
mod recorder;
mod scope;
mod wrapped;
mod writer;

pub use asked::{CanonicalRequest, Kind};
pub use cache::{Cache, CacheCounts, Slot};
pub use error::TapeError;
pub(crate) use lines::{FileError, LineFile};
pub use miss::{Miss, Nearest, Why};
pub(crate) use own_file::{
    FolderBeside, Inside, NOT_OWN_HINT, TEMPORARY, check_own, create_beside, create_own_folder, is_hidden, is_not_own,
    machine, open_own, read_own, signature,
};
pub use player::Player;
pub(crate) use recorder::sync_folder;
pub use recorder::{Place, Recorder};
pub use scope::{in_episode, in_sample};
pub use wrapped::Wrapped;
pub(crate) use writer::Writer;

#[cfg(test)]
mod tests;
