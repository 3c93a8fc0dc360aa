//! From records to a folder, in memory of a fixed size.
//!
//! Records are sorted by title in runs on disk; of equal titles one stays; redirects are followed to their ends; then one
//! pass in title order writes pages, names, index and identity. The folder is written beside its place and renamed when it
//! is whole. Nothing that ends up in it depends on the order of the input, on memory or on threads.

mod sort;
mod write;

use super::folder::Folder;
use super::import::{self, Facts, Format, ImportError, Imported, Place};
use super::manifest::{self, About, Digest, Extent, Frozen, License, Manifest, NameCounts, Skipped, SourceFile};
use super::record::{Article, Block, Dropped, Record};
use super::{CorpusError, index, pages};
use crate::base::text::{printable, thousands};
use crate::base::{sha256_of_files, unique};
use sort::Sorter;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use write::Written;

/// A build keeps this file locked. A folder that has it is unfinished.
const LOCK: &str = "build.lock";
/// The folder of runs.
const WORK: &str = "work";
/// The least memory that sorting is done in.
pub const LEAST_MEMORY: u64 = 16 << 20;

#[derive(Debug, Clone, Default)]
pub struct BuildSettings {
    pub sources: Vec<(Format, PathBuf)>,
    /// What people call it. Without these facts, those of the first source that is a corpus hold; else the name of the folder…
    pub name: Option<String>,
    pub extent: Option<Extent>,
    pub facts: Facts,
    pub on_duplicate: OnDuplicate,
    pub threads: usize,
    /// Bytes of memory to sort in.
    pub memory: u64,
    /// Whether the other sources are added to the first, so that one of them has to give something.
    pub adds: bool,
    /// What was frozen with the pages of a site.
    pub frozen: Option<Frozen>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDuplicate {
    /// The one with the lowest page number; where these are the same, one that does not depend on the order of the input.
    #[default]
    LowestId,
    Last,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many rows were read.
    Reading(u64),
    /// So many of the articles were written.
    Writing(u32, u32),
    /// The rest is to be put together and checked.
    Finishing,
}

#[derive(Debug)]
pub struct Built {
    pub manifest: Manifest,
    /// What was left out, the first of each input by file and line.
    pub notes: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Something is where the corpus would be.
    #[error("`{0}` exists already")]
    Exists(String),
    #[error("another process is building `{0}`")]
    Busy(String),
    /// A folder of that name that no build began.
    #[error("`{0}` exists, and is not an unfinished corpus")]
    InTheWay(String),
    #[error("cannot read `{file}` to its end: {reason}")]
    Input {
        file: String,
        reason: String,
        /// Whether it is a packed corpus whose articles are not those that it names.
        is_edited: bool,
    },
    #[error("no article was found in what was read")]
    Empty(Vec<String>),
    /// Nothing that could be added: the rows that were read, and what was wrong with them.
    #[error("nothing that was read could be added")]
    NothingAdded(u64, Vec<String>),
    #[error("{0}")]
    Duplicate(String),
    #[error("cannot write `{path}`: {reason}")]
    Write { path: String, reason: String },
    #[error("the corpus that was written does not open: {0}")]
    Unsound(#[from] CorpusError),
}

/// Builds a corpus at `dir`, where nothing may be yet.
pub fn build(dir: &Path, settings: &BuildSettings, progress: &mut dyn FnMut(Progress)) -> Result<Built, BuildError> {
    if dir.symlink_metadata().is_ok() {
        return Err(BuildError::Exists(dir.display().to_string()));
    }
    let partial = Partial::begin(dir)?;
    let work = partial.path.join(WORK);
    let cannot = cannot_write(&partial.path);
    fs::create_dir(&work).map_err(cannot)?;
    let Collected { articles, redirects, mut sources, dropped } = collect_records(&work, settings, progress)?;
    if settings.adds {
        let added = || sources.iter().skip(1);
        let rows = added().map(|source| source.rows).sum::<u64>();
        if rows == added().map(|source| source.skipped.bad + source.skipped.empty).sum::<u64>() {
            return Err(BuildError::NothingAdded(rows, notes(settings, &sources)));
        }
    }
    let distinct = sort::write_distinct(&work, articles, settings.on_duplicate, &mut sources)?;
    if distinct.count == 0 {
        return Err(BuildError::Empty(notes(settings, &sources)));
    }
    let (redirects, names) = sort::follow_redirects(&work, &distinct, redirects, settings).map_err(cannot)?;
    let mut names = names.with_dropped(&dropped);
    let written = write::write(&partial.path, &work, &distinct, redirects, settings, progress)
        .map_err(|error| cannot(io::Error::other(error)))?;
    check_same_corpus(&sources, &written.id)?;
    progress(Progress::Finishing);
    let frozen = frozen_of_build(settings, &sources);
    frozen.as_ref().map_or(Ok(()), |frozen| frozen.write(&partial.path)).map_err(cannot)?;
    fs::remove_dir_all(&work).map_err(cannot)?;
    names.collisions = written.collisions;
    let manifest =
        manifest_of_build(dir, settings, &sources, (written, names), frozen, digests(&partial.path).map_err(cannot)?)?;
    partial.finish(dir, &manifest)?;
    Ok(Built { manifest, notes: notes(settings, &sources) })
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Sizes and digests of all files, which are on the disk then.
fn digests(dir: &Path) -> io::Result<BTreeMap<String, Digest>> {
    let mut digests = BTreeMap::new();
    for below in ["", index::INDEX] {
        for entry in fs::read_dir(dir.join(below))? {
            let path = entry?.path();
            let name = file_name(&path);
            if !path.is_file() || name == LOCK {
                continue;
            }
            let file = File::open(&path)?;
            file.sync_all()?;
            let digest = Digest { bytes: file.metadata()?.len(), sha256: sha256_of_files(&[path])? };
            digests.insert(if below.is_empty() { name } else { format!("{below}/{name}") }, digest);
        }
    }
    Ok(digests)
}

/// A folder that is not whole yet. It stays if its maker is killed, and the next build of that name begins with it anew.
struct Partial {
    path: PathBuf,
    lock: Option<File>,
}

impl Partial {
    fn begin(dir: &Path) -> Result<Self, BuildError> {
        let path = dir.with_added_extension("partial");
        let cannot = cannot_write(&path);
        if let Some(parent) = dir.parent() {
            fs::create_dir_all(parent).map_err(cannot)?;
        }
        let lock = path.join(LOCK);
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let ours = path.symlink_metadata().is_ok_and(|found| found.is_dir());
                if !ours || !lock.symlink_metadata().is_ok_and(|found| found.is_file()) {
                    return Err(BuildError::InTheWay(path.display().to_string()));
                }
            }
            made => made.map_err(cannot)?,
        }
        let file = File::create(&lock).map_err(cannot)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(BuildError::Busy(dir.display().to_string())),
            // Some disks have no locks.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }
        for entry in fs::read_dir(&path).map_err(cannot)? {
            let left = entry.map_err(cannot)?.path();
            if left != lock {
                if left.is_dir() { fs::remove_dir_all(&left) } else { fs::remove_file(&left) }.map_err(cannot)?;
            }
        }
        Ok(Self { path, lock: Some(file) })
    }

