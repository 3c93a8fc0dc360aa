//! Episodes as a model reads them, and what it says of them beside what people say.

use super::file::Verdicts;
use super::verdict::Read;
use super::verdict::{EpisodeRef, Judgement, Reading};
use crate::analysis::annotations::{ANNOTATION_VERSION, Annotation};
use crate::base::text::cut;
use crate::base::{Step, Tool, Trajectory};
use std::fmt::Write as _;

/// Characters of a thought or an action, of an observation, and of all steps that are shown.
const TEXT: usize = 1_500;
const OBSERVATION: usize = 2_500;
const STEPS: usize = 40_000;

impl Read {
    /// The steps without what the end of the episode says of the answer.
    pub(crate) fn of(trajectory: &Trajectory) -> Self {
        let mut text = String::new();
        trajectory.steps.iter().for_each(|step| write(&mut text, step));
        let _ = write!(text, "(end: {})", trajectory.outcome.name());
        let Trajectory { key, variant, repeat, .. } = trajectory;
        let of = EpisodeRef { key: key.clone(), variant: variant.clone(), repeat: *repeat };
        Self { of, steps: cut(&text, STEPS).into_owned() }
    }
}

fn write(text: &mut String, step: &Step) {
    let action = match (step.tool, &step.input, &step.action_text) {
        (Some(tool), Some(input), _) if tool != Tool::Invalid => Some(format!("{}[{input}]", tool.name())),
        (_, _, written) => written.clone(),
    };
    // The paper's environment answers a `Finish` with the reward.
    let observation = step.observation.as_ref().filter(|_| step.tool != Some(Tool::Finish));
    let parts = [
        ("thought", step.thought.as_ref(), TEXT),
        ("action", action.as_ref(), TEXT),
        ("observation", observation, OBSERVATION),
    ];
    for (name, part, most) in parts {
        if let Some(part) = part {
            let _ = writeln!(text, "{name} {}: {}", step.n, cut(part.trim(), most));
        }
    }
}

impl Verdicts<Reading> {
    /// What models say of the episodes, in the form in which people say it. What could not be read is left out.
    pub(crate) fn annotations(&self) -> Vec<Annotation> {
        let mut all = Vec::new();
        for (known, name) in self.judges.iter().zip(self.names()) {
            all.extend(self.by(&known.judge).filter_map(|one| annotation(one, &name)));
        }
        all.sort_by(|a, b| (&a.by, &a.at, &a.key).cmp(&(&b.by, &b.at, &b.key)));
        all
    }

    /// Of each model its name, how many episodes it read, how many replies named no class, and what that cost, where all
    /// of it is known.
    pub(crate) fn readers(&self) -> impl Iterator<Item = (String, usize, usize, Option<f64>)> {
        self.judges.iter().zip(self.names()).map(|(known, name)| {
            let unreadable = self.by(&known.judge).filter(|one| one.verdict.0.is_none()).count();
            let usd = self.by(&known.judge).try_fold(0.0, |sum, one| Some(sum + one.cost_usd?));
            (name, self.by(&known.judge).count(), unreadable, usd)
        })
    }
}

fn annotation(one: &Judgement<Reading>, by: &str) -> Option<Annotation> {
    let EpisodeRef { key, variant, repeat } = one.episode.clone()?;
    Some(Annotation {
        v: ANNOTATION_VERSION,
        key,
        id: one.id.clone(),
        variant,
        repeat,
        by: by.to_owned(),
        at: one.at.clone(),
        correct: None,
        class: Some(one.verdict.0?),
        step: None,
        note: one.reason.clone(),
        blind: true,
        page_sha256: None,
        started_at: None,
    })
}
