//! What several test programs need.

#[allow(dead_code, reason = "not every test program reads files")]
pub(crate) mod shared {
    include!("shared.rs");
}

pub(crate) use shared::folder as shared;
