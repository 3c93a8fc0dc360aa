//! From what was fetched to what the builder of corpora takes.

use super::fetched::FreezeRequest;
use super::{PreparedFreeze, today};
use crate::run::error::RunError;
use crate::wiki::LeftOut;
use crate::wiki::corpus::{BuildError, BuildSettings, Extent, Format, Freeze, Frozen, License};
use std::collections::{BTreeMap, BTreeSet};

/// What is done to the texts.
const CHANGES: &str = "text extracted, footnotes removed";
const CHANGES_WITH_MARKS: &str = "text extracted";
/// Memory to sort in; a freeze is small.
const MEMORY: u64 = 256 << 20;

impl PreparedFreeze {
    /// What the builder needs, and titles without a page.
    pub(super) fn build_settings(&self) -> Result<(BuildSettings, BTreeSet<(LeftOut, String)>), RunError> {
        let Some(asked) = &self.fetched.asked else { return Err(RunError::unwritable("nothing was asked for")) };
        let kept = &self.fetched;
        let left_out = kept.done.iter().filter_map(|(title, found)| Some((*found.as_ref().err()?, title.clone())));
        let left_out: BTreeSet<(LeftOut, String)> = left_out.collect();
        let mut searches = kept.searches.clone();
        let known = self.targets.searches.iter();
        searches.extend(known.filter_map(|(query, answer)| Some((query.clone(), answer.clone()?))));
        let gold: BTreeSet<&String> =
            self.targets.gold.iter().map(|title| kept.names.get(title).unwrap_or(title)).collect();
        let mut counts = BTreeMap::new();
        for (reason, _) in &left_out {
            *counts.entry(*reason).or_default() += 1;
        }
        let facts = Freeze {
            site: asked.site.clone(),
            permalink: asked.facts.permalink.clone(),
            compat: self.compat,
            footnotes: self.footnotes,
            fidelity: self.fidelity(asked),
            gold_pages: u32::try_from(gold.into_iter().filter(|title| kept.pages.contains(*title)).count())
                .unwrap_or(u32::MAX),
            searches: searches.len() as u64,
            left_out: counts,
        };
        let site = asked.facts.name.as_deref().unwrap_or(&asked.site);
        let license = License {
            id: asked.facts.license.clone().unwrap_or_else(|| "unknown".to_owned()),
            attribution: Some(format!("{site} contributors")),
            changes: Some(if self.footnotes { CHANGES_WITH_MARKS } else { CHANGES }.to_owned()),
        };
        let settings = BuildSettings {
            sources: vec![(Format::Frozen, kept.path.clone())],
            name: self.settings.name.clone(),
            extent: Some(Extent::Page),
            language: asked.facts.language.clone(),
            as_of: Some(asked.as_of.clone().unwrap_or_else(|| asked.began.clone())),
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory: MEMORY,
            frozen: Some(Frozen { facts, license, searches, left_out: left_out.clone() }),
            ..BuildSettings::default()
        };
        Ok((settings, left_out))
    }

    /// What the pages are true to.
    fn fidelity(&self, asked: &FreezeRequest) -> String {
        let ended = today();
        let days = if ended == asked.began { ended } else { format!("{} to {ended}", asked.began) };
        let revisions = match asked.as_of {
            Some(_) => "oldid",
            None if self.targets.titles.values().any(Option::is_some) => "revisions that the run read",
            None => "current revisions",
        };
        format!("{revisions}, templates of {days}")
    }

    /// Why there is no corpus, and what to do about it.
    pub(super) fn unbuilt(&self, error: &BuildError) -> RunError {
        let path = self.fetched.path.display();
        match error {
            BuildError::Empty(_) => RunError::input(
                "the site has none of the titles",
                format!(
                    "check --wiki-url, the titles and --as-of; what was asked for is in `{path}`, which may be removed"
                ),
            ),
            BuildError::Exists(_) | BuildError::InTheWay(_) => {
                RunError::usage(error, "remove it; the same command goes on with what was fetched")
            }
            _ => RunError::unexpected(
                error,
                format!("everything that was fetched is in `{path}`; the same command goes on"),
            ),
        }
    }
}
