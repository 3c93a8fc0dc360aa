//! Settings in which the compared variants differ, and warnings about mismatches.

use super::{Origin, Source};
use crate::analysis::compare::{PAIRED_BY_ID, SettingValues};
use crate::analysis::grouped;
use crate::base::text::{counted, joined, shell_word, visible_line};
use crate::base::{Method, Outcome, Variant};
use crate::runner::experiment::{Differing, FACTS, OfVariant};
use crate::runner::store::RunFolder;
use crate::runner::{format_note, layout_notes};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashSet};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Setting {
    pub name: String,
    pub values: Vec<String>,
}

type OfRun = fn(&Origin) -> String;

const DIGEST: usize = 12;

/// The settings in which the variants differ, each with its values; none for tables of figures.
pub(crate) fn settings(sources: &[Source]) -> Vec<SettingValues> {
    let Differing { settings, rows, .. } = Differing::of(sources.iter().filter_map(Source::variant));
    let of_setting = |(at, name): (usize, String)| {
        let values = rows.iter().map(|(_, values)| values[at].clone()).collect();
        SettingValues { name, values }
    };
    settings.into_iter().enumerate().map(of_setting).collect()
}

/// The settings in which the variants differ, and what else differs between their runs.
pub(crate) fn of(sources: &[Source]) -> Vec<Setting> {
    let origins: Vec<&Origin> = sources.iter().filter_map(|source| source.origin.as_ref()).collect();
    let value = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    let of_setting = |SettingValues { name, values }| Setting { name, values: values.into_iter().map(value).collect() };
    let of_run: [(&str, OfRun); 4] = [
        ("dataset", |origin| origin.manifest.dataset.name.clone()),
        ("dataset.sha256", |origin| origin.manifest.dataset.sha256.clone()),
        ("repeats", |origin| origin.manifest.repeats.to_string()),
        ("wikitrail", |origin| origin.manifest.wikitrail.clone()),
    ];
    // Options that servers refused are neither settings nor part of a variant's identity.
    let not_sent: OfVariant = |variant| Some(variant.not_sent.join(", ")).filter(|names| !names.is_empty());
    // Nor does a protocol differ in its version from another protocol, or from none.
    let speaks = |variant: &&Variant| Method::parse(&variant.method).is_some_and(|method| method.agent().is_some());
    let speaking = origins.iter().map(|origin| &origin.variant).filter(speaks);
    let versions: BTreeSet<_> = speaking.map(|variant| (&variant.protocol, variant.protocol_version)).collect();
    let protocols: BTreeSet<_> = versions.iter().map(|(protocol, _)| protocol).collect();
    let known = FACTS.into_iter().filter(|(name, _)| *name != "protocol_version" || versions.len() > protocols.len());
    let facts = known.chain([("not_sent", not_sent)]).map(|(name, of)| {
        let values: Vec<String> = origins.iter().map(|origin| value(of(&origin.variant))).collect();
        (name, values)
    });
    let of_run = of_run.into_iter().map(|(name, of)| (name, origins.iter().map(|origin| of(origin)).collect()));
    let others = facts.chain(of_run).filter(|(_, values)| values.windows(2).any(|pair| pair[0] != pair[1]));
    let others = others.map(|(name, values)| Setting { name: name.to_owned(), values });
    settings(sources).into_iter().map(of_setting).chain(others).map(shortened).collect()
}

fn shortened(setting: Setting) -> Setting {
    if !setting.name.ends_with("sha256") && setting.name != "wiki_origin" {
        return setting;
    }
    let hexadecimal = |value: &String| value.len() == 64 && value.chars().all(|c| c.is_ascii_hexdigit());
    let short = |value: &String| value.chars().take(if hexadecimal(value) { DIGEST } else { 64 }).collect();
    let values: Vec<String> = setting.values.iter().map(short).collect();
    if values.windows(2).any(|pair| pair[0] != pair[1]) { Setting { values, ..setting } } else { setting }
}

/// A warning about an unfinished run, whose first episodes need not be like the rest.
fn unfinished(source: &Source, name: &str) -> Option<String> {
    let origin = source.origin.as_ref()?;
    let planned = origin.manifest.planned(&origin.variant);
    let recorded = source.episodes.len();
    // A rule that cannot be read is said elsewhere.
    let decided = || origin.graded.stopping().ok().flatten().is_some_and(|found| found.decided);
    (recorded < planned && !decided()).then(|| {
        let next = match () {
            () if origin.manifest.is_imported() => "",
            () if RunFolder::at(&source.run.path).is_going() => "; it is still running",
            () => "; continue with --resume",
        };
        format!("`{name}` is not finished: {recorded} of {planned} planned episodes are recorded{next}")
    })
}

