//! Servers of this program: a frozen corpus for other programs, the tool over the Model Context Protocol, and runs for a
//! person's browser. What is answered about a corpus is in `wiki::handlers`; listeners, guards and formats of transport are here.
//!
//! | file | what it holds |
//! |---|---|
//! | `listener` | the address, connections, the end; one line of log for each request |
//! | `guard` | which requests are answered at all, and how many of each client |
//! | `routes` | what is served where |
//! | `reply` | answers as HTTP sends them, and refusals |
//! | `mcp` | the tool over the Model Context Protocol, the only user of its SDK |
//! | `batch` | several messages in one, which one version of that protocol has |
//! | `view` | runs in a browser |

#[cfg(feature = "mcp")]
mod batch;
mod guard;
mod listener;
#[cfg(feature = "mcp")]
mod mcp;
mod reply;
mod routes;
mod view;

pub(crate) use guard::Hosts;
pub(crate) use listener::{Log, Part, ServeError, Server, Settings};
#[cfg(feature = "mcp")]
pub(crate) use mcp::over_stdio;
pub(crate) use view::{Viewing, view};
