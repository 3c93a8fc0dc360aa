//! ZIM files, in which Kiwix publishes Wikipedia: pages as HTML, and redirects.
//!
//! Pages go through the reader that `--compat fixed` has for live ones. They are packed in clusters, which are unpacked and
//! read on several threads, each once. The memory that is taken is some bytes for each page, and a cluster for each thread.

mod archive;
mod cluster;
mod parts;

use super::parallel::{Batch, on_all_processors};
use super::{ImportError, Imported, Place, PublishedFacts, Records};
use crate::wiki::corpus::record::{Article, Block, Record};
use crate::wiki::html::{self, ArticleOptions, PageKind};
use archive::{Archive, Entry, Result, Target};
use cluster::Cluster;
pub(super) use parts::zim_parts;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// How a file begins.
pub(super) const MAGIC: [u8; 4] = *b"ZIM\x04";
/// The list of articles.
const LIST: &str = "listing/titleOrdered/v1";
/// Redirects that one thread follows at once.
const STEP: u32 = 1 << 12;
/// The longest chain of redirects that is followed.
const MAX_HOPS: usize = 16;
/// No page is larger, and no fact about a file longer, in bytes.
const MAX_PAGE: u64 = 32 << 20;
const MAX_FACT: u64 = 200;
/// Codes of languages as ZIM files and as Wikipedia have them; others are taken as they are.
const LANGUAGES: [(&str, &str); 14] = [
    ("ara", "ar"),
    ("ces", "cs"),
    ("deu", "de"),
    ("eng", "en"),
    ("fra", "fr"),
    ("ita", "it"),
    ("jpn", "ja"),
    ("nld", "nl"),
    ("pol", "pl"),
    ("por", "pt"),
    ("rus", "ru"),
    ("spa", "es"),
    ("ukr", "uk"),
    ("zho", "zh"),
];

pub(super) fn open(path: &Path) -> std::result::Result<Records, ImportError> {
    let archive = Arc::new(Archive::open(path).map_err(|reason| ImportError::Broken { reason })?);
    let (send, jobs) = sync_channel(1);
    let read = Arc::clone(&archive);
    thread::spawn(move || plan(&read, &send));
    Ok(Box::new(on_all_processors(jobs, move |job| run_job(&archive, job)).into_iter().flatten()))
}

/// What a file says of itself.
pub(super) fn facts(path: &Path) -> PublishedFacts {
    let Ok(archive) = Archive::open(path) else { return PublishedFacts::default() };
    let fact = |name| {
        let Target::Blob { cluster, blob, .. } = archive.find(b'M', name)?.target else { return None };
        let text =
            String::from_utf8(Cluster::open(&archive, cluster).ok()?.blob(blob, MAX_FACT).ok()?.to_vec()).ok()?;
        let text = text.trim();
        // Some writers put a sign where they have nothing to say.
        let says = text.contains(char::is_alphanumeric) && text != "N/A" && !text.contains(char::is_control);
        says.then(|| text.to_owned())
    };
    let is_code = |code: &String| code.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '-' | ','));
    let language = fact("Language")
        .filter(is_code)
        .map(|code| LANGUAGES.iter().find(|(long, _)| *long == code).map_or(code, |(_, short)| (*short).to_owned()));
    PublishedFacts {
        language,
        as_of: fact("Date"),
        license: fact("License"),
        attribution: fact("Creator").or_else(|| fact("Title")),
        changes: None,
    }
}

/// A part of the work.
enum Job {
    /// Something is wrong.
    Say(ImportError),
    /// Pages of one cluster, in its order.
    Pages(Vec<Page>),
    /// Those of the entries that redirect to an article.
    Redirects(Arc<Set>, Range<u32>),
}

/// Where the page of an entry is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Page {
    cluster: u32,
    blob: u32,
    entry: u32,
}

/// Some of a file's entries.
struct Set(Vec<u64>);

impl Set {
    fn new(entries: u32) -> Self {
        Self(vec![0; entries.div_ceil(64) as usize])
    }

    fn add(&mut self, entry: u32) {
        if let Some(word) = self.0.get_mut(entry as usize / 64) {
            *word |= 1 << (entry % 64);
        }
    }

    fn has(&self, entry: u32) -> bool {
        self.0.get(entry as usize / 64).is_some_and(|word| word >> (entry % 64) & 1 == 1)
    }
}

/// Hands out the work. Nobody listens after an error.
fn plan(archive: &Archive, jobs: &SyncSender<Job>) {
    let say = |error| jobs.send(Job::Say(error)).is_ok();
    if let Err(reason) = archive.compare_checksum() {
        say(ImportError::Broken { reason });
        return;
    }
    let Some(mut pages) = article_pages(archive, say) else { return };
    pages.sort_unstable();
    let mut articles = Set::new(archive.entries);
    for page in &pages {
        articles.add(page.entry);
    }
    for cluster in pages.chunk_by(|one, other| one.cluster == other.cluster) {
        if jobs.send(Job::Pages(cluster.to_vec())).is_err() {
            return;
        }
    }
    let articles = Arc::new(articles);
    for first in (0..archive.entries).step_by(STEP as usize) {
        let range = first..first.saturating_add(STEP).min(archive.entries);
        if jobs.send(Job::Redirects(Arc::clone(&articles), range)).is_err() {
            return;
        }
    }
}

