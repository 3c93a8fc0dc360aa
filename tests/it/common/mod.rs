//! What several tests need.

pub(crate) mod mockd;
pub(crate) mod server;

pub(crate) mod shared {
    include!("shared.rs");
}

pub(crate) use shared::folder as shared;
