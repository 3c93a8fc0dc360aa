//! The files that a command reads, and those that its runs read.

use crate::dataset::sha256_of_file;
use crate::types::{Manifest, WikiKind, WikiName};
use std::path::{Path, PathBuf};

/// What is never replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Input {
    /// A file.
    File(PathBuf),
    /// Everything below a folder.
    Folder(PathBuf),
    /// A file with this SHA-256, wherever it lies: a run's manifest holds paths as they were named from another folder.
    Digest(String),
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

/// Whether a file is one of these inputs.
pub(super) fn is_input(inputs: &[Input], path: &Path) -> bool {
    let (real, digest) = (path.canonicalize().ok(), std::cell::OnceCell::new());
    let digest = || digest.get_or_init(|| sha256_of_file(path).ok()).as_deref();
    let below = |folder: &PathBuf| {
        folder.canonicalize().is_ok_and(|folder| real.as_ref().is_some_and(|real| real.starts_with(folder)))
    };
    inputs.iter().any(|input| match input {
        Input::File(input) => same_file(input, path),
        Input::Folder(folder) => below(folder),
        // All empty files have one digest.
        Input::Digest(known) => path.metadata().is_ok_and(|found| found.len() > 0) && digest() == Some(known),
    })
}

/// What a run was made from, as far as its manifest names it: every word of its command line that may be a file, the files
/// that settings named, its corpora, and whatever has a digest of theirs. What is no file is none of them.
pub(in crate::cli) fn of_run(manifest: &Manifest) -> Vec<Input> {
    let words = manifest.command_line.iter().skip(1).map(String::as_str);
    let dataset = [Some(manifest.dataset.path.as_str()), manifest.dataset.ids_file.as_deref()];
    let prompts = manifest.variants.iter().map(|variant| variant.prompt.as_str());
    let defaults = manifest.defaults.values().map(String::as_str);
    let named = manifest.files.keys().map(String::as_str);
    let experiment = manifest.experiment.iter();
    let paths = words.chain(dataset.into_iter().flatten()).chain(prompts).chain(defaults).chain(named);
    let paths = paths.chain(experiment.clone().map(|experiment| experiment.path.as_str()));
    let digests = manifest.files.values().chain([&manifest.dataset.sha256]);
    let digests = digests.chain(experiment.map(|experiment| &experiment.sha256)).filter(|digest| !digest.is_empty());
    let corpora = manifest.variants.iter().filter(|variant| WikiName::of(&variant.wiki).kind == WikiKind::Corpus);
    let corpora = corpora.filter_map(|variant| variant.wiki.split_once(':')).map(|(_, folder)| folder);
    paths
        .flat_map(files)
        .map(Input::File)
        .chain(digests.cloned().map(Input::Digest))
        .chain(corpora.map(|folder| Input::Folder(folder.into())))
        .collect()
}

/// The paths that a word may name: the word, what follows `=` or a prefix such as `corpus:`, each of a list, and a file
/// before `#KEY`.
fn files(word: &str) -> Vec<PathBuf> {
    let value = word.split_once('=').map_or(word, |(_, value)| value);
    let mut found: Vec<&str> = vec![word, value];
    for part in value.split(',') {
        found.push(part);
        found.extend(part.rsplit_once('#').map(|(file, _)| file));
        found.extend(part.split_once([':', '=']).map(|(_, file)| file));
    }
    found.into_iter().filter(|path| !path.is_empty()).map(PathBuf::from).collect()
}

/// Whether two paths name the same file, also through links.
pub(super) fn same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let identity = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
        identity(one).is_some_and(|id| Some(id) == identity(other))
    }
    #[cfg(not(unix))]
    {
        let canonical = |path: &Path| path.canonicalize().ok();
        canonical(one).is_some_and(|path| Some(path) == canonical(other))
    }
}
