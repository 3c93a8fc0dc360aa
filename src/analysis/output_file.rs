//! Which existing file an output may replace.

use crate::analysis::export::unpacked;
use crate::base::bounded::MAX_LINE_BYTES;
use crate::base::text::visible_line;
use crate::base::{Manifest, WikiKind, WikiName, sha256_of_files};
use crate::runner::RunError;
use crate::runner::store::RunFolder;
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// A file that a person named to be written.
///
/// It replaces an existing file if that one is empty or an earlier output of the same kind, and others if the person
/// insists; a file that the command reads is never replaced. A pipe or a device is written directly.
pub(crate) struct OutputFile<'a> {
    pub(crate) path: &'a Path,
    /// What is written, such as `a page of wikitrail report`.
    pub(crate) what: &'a str,
    /// Whether a file that begins like this is an earlier output of the same kind.
    pub(crate) is_earlier: &'a dyn Fn(&Start) -> bool,
    pub(crate) force: Force,
    pub(crate) inputs: Vec<Input>,
}

/// Whether a file is replaced, whatever it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Force {
    Flag(bool),
    /// Never; this is what to do instead.
    Never(&'static str),
}

impl OutputFile<'_> {
    /// Refuses what must not be replaced. Commands that take long ask before they begin.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let Self { path, what, .. } = self;
        let shown = visible_line(&path.display().to_string(), 300);
        refuse_file_of_run(path)?;
        let Some(metadata) = path.metadata().ok().filter(fs::Metadata::is_file) else { return Ok(()) };
        if is_input(&self.inputs, path) {
            let message = format!("`{shown}` is an input of this command or of its runs and is never replaced");
            return Err(RunError::usage(message, "name another file to write"));
        }
        if metadata.len() == 0 || self.force == Force::Flag(true) {
            return Ok(());
        }
        let message = match Start::read(path) {
            Ok(start) if (self.is_earlier)(&start) => return Ok(()),
            Ok(_) => format!("`{shown}` exists and is not {what}"),
            Err(error) => format!("`{shown}` exists, and it cannot be read: {error}"),
        };
        Err(RunError::usage(
            message,
            match self.force {
                Force::Flag(_) => "name another file, or replace this one with --force",
                Force::Never(instead) => instead,
            },
        ))
    }
}

/// Refuses a file that nothing but a run itself writes, also where a link leads to it.
pub(crate) fn refuse_file_of_run(path: &Path) -> Result<(), RunError> {
    let is_own = |path: &Path| {
        let (folder, name) = (path.parent().map(RunFolder::at), path.file_name().and_then(|name| name.to_str()));
        folder.is_some_and(|folder| folder.exists()) && name.is_some_and(RunFolder::is_own)
    };
    if is_own(path) || path.canonicalize().is_ok_and(|path| is_own(&path)) {
        let message =
            format!("`{}` is a file of a run, which would be lost", visible_line(&path.display().to_string(), 300));
        return Err(RunError::usage(message, "name another file to write"));
    }
    Ok(())
}

/// What is never replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
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

fn is_input(inputs: &[Input], path: &Path) -> bool {
    let (real, digest) = (path.canonicalize().ok(), std::cell::OnceCell::new());
    let digest = || digest.get_or_init(|| sha256_of_files(&[path]).ok()).as_deref();
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
pub(crate) fn of_run(manifest: &Manifest) -> Vec<Input> {
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

fn same_file(one: &Path, other: &Path) -> bool {
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

const MORE: u64 = 64 << 10;

/// The first line of a file and some of what follows, unpacked where it is gzip.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl Start {
    fn read(path: &Path) -> io::Result<Self> {
        let mut source = BufReader::new(unpacked(File::open(path)?)?);
        let mut bytes = Vec::new();
        source.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes)?;
        source.take(MORE).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(Self { path: path.to_owned(), text: text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned() })
    }

    /// The first line, without its end.
    pub(crate) fn line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// The object in the first line; empty where there is none.
    pub(crate) fn object(&self) -> Map<String, Value> {
        serde_json::from_str(self.line()).unwrap_or_default()
    }
}