fn format_failures(source: &Source, name: &str) -> Option<String> {
    let protocol = &source.variant()?.protocol;
    let ends = || source.episodes.iter().filter_map(|episode| episode.outcome);
    let failures = ends().filter(|outcome| *outcome == Outcome::FormatFailure).count() as u64;
    let measured = ends().filter(|outcome| !matches!(outcome, Outcome::NotMeasured | Outcome::Budget)).count() as u64;
    format_note(&format!("`{name}`"), protocol, failures, measured)
}

/// A hint for variants without a shared question, mostly of different datasets.
pub(crate) fn nothing_shared(sources: &[Source]) -> String {
    let datasets = grouped(sources.iter().filter_map(|source| Some((&source.manifest()?.dataset.sha256, source))));
    if datasets.len() < 2 {
        let lists: HashSet<_> =
            sources.iter().filter_map(|source| Some(&source.manifest()?.dataset.ids_file)).collect();
        if lists.len() > 1 {
            return "variants are paired by question id; the two parts of a split are never one comparison: wikitrail compare \
                    HOLDOUT_RUN --dev DEVELOPMENT_RUN".to_owned();
        }
        return PAIRED_BY_ID.to_owned();
    }
    let names = datasets.iter().filter_map(|(_, of_it)| Some(visible_line(&of_it[0].manifest()?.dataset.name, 60)));
    let names = joined(names, ", ").unwrap_or_default();
    let what = format!("the variants are from {} datasets ({names})", datasets.len());
    match datasets.iter().find(|(_, of_it)| of_it.len() > 1) {
        Some((_, of_it)) => format!("{what}; compare one dataset at a time: wikitrail compare {}", typed(of_it)),
        None => format!("{what}; name another run of one of them"),
    }
}

/// The variants as typed: a run if all of its variants are among them.
fn typed(sources: &[&Source]) -> String {
    let mut words: Vec<String> = Vec::new();
    for source in sources {
        let of_run: HashSet<_> =
            sources.iter().filter(|other| other.run.path == source.run.path).map(|other| &other.run.variant).collect();
        let whole = source.manifest().is_some_and(|manifest| manifest.variants.len() == of_run.len());
        let word = if whole { source.run.path.display().to_string() } else { source.run.typed() };
        let word = shell_word(&visible_line(&word, 300));
        // A variant that was named twice stays twice.
        if !whole || !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" ")
}

/// The hash of the gold answers and the text of each question, by its id.
fn golds(source: &Source) -> BTreeMap<&str, (u64, &str)> {
    source.episodes.iter().map(|episode| (&*episode.item.id, (episode.answers_hash, &*episode.question))).collect()
}

/// Variants that are named twice, which never differ from themselves.
fn named_twice(sources: &[Source], names: &[String]) -> Vec<String> {
    let of_twice = |(at, source): (usize, &Source)| {
        let known = sources[..at].iter().position(|other| source.origin.is_some() && other.run == source.run)?;
        Some(format!("`{}` and `{}` are the same variant of the same run", names[known], names[at]))
    };
    sources.iter().enumerate().filter_map(of_twice).collect()
}

/// Warnings about unfinished runs, about variants that are named twice, and about shared ids with different questions.
pub(crate) fn warnings(sources: &[Source], names: &[String]) -> Vec<String> {
    let mut warnings: Vec<String> =
        sources.iter().zip(names).filter_map(|(source, name)| unfinished(source, name)).collect();
    warnings.extend(named_twice(sources, names));
    warnings.extend(sources.iter().zip(names).filter_map(|(source, name)| format_failures(source, name)));
    warnings.extend(layout_notes(sources.iter().filter_map(|source| {
        let variant = source.variant()?;
        Some((variant, RunFolder::at(&source.run.path).prompt(&variant.prompt_sha256).ok()?))
    })));
    let Some((first, others)) = sources.split_first() else { return warnings };
    let known = golds(first);
    for (other, name) in others.iter().zip(&names[1..]) {
        let digests =
            first.manifest().zip(other.manifest()).map(|both| (&both.0.dataset.sha256, &both.1.dataset.sha256));
        if digests.is_some_and(|(a, b)| a != b) {
            warnings.push(format!("`{}` and `{name}` read different dataset files (their SHA-256 differ)", names[0]));
        }
        let other = golds(other);
        let shared = || known.iter().filter_map(|(id, one)| Some((id, one, other.get(id)?)));
        for (what, differing) in [
            ("gold answers", shared().filter(|(_, a, b)| a.0 != b.0).map(|(id, ..)| id).collect::<Vec<_>>()),
            ("texts", shared().filter(|(_, a, b)| a.1 != b.1).map(|(id, ..)| id).collect()),
        ] {
            if let Some(id) = differing.first() {
                warnings.push(format!(
                    "`{}` and `{name}` have different {what} for {}, such as `{}`",
                    names[0],
                    counted(differing.len(), "shared question"),
                    visible_line(id, 80)
                ));
            }
        }
    }
    warnings
}
