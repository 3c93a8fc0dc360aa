//! A frozen corpus for other programs: the parts of `MediaWiki` that they call, and Search-R1's `/retrieve`.
//!
//! | file | what it holds |
//! |---|---|
//! | `server` | the address, connections, the end |
//! | `guard` | which requests are answered at all |
//! | `log` | one line for each request, without its texts |
//! | `shelf` | the corpus and how many searches it makes at once |
//! | `reply` | answers and refusals |
//! | `mediawiki` | the Action API, search page, articles and REST, as clients of Wikipedia call them |
//! | `retrieve` | Search-R1's retriever |

mod guard;
mod log;
mod mediawiki;
mod reply;
mod retrieve;
mod server;
mod shelf;

pub(crate) use guard::Hosts;
pub(crate) use log::Log;
pub(crate) use server::{Part, ServeError, Server, Settings};