/// All articles: of the pages, those that the file lists as such, or all if it has no such list.
fn article_pages(archive: &Archive, say: impl Fn(ImportError) -> bool) -> Option<Vec<Page>> {
    let mut pages = Vec::new();
    for index in 0..archive.entries {
        match archive.entry(index) {
            Ok(Entry { namespace, target: Target::Blob { html: true, cluster, blob }, .. })
                if namespace == archive.articles =>
            {
                pages.push(Page { cluster, blob, entry: index });
            }
            Ok(_) => {}
            Err(reason) => say(bad(format!("entry {index}"), reason)).then_some(())?,
        }
    }
    match listed_articles(archive) {
        Ok(Some(listed)) => {
            let (articles, others): (Vec<Page>, Vec<Page>) = pages.into_iter().partition(|page| listed.has(page.entry));
            Some(if articles.is_empty() { others } else { articles })
        }
        Ok(None) => Some(pages),
        Err(reason) => say(bad(LIST.to_owned(), reason)).then_some(pages),
    }
}

/// The entries that the file lists as articles.
fn listed_articles(archive: &Archive) -> Result<Option<Set>> {
    let Some(Target::Blob { cluster, blob, .. }) = archive.find(b'X', LIST).map(|entry| entry.target) else {
        return Ok(None);
    };
    let mut cluster = Cluster::open(archive, cluster)?;
    let mut listed = Set::new(archive.entries);
    let list = cluster.blob(blob, 4 * u64::from(archive.entries))?;
    list.chunks_exact(4).for_each(|entry| listed.add(archive::read_u32(entry)));
    Ok(Some(listed))
}

fn bad(member: String, reason: String) -> ImportError {
    ImportError::Record { place: Place { member: Some(member.into()), line: 0 }, reason }
}

fn run_job(archive: &Archive, job: Job) -> Batch {
    match job {
        Job::Say(error) => vec![Err(error)],
        Job::Pages(pages) => {
            let mut cluster = pages.first().map_or(Err(String::new()), |page| Cluster::open(archive, page.cluster));
            let read = |page: &Page| {
                let blob = cluster
                    .as_mut()
                    .map_err(|reason| reason.clone())
                    .and_then(|cluster| cluster.blob(page.blob, MAX_PAGE));
                record(archive.entry(page.entry), |entry| article(entry, blob?))
            };
            pages.iter().map(read).collect()
        }
        Job::Redirects(articles, range) => {
            let entries = range.filter_map(|index| archive.entry(index).ok());
            let redirects = entries.filter_map(|entry| {
                let Target::Redirect(to) = entry.target else { return None };
                let target =
                    (entry.namespace == archive.articles).then(|| redirect_end(archive, &articles, to)).flatten()?;
                Some(record(Ok(entry), |entry| Ok(Record::Redirect { title: entry.title()?, to: target.title()? })))
            });
            redirects.collect()
        }
    }
}

/// The article that redirects lead to. Those to a picture or in a circle are not names of an article.
fn redirect_end(archive: &Archive, articles: &Set, mut to: u32) -> Option<Entry> {
    for _ in 0..MAX_HOPS {
        let entry = archive.entry(to).ok()?;
        match entry.target {
            Target::Redirect(next) => to = next,
            _ => return articles.has(to).then_some(entry),
        }
    }
    None
}

fn record(
    entry: Result<Entry>,
    read: impl FnOnce(&Entry) -> Result<Record>,
) -> std::result::Result<Imported, ImportError> {
    let entry = entry.map_err(|reason| ImportError::Broken { reason })?;
    match read(&entry) {
        Ok(record) => Ok(Imported { record, place: Place { member: Some(entry.path().into()), line: 0 } }),
        Err(reason) => Err(bad(entry.path(), reason)),
    }
}

/// The record of a page, read as a live one is.
fn article(entry: &Entry, page: &[u8]) -> Result<Record> {
    let text = str::from_utf8(page).map_err(|_| "it is not UTF-8 text".to_owned())?;
    let page = html::article(text, ArticleOptions::default()).map_err(|error| error.to_string())?;
    let entries = match page.kind {
        PageKind::Article => None,
        PageKind::Disambiguation => Some(page.links.to_vec()),
        PageKind::Results => return Err("it is a list of search results".to_owned()),
    };
    let blocks = page.blocks.iter().map(|block| Block::Text(block.clone())).collect();
    Ok(Record::Article(Article { title: entry.title()?, blocks, entries, ..Article::default() }))
}

#[cfg(test)]
mod tests;
