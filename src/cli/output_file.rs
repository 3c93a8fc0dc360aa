//! Output files that are complete or absent and replace nothing by mistake, and lines of JSON.

use super::failure::Failure;
use crate::analysis::export::unpacked;
use crate::base::bounded::MAX_LINE_BYTES;
use crate::base::text::visible_line;
use crate::base::{Manifest, WikiKind, WikiName};
use crate::dataset::sha256_of_file;
use crate::net::recording::create_beside;
use crate::runner::store::RunFolder;
use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};

/// A file that a person named to be written.
///
/// It replaces an existing file if that one is empty or an earlier output of the same kind, and others if the person
/// insists; a file that the command reads is never replaced. A pipe or a device is written directly.
pub(super) struct OutputFile<'a> {
    pub(super) path: &'a Path,
    /// What is written, such as `a page of wikitrail report`.
    pub(super) what: &'a str,
    /// Whether a file that begins like this is an earlier output of the same kind.
    pub(super) is_earlier: &'a dyn Fn(&Start) -> bool,
    /// Whether any other file is replaced too.
    pub(super) force: Force,
    /// What the command and its runs read.
    pub(super) inputs: Vec<Input>,
}

/// Whether a file is replaced, whatever it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    /// By `--force`, if it was given.
    Flag(bool),
    /// Never; this is what to do instead.
    Never(&'static str),
}

impl OutputFile<'_> {
    /// Refuses what must not be replaced. Commands that take long ask before they begin.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let Self { path, what, .. } = self;
        let shown = visible_line(&path.display().to_string(), 300);
        refuse_file_of_run(path)?;
        let Some(metadata) = path.metadata().ok().filter(fs::Metadata::is_file) else { return Ok(()) };
        if is_input(&self.inputs, path) {
            return Err(Failure::usage(
                format!("`{shown}` is an input of this command or of its runs and is never replaced"),
                "name another file to write",
            ));
        }
        if metadata.len() == 0 || self.force == Force::Flag(true) {
            return Ok(());
        }
        let message = match Start::read(path) {
            Ok(start) if (self.is_earlier)(&start) => return Ok(()),
            Ok(_) => format!("`{shown}` exists and is not {what}"),
            Err(error) => format!("`{shown}` exists, and it cannot be read: {error}"),
        };
        Err(Failure::usage(
            message,
            match self.force {
                Force::Flag(_) => "name another file, or replace this one with --force",
                Force::Never(instead) => instead,
            },
        ))
    }

    /// Fills the file through a neighbouring one that takes its name once it is complete, so that a failure leaves an older
    /// file unchanged.
    pub(super) fn write<T>(&self, fill: impl FnOnce(File) -> anyhow::Result<T>) -> anyhow::Result<T> {
        self.check()?;
        let path = self.path;
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return File::create(path)
                .map_err(anyhow::Error::from)
                .and_then(fill)
                .map_err(|error| explained(path, error));
        }
        let (created, part) = create_beside(path).map_err(|error| explained(path, error.into()))?;
        let complete = |result| -> anyhow::Result<T> {
            File::open(&part)?.sync_all()?;
            fs::rename(&part, path)?;
            Ok(result)
        };
        let written = fill(created).and_then(complete);
        written.map_err(|error| {
            // The first error is the one to report.
            let _ = fs::remove_file(&part);
            explained(path, error)
        })
    }
}

/// Refuses a file that nothing but a run itself writes, also where a link leads to it.
pub(super) fn refuse_file_of_run(path: &Path) -> anyhow::Result<()> {
    let is_own = |path: &Path| {
        let (folder, name) = (path.parent().map(RunFolder::at), path.file_name().and_then(|name| name.to_str()));
        folder.is_some_and(|folder| folder.exists()) && name.is_some_and(RunFolder::is_own)
    };
    if is_own(path) || path.canonicalize().is_ok_and(|path| is_own(&path)) {
        let message =
            format!("`{}` is a file of a run, which would be lost", visible_line(&path.display().to_string(), 300));
        return Err(Failure::usage(message, "name another file to write"));
    }
    Ok(())
}

/// The file that `--out` names; `-` is standard output, as is no `--out`.
pub(super) fn named(out: Option<&Path>) -> Option<&Path> {
    out.filter(|path| *path != Path::new("-"))
}

/// The format in which an output is written: the one that is typed, else the one that the file's ending says. A
/// contradiction is refused, and so is an ending that says nothing. `endings` holds the formats of each ending, the usual
/// one first; a name may end in `.gz` behind those that say so themselves.
///
/// Standard output, pipes and devices have no ending: there it is the one that is typed, or the default.
pub(super) fn format<F: ValueEnum + Copy + PartialEq>(
    typed: Option<F>,
    out: Option<&Path>,
    endings: &[(&str, &[F])],
    default: F,
) -> anyhow::Result<F> {
    let Some(path) = named(out).filter(|path| path.metadata().map_or(true, |metadata| metadata.is_file())) else {
        return Ok(typed.unwrap_or(default));
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let by_name = endings.iter().find(|(ending, _)| name.ends_with(ending)).map(|(ending, formats)| (ending, *formats));
    let shown = |format: F| format.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let file = visible_line(&path.display().to_string(), 200);
    match (typed, by_name) {
        (Some(typed), None) => Ok(typed),
        (None, Some((_, [format, ..]))) => Ok(*format),
        (Some(typed), Some((_, formats))) if formats.contains(&typed) => Ok(typed),
        (Some(typed), Some((ending, formats))) => {
            let usual = formats.first().map_or_else(String::new, |format| shown(*format));
            let own = endings.iter().find(|(_, formats)| formats.contains(&typed));
            let own = own.map_or_else(String::new, |(ending, _)| format!(", or name a file that ends in {ending}"));
            Err(Failure::usage(
                format!("`{file}` ends in {ending}, but --format is {}", shown(typed)),
                format!("omit --format to write {usual}{own}"),
            ))
        }
        (None, _) => {
            let known: Vec<&str> = endings.iter().map(|(ending, _)| *ending).collect();
            let formats: Vec<String> = F::value_variants().iter().map(|format| shown(*format)).collect();
            Err(Failure::usage(
                format!("`{file}` has no ending that says which format to write"),
                format!("name a file that ends in {}, or add --format {}", known.join(", "), formats.join("|")),
            ))
        }
    }
}

/// Writes a value as JSON on a line of its own.
pub(super) fn json_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

fn explained(path: &Path, error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<io::Error>() {
        // The chain is kept, so that a closed pipe is recognised.
        Ok(error) if error.kind() == io::ErrorKind::BrokenPipe => error.into(),
        Ok(error) => Failure::unexpected(
            format!("cannot write `{}`: {error}", path.display()),
            "check that the folder exists, is writable and has space",
        ),
        Err(error) => error,
    }
}

/// What is never replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
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
fn is_input(inputs: &[Input], path: &Path) -> bool {
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
pub(super) fn of_run(manifest: &Manifest) -> Vec<Input> {
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

/// Bytes that are read behind the first line.
const MORE: u64 = 64 << 10;

/// The first line of a file and some of what follows, unpacked where it is gzip.
#[derive(Debug)]
pub(super) struct Start {
    path: PathBuf,
    text: String,
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

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// All that was read.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The first line, without its end.
    pub(super) fn line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// The object in the first line; empty where there is none.
    pub(super) fn object(&self) -> Map<String, Value> {
        serde_json::from_str(self.line()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