    /// Opens what was written, as anybody would, and moves it to its place.
    fn finish(mut self, dir: &Path, manifest: &Manifest) -> Result<(), BuildError> {
        Folder::open(&self.path, manifest)?;
        let cannot = cannot_write(&self.path);
        let text = toml::to_string(manifest).map_err(|error| cannot(io::Error::other(error)))?;
        let mut file = File::create_new(self.path.join(manifest::FILE)).map_err(cannot)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(cannot)?;
        let lock = self.path.join(LOCK);
        fs::remove_file(lock).and_then(|()| fs::rename(&self.path, dir)).map_err(cannot)?;
        self.lock = None;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // The first error is the one to report.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

// From inputs to records in title order.

/// What is left out is named so often for each input; the rest is counted.
const MAX_LISTED: usize = 10;
/// If more than one in so many rows has the title of another, they may be passages.
const PASSAGES: u64 = 4;
/// Rows between two signs of progress.
const STEP: u64 = 1 << 12;

struct Collected<'a> {
    /// Title, a zero, the page's number or what else decides which article is kept, and for a passage its format, a zero and its id → article or passage, and place.
    articles: Sorter,
    /// Redirect → title.
    redirects: Sorter,
    sources: Vec<ReadInput<'a>>,
    /// Redirects that are no names as their files show.
    dropped: NameCounts,
}

struct ReadInput<'a> {
    format: Format,
    path: &'a Path,
    rows: u64,
    skipped: Skipped,
    /// What it says of itself, if it is a corpus.
    about: Option<Box<About>>,
    /// The first rows that were left out, and how many more there are.
    left_out: Vec<String>,
    more: u64,
}

impl<'a> ReadInput<'a> {
    fn of(format: Format, path: &'a Path) -> Self {
        Self { format, path, rows: 0, skipped: Skipped::default(), about: None, left_out: Vec::new(), more: 0 }
    }

