//! One pass over the articles in title order: pages, names, index and identity.

use super::sort::{Distinct, Pair, Sorted, Sorter};
use super::{BuildSettings, Progress};
use crate::wikipedia::corpus::index::{INDEX, IndexWriter};
use crate::wikipedia::corpus::manifest::Sentences;
use crate::wikipedia::corpus::names::{self, Fold, NameWriter};
use crate::wikipedia::corpus::pages::{self, PageWriter};
use crate::wikipedia::corpus::record::{Article, Block, Identity};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;
use tantivy::Index;
use tantivy::directory::MmapDirectory;

/// Articles that go from one thread to another at once.
const BATCH: usize = 256;
/// Batches that wait for a thread.
const WAITING: usize = 4;
/// Articles from which on pages have a dictionary, its size in bytes, and what it is made of.
const WITH_DICTIONARY: u32 = 1_000;
const DICTIONARY: usize = 112 << 10;
const SAMPLE: usize = 8 << 20;
/// Text of a part of the index, in bytes; it is in memory until the part is whole. Tests have shorter ones.
const LEAST_PART: u64 = if cfg!(test) { 16 << 10 } else { 16 << 20 };
/// The segment of the index is called so.
const SEGMENT: &str = "00000000-0000-0000-0000-000000000001";

#[derive(Default)]
pub(super) struct Written {
    pub(super) id: String,
    pub(super) articles: u32,
    pub(super) redirects: u64,
    pub(super) disambiguations: u32,
    pub(super) sentences: Sentences,
    pub(super) text_bytes: u64,
    pub(super) collisions: u64,
}

/// An error of any library that writes.
pub(super) type Failed = Box<dyn std::error::Error + Send + Sync>;

pub(super) fn write(
    dir: &Path,
    work: &Path,
    distinct: &Distinct,
    redirects: Sorted,
    settings: &BuildSettings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Written, Failed> {
    let dictionary = dictionary(distinct)?;
    if !dictionary.is_empty() {
        fs::write(dir.join(pages::DICTIONARY), &dictionary)?;
    }
    let pages = PageWriter::new(create(dir, pages::BLOCKS)?, create(dir, pages::PLACES)?, &dictionary)?;
    let part = (settings.memory / 8).max(LEAST_PART);
    let parts = Parts { folder: work.to_owned(), part, made: Vec::new(), open: None, text: 0 };
    let mut facts = Facts::new(dir, work, settings)?;
    let mut redirects = redirects.peekable();
    // The index is the most work, the pages come second; identity and names are the third.
    let parts = std::thread::scope(|scope| {
        let threads = settings.threads;
        let mut pages = Stage::start(scope, threads > 2, pages);
        let mut parts = Stage::start(scope, threads > 1, parts);
        let mut batch = Vec::with_capacity(BATCH);
        for (number, article) in (0..).zip(distinct.articles()?) {
            let mut article = article?;
            article.redirects = redirects_of(number, &mut redirects)?;
            facts.add(number, &article)?;
            batch.push(article);
            if batch.len() == BATCH || number + 1 == distinct.count {
                let full: Arc<[Article]> = std::mem::replace(&mut batch, Vec::with_capacity(BATCH)).into();
                pages.give(&full)?;
                parts.give(&full)?;
                progress(Progress::Writing(number + 1, distinct.count));
            }
        }
        pages.end()?.finish()?;
        parts.end()
    })?;
    progress(Progress::Finishing);
    parts.merge(&dir.join(INDEX))?;
    facts.finish(dir)
}

fn create(dir: &Path, name: &str) -> io::Result<BufWriter<File>> {
    File::create_new(dir.join(name)).map(|file| BufWriter::with_capacity(1 << 18, file))
}

/// Work that may be done on a thread of its own.
trait Work: Send {
    fn add(&mut self, article: &Article) -> Result<(), Failed>;
}

enum Stage<'scope, W> {
    Here(W),
    There(SyncSender<Arc<[Article]>>, std::thread::ScopedJoinHandle<'scope, Result<W, Failed>>),
}

impl<'scope, W: Work + 'scope> Stage<'scope, W> {
    fn start(scope: &'scope Scope<'scope, '_>, apart: bool, mut work: W) -> Self {
        if !apart {
            return Self::Here(work);
        }
        let (send, received): (_, Receiver<Arc<[Article]>>) = sync_channel(WAITING);
        let thread = scope.spawn(move || {
            received.iter().try_for_each(|batch| batch.iter().try_for_each(|article| work.add(article)))?;
            Ok(work)
        });
        Self::There(send, thread)
    }

    fn give(&mut self, batch: &Arc<[Article]>) -> Result<(), Failed> {
        match self {
            Self::Here(work) => batch.iter().try_for_each(|article| work.add(article)),
            // A thread that has ended says why at the end.
            Self::There(send, _) => {
                let _ = send.send(Arc::clone(batch));
                Ok(())
            }
        }
    }

    fn end(self) -> Result<W, Failed> {
        match self {
            Self::Here(work) => Ok(work),
            Self::There(send, thread) => {
                drop(send);
                thread.join().unwrap_or_else(|_| Err("a thread of the build ended".into()))
            }
        }
    }
}

