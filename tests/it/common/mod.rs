//! What several tests need.

mod files;
pub(crate) mod golden;
pub(crate) mod mockd;
pub(crate) mod notebook;
mod program;
pub(crate) mod server;
pub(crate) mod shared;

pub(crate) use files::{lines, read, repository, table_rows};
pub(crate) use program::{
    Ran, WorkDir, calls, command, killed, listed_commands, manifest, recorded, records, sha256_hex, shell, unwrapped,
    variant_names, wikitrail, without_times,
};
pub(crate) use shared::folder as shared;
