//! HTTP servers of this program, without what they serve: a caller brings its routes.
//!
//! | file | what it holds |
//! |---|---|
//! | `listener` | the address, connections, the end; one line of log for each request |
//! | `guard` | which requests are answered at all, and how many of each client |
//! | `reply` | answers as HTTP sends them, and refusals |

mod guard;
mod listener;
pub(crate) mod reply;

pub(crate) use guard::{Base, Hosts};
#[cfg(test)]
pub(crate) use listener::LogEntry;
pub(crate) use listener::{LONGEST_ANSWER, Log, LogSettings, ServeError, Server, Settings};
pub(crate) use reply::Refusal;
