//! One folder from several of the same run, such as those that shards wrote on disks of their own.

use crate::analysis::annotations;
use crate::analysis::judges::{self, Reading, Verdict};
use crate::base::text::counted;
use crate::base::{Manifest, sha256_hex};
use crate::runner::error::RunError;
use crate::runner::folder::refuse_target;
use crate::runner::plan::{changed_prices, differences_of_parts};
use crate::runner::store::{Keep, Records, RunFolder, Union};
use crate::runner::summary::{left_out, warnings};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

const MAX_LISTED: usize = 5;

#[derive(Debug)]
pub(crate) struct Merged {
    pub(crate) folder: PathBuf,
    /// Episodes that the run is to have.
    pub(crate) planned: usize,
    pub(crate) episodes: usize,
    pub(crate) measured: usize,
    pub(crate) copies: usize,
    /// Episodes that were measured in different ways, of which one was kept.
    pub(crate) settled: usize,
    pub(crate) notes: Vec<String>,
}

struct Source {
    folder: RunFolder,
    manifest: Manifest,
}

/// Writes all of the folders, which must be parts of one run, into a new one: each episode once, and all that was paid.
pub(crate) fn merge(paths: &[PathBuf], out: &Path, keep: Option<Keep>) -> Result<Merged, RunError> {
    let target = RunFolder::at(out);
    refuse_target(&target, "name a new folder with --out; a merged run can be merged again")?;
    let sources = sources(paths)?;
    // Nobody writes them meanwhile, as far as that can be had.
    let _still = sources.iter().map(|source| source.folder.hold_still()).collect::<Result<Vec<_>, _>>()?;
    let records = sources.iter().map(|source| source.folder.records()).collect::<Result<Vec<Records>, _>>()?;
    let mut notes: Vec<String> = records.iter().flat_map(left_out).collect();
    for source in &sources {
        notes.extend(warnings(&source.folder.damaged_journal_lines()?, "left out"));
    }
    let mut union = Union::of(&records)?;
    let settled = union.conflicts();
    let dropped = match keep {
        Some(keep) => union.settle(keep)?,
        None => refuse_conflicts(&union).map(|()| HashSet::new())?,
    };
    let mut manifest = manifest(&sources)?;
    notes.extend(sources.iter().flat_map(|source| changed_prices(&source.manifest, &manifest)));
    let folders: Vec<&RunFolder> = sources.iter().map(|source| &source.folder).collect();
    let written = RunFolder::build(out, |new| {
        manifest.paid = new.write_union(&union, &folders, &records)?;
        notes.extend(copy_texts(new, &manifest, &folders)?);
        notes.extend(annotations::carry(&folders, new, &dropped)?);
        notes.extend(judges::carry::<Verdict>(&folders, new)?);
        notes.extend(judges::carry::<Reading>(&folders, new)?);
        Ok::<(), RunError>(new.write_manifest(&manifest)?)
    });
    notes.extend(written?);
    // Episodes of variants that the run no longer has are kept, and not planned.
    let is_planned = |name: &str| manifest.variants.iter().any(|variant| variant.name == name);
    let planned_keys = || union.keys().filter(|(_, variant, _)| is_planned(variant));
    let (episodes, measured) = (planned_keys().count(), planned_keys().filter(|(.., measured)| *measured).count());
    let (planned, copies) = (manifest.planned_in_all(), union.copies);
    Ok(Merged { folder: out.to_owned(), planned, episodes, measured, copies, settled, notes })
}

/// The folders with their manifests, which must be of one run.
fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, RunError> {
    let mut known = HashSet::new();
    let mut sources: Vec<Source> = Vec::new();
    for path in paths {
        let folder = RunFolder::open(path)?;
        let manifest = folder.manifest()?;
        if !path.canonicalize().map_or(true, |path| known.insert(path)) {
            return Err(RunError::usage(format!("`{}` is named twice", path.display()), "name each folder once"));
        }
        if let Some(first) = sources.first() {
            let differing = differences_of_parts(&first.manifest, &manifest);
            if !differing.is_empty() {
                return Err(RunError::input(
                    format!(
                        "`{}` and `{}` are not of one run:\n  {}",
                        first.folder.path().display(),
                        path.display(),
                        differing.join("\n  ")
                    ),
                    "merge folders of the same questions under the same settings; `wikitrail compare` takes others",
                ));
            }
        }
        sources.push(Source { folder, manifest });
    }
    Ok(sources)
}

