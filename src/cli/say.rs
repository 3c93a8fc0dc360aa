//! Messages for people, on standard error.

use std::fmt::Display;
use std::io::Write as _;

/// Writes one message. A terminal that has gone away is no reason to stop.
pub(super) fn say(message: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{message}");
}
