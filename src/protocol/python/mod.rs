//! Python's way of writing and reading values, for systems that show `repr` to the model or decode with `json`.

mod dumps;
mod json;
mod number;
mod repr;

pub(super) use dumps::{dumps, dumps_ascii};
pub(super) use json::{JsonError, first_value, loads};
pub(super) use number::float_repr;
pub(super) use repr::{repr_value, set_repr};
