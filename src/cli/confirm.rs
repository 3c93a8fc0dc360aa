//! What a command reaches although nobody typed it: shown, and refused until it is confirmed.

use super::defaults::Person;
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

/// Confirms the places that were neither typed nor named by the person's own settings, if `confirmed`; otherwise refuses those that were found, and has no key sent
/// to servers that a file names.
pub(super) fn confirm(
    experiment: &mut Experiment,
    origin: &Origin<'_>,
    typed: &ExplicitArgs,
    person: &Person,
    confirmed: bool,
) -> anyhow::Result<()> {
    let is_own = |place: &Place| match place.setting {
        "base_url" => person.defaults.vouches(&place.value),
        "prices" => person.defaults.get("prices").is_some_and(|given| given.value == place.value),
        _ => false,
    };
    let matters = |place: &Place| matches!(origin, Origin::Found(_)) || place.setting == "base_url";
    let untyped: Vec<Place> = places(experiment)
        .into_iter()
        .filter(|place| !typed.has(place.setting) && matters(place) && !is_own(place))
        .collect();
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
