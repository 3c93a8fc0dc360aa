//! What a command reaches although nobody typed it: shown, and refused until it is confirmed.

use super::explicit_args::ExplicitArgs;
use super::failure::Failure;
use super::say::say;
use crate::experiment::Experiment;
use crate::run::{Place, places};
use crate::types::text::visible_line;
use std::path::Path;

/// Characters of an address or a path that are shown.
const LONGEST_PLACE: usize = 300;

/// Where the parts of an experiment come from that were not typed.
pub(super) enum Origin<'a> {
    /// From a file that was named in this command: it may name servers, but a key is sent to none of them.
    Named,
    /// From a file that nobody named, or a command line that a folder stores. It may come from somebody else.
    Found(&'a Path),
}

/// Confirms the places that were not typed, if `confirmed`; otherwise refuses those that were found, and has no key sent
/// to servers that a file names.
pub(super) fn confirm(
    experiment: &mut Experiment,
    origin: &Origin<'_>,
    typed: &ExplicitArgs,
    confirmed: bool,
) -> anyhow::Result<()> {
    let matters = |place: &Place| matches!(origin, Origin::Found(_)) || place.setting == "base_url";
    let untyped: Vec<Place> =
        places(experiment).into_iter().filter(|place| !typed.has(place.setting) && matters(place)).collect();
    if untyped.is_empty() {
        return Ok(());
    }
    let listed = |between: &str| {
        let shown = |place: &Place| format!("{} {}", place.flag(), visible_line(&place.value, LONGEST_PLACE));
        untyped.iter().map(shown).collect::<Vec<_>>().join(between)
    };
    match origin {
        _ if confirmed => say(format_args!("confirmed: {}", listed(", "))),
        Origin::Named => experiment.unconfirmed_servers = true,
        Origin::Found(path) => {
            let message = format!("`{}` names what this command does not:\n  {}", path.display(), listed("\n  "));
            let hint = "requests, keys or answers would go there: add --confirm if you know all of it, or name your own with these flags";
            return Err(Failure::usage(message, hint));
        }
    }
    Ok(())
}
