//! The variants of runs over the development part that are those of a comparison on the holdout.

use super::{Holdout, Source};
use crate::run::RunError;
use crate::types::Variant;
use crate::types::text::{counted, visible_line};
use std::collections::HashSet;

/// For each variant on the holdout, that of the development runs with the same prompt, method, protocol and model; of several
/// the one with the same name.
pub(crate) fn counterparts(
    sources: &[Source],
    development: &[Source],
    holdout: &Holdout,
) -> Result<Vec<Source>, RunError> {
    let held: HashSet<&str> = holdout.ids().iter().map(String::as_str).collect();
    for source in development {
        let run = || visible_line(&source.run.typed(), 200);
        let digest = source.origin.as_ref().map(|origin| origin.manifest.dataset.sha256.as_str());
        if digest != Some(holdout.dataset_sha256()) {
            return Err(RunError::input(
                format!("`{}` was asked from another dataset file than the holdout (their SHA-256 differ)", run()),
                "--dev takes runs over the development.ids of the same split",
            ));
        }
        let seen: HashSet<&str> =
            source.episodes.iter().map(|episode| episode.id.as_str()).filter(|id| held.contains(id)).collect();
        if !seen.is_empty() {
            return Err(RunError::input(
                format!("`{}` was asked {} of the holdout", run(), counted(seen.len(), "question")),
                "what was looked at while prompts were chosen says nothing about them later; --dev takes runs over the \
                 development.ids of the split",
            ));
        }
    }
    sources.iter().map(|source| counterpart(source, development).cloned()).collect()
}

fn counterpart<'d>(source: &Source, development: &'d [Source]) -> Result<&'d Source, RunError> {
    let Some(wanted) = variant(source) else { return Err(missing(source, "")) };
    let same: Vec<&Source> =
        development.iter().filter(|other| variant(other).is_some_and(|other| alike(wanted, other))).collect();
    let named: Vec<&Source> =
        same.iter().copied().filter(|other| variant(other).is_some_and(|other| other.name == wanted.name)).collect();
    match (&same[..], &named[..]) {
        ([one], _) | (_, [one]) => Ok(one),
        ([], _) => {
            let changed = development.iter().filter_map(variant).any(|other| other.name == wanted.name);
            Err(missing(source, if changed { " with this prompt, method, protocol and model" } else { "" }))
        }
        _ => Err(RunError::input(
            format!("`{}` is several times among the development runs", visible_line(&source.run.typed(), 200)),
            "name one of them: --dev RUN@VARIANT",
        )),
    }
}

fn missing(source: &Source, how: &str) -> RunError {
    RunError::input(
        format!("`{}` is not among the development runs{how}", visible_line(&source.run.typed(), 200)),
        "run the same variants over the development part, or compare fewer with --contrast A B",
    )
}

fn variant(source: &Source) -> Option<&Variant> {
    Some(&source.origin.as_ref()?.variant)
}

fn alike(one: &Variant, other: &Variant) -> bool {
    let of = |variant: &Variant| {
        let Variant { prompt_sha256, direct_prompt_sha256, method, protocol, model, .. } = variant.clone();
        (prompt_sha256, direct_prompt_sha256, method, protocol, model)
    };
    of(one) == of(other)
}
