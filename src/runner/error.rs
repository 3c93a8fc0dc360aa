//! Errors of a run: what went wrong, of which kind it is, and what to do about it.

use super::store::StoreError;
use crate::dataset::{DatasetError, SelectionError};
use crate::models::ModelError;
use crate::net::recording::{TapeError, is_not_own};
use crate::prompting::{Problems, PromptError};
use crate::scoring::files::FileError;
use crate::wikipedia::SitePolicyError;
use std::error::Error;
use std::fmt;

/// Who has to act on an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Settings that do not make sense.
    Usage,
    /// An input file, a prompt or a run's folder that is not what it should be.
    Input,
    /// Something else: a full disk, a locked folder, a fault.
    Unexpected,
}

/// An error with its kind and what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunError {
    kind: ErrorKind,
    message: String,
    hint: String,
    /// The errors of which this one is a list.
    parts: Vec<RunError>,
}

const DEFAULT_HINT: &str = "run with --help to see what the command takes";

impl RunError {
    fn new(kind: ErrorKind, message: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self { kind, message: message.to_string(), hint: hint.into(), parts: Vec::new() }
    }

    /// Settings do not make sense.
    pub fn usage(message: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message, hint)
    }

    /// An input is not what it should be.
    pub fn input(message: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message, hint)
    }

    /// Something outside went wrong.
    pub fn unexpected(message: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unexpected, message, hint)
    }

    pub(crate) fn unwritable(error: impl fmt::Display) -> Self {
        let message = format!("settings cannot be written as JSON: {error}");
        Self::unexpected(message, "this is a fault in wikitrail; please report it")
    }

    /// Its kind; of several errors, that of the first.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What to do about it; of several errors, about the last.
    pub fn hint(&self) -> &str {
        &self.hint
    }

    /// The same with the place where it happened in front.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// Several errors as one, each of them once; nothing where there is none.
    pub fn together(errors: Vec<Self>) -> Option<Self> {
        let mut parts: Vec<Self> = Vec::new();
        for mut error in errors {
            let each = std::mem::take(&mut error.parts);
            for part in if each.is_empty() { vec![error] } else { each } {
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
        match parts.as_slice() {
            [] => None,
            [_] => parts.pop(),
            [first, .., last] => {
                let (kind, hint) = (first.kind, last.hint.clone());
                Some(Self { kind, message: format!("{} problems", parts.len()), hint, parts })
            }
        }
    }
}

impl fmt::Display for RunError {
    /// One line; several errors with their own hints, except the last one's, which is that of all.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for (at, part) in self.parts.iter().enumerate() {
            write!(f, "\n{part}")?;
            if at + 1 < self.parts.len() {
                write!(f, "\nhint: {}", part.hint)?;
            }
        }
        Ok(())
    }
}

impl Error for RunError {}

/// The kind of an error of any layer, and its hint where it has one.
pub(crate) fn classify(error: &(dyn Error + 'static)) -> Option<(ErrorKind, Option<String>)> {
    use ErrorKind::{Input, Unexpected, Usage};
    let store = |error: &StoreError| match error {
        StoreError::NotARun { .. }
        | StoreError::Absent { .. }
        | StoreError::BadManifest { .. }
        | StoreError::BadQuestion { .. }
        | StoreError::Newer { .. }
        | StoreError::Foreign { .. }
        | StoreError::Packed { .. } => Input,
        StoreError::Io { action, source, .. } if is_input(action, source) => Input,
        StoreError::Io { .. }
        | StoreError::Locked { .. }
        | StoreError::Asking { .. }
        | StoreError::ShardLocked { .. }
        | StoreError::OtherShards { .. } => Unexpected,
    };
    let site = |error: &SitePolicyError| error.hint().unwrap_or("check `--wiki-url`").to_owned();
    let owned = |hint: &str| Some(hint.to_owned());
    error
        .downcast_ref()
        .map(|e: &RunError| (e.kind, owned(&e.hint)))
        .or_else(|| error.downcast_ref().map(|e: &StoreError| (store(e), owned(e.hint()))))
        .or_else(|| error.downcast_ref().map(|e: &DatasetError| (Input, owned(e.hint()))))
        .or_else(|| error.downcast_ref().map(|e: &FileError| (Input, owned(e.hint()))))
        .or_else(|| error.downcast_ref().map(|e: &SelectionError| (Input, owned(e.hint()))))
        .or_else(|| error.downcast_ref().map(|e: &PromptError| (Input, Some(e.hint()))))
        .or_else(|| error.downcast_ref().map(|e: &Problems| (Input, Some(e.hint()))))
        .or_else(|| error.downcast_ref().map(|e: &TapeError| (Input, owned(e.hint()))))
        .or_else(|| error.downcast_ref().map(|e: &SitePolicyError| (Usage, Some(site(e)))))
        .or_else(|| error.downcast_ref().map(|e: &ModelError| (Unexpected, e.hint())))
}

/// Whether a file of a run's folder is not what it should be, rather than the disk.
fn is_input(action: &str, error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{
        FileTooLarge, InvalidData, InvalidInput, IsADirectory, NotADirectory, NotFound, UnexpectedEof,
    };
    let kinds = [FileTooLarge, InvalidData, InvalidInput, IsADirectory, NotADirectory, NotFound, UnexpectedEof];
    // An error of ours has no number, and one of the system has.
    let is_refused = error.kind() == FileTooLarge && error.raw_os_error().is_none();
    is_not_own(error) || is_refused || matches!(action, "read" | "open") && kinds.contains(&error.kind())
}

/// An error and its causes on one line.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        // Most messages name their cause already.
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        next = cause.source();
    }
    text
}

macro_rules! from {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for RunError {
            fn from(error: $error) -> Self {
                let (kind, hint) = classify(&error).unwrap_or((ErrorKind::Unexpected, None));
                Self::new(kind, chain(&error), hint.unwrap_or_else(|| DEFAULT_HINT.to_owned()))
            }
        }
    )+};
}

from! {
    DatasetError, SelectionError, PromptError, StoreError, ModelError, TapeError, SitePolicyError, Problems,
    std::io::Error,
}

#[cfg(test)]
mod tests {
    use super::RunError;

    #[test]
    fn several_errors_are_listed_once_each_with_their_hints() {
        let (a, b) = (RunError::input("a is bad", "mend a"), RunError::usage("b is bad", "leave b out"));
        let twice = RunError::together(vec![a.clone(), b.clone()]).expect("two");
        let all = RunError::together(vec![twice, a.clone()]).expect("two");
        assert_eq!(all.to_string(), "2 problems\na is bad\nhint: mend a\nb is bad");
        assert_eq!((all.kind(), all.hint()), (a.kind(), "leave b out"));
        assert_eq!(RunError::together(vec![a.clone(), a.clone()]), Some(a));
        assert_eq!(RunError::together(Vec::new()), None);
    }
}
