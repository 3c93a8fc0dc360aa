//! Which episodes are exported.

use crate::cli::failure::Failure;
use crate::cli::show::outcome;
use crate::graded::NamedRun;
use crate::score::{AnswerScore, ScoredEpisode};
use crate::types::{Outcome, Tool, Trajectory};

/// Flags that select episodes [default: all].
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which episodes")]
pub(super) struct Filter {
    /// Only episodes of these variants, separated by commas.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    variant: Vec<String>,
    /// Only episodes with a right answer (EM 1).
    #[arg(long, conflicts_with = "wrong")]
    correct: bool,
    /// Only scored episodes with a wrong answer.
    #[arg(long)]
    wrong: bool,
    /// Only episodes with these outcomes, separated by commas.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = outcome())]
    outcome: Vec<Outcome>,
    /// Only scored episodes with at least this F1, 0 to 1.
    #[arg(long, value_name = "X", value_parser = share)]
    min_f1: Option<f64>,
    /// Only episodes whose agent took at most N steps.
    #[arg(long, value_name = "N")]
    max_steps: Option<usize>,
    /// Only episodes without repairs and without replies that name no tool.
    #[arg(long)]
    clean: bool,
}

impl Filter {
    /// Refuses a variant that no run has.
    pub(super) fn check(&self, runs: &[NamedRun]) -> anyhow::Result<()> {
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

    /// The variants that are named; all if none is.
    pub(super) fn variants(&self) -> &[String] {
        &self.variant
    }

    /// Whether the flags select among the episodes of a variant.
    pub(super) fn is_partial(&self) -> bool {
        self.names_a_score() || !self.outcome.is_empty() || self.max_steps.is_some() || self.clean
    }

    /// Whether the flags select by score; otherwise a format may.
    pub(super) fn names_a_score(&self) -> bool {
        self.correct || self.wrong || self.min_f1.is_some()
    }

    pub(super) fn takes(&self, ScoredEpisode { trajectory, score, .. }: &ScoredEpisode) -> bool {
        (self.variant.is_empty() || self.variant.contains(&trajectory.variant))
            && (self.outcome.is_empty() || self.outcome.contains(&trajectory.outcome))
            && (!self.correct || score.is_some_and(is_right))
            && (!self.wrong || score.is_some_and(|score| !is_right(score)))
            && self.min_f1.is_none_or(|least| score.is_some_and(|score| score.f1 >= least))
            && self.max_steps.is_none_or(|most| trajectory.has_steps() && trajectory.agent_steps().count() <= most)
            && (!self.clean || is_clean(trajectory))
    }
}

#[expect(clippy::float_cmp, reason = "EM is exactly 0 or 1")]
pub(super) fn is_right(score: AnswerScore) -> bool {
    score.em == 1.0
}

fn is_clean(trajectory: &Trajectory) -> bool {
    trajectory.has_steps()
        && trajectory.repairs.is_empty()
        && trajectory.steps.iter().all(|step| step.tool != Some(Tool::Invalid))
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "not a number from 0 to 1".to_owned())
}
