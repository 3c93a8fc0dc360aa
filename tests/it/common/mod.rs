//! What several tests need.

pub(crate) mod mockd;
pub(crate) mod notebook;
mod program;
pub(crate) mod server;

pub(crate) mod rubble {
    include!("rubble.rs");
}

pub(crate) mod golden {
    include!("golden.rs");
}

pub(crate) mod shared {
    include!("shared.rs");
}

pub(crate) use program::{
    Ran, WorkDir, calls, command, killed, lines, manifest, read, recorded, records, repository, shell, table_rows,
    variant_names, wikitrail,
};
pub(crate) use shared::folder as shared;

use std::sync::Arc;
use wikitrail::prompting::protocol::{Frame, Setup};

/// A setup around a frame, with the label `Question`.
pub(crate) fn setup(frame: Frame, max_steps: usize) -> Arc<Setup> {
    Arc::new(Setup {
        frame,
        question_label: "Question".to_owned(),
        max_steps,
        thoughts: true,
        decoding: wikitrail::base::Decoding::default(),
        history: Vec::new(),
    })
}
