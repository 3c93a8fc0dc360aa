//! Exit codes, and errors that carry one together with a hint.

use crate::dataset::{DatasetError, SelectionError};
use crate::experiment::ProblemKind;
use crate::llm::ModelError;
use crate::prompt::{Problems, PromptError};
use crate::score::files::FileError;
use crate::store::StoreError;
use std::fmt;

/// Everything went well.
pub(super) const OK: u8 = 0;
/// Something unexpected: a full disk, a locked run, a fault.
pub(super) const UNEXPECTED: u8 = 1;
/// The command line does not make sense.
pub(super) const USAGE: u8 = 2;
/// An input file, a prompt or a run's folder is not what it should be.
pub(super) const BAD_INPUT: u8 = 3;
/// The run finished, but some episodes were not measured.
pub(super) const NOT_MEASURED: u8 = 4;
/// A replay or a comparison found a difference.
pub(super) const DIFFERENCE: u8 = 5;
/// Interrupted; every finished episode is kept.
pub(super) const INTERRUPTED: u8 = 130;

/// An error that knows its exit code and what can be done about it.
#[derive(Debug)]
pub(super) struct Failure {
    code: u8,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// The command line does not make sense.
    pub(super) fn usage(message: impl fmt::Display, hint: impl Into<String>) -> anyhow::Error {
        Self { code: USAGE, message: message.to_string(), hint: Some(hint.into()) }.into()
    }

    /// An input is not what it should be.
    pub(super) fn bad_input(message: impl fmt::Display, hint: impl Into<String>) -> anyhow::Error {
        Self { code: BAD_INPUT, message: message.to_string(), hint: Some(hint.into()) }.into()
    }

    /// Something outside went wrong.
    pub(super) fn unexpected(message: impl fmt::Display, hint: impl Into<String>) -> anyhow::Error {
        Self { code: UNEXPECTED, message: message.to_string(), hint: Some(hint.into()) }.into()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Exit code and hint of the errors that the floors raise.
fn known(error: &(dyn std::error::Error + 'static)) -> Option<(u8, Option<String>)> {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return Some((failure.code, failure.hint.clone()));
    }
    if let Some(several) = error.downcast_ref::<Several>() {
        return several.code_and_hint();
    }
    if let Some(error) = error.downcast_ref::<StoreError>() {
        let code = match error {
            StoreError::NotARun { .. }
            | StoreError::BadManifest { .. }
            | StoreError::Newer { .. }
            | StoreError::Foreign { .. } => BAD_INPUT,
            StoreError::Io { .. } | StoreError::Locked { .. } => UNEXPECTED,
        };
        return Some((code, Some(error.hint().to_owned())));
    }
    if let Some(error) = error.downcast_ref::<DatasetError>() {
        return Some((BAD_INPUT, Some(error.hint().to_owned())));
    }
    if let Some(error) = error.downcast_ref::<FileError>() {
        return Some((BAD_INPUT, Some(error.hint().to_owned())));
    }
    if let Some(error) = error.downcast_ref::<SelectionError>() {
        return Some((BAD_INPUT, Some(error.hint().to_owned())));
    }
    if let Some(error) = error.downcast_ref::<PromptError>() {
        return Some((BAD_INPUT, error.hint()));
    }
    if let Some(problems) = error.downcast_ref::<Problems<ProblemKind>>() {
        return Some((BAD_INPUT, Some(problems.hint())));
    }
    if let Some(error) = error.downcast_ref::<ModelError>() {
        return Some((UNEXPECTED, error.hint()));
    }
    None
}

/// Exit code and printed form of an error: its chain on one line, then its hint.
pub(super) fn explain(error: &anyhow::Error) -> (u8, String) {
    if error.chain().any(is_broken_pipe) {
        return (OK, String::new());
    }
    let (code, hint) = code_and_hint(error);
    (code, format!("error: {}\nhint: {hint}", message(error)))
}

/// Several errors as one; nothing where there is none.
pub(super) fn together(errors: Vec<anyhow::Error>) -> Option<anyhow::Error> {
    let mut each: Vec<anyhow::Error> = Vec::new();
    for error in errors {
        let parts = error.downcast().map_or_else(|error| vec![error], |Several(parts)| parts);
        for part in parts {
            if !each.iter().any(|known| explain(known) == explain(&part)) {
                each.push(part);
            }
        }
    }
    if each.len() > 1 { Some(Several(each).into()) } else { each.pop() }
}

/// Errors that were found together, each with its hint below it; the last one's is said as that of all. The first one's
/// exit code stands for all.
#[derive(Debug)]
struct Several(Vec<anyhow::Error>);

impl fmt::Display for Several {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} problems", self.0.len())?;
        for (at, error) in self.0.iter().enumerate() {
            write!(f, "\n{}", message(error))?;
            if at + 1 < self.0.len() {
                write!(f, "\nhint: {}", code_and_hint(error).1)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Several {}

impl Several {
    fn code_and_hint(&self) -> Option<(u8, Option<String>)> {
        let (first, last) = (self.0.first()?, self.0.last()?);
        Some((code_and_hint(first).0, Some(code_and_hint(last).1)))
    }
}

fn code_and_hint(error: &anyhow::Error) -> (u8, String) {
    let (code, hint) = error.chain().find_map(known).unwrap_or((UNEXPECTED, None));
    (code, hint.unwrap_or_else(|| "run with --help to see what the command takes".to_owned()))
}

/// The chain of an error on one line.
fn message(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        // Most messages name their cause already.
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Whoever read our output has read enough, as `head` does; that is no failure.
fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
