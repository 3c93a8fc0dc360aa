//! From inputs to records in title order, of which each title is there once.

use super::sorter::Sorter;
use super::{BuildError, BuildSettings, OnDuplicate, Progress};
use crate::types::text::{printable, thousands};
use crate::wiki::corpus::frame;
use crate::wiki::corpus::import::{self, ImportError, Imported, Place};
use crate::wiki::corpus::manifest::{Manifest, Skipped};
use crate::wiki::corpus::record::{Article, Record};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

/// What is left out is named so often for each input; the rest is counted.
const NAMED: usize = 10;
/// Rows between two signs of progress.
const STEP: u64 = 1 << 12;

/// All records, sorted.
pub(super) struct Collected {
    /// Title, a zero, and the page's number or what else decides which article is kept → article and place.
    pub(super) articles: Sorter,
    /// Redirect → title.
    pub(super) redirects: Sorter,
    pub(super) sources: Vec<Read>,
    pub(super) notes: Notes,
}

/// What was read of an input.
#[derive(Debug, Clone, Default)]
pub(super) struct Read {
    pub(super) rows: u64,
    pub(super) skipped: Skipped,
    /// What it says of itself, if it is a corpus.
    pub(super) about: Option<Box<Manifest>>,
}

/// What was left out, in words.
pub(super) struct Notes(Vec<(usize, Vec<String>)>);

impl Notes {
    fn add(&mut self, settings: &BuildSettings, source: usize, place: &Place, what: impl Display) {
        let (count, named) = &mut self.0[source];
        *count += 1;
        if named.len() < NAMED {
            named.push(format!("`{}`{place}: {what}", settings.sources[source].1.display()));
        }
    }

    /// With how many are not named.
    pub(super) fn said(self, settings: &BuildSettings, sources: &[Read]) -> Vec<String> {
        let mut said = Vec::new();
        for (((count, named), (_, path)), read) in self.0.into_iter().zip(&settings.sources).zip(sources) {
            let more = count - named.len();
            said.extend(named);
            if more > 0 {
                let Skipped { duplicate_title, empty, bad } = read.skipped;
                said.push(format!(
                    "`{}`: and {} more; in all {} bad, {} empty, {} with a title that was there",
                    path.display(),
                    thousands(more as u64),
                    thousands(bad),
                    thousands(empty),
                    thousands(duplicate_title),
                ));
            }
        }
        said
    }
}

/// Reads all inputs. Each is read on a thread of its own, one after the other.
pub(super) fn collect(
    work: &Path,
    settings: &BuildSettings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Collected, BuildError> {
    // Half of the memory is for other stages, and vectors double when they grow.
    let most = usize::try_from(settings.memory / 4).unwrap_or(usize::MAX);
    let mut collected = Collected {
        articles: Sorter::new(work.to_owned(), "articles".to_owned(), most),
        redirects: Sorter::new(work.to_owned(), "redirects".to_owned(), most / 4),
        sources: vec![Read::default(); settings.sources.len()],
        notes: Notes(vec![(0, Vec::new()); settings.sources.len()]),
    };
    for (source, (format, path)) in settings.sources.iter().enumerate() {
        let broken = |error: ImportError| match error {
            ImportError::Record { reason, .. } | ImportError::Broken { reason } => {
                BuildError::Input { file: path.display().to_string(), reason }
            }
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
                    Ok(found) => collected.add(settings, source, found).map_err(|error| cannot(work, &error))?,
                    Err(ImportError::Record { place, reason }) => {
                        collected.sources[source].rows += 1;
                        collected.sources[source].skipped.bad += 1;
                        collected.notes.add(settings, source, &place, reason);
                    }
                    Err(error) => return Err(broken(error)),
                }
                let rows: u64 = collected.sources.iter().map(|read| read.rows).sum();
                if rows.is_multiple_of(STEP) {
                    progress(Progress::Reading(rows));
                }
            }
            Ok(())
        })?;
    }
    progress(Progress::Reading(collected.sources.iter().map(|read| read.rows).sum()));
    Ok(collected)
}

fn cannot(work: &Path, error: &io::Error) -> BuildError {
    BuildError::Write { path: work.display().to_string(), reason: error.to_string() }
}

