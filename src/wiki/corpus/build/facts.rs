//! What a corpus is: as the settings say, else as a source says that is a corpus itself, else as its publisher says.

use super::collect::ReadInput;
use super::write::Written;
use super::{BuildError, BuildSettings, file_name};
use crate::types::text::printable;
use crate::wiki::corpus::about::About;
use crate::wiki::corpus::folder;
use crate::wiki::corpus::frozen::Frozen;
use crate::wiki::corpus::import::{self, Format, PublishedFacts};
use crate::wiki::corpus::manifest::{self, Digest, Extent, License, Manifest, NameCounts, SourceFile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) fn manifest_of_build(
    dir: &Path,
    settings: &BuildSettings,
    sources: &[ReadInput],
    (written, names): (Written, NameCounts),
    frozen: Option<Frozen>,
    files: BTreeMap<String, Digest>,
) -> Result<Manifest, BuildError> {
    let published = import::published_facts(&settings.sources);
    let known = abouts(sources).next().map(|about| &about.manifest);
    let of_known = |fact: fn(&Manifest) -> Option<&String>| known.and_then(fact).cloned();
    Ok(Manifest {
        format: Manifest::FORMAT,
        id: written.id,
        name: settings.name.clone().or_else(|| of_known(|known| Some(&known.name))).unwrap_or_else(|| file_name(dir)),
        extent: settings.extent.or(known.map(|known| known.extent)).unwrap_or_else(|| common_extent(&settings.sources)),
        language: settings
            .language
            .clone()
            .or_else(|| of_known(|known| known.language.as_ref()))
            .or_else(|| published.language.clone()),
        as_of: settings
            .as_of
            .clone()
            .or_else(|| of_known(|known| known.as_of.as_ref()))
            .or_else(|| published.as_of.clone()),
        articles: written.articles,
        redirects: written.redirects,
        disambiguations: written.disambiguations,
        sentences: written.sentences,
        text_bytes: written.text_bytes,
        freeze: frozen.map(|frozen| frozen.facts),
        license: license(settings, sources, published),
        sources: source_files(settings, sources)?,
        names: abouts(sources).fold(names, |sum, about| sum.with_dropped(&about.manifest.names)),
        build: manifest::Build::current(),
        files,
    })
}

fn abouts(sources: &[ReadInput]) -> impl Iterator<Item = &About> {
    sources.iter().filter_map(|read| read.about.as_deref())
}

/// Makes sure that a corpus built of nothing but another one is that one.
pub(super) fn check_same_corpus(settings: &BuildSettings, sources: &[ReadInput], id: &str) -> Result<(), BuildError> {
    let ([(_, path)], [ReadInput { about: Some(about), .. }]) = (&settings.sources[..], sources) else { return Ok(()) };
    let said = &about.manifest.id;
    if said == id {
        return Ok(());
    }
    let reason = format!("its articles have the identity {id}, and it says {}", printable(said, 80));
    Err(BuildError::Input { file: path.display().to_string(), reason, is_edited: false })
}

/// What the formats of articles have, if it is the same for all.
fn common_extent(sources: &[(Format, PathBuf)]) -> Extent {
    let articles = sources.iter().filter(|(format, _)| *format != Format::Redirects);
    let mut extents = articles.map(|(format, path)| format.extent(path));
    let first = extents.next().unwrap_or_default();
    if extents.all(|extent| extent == first) { first } else { Extent::default() }
}

