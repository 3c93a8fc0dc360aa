//! Text made harmless for a terminal.

pub use crate::types::text::{visible, visible_line};