impl<W: io::Write + Send> Work for PageWriter<W> {
    fn add(&mut self, article: &Article) -> Result<(), Failed> {
        let mut frame = Vec::new();
        pages::encode_article(article, &mut frame);
        Ok(PageWriter::add(self, &frame)?)
    }
}

/// The index, in parts that fit into memory.
struct Parts {
    folder: PathBuf,
    part: u64,
    made: Vec<Index>,
    open: Option<IndexWriter>,
    text: u64,
}

impl Work for Parts {
    fn add(&mut self, article: &Article) -> Result<(), Failed> {
        if self.text > self.part {
            self.close()?;
        }
        let blocks: Vec<_> = article.blocks.iter().map(Block::text).collect();
        self.text += blocks.iter().map(|block| block.len() as u64).sum::<u64>();
        let writer = match &mut self.open {
            Some(writer) => writer,
            closed => {
                let folder = self.folder.join(format!("index.{}", self.made.len()));
                fs::create_dir(&folder)?;
                let directory = MmapDirectory::open(&folder).map_err(tantivy::TantivyError::from)?;
                closed.insert(IndexWriter::new(directory)?)
            }
        };
        Ok(writer.add(&article.title, blocks.iter().map(AsRef::as_ref))?)
    }
}

impl Parts {
    fn close(&mut self) -> Result<(), Failed> {
        if let Some(writer) = self.open.take() {
            self.made.push(writer.finish()?);
        }
        self.text = 0;
        Ok(())
    }

