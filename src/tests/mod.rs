//! Tests that go through several layers from inside: golden vectors, properties of dialogues, damaged files. Also what tests of the
//! layers share.

#![expect(clippy::print_stdout, reason = "figures for those who run a test with --nocapture")]

#[path = "../../tests/it/common/files.rs"]
mod files;
#[path = "../../tests/it/common/golden.rs"]
pub(crate) mod golden;
#[path = "../../tests/it/common/rubble.rs"]
pub(crate) mod rubble;
#[path = "../../tests/it/common/shared.rs"]
pub(crate) mod shared;

mod article_points;
mod dialogue_properties;
mod documented_protocols;
mod documented_settings;
pub(crate) mod made_up;
mod protocol_golden;
mod readers;
mod recorded_episodes;
mod robust_protocol;

use crate::prompting::protocol::{Frame, Setup};
pub(crate) use files::{lines, read, repository, table_rows};
use std::sync::Arc;

/// A setup around a frame, with the label `Question`.
pub(crate) fn setup(frame: Frame, max_steps: usize) -> Arc<Setup> {
    Arc::new(Setup::new(frame, "Question", max_steps))
}
