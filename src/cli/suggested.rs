//! Values that completions offer where others may be typed too.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use std::ffi::OsStr;

/// A parser with words that completions offer.
#[derive(Clone)]
pub(super) struct Suggested<P> {
    pub(super) parser: P,
    pub(super) words: fn() -> Vec<&'static str>,
}

impl<P: TypedValueParser> TypedValueParser for Suggested<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<P::Value, clap::Error> {
        self.parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.words)().into_iter().map(PossibleValue::new)))
    }
}
