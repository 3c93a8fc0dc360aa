//! The files that a command reads, and those that its runs read.

use crate::types::Manifest;
use std::path::{Path, PathBuf};

/// The files that a run was made from, as far as its manifest names them: every word of its command line that may be a
/// file, the dataset, the ids and the prompts. What is no file is none of them.
pub(in crate::cli) fn of_run(manifest: &Manifest) -> Vec<PathBuf> {
    let words = manifest.command_line.iter().skip(1).map(String::as_str);
    let dataset = [Some(manifest.dataset.path.as_str()), manifest.dataset.ids_file.as_deref()];
    let prompts = manifest.variants.iter().map(|variant| variant.prompt.as_str());
    let defaults = manifest.defaults.values().map(String::as_str);
    words.chain(dataset.into_iter().flatten()).chain(prompts).chain(defaults).flat_map(files).collect()
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
pub(in crate::cli) fn same_file(one: &Path, other: &Path) -> bool {
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