    /// Makes one segment of all parts, under names that are always the same.
    fn merge(mut self, dir: &Path) -> Result<(), Failed> {
        self.close()?;
        fs::create_dir(dir)?;
        let directory = MmapDirectory::open(dir).map_err(tantivy::TantivyError::from)?;
        // One behind the other, as one segment.
        let merged = tantivy::indexer::merge_indices(&self.made, directory)?;
        let ids = merged.searchable_segment_ids()?;
        let [id] = ids.as_slice() else { return Err("the index is not one segment".into()) };
        let (id, dashed) = (id.uuid_string(), SEGMENT.replace('-', ""));
        drop((merged, self.made));
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Some(ending) = name.strip_prefix(&id) {
                fs::rename(&path, dir.join(format!("{dashed}{ending}")))?;
            } else if name == "meta.json" {
                let meta = fs::read_to_string(&path)?;
                // A new file, because the library's is for its maker's eyes only.
                fs::remove_file(&path)?;
                fs::write(&path, meta.replace(&dash(&id), SEGMENT))?;
            } else {
                // Lists of files to be removed, and locks.
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

/// An identifier as `meta.json` writes it.
fn dash(id: &str) -> String {
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| id.get(part).unwrap_or_default());
    parts.join("-")
}

/// The names that lead to an article, which come in the order of articles.
fn redirects_of(number: u32, redirects: &mut Peekable<Sorted>) -> io::Result<Vec<String>> {
    let leads_here = |pair: &io::Result<Pair>| pair.as_ref().map_or(true, |(to, _)| *to == number.to_be_bytes());
    let names = std::iter::from_fn(|| redirects.next_if(leads_here));
    names.map(|pair| String::from_utf8(pair?.1).map_err(io::Error::other)).collect()
}

/// What is said of all articles, and their names.
struct Facts {
    identity: Identity,
    titles: NameWriter,
    /// Folded name, then whether it is a redirect or a key without punctuation, the page's number and the article's.
    keys: Sorter,
    redirects: Sorter,
    /// Without identity and collisions.
    written: Written,
}

impl Facts {
    fn new(dir: &Path, work: &Path, settings: &BuildSettings) -> Result<Self, Failed> {
        Ok(Self {
            identity: Identity::default(),
            titles: NameWriter::new(create(dir, names::TITLES)?)?,
            keys: Sorter::new(work, "keys", settings.memory / 16),
            redirects: Sorter::new(work, "names", settings.memory / 16),
            written: Written::default(),
        })
    }

    fn add(&mut self, number: u32, article: &Article) -> Result<(), Failed> {
        self.identity.add(article)?;
        self.titles.insert(&article.title, u64::from(number))?;
        let page = article.pageid.unwrap_or(u64::MAX).to_be_bytes();
        for (redirect, name) in [(0, &article.title)].into_iter().chain(article.redirects.iter().map(|name| (1, name)))
        {
            for (further, key) in [0, 2].into_iter().zip(Fold::CURRENT.keys(name)) {
                let value = [&[further + redirect], page.as_slice(), &number.to_be_bytes()].concat();
                self.keys.push(key, value)?;
            }
        }
        for redirect in &article.redirects {
            self.redirects.push(redirect.as_bytes(), number.to_be_bytes())?;
        }
        let written = &mut self.written;
        written.articles += 1;
        written.redirects += article.redirects.len() as u64;
        written.disambiguations += u32::from(article.entries.is_some());
        for block in &article.blocks {
            if matches!(block, Block::Sentences(_)) {
                written.sentences = Sentences::Given;
            }
            written.text_bytes += block.length();
        }
        Ok(())
    }

    fn finish(self, dir: &Path) -> Result<Written, Failed> {
        self.titles.into_inner()?.flush()?;
        let collisions = first_of_each(self.keys, create(dir, names::KEYS)?)?;
        first_of_each(self.redirects, create(dir, names::REDIRECTS)?)?;
        Ok(Written { id: self.identity.finish(), collisions, ..self.written })
    }
}

/// Writes each name with the article whose value comes first; returns how many names had others.
fn first_of_each(names: Sorter, file: BufWriter<File>) -> Result<u64, Failed> {
    let mut out = NameWriter::new(file)?;
    let (mut last, mut collisions) = (None::<(Vec<u8>, u64, bool)>, 0);
    for pair in names.sorted()? {
        let (key, value) = pair?;
        let number = value.last_chunk().map_or(0, |number| u64::from(u32::from_be_bytes(*number)));
        match &mut last {
            Some((name, first, others)) if *name == key => {
                collisions += u64::from(number != *first && !*others);
                *others |= number != *first;
            }
            _ => {
                out.insert(&key, number)?;
                last = Some((key, number, false));
            }
        }
    }
    out.into_inner()?.flush()?;
    Ok(collisions)
}

/// What pages have in common. It depends on the articles alone: every n-th of them, as many as fit.
fn dictionary(distinct: &Distinct) -> Result<Vec<u8>, Failed> {
    if distinct.count < WITH_DICTIONARY {
        return Ok(Vec::new());
    }
    let (mut stride, mut sample, mut bytes) = (1, Vec::<(u32, Vec<u8>)>::new(), 0);
    for (number, article) in (0..).zip(distinct.articles()?) {
        if number % stride > 0 {
            continue;
        }
        let mut frame = Vec::new();
        pages::encode_article(&article?, &mut frame);
        frame.truncate(8 << 10);
        bytes += frame.len();
        sample.push((number, frame));
        while bytes > SAMPLE {
            stride *= 2;
            sample.retain(|(number, _)| number % stride == 0);
            bytes = sample.iter().map(|(_, frame)| frame.len()).sum();
        }
    }
    let sizes: Vec<usize> = sample.iter().map(|(_, frame)| frame.len()).collect();
    let sample = sample.into_iter().flat_map(|(_, frame)| frame).collect::<Vec<u8>>();
    // Without a dictionary pages are larger, and otherwise the same.
    Ok(zstd::dict::from_continuous(&sample, &sizes, DICTIONARY).unwrap_or_default())
}
