//! Holds the documentation, the scripts and the sources to what they say of themselves.

#[cfg(unix)]
mod action;
mod cluster;
#[cfg(unix)]
mod commands;
mod help;
mod layering;
mod pages;
#[cfg(unix)]
mod release;
mod settings;
mod shared_folder;

use crate::common::repository;

/// A page of `docs`.
fn page(name: &str) -> String {
    repository(&format!("docs/{name}"))
}