    fn leave_out(&mut self, place: &Place, what: impl Display) {
        if self.left_out.len() < MAX_LISTED {
            self.left_out.push(format!("`{}`{place}: {what}", self.path.display()));
        } else {
            self.more += 1;
        }
    }

    fn broken(&self, reason: String) -> BuildError {
        BuildError::Input { file: self.path.display().to_string(), reason, is_edited: false }
    }
}

/// What was left out, with how much is not named.
fn notes(settings: &BuildSettings, sources: &[ReadInput<'_>]) -> Vec<String> {
    let mut notes = Vec::new();
    for read in sources {
        notes.extend_from_slice(&read.left_out);
        if read.more == 0 {
            continue;
        }
        let (path, Skipped { duplicate_title, empty, bad, .. }) = (read.path.display(), read.skipped);
        notes.push(format!(
            "`{path}`: and {} more; in all {} bad, {} empty, {} with a title that was there",
            thousands(read.more),
            thousands(bad),
            thousands(empty),
            thousands(duplicate_title),
        ));
        let articles = matches!(read.format, Format::Jsonl | Format::Parquet) && !settings.adds;
        if articles && duplicate_title * PASSAGES > read.rows {
            let named = Format::Beir.name();
            notes.push(format!(
                "`{path}`: many rows have the title of another; if they are passages, read it as {named}:{path}"
            ));
        }
    }
    notes
}

/// Reads all inputs. Each is read on a thread of its own, one after the other.
fn collect_records<'a>(
    work: &Path,
    settings: &'a BuildSettings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Collected<'a>, BuildError> {
    // Half of the memory is for other stages, and vectors double when they grow.
    let most = settings.memory / 4;
    let mut collected = Collected {
        articles: Sorter::new(work, "articles", most),
        redirects: Sorter::new(work, "redirects", most / 4),
        sources: settings.sources.iter().map(|(format, path)| ReadInput::of(*format, path)).collect(),
        dropped: NameCounts::default(),
    };
    for (source, (format, path)) in settings.sources.iter().enumerate() {
        let broken = |error: ImportError| {
            let is_edited = matches!(error, ImportError::Edited { .. });
            BuildError::Input { file: path.display().to_string(), reason: error.reason(), is_edited }
        };
        let records = import::open(*format, path).map_err(broken)?;
        let (send, received) = sync_channel(1 << 10);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // Nobody listens after an error.
                let _ = records.map(|record| send.send(record).is_ok()).find(|sent| !sent);
            });
            for record in received {
                match record {
                    Ok(found) => collected.add(settings.on_duplicate, source, found).map_err(cannot_write(work))?,
                    Err(ImportError::Record { place, reason }) => {
                        let input = &mut collected.sources[source];
                        input.rows += 1;
                        input.skipped.bad += 1;
                        input.leave_out(&place, reason);
                    }
                    Err(error) => return Err(broken(error)),
                }
                let rows = collected.rows();
                if rows.is_multiple_of(STEP) {
                    progress(Progress::Reading(rows));
                }
            }
            Ok(())
        })?;
    }
    progress(Progress::Reading(collected.rows()));
    Ok(collected)
}

fn cannot_write(path: &Path) -> impl Fn(io::Error) -> BuildError + Copy {
    move |error| BuildError::Write { path: path.display().to_string(), reason: error.to_string() }
}