impl Collected {
    fn add(&mut self, settings: &BuildSettings, source: usize, found: Imported) -> io::Result<()> {
        let Imported { record, place } = found;
        self.sources[source].rows += u64::from(!matches!(record, Record::About(_)));
        let mut article = match record {
            Record::Redirect { title, to } => return self.redirects.push(title.as_bytes(), to.as_bytes()),
            Record::Article(article) => article,
            Record::About(manifest) => {
                self.sources[source].about = Some(manifest);
                return Ok(());
            }
        };
        if article.title.contains('\0') {
            self.sources[source].skipped.bad += 1;
            self.notes.add(settings, source, &place, "the title holds a NUL");
            return Ok(());
        }
        for redirect in std::mem::take(&mut article.redirects) {
            self.redirects.push(redirect.as_bytes(), article.title.as_bytes())?;
        }
        if article.is_empty() {
            self.sources[source].skipped.empty += 1;
            let title = printable(&article.title, 80);
            self.notes.add(settings, source, &place, format_args!("`{title}` has no text"));
            return Ok(());
        }
        let order = match settings.on_duplicate {
            OnDuplicate::Last => u64::MAX - self.sources.iter().map(|read| read.rows).sum::<u64>(),
            // Pages without a number come last.
            OnDuplicate::LowestId | OnDuplicate::Error => article.pageid.unwrap_or(u64::MAX),
        };
        let key = [article.title.as_bytes(), &[0], &order.to_be_bytes()].concat();
        let mut value = vec![0; 4];
        frame::encode(&article, &mut value);
        let length = u32::try_from(value.len() - 4).map_err(|_| io::ErrorKind::FileTooLarge)?;
        value[..4].copy_from_slice(&length.to_be_bytes());
        value.extend_from_slice(&u32::try_from(source).unwrap_or(u32::MAX).to_be_bytes());
        value.extend_from_slice(&place.line.to_be_bytes());
        value.extend_from_slice(place.member.as_deref().unwrap_or_default().as_bytes());
        self.articles.push(&key, &value)
    }
}

/// Where an article came from, as it is behind its frame.
fn origin(bytes: &[u8]) -> (usize, Place) {
    let (source, rest) = bytes.split_at(4);
    let (line, member) = rest.split_at(8);
    let source = source.iter().fold(0, |number, byte| number << 8 | usize::from(*byte));
    let line = line.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    let member = (!member.is_empty()).then(|| Arc::from(String::from_utf8_lossy(member)));
    (source, Place { member, line })
}

/// Articles in title order, each title once.
pub(super) struct Distinct {
    pub(super) count: u32,
    articles: PathBuf,
    titles: PathBuf,
}

/// Of articles with one title, keeps the one that sorts first: that of the lowest page number, then the least record; or the last that was read.
pub(super) fn distinct(
    work: &Path,
    articles: Sorter,
    settings: &BuildSettings,
    sources: &mut [Read],
    notes: &mut Notes,
) -> Result<Distinct, BuildError> {
    let cannot = |error: io::Error| cannot(work, &error);
    let mut distinct = Distinct { count: 0, articles: work.join("articles"), titles: work.join("titles") };
    let create = |path: &Path| File::create_new(path).map(BufWriter::new).map_err(cannot);
    let (mut kept, mut titles) = (create(&distinct.articles)?, create(&distinct.titles)?);
    let mut sorted = articles.sorted().map_err(cannot)?;
    let (mut key, mut value, mut last, mut first) = (Vec::new(), Vec::new(), None::<Vec<u8>>, (0, Place::default()));
    while sorted.next(&mut key, &mut value).map_err(cannot)? {
        key.truncate(key.len() - 9);
        let (length, rest) = value.split_at(4);
        let length = length.iter().fold(0, |number, byte| number << 8 | usize::from(*byte));
        let (frame, behind) = rest.split_at(length);
        let (source, place) = origin(behind);
        if last.as_ref() == Some(&key) {
            let title = printable(&String::from_utf8_lossy(&key), 80);
            if settings.on_duplicate == OnDuplicate::Error {
                let file = |source: usize| settings.sources[source].1.display();
                let (before, at) = first;
                let twice = format!("`{}`{place}: the title `{title}` is that of `{}`{at}", file(source), file(before));
                return Err(BuildError::Duplicate(twice));
            }
            sources[source].skipped.duplicate_title += 1;
            notes.add(settings, source, &place, format_args!("another record of `{title}` was kept"));
            continue;
        }
        distinct.count = distinct
            .count
            .checked_add(1)
            .ok_or_else(|| cannot(io::Error::other("more than 4,294,967,295 articles")))?;
        write(&mut kept, frame).and_then(|()| write(&mut titles, &key)).map_err(cannot)?;
        first = (source, place);
        last = Some(key.clone());
    }
    kept.flush().and_then(|()| titles.flush()).map_err(cannot)?;
    Ok(distinct)
}

impl Distinct {
    pub(super) fn titles(&self) -> io::Result<Pieces> {
        Pieces::open(&self.titles)
    }

    /// Articles without their redirects.
    pub(super) fn articles(&self) -> io::Result<impl Iterator<Item = io::Result<Article>> + use<>> {
        let mut pieces = Pieces::open(&self.articles)?;
        let count = self.count;
        Ok((0..count).map(move |_| {
            let piece = pieces.next()?.ok_or(io::ErrorKind::UnexpectedEof)?;
            frame::decode(piece).ok_or_else(|| io::ErrorKind::InvalidData.into())
        }))
    }
}

/// Writes bytes behind their length.
pub(super) fn write(out: &mut impl io::Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(bytes)
}

/// Reads what [`write`] wrote, piece by piece.
pub(super) struct Pieces(BufReader<File>, Vec<u8>);

impl Pieces {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(BufReader::with_capacity(1 << 18, File::open(path)?), Vec::new()))
    }

    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let mut length = [0; 4];
        if self.0.read(&mut length[..1])? == 0 {
            return Ok(None);
        }
        self.0.read_exact(&mut length[1..])?;
        self.1.resize(u32::from_le_bytes(length) as usize, 0);
        self.0.read_exact(&mut self.1)?;
        Ok(Some(&self.1))
    }
}
