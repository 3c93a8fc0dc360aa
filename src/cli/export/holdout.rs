//! Counts the export of a holdout run as a look at the holdout, as the file holds its scores.

use super::{Job, Look};
use crate::cli::say::say;
use crate::graded::{Exported, Holdout, Looks};
use crate::types::text::visible_line;
use std::collections::BTreeMap;

/// Counts the looks of what was written, and says their number.
pub(super) fn look(job: &Job<'_>, looks: BTreeMap<usize, Look>) {
    let exported = looks.into_iter().filter_map(|(at, Look { variants, ids })| {
        let manifest = &job.runs[at].manifest;
        let variants: Vec<_> = manifest.variants.iter().filter(|variant| variants.contains(&variant.name)).collect();
        (!variants.is_empty()).then_some(Exported { manifest, variants, ids })
    });
    let runs: Vec<Exported<'_>> = exported.collect();
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
}
