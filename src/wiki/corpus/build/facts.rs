//! What a corpus is: as the settings say, else as a source says that is a corpus itself, else as its publisher says.

use super::collect::Read;
use super::write::Written;
use super::{BuildError, BuildSettings, file_name};
use crate::wiki::corpus::folder;
use crate::wiki::corpus::import::Format;
use crate::wiki::corpus::manifest::{self, Digest, License, Manifest, NameCounts, SourceFile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) fn manifest(
    dir: &Path,
    settings: &BuildSettings,
    sources: &[Read],
    written: Written,
    names: NameCounts,
    files: BTreeMap<String, Digest>,
) -> Result<Manifest, BuildError> {
    let known = sources.iter().find_map(|read| read.about.as_deref());
    let of_known = |fact: fn(&Manifest) -> Option<&String>| known.and_then(fact).cloned();
    let abouts = || sources.iter().filter_map(|read| read.about.as_deref());
    Ok(Manifest {
        format: Manifest::FORMAT,
        id: written.id,
        name: settings.name.clone().or_else(|| of_known(|known| Some(&known.name))).unwrap_or_else(|| file_name(dir)),
        extent: settings.extent.or(known.map(|known| known.extent)).unwrap_or_default(),
        language: settings.language.clone().or_else(|| of_known(|known| known.language.as_ref())),
        as_of: settings.as_of.clone().or_else(|| of_known(|known| known.as_of.as_ref())),
        articles: written.articles,
        redirects: written.redirects,
        disambiguations: written.disambiguations,
        sentences: written.sentences,
        text_bytes: written.text_bytes,
        license: license(settings, known),
        sources: described(settings, sources)?,
        names: abouts().fold(names, |sum, about| sum.with_dropped(&about.names)),
        build: manifest::Build::current(),
        files,
    })
}

/// The license as it was given, in parts. What publishers say of their files counts if they all say the same.
fn license(settings: &BuildSettings, known: Option<&Manifest>) -> License {
    let published = || {
        let mut formats = settings.sources.iter().filter(|(format, _)| *format != Format::Redirects);
        let first = formats.next()?.0.license();
        formats.all(|(format, _)| format.license() == first).then_some(first).flatten()
    };
    let known = known.map(|known| known.license.clone()).or_else(published);
    let known = known.unwrap_or_else(|| License { id: License::UNKNOWN.to_owned(), attribution: None, changes: None });
    let given = settings
        .license
        .clone()
        .map(|id| if ["", "none"].contains(&id.trim()) { License::UNKNOWN.to_owned() } else { id });
    License {
        id: given.unwrap_or(known.id),
        attribution: settings.attribution.clone().or(known.attribution),
        changes: settings.changes.clone().or(known.changes),
    }
}

/// The inputs as the manifest has them. A corpus brings its own sources, and is one itself unless nothing was added to it.
fn described(settings: &BuildSettings, sources: &[Read]) -> Result<Vec<SourceFile>, BuildError> {
    let mut described = Vec::new();
    for ((format, path), read) in settings.sources.iter().zip(sources) {
        described.extend(read.about.iter().flat_map(|about| about.sources.clone()));
        if read.about.is_none() || sources.len() > 1 {
            described.push(source(*format, path, read)?);
        }
    }
    Ok(described)
}

fn source(format: Format, path: &PathBuf, read: &Read) -> Result<SourceFile, BuildError> {
    let regular = path.metadata().is_ok_and(|found| found.is_file());
    let sha256 = regular.then(|| folder::digest(path)).transpose();
    let sha256 =
        sha256.map_err(|error| BuildError::Input { file: path.display().to_string(), reason: error.to_string() })?;
    let id = read.about.as_ref().map(|about| about.id.clone());
    let (format, file) = (format.name().to_owned(), file_name(path));
    Ok(SourceFile { format, file, id, sha256, rows: read.rows, skipped: read.skipped })
}
