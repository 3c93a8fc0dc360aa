//! Requests and their answers on disk: a tape that is recorded and replayed, and a cache.
//!
//! A tape is a file of JSON lines. The first says what it is; each other line is one request with its answer:
//!
//! ```text
//! {"v":1,"tape":"wikitrail"}
//! {"v":1,"kind":"model","key":"<sha256>","request":{…},"n":0,"scope":"main/q1 repeat 0","answer":{…}}
//! ```
//!
//! `key` is the digest of kind and request. The same request may be answered many times, and no answer may stand for
//! another: samples of a vote would otherwise all be one. `scope` says which episode asked (absent where none did), and
//! `n` how often it had asked the same before, from 0. Counting begins at 0 in every process, and a later line replaces
//! an earlier one of the same place: an episode that is done again after a crash is recorded again over its first
//! attempt. Within a scope requests have an order of their own, so a replay does not depend on which of many
//! episodes happens to be first.
//!
//! | file | what it holds |
//! |---|---|
//! | `asked` | a request in its one spelling, and its key |
//! | `scope` | who asks, and how often the same was asked before |
//! | `line` | the lines of a tape |
//! | `recorder` | appending, locked and synced |
//! | `player` | reading back: an index in memory, answers on demand |
//! | `miss` | the nearest recorded request, and where it differs |
//! | `cache` | answers in a database, to be used again by later runs |
//! | `writer` | one thread that writes what many wait for |

mod asked;
mod cache;
mod error;
mod line;
mod miss;
mod player;
mod recorder;
mod scope;
mod writer;

pub use asked::{Asked, Kind};
pub use cache::{Cache, CacheCounts, Slot};
pub use error::TapeError;
pub use miss::{Miss, Nearest, Why};
pub use player::Player;
pub use recorder::{Place, Recorder};
pub use scope::{in_episode, in_sample};

#[cfg(test)]
mod tests;
