//! Which episodes are exported.

use super::runs::Run;
use crate::cli::failure::Failure;
use crate::score::AnswerScore;
use crate::types::{Outcome, Tool, Trajectory};

/// Flags that choose among the episodes; one that is not given leaves all.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which episodes")]
pub(super) struct Filter {
    /// Episodes of this variant; several are joined by `,`.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    variant: Vec<String>,
    /// Episodes whose answer is right (EM 1).
    #[arg(long, conflicts_with = "wrong")]
    correct: bool,
    /// Scored episodes whose answer is not right.
    #[arg(long)]
    wrong: bool,
    /// Episodes that ended so: `finished`, `step_limit`, `format_failure`, `budget` or `not_measured`; several are joined by `,`.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = outcome)]
    outcome: Vec<Outcome>,
    /// Scored episodes whose F1 is at least this, 0 to 1.
    #[arg(long, value_name = "X", value_parser = share)]
    min_f1: Option<f64>,
    /// Episodes whose agent took at most so many steps.
    #[arg(long, value_name = "N")]
    max_steps: Option<usize>,
    /// Episodes without a repair, and so without a bad call, and without a reply that named no tool.
    #[arg(long)]
    clean: bool,
}

impl Filter {
    /// Refuses a variant that no run has.
    pub(super) fn check(&self, runs: &[Run]) -> anyhow::Result<()> {
        let mut known: Vec<&str> =
            runs.iter().flat_map(|run| &run.manifest.variants).map(|variant| variant.name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        match self.variant.iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(Failure::usage(
                format!("--variant: there is no variant `{name}`"),
                format!("the variants are {}", known.join(", ")),
            )),
        }
    }

    /// Whether a score was asked for; otherwise a format may ask for one itself.
    pub(super) fn names_a_score(&self) -> bool {
        self.correct || self.wrong || self.min_f1.is_some()
    }

    /// Whether an episode is wanted.
    pub(super) fn takes(&self, trajectory: &Trajectory, score: Option<AnswerScore>) -> bool {
        (self.variant.is_empty() || self.variant.contains(&trajectory.variant))
            && (self.outcome.is_empty() || self.outcome.contains(&trajectory.outcome))
            && (!self.correct || score.is_some_and(is_right))
            && (!self.wrong || score.is_some_and(|score| !is_right(score)))
            && self.min_f1.is_none_or(|least| score.is_some_and(|score| score.f1 >= least))
            && self.max_steps.is_none_or(|most| trajectory.agent_steps().count() <= most)
            && (!self.clean || is_clean(trajectory))
    }
}

/// Whether the answer matches exactly.
#[expect(clippy::float_cmp, reason = "EM is exactly 0 or 1")]
pub(super) fn is_right(score: AnswerScore) -> bool {
    score.em == 1.0
}

fn is_clean(trajectory: &Trajectory) -> bool {
    trajectory.repairs.is_empty() && trajectory.steps.iter().all(|step| step.tool != Some(Tool::Invalid))
}

fn outcome(name: &str) -> Result<Outcome, String> {
    let names = || Outcome::ALL.map(Outcome::name).join(", ");
    Outcome::ALL.into_iter().find(|outcome| outcome.name() == name).ok_or_else(|| format!("it is one of {}", names()))
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "a number from 0 to 1 is needed".to_owned())
}
