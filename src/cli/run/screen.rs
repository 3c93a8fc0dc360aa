//! What a person sees while an experiment runs: notes, progress, the figures of each run as it ends.

use crate::cli::say::say;
use crate::cli::score::{self, Print};
use crate::report::Progress;
use crate::run::{Listener, Summary};
use crate::score::Tally;
use crate::types::RunEvent;

pub(super) struct Screen {
    quiet: bool,
    /// Whether the figures of each run are printed when it ends, and whether as JSON.
    figures: Option<bool>,
    progress: Option<Progress>,
    /// What went wrong when figures were printed.
    result: anyhow::Result<()>,
}

impl Screen {
    pub(super) fn new(quiet: bool, figures: Option<bool>) -> Self {
        Self { quiet, figures, progress: None, result: Ok(()) }
    }

    pub(super) fn result(self) -> anyhow::Result<()> {
        self.result
    }
}

impl Listener for Screen {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Begun { dataset, episodes, repeats } => {
                let tally = Tally::new(dataset.clone()).by_question(*repeats);
                self.progress = Some(Progress::new(*episodes, self.quiet).scored_by(tally));
            }
            RunEvent::Note(text) => say(text),
            RunEvent::Recorded(_) | RunEvent::Waiting(_) | RunEvent::Stopping => {
                if let Some(progress) = &mut self.progress {
                    progress.event(event);
                }
            }
        }
    }

    fn ended(&mut self, summary: &Summary) {
        // The last line of the progress comes before the table.
        if let Some(mut progress) = self.progress.take() {
            progress.finish();
        }
        if let (Some(json), Ok(())) = (self.figures, &self.result) {
            let how = if json {
                Print::Json
            } else if self.quiet {
                Print::Lines
            } else {
                Print::Tables
            };
            self.result = score::print(summary, score::ExtraScores::default(), how);
        }
    }
}