fn refuse_conflicts(union: &Union<'_>) -> Result<(), RunError> {
    let conflicts = union.conflicts();
    if conflicts == 0 {
        return Ok(());
    }
    let mut lines = Vec::new();
    for conflict in union.first_conflicts(MAX_LISTED)? {
        let [one, other] = conflict.places.map(|(path, line)| format!("{}:{line}", path.display()));
        let repeat = if conflict.repeat == 0 { String::new() } else { format!(", repeat {}", conflict.repeat) };
        lines.push(format!("{} ({}{repeat}): {one} and {other}", conflict.id, conflict.variant));
    }
    if conflicts > lines.len() {
        lines.push(format!("and {} more", conflicts - lines.len()));
    }
    let (episodes, are) = (counted(conflicts, "episode"), if conflicts == 1 { "is" } else { "are" });
    Err(RunError::input(
        format!("{episodes} {are} recorded with different results:\n  {}", lines.join("\n  ")),
        "each was run twice, and both were paid for; add --keep first or --keep last, in the order in which the folders are named",
    ))
}

/// The manifest of all: that of the first folder, with the times of all.
fn manifest(sources: &[Source]) -> Result<Manifest, RunError> {
    let Some((first, others)) = sources.split_first() else {
        return Err(RunError::usage("there is nothing to merge", "name one or more folders of runs"));
    };
    let mut manifest = first.manifest.clone();
    for other in others {
        let unknown = |name: &String| manifest.known_variants().all(|variant| variant.name != *name);
        let retired: Vec<_> = other.manifest.retired.iter().filter(|variant| unknown(&variant.name)).cloned().collect();
        manifest.retired.extend(retired);
    }
    let (mut ends, mut active_ms, mut history) = (Vec::new(), 0, Vec::new());
    for source in sources {
        let part = &source.manifest;
        let shards = source.folder.shards()?;
        // Where shards ran, the manifest's own end is that of a run of everything, if there was one.
        match &part.ended_at {
            None if !shards.is_empty() => ends.extend(shards.iter().map(|shard| shard.ended_at.clone())),
            end => ends.push(end.clone()),
        }
        let longest = shards.iter().map(|shard| shard.active_ms).max().unwrap_or_default();
        active_ms = active_ms.max(part.active_ms + longest);
        let all = part.limit_history.iter().chain(shards.iter().flat_map(|shard| &shard.limit_history));
        for one in all {
            if !history.contains(one) {
                history.push(one.clone());
            }
        }
    }
    manifest.stop_looked = sources.iter().map(|source| source.manifest.stop_looked).max().unwrap_or_default();
    manifest.started_at = sources.iter().map(|source| source.manifest.started_at.clone()).min().unwrap_or_default();
    manifest.ended_at = ends.into_iter().collect::<Option<Vec<_>>>().and_then(|ends| ends.into_iter().max());
    manifest.active_ms = active_ms;
    manifest.limit_history = history;
    Ok(manifest)
}

/// Writes questions, prompts and experiment, each from a folder that has it. What has a digest must have that one: a folder
/// may come from somebody else, and lead to a file that it should not.
fn copy_texts(new: &RunFolder, manifest: &Manifest, folders: &[&RunFolder]) -> Result<Vec<String>, RunError> {
    let mut notes = Vec::new();
    for folder in folders {
        if let Some(questions) = folder.questions(None)? {
            new.write_questions(questions.collect::<Result<Vec<_>, _>>()?.into_iter())?;
            break;
        }
    }
    let variants = || manifest.known_variants();
    let prompts = variants().map(|variant| &variant.prompt_sha256);
    let prompts: BTreeSet<&String> =
        prompts.chain(variants().filter_map(|variant| variant.direct_prompt_sha256.as_ref())).collect();
    let is_digest = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let with_digest = |text: &String, sha256: &str| sha256_hex([text.as_bytes()]) == sha256;
    for sha256 in prompts.into_iter().filter(|sha256| is_digest(sha256)) {
        match folders.iter().find_map(|folder| folder.prompt(sha256).ok()) {
            Some(text) => new.write_prompt(sha256, &text)?,
            None => notes.push(format!("note: no folder has prompt {sha256}; `replay` and `show` need it")),
        }
    }
    if let Some(experiment) = &manifest.experiment {
        let mut texts = folders.iter().filter_map(|folder| folder.experiment().ok().flatten());
        if let Some(text) = texts.find(|text| with_digest(text, &experiment.sha256)) {
            new.write_experiment(&text)?;
        }
    }
    Ok(notes)
}
