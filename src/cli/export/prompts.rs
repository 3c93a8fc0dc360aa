//! `--with-prompts`: the exact prompts of the calls.

use super::Job;
use super::runs::Run;
use crate::cli::say::say;
use crate::report::counted;
use crate::run::stored::Stored;
use crate::types::{RebuiltPrompt, Trajectory};

/// The prompts of one run, if they are exported.
pub(super) struct Prompts<'a> {
    run: &'a Run,
    stored: Option<Stored>,
    calls: usize,
    /// Calls whose prompt cannot be made again as it was sent.
    missing: usize,
}

impl<'a> Prompts<'a> {
    pub(super) fn of(job: &Job<'_>, run: &'a Run) -> anyhow::Result<Self> {
        let stored = job.args.with_prompts.then(|| Stored::of(&run.folder, &run.manifest)).transpose()?;
        Ok(Self { run, stored, calls: 0, missing: 0 })
    }

    pub(super) fn of_episode(&mut self, trajectory: &Trajectory) -> anyhow::Result<Vec<RebuiltPrompt>> {
        let Some(stored) = &self.stored else { return Ok(Vec::new()) };
        let prompts = stored.prompts(trajectory)?;
        self.calls += prompts.len();
        self.missing += prompts.iter().filter(|prompt| !prompt.same).count();
        Ok(prompts)
    }

    /// Says how many prompts are missing.
    pub(super) fn note(&self) {
        if self.missing > 0 {
            say(format_args!(
                "note: {}: {} of {} cannot be made again as they were sent; `wikitrail replay` says what differs",
                self.run.name,
                self.missing,
                counted(self.calls, "prompt")
            ));
        }
    }
}
