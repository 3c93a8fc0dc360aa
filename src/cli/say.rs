//! Messages for people, on standard error.

use crate::analysis::report::console::stderr;
use std::fmt::Display;
use std::io::Write as _;

/// Writes one message. It does not stop if the terminal is gone.
pub(super) fn say(message: impl Display) {
    // In one piece, so that messages do not mix.
    let _ = stderr().write_all(format!("{message}\n").as_bytes());
}