impl Collected<'_> {
    fn rows(&self) -> u64 {
        self.sources.iter().map(|read| read.rows).sum()
    }

    fn add(&mut self, on_duplicate: OnDuplicate, source: usize, found: Imported) -> io::Result<()> {
        let Imported { record, place } = found;
        self.sources[source].rows += u64::from(!matches!(record, Record::About(_)));
        // Pages without a number come last, passages behind them.
        let mut order = u64::MAX.to_be_bytes().to_vec();
        let mut article = match record {
            Record::Redirect { title, to } => return self.redirects.push(title, to),
            Record::Article(article) => {
                let first = match on_duplicate {
                    OnDuplicate::Last => u64::MAX - self.rows(),
                    OnDuplicate::LowestId | OnDuplicate::Error => article.pageid.unwrap_or(u64::MAX),
                };
                order = first.to_be_bytes().to_vec();
                article
            }
            Record::About(about) => {
                self.sources[source].about = Some(about);
                return Ok(());
            }
            Record::Dropped(dropped) => {
                match dropped {
                    Dropped::ToNothing => self.dropped.redirect_to_nothing += 1,
                    Dropped::Circle => self.dropped.redirect_circle += 1,
                }
                return Ok(());
            }
            Record::Passage { title, id, text } => {
                order.extend_from_slice(self.sources[source].format.name().as_bytes());
                order.push(0);
                order.extend(id.map_or_else(|| text.clone().into_bytes(), |id| id_in_order(&id)));
                Article { title, blocks: vec![Block::Text(text)], ..Article::default() }
            }
        };
        let wrong = match article.title.as_str() {
            title if title.contains('\0') => Some("the title holds a NUL"),
            title if title.trim().is_empty() => Some("a paragraph has no title"),
            _ => None,
        };
        if let Some(reason) = wrong {
            self.sources[source].skipped.bad += 1;
            self.sources[source].leave_out(&place, reason);
            return Ok(());
        }
        for redirect in std::mem::take(&mut article.redirects) {
            self.redirects.push(redirect, article.title.as_bytes())?;
        }
        if article.is_empty() {
            self.sources[source].skipped.empty += 1;
            let title = printable(&article.title, 80);
            self.sources[source].leave_out(&place, format_args!("`{title}` has no text"));
            return Ok(());
        }
        self.push(source, &order, article, &place)
    }

    /// Sorts an article in by its title, then by `order`.
    fn push(&mut self, source: usize, order: &[u8], mut article: Article, place: &Place) -> io::Result<()> {
        let key = [article.title.as_bytes(), &[0], order].concat();
        if order.len() > 8 {
            // A passage's title is in its key.
            article.title.clear();
        }
        let mut value = vec![0; 4];
        pages::encode_article(&article, &mut value);
        let length = u32::try_from(value.len() - 4).map_err(|_| io::ErrorKind::FileTooLarge)?;
        value[..4].copy_from_slice(&length.to_be_bytes());
        value.extend_from_slice(&u32::try_from(source).unwrap_or(u32::MAX).to_be_bytes());
        value.extend_from_slice(&place.line.to_be_bytes());
        value.extend_from_slice(place.member.as_deref().unwrap_or_default().as_bytes());
        self.articles.push(key, value)
    }
}

/// An id in bytes that are in order by the number at its end.
fn id_in_order(id: &str) -> Vec<u8> {
    let name = id.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = id[name.len()..].parse().unwrap_or(u64::MAX);
    [name.as_bytes(), &[0], &number.to_be_bytes(), id.as_bytes()].concat()
}

// What a corpus is: as the settings say, else as a source says that is a corpus itself, else as its publisher says.

