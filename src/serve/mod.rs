//! Servers of this program. A frozen corpus for other programs: the parts of `MediaWiki` that they call, Search-R1's `/retrieve`, and
//! the tool over the Model Context Protocol. And runs for a person's browser.
//!
//! | file | what it holds |
//! |---|---|
//! | `server` | the address, connections, the end |
//! | `guard` | which requests are answered at all |
//! | `clients` | how much each client may ask |
//! | `log` | one line for each request, with its texts only if that is asked for |
//! | `shelf` | the corpus and how many searches it makes at once |
//! | `reply` | answers and refusals |
//! | `mediawiki` | the Action API, search page, articles and REST, as clients of Wikipedia call them |
//! | `retrieve` | Search-R1's retriever |
//! | `mcp` | the tool over the Model Context Protocol, the only user of its SDK |
//! | `batch` | several messages in one, which one version of that protocol has |
//! | `tools` | what the tool of MCP does |
//! | `view` | runs in a browser |
//! | `handle` | the state of a session, in the hands of the client |

#[cfg(feature = "mcp")]
mod batch;
mod clients;
mod guard;
#[cfg(feature = "mcp")]
mod handle;
mod log;
#[cfg(feature = "mcp")]
mod mcp;
mod mediawiki;
mod reply;
mod retrieve;
mod server;
mod shelf;
#[cfg(feature = "mcp")]
mod tools;
mod view;

pub(crate) use guard::Hosts;
pub(crate) use log::Log;
#[cfg(feature = "mcp")]
pub(crate) use mcp::over_stdio;
pub(crate) use server::{Part, ServeError, Server, Settings};
pub(crate) use view::{Viewing, view};
