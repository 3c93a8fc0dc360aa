//! How Python writes values, for systems that show `repr` or `json.dumps` to the model.

mod dumps;
mod number;
mod repr;

pub(super) use dumps::{dumps, dumps_ascii};
pub(super) use number::float_repr;
pub(super) use repr::{repr_value, set_repr};
