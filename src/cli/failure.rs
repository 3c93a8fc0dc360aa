//! Exit codes, and errors that carry one together with a hint.

use crate::runner::{ErrorKind, RunError, chain, classify};
use std::fmt;

pub(super) const OK: u8 = 0;
/// Something unexpected: a full disk, a locked run, a fault.
pub(super) const UNEXPECTED: u8 = 1;
pub(super) const USAGE: u8 = 2;
/// An input file, a prompt or a run's folder is not what it should be.
pub(super) const BAD_INPUT: u8 = 3;
/// The run finished, but some episodes were not measured; or a model that was checked did not answer.
pub(super) const NOT_MEASURED: u8 = 4;
/// A replay or a comparison found a difference.
pub(super) const DIFFERENCE: u8 = 5;
/// Interrupted; every finished episode is kept.
pub(super) const INTERRUPTED: u8 = 130;

/// Errors of the command line, by who has to act on them.
#[derive(Debug)]
pub(super) struct Failure;

impl Failure {
    pub(super) fn usage(message: impl fmt::Display, hint: impl Into<String>) -> anyhow::Error {
        RunError::usage(message, hint).into()
    }

    pub(super) fn bad_input(message: impl fmt::Display, hint: impl Into<String>) -> anyhow::Error {
        RunError::input(message, hint).into()
    }

    pub(super) fn unexpected(message: impl fmt::Display, hint: impl Into<String>) -> anyhow::Error {
        RunError::unexpected(message, hint).into()
    }
}

/// Exit code and printed form of an error: its chain on one line, then its hint.
pub(super) fn explain(error: &anyhow::Error) -> (u8, String) {
    if error.chain().any(is_broken_pipe) {
        return (OK, String::new());
    }
    let (kind, hint) = error.chain().find_map(classify).unwrap_or((ErrorKind::Unexpected, None));
    let hint = hint.unwrap_or_else(|| "run with --help to see what the command takes".to_owned());
    let code = match kind {
        ErrorKind::Usage => USAGE,
        ErrorKind::Input => BAD_INPUT,
        ErrorKind::Unexpected => UNEXPECTED,
    };
    (code, format!("error: {}\nhint: {hint}", chain(error.as_ref())))
}

/// Whoever read our output has read enough, as `head` does; that is not a failure.
fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
