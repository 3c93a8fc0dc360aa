//! Counts the export of a holdout run as a look at the holdout, as the file holds its scores.

use super::Job;
use crate::cli::say::say;
use crate::graded::{Exported, Holdout, Looks};
use crate::score::Tally;
use crate::types::text::visible_line;
use std::collections::HashSet;

/// Counts the looks of what was written, and says their number.
pub(super) fn look(job: &Job<'_>) -> anyhow::Result<()> {
    let mut runs = Vec::new();
    for run in job.runs.iter().filter(|run| run.manifest.dataset.ids_file.is_some()) {
        let (mut names, mut ids) = (HashSet::new(), HashSet::new());
        let mut tally = Tally::new(&*run.manifest.dataset.name);
        for trajectory in run.folder.records()?.iter() {
            let trajectory = trajectory?;
            let score = tally.add(&trajectory);
            if job.args.filter.takes(&trajectory, score) {
                names.insert(trajectory.variant);
                ids.insert(trajectory.id);
            }
        }
        let variants = run.manifest.variants.iter().filter(|variant| names.contains(&variant.name)).collect::<Vec<_>>();
        if !variants.is_empty() {
            runs.push(Exported { manifest: &run.manifest, variants, ids });
        }
    }
    let (looks, mut warnings) = Holdout::exported(&runs);
    for mut look in looks {
        let list = visible_line(&look.list, 200);
        say(format_args!("note: this export is a look at the holdout `{list}`"));
        say(visible_line(&Looks::sentence(&look), 500));
        warnings.append(&mut look.warnings);
        warnings.extend(look.note());
    }
    for warning in &warnings {
        say(format_args!("warning: {}", visible_line(warning, 500)));
    }
    Ok(())
}
