//! What judges said of an answer that is shown.

use crate::cli::say::say;
use crate::judge::{Answer, Verdicts};
use crate::store::{RunFolder, StoreError};
use crate::types::Trajectory;
use crate::types::text::visible_line;
use std::path::Path;

/// Characters of a reason that are shown.
const MAX_REASON_CHARS: usize = 400;

/// The verdicts of a run; none of a file of trajectories.
pub(super) fn verdicts_of(path: &Path) -> Result<Verdicts, StoreError> {
    if path.is_file() {
        return Ok(Verdicts::default());
    }
    let verdicts = Verdicts::read(&RunFolder::open(path)?)?;
    verdicts.notes().for_each(say);
    Ok(verdicts)
}

/// A line for each judge that was asked about the episode's answer.
pub(super) fn verdict_lines<'a>(verdicts: &'a Verdicts, trajectory: &'a Trajectory) -> impl Iterator<Item = String> + 'a {
    let Trajectory { id, question, answers: golds, answer, .. } = trajectory.clone();
    let text = answer.filter(|answer| Answer::is_there(Some(answer)));
    let asked = text.map(|text| Answer { id, question, golds, text, right: false, episode: None });
    let each = verdicts.judges.iter().zip(verdicts.names());
    each.filter_map(move |(known, name)| {
        let said = verdicts.of(&known.judge, asked.as_ref()?)?;
        let reason = said.reason.as_deref().map(|reason| format!(": {}", visible_line(reason, MAX_REASON_CHARS)));
        Some(format!("{} says {}{}", visible_line(&name, 80), said.verdict.name(), reason.unwrap_or_default()))
    })
}
