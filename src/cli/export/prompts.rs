//! The exact prompts of the calls: with `--with-prompts`, and in formats that have a place for them.

use super::{Format, Job};
use crate::cli::say::say;
use crate::graded::NamedRun;
use crate::report::counted;
use crate::run::stored::Stored;
use crate::types::text::visible_line;
use crate::types::{RebuiltPrompt, Trajectory};

/// The prompts of one run, if they are exported. Without `--with-prompts` they are left out where they cannot be made again.
pub(super) struct Prompts<'a> {
    run: &'a NamedRun,
    needed: bool,
    stored: Option<Stored>,
    calls: usize,
    /// Calls whose prompt cannot be made again as it was sent.
    missing: usize,
}

impl<'a> Prompts<'a> {
    pub(super) fn of(job: &Job<'_>, run: &'a NamedRun) -> anyhow::Result<Self> {
        let (needed, has_place) = (job.args.with_prompts, matches!(job.format, Format::Inspect | Format::Atif));
        let mut stored = (needed || has_place).then(|| Stored::of(&run.folder, &run.manifest)).transpose();
        if let Err(error) = &stored
            && !needed
        {
            let why = visible_line(&error.to_string(), 300);
            say(format_args!("note: {}: prompts are left out, as they cannot be made again: {why}", run.name));
            stored = Ok(None);
        }
        Ok(Self { run, needed, stored: stored?, calls: 0, missing: 0 })
    }

    pub(super) fn of_episode(&mut self, trajectory: &Trajectory) -> anyhow::Result<Vec<RebuiltPrompt>> {
        let Some(stored) = &self.stored else { return Ok(Vec::new()) };
        let prompts = match stored.prompts(trajectory) {
            Err(error) if self.needed => return Err(error.into()),
            prompts => prompts.unwrap_or_default(),
        };
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
