//! From inputs to records in title order.

use super::sorter::Sorter;
use super::{BuildError, BuildSettings, OnDuplicate, Progress};
use crate::types::text::{printable, thousands};
use crate::wiki::corpus::about::About;
use crate::wiki::corpus::frame;
use crate::wiki::corpus::import::{self, ImportError, Imported, Place};
use crate::wiki::corpus::manifest::Skipped;
use crate::wiki::corpus::record::{Article, Block, Record};
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::sync::mpsc::sync_channel;

/// What is left out is named so often for each input; the rest is counted.
const MAX_LISTED: usize = 10;
/// Rows between two signs of progress.
const STEP: u64 = 1 << 12;

/// All records, sorted.
pub(super) struct Collected {
    /// Title, a zero, the page's number or what else decides which article is kept, and for a passage its format, a zero and its id → article or passage, and place.
    pub(super) articles: Sorter,
    /// Redirect → title.
    pub(super) redirects: Sorter,
    pub(super) sources: Vec<ReadInput>,
    pub(super) notes: Notes,
}

/// What was read of an input.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadInput {
    pub(super) rows: u64,
    pub(super) skipped: Skipped,
    /// What it says of itself, if it is a corpus.
    pub(super) about: Option<Box<About>>,
}

/// What was left out, in words.
pub(super) struct Notes(Vec<(usize, Vec<String>)>);

impl Notes {
    pub(super) fn add(&mut self, settings: &BuildSettings, source: usize, place: &Place, what: impl Display) {
        let (count, named) = &mut self.0[source];
        *count += 1;
        if named.len() < MAX_LISTED {
            named.push(format!("`{}`{place}: {what}", settings.sources[source].1.display()));
        }
    }

    /// With how many are not named.
    pub(super) fn listed(self, settings: &BuildSettings, sources: &[ReadInput]) -> Vec<String> {
        let mut said = Vec::new();
        for (((count, named), (_, path)), read) in self.0.into_iter().zip(&settings.sources).zip(sources) {
            let more = count - named.len();
            said.extend(named);
            if more > 0 {
                let Skipped { duplicate_title, empty, bad, .. } = read.skipped;
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
pub(super) fn collect_records(
    work: &Path,
    settings: &BuildSettings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Collected, BuildError> {
    // Half of the memory is for other stages, and vectors double when they grow.
    let most = usize::try_from(settings.memory / 4).unwrap_or(usize::MAX);
    let mut collected = Collected {
        articles: Sorter::new(work.to_owned(), "articles".to_owned(), most),
        redirects: Sorter::new(work.to_owned(), "redirects".to_owned(), most / 4),
        sources: vec![ReadInput::default(); settings.sources.len()],
        notes: Notes(vec![(0, Vec::new()); settings.sources.len()]),
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
                    Ok(found) => collected.add(settings, source, found).map_err(|error| cannot_write(work, &error))?,
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

pub(super) fn cannot_write(work: &Path, error: &io::Error) -> BuildError {
    BuildError::Write { path: work.display().to_string(), reason: error.to_string() }
}

impl Collected {
    fn add(&mut self, settings: &BuildSettings, source: usize, found: Imported) -> io::Result<()> {
        let Imported { record, place } = found;
        self.sources[source].rows += u64::from(!matches!(record, Record::About(_)));
        // Pages without a number come last, passages behind them.
        let mut order = u64::MAX.to_be_bytes().to_vec();
        let mut article = match record {
            Record::Redirect { title, to } => return self.redirects.push(title.as_bytes(), to.as_bytes()),
            Record::Article(article) => {
                let first = match settings.on_duplicate {
                    OnDuplicate::Last => u64::MAX - self.sources.iter().map(|read| read.rows).sum::<u64>(),
                    OnDuplicate::LowestId | OnDuplicate::Error => article.pageid.unwrap_or(u64::MAX),
                };
                order = first.to_be_bytes().to_vec();
                article
            }
            Record::About(about) => {
                self.sources[source].about = Some(about);
                return Ok(());
            }
            Record::Passage { title, id, text } => {
                order.extend_from_slice(settings.sources[source].0.name().as_bytes());
                order.push(0);
                order.extend(id.map_or_else(|| text.clone().into_bytes(), |id| id_in_order(&id)));
                Article { title, blocks: vec![Block::Text(text)], ..Article::default() }
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
        let key = [article.title.as_bytes(), &[0], &order].concat();
        if order.len() > 8 {
            // A passage's title is in its key.
            article.title.clear();
        }
        let mut value = vec![0; 4];
        frame::encode_article(&article, &mut value);
        let length = u32::try_from(value.len() - 4).map_err(|_| io::ErrorKind::FileTooLarge)?;
        value[..4].copy_from_slice(&length.to_be_bytes());
        value.extend_from_slice(&u32::try_from(source).unwrap_or(u32::MAX).to_be_bytes());
        value.extend_from_slice(&place.line.to_be_bytes());
        value.extend_from_slice(place.member.as_deref().unwrap_or_default().as_bytes());
        self.articles.push(&key, &value)
    }
}

/// An id in bytes that are in order by the number at its end.
fn id_in_order(id: &str) -> Vec<u8> {
    let name = id.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = id[name.len()..].parse().unwrap_or(u64::MAX);
    [name.as_bytes(), &[0], &number.to_be_bytes(), id.as_bytes()].concat()
}