/// What was frozen: now, or with the corpora that are read. Of a search with several answers, that of the first corpus holds.
pub(super) fn frozen_of_build(settings: &BuildSettings, sources: &[ReadInput]) -> Option<Frozen> {
    if settings.frozen.is_some() {
        return settings.frozen.clone();
    }
    let first = abouts(sources).find_map(|about| Some((about, about.manifest.freeze.clone()?)));
    let (about, mut facts) = first?;
    let (mut searches, mut left_out) = (about.searches.clone(), about.left_out.clone());
    for other in abouts(sources) {
        for (query, answer) in &other.searches {
            searches.entry(query.clone()).or_insert_with(|| answer.clone());
        }
        left_out.extend(other.left_out.iter().cloned());
    }
    // Pages of others have no place below this address.
    let inputs = settings.sources.iter().zip(sources).filter(|((format, _), _)| *format != Format::Redirects);
    let permalink = |read: &ReadInput| Some(read.about.as_ref()?.manifest.freeze.as_ref()?.permalink.clone());
    if inputs.map(|(_, read)| permalink(read)).any(|other| other.as_ref() != Some(&facts.permalink)) {
        facts.permalink.clear();
    }
    facts.searches = searches.len() as u64;
    facts.left_out.clear();
    for (reason, _) in &left_out {
        *facts.left_out.entry(*reason).or_default() += 1;
    }
    Some(Frozen { facts, license: about.manifest.license.clone(), searches, left_out })
}

/// The license as it was given, in parts; else those of all corpora that are read, or what publishers say of their files, if
/// they all say the same.
fn license(settings: &BuildSettings, sources: &[ReadInput], published: PublishedFacts) -> License {
    if let Some(frozen) = &settings.frozen {
        return frozen.license.clone();
    }
    let all = |fact: fn(&License) -> Option<&String>, between: &str| {
        let mut said: Vec<&str> = Vec::new();
        for fact in abouts(sources).filter_map(|about| fact(&about.manifest.license)) {
            if !said.contains(&fact.as_str()) {
                said.push(fact);
            }
        }
        (!said.is_empty()).then(|| said.join(between))
    };
    let given = settings.license.clone();
    let given = given.map(|id| if ["", "none"].contains(&id.trim()) { License::UNKNOWN.to_owned() } else { id });
    let known = given.or_else(|| all(|license| Some(&license.id), " AND ")).or(published.license);
    let attribution = || all(|license| license.attribution.as_ref(), "; ");
    let changes = || all(|license| license.changes.as_ref(), "; ");
    License {
        id: known.unwrap_or_else(|| License::UNKNOWN.to_owned()),
        attribution: settings.attribution.clone().or_else(attribution).or(published.attribution),
        changes: settings.changes.clone().or_else(changes).or(published.changes),
    }
}

/// The inputs as the manifest has them. A corpus brings its own sources, and is one itself unless nothing was added to it.
fn source_files(settings: &BuildSettings, sources: &[ReadInput]) -> Result<Vec<SourceFile>, BuildError> {
    let mut described = Vec::new();
    for ((format, path), read) in settings.sources.iter().zip(sources) {
        described.extend(read.about.iter().flat_map(|about| about.manifest.sources.clone()));
        if read.about.is_none() || sources.len() > 1 {
            described.push(source_file(settings, *format, path, read)?);
        }
    }
    Ok(described)
}

fn source_file(
    settings: &BuildSettings,
    format: Format,
    path: &Path,
    read: &ReadInput,
) -> Result<SourceFile, BuildError> {
    let (rows, skipped, format) = (read.rows, read.skipped, format.name().to_owned());
    if let Some(frozen) = &settings.frozen {
        return Ok(SourceFile { format, file: frozen.facts.site.clone(), id: None, sha256: None, rows, skipped });
    }
    let files = import::files(path);
    let regular = files.iter().all(|path| path.metadata().is_ok_and(|found| found.is_file()));
    let sha256 = regular.then(|| folder::digest(&files)).transpose();
    let sha256 = sha256.map_err(|error| BuildError::Input {
        file: path.display().to_string(),
        reason: error.to_string(),
        is_edited: false,
    })?;
    let id = read.about.as_ref().map(|about| about.manifest.id.clone());
    Ok(SourceFile { format, file: file_name(path), id, sha256, rows, skipped })
}