fn manifest_of_build(
    dir: &Path,
    settings: &BuildSettings,
    sources: &[ReadInput<'_>],
    (written, names): (Written, NameCounts),
    frozen: Option<Frozen>,
    files: BTreeMap<String, Digest>,
) -> Result<Manifest, BuildError> {
    let known = abouts(sources).next().map(|about| &about.manifest);
    let said_of_known = || known.map(|known| known.name.clone());
    let Facts { language, as_of, license, attribution, changes } = facts_of_build(settings, sources);
    let license = License { id: license.unwrap_or_else(|| License::UNKNOWN.to_owned()), attribution, changes };
    Ok(Manifest {
        format: manifest::FORMAT,
        id: written.id,
        name: settings.name.clone().or_else(said_of_known).unwrap_or_else(|| file_name(dir)),
        extent: settings.extent.or(known.map(|known| known.extent)).unwrap_or_else(|| common_extent(&settings.sources)),
        language,
        as_of,
        articles: written.articles,
        redirects: written.redirects,
        disambiguations: written.disambiguations,
        sentences: written.sentences,
        text_bytes: written.text_bytes,
        freeze: frozen.map(|frozen| frozen.facts),
        license,
        sources: source_files(settings, sources)?,
        names: abouts(sources).fold(names, |sum, about| sum.with_dropped(&about.manifest.names)),
        build: manifest::Build::current(),
        files,
    })
}

fn abouts<'a>(sources: &'a [ReadInput<'_>]) -> impl Iterator<Item = &'a About> {
    sources.iter().filter_map(|read| read.about.as_deref())
}

/// Makes sure that a corpus built of nothing but another one is that one.
fn check_same_corpus(sources: &[ReadInput<'_>], id: &str) -> Result<(), BuildError> {
    let [read @ ReadInput { about: Some(about), .. }] = sources else { return Ok(()) };
    let claimed = &about.manifest.id;
    if claimed == id {
        return Ok(());
    }
    Err(read.broken(format!("its articles have the identity {id}, and it says {}", printable(claimed, 80))))
}

/// What the formats of articles have, if it is the same for all.
fn common_extent(sources: &[(Format, PathBuf)]) -> Extent {
    let articles = sources.iter().filter(|(format, _)| *format != Format::Redirects);
    let mut extents = articles.map(|(format, path)| format.extent(path));
    let first = extents.next().unwrap_or_default();
    if extents.all(|extent| extent == first) { first } else { Extent::default() }
}

/// What was frozen: now, or with the corpora that are read. Of a search with several answers, that of the first corpus holds.
fn frozen_of_build(settings: &BuildSettings, sources: &[ReadInput<'_>]) -> Option<Frozen> {
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
    let inputs = sources.iter().filter(|read| read.format != Format::Redirects);
    let permalink = |read: &ReadInput<'_>| Some(read.about.as_ref()?.manifest.freeze.as_ref()?.permalink.clone());
    if inputs.map(permalink).any(|other| other.as_ref() != Some(&facts.permalink)) {
        facts.permalink.clear();
    }
    facts.searches = searches.len() as u64;
    facts.left_out.clear();
    for (reason, _) in &left_out {
        *facts.left_out.entry(*reason).or_default() += 1;
    }
    Some(Frozen { facts, searches, left_out })
}

/// The facts as given, each; else those of the corpora that are read: of the first, and for the license of all; else what all
/// publishers say alike.
fn facts_of_build(settings: &BuildSettings, sources: &[ReadInput<'_>]) -> Facts {
    let all = |fact: fn(&License) -> Option<&String>, between: &str| {
        let licenses = unique(abouts(sources).filter_map(|about| fact(&about.manifest.license).map(String::as_str)));
        (!licenses.is_empty()).then(|| licenses.join(between))
    };
    let first = abouts(sources).next().map(|about| &about.manifest);
    let known = Facts {
        language: first.and_then(|first| first.language.clone()),
        as_of: first.and_then(|first| first.as_of.clone()),
        license: all(|license| Some(&license.id), " AND "),
        attribution: all(|license| license.attribution.as_ref(), "; "),
        changes: all(|license| license.changes.as_ref(), "; "),
    };
    let mut given = settings.facts.clone();
    given.license =
        given.license.map(|id| if ["", "none"].contains(&id.trim()) { License::UNKNOWN.to_owned() } else { id });
    given.merged(known, Option::or).merged(import::published_facts(&settings.sources), Option::or)
}

/// The inputs as the manifest has them. A corpus brings its own sources, and is one itself unless nothing was added to it.
fn source_files(settings: &BuildSettings, sources: &[ReadInput<'_>]) -> Result<Vec<SourceFile>, BuildError> {
    let mut described = Vec::new();
    for read in sources {
        described.extend(read.about.iter().flat_map(|about| about.manifest.sources.clone()));
        if read.about.is_none() || sources.len() > 1 {
            described.push(source_file(settings, read)?);
        }
    }
    Ok(described)
}

fn source_file(settings: &BuildSettings, read: &ReadInput<'_>) -> Result<SourceFile, BuildError> {
    let (rows, skipped, format) = (read.rows, read.skipped, read.format.name().to_owned());
    if let Some(frozen) = &settings.frozen {
        return Ok(SourceFile { format, file: frozen.facts.site.clone(), id: None, sha256: None, rows, skipped });
    }
    let files = import::files(read.path);
    let regular = files.iter().all(|path| path.metadata().is_ok_and(|found| found.is_file()));
    let sha256 = regular.then(|| sha256_of_files(&files)).transpose();
    let sha256 = sha256.map_err(|error| read.broken(error.to_string()))?;
    let id = read.about.as_ref().map(|about| about.manifest.id.clone());
    Ok(SourceFile { format, file: file_name(read.path), id, sha256, rows, skipped })
}

#[cfg(test)]
mod tests;
