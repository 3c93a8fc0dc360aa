//! What differs between two corpora: one walk over both, in title order.

use super::import::{self, Format, ImportError, Imported, Records};
use super::manifest::Manifest;
use super::record::{Article, Block, Record};
use crate::base::text::{cut, printable};
use serde::Serialize;
use std::cmp::Ordering;
use std::io;
use std::iter::Peekable;
use std::path::Path;

/// Words that are shown before the first one that differs, and from there on.
const BEFORE: usize = 4;
const SHOWN: usize = 8;
const MAX_EXCERPT: usize = 160;

#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    #[error("cannot tell what `{0}` is")]
    Unknown(String),
    #[error("`{file}`{place}: {reason}")]
    Input { file: String, place: String, reason: String },
    #[error("`{file}`: the title `{title}` comes behind `{before}`, so its articles are not in title order")]
    Order { file: String, title: String, before: String },
    #[error(transparent)]
    Write(#[from] io::Error),
}

pub struct Side {
    /// What it says of itself: a folder and a pack do.
    pub manifest: Option<Manifest>,
    file: String,
    records: Peekable<Records>,
    last: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "difference", rename_all = "snake_case")]
pub enum Difference {
    /// Only the second corpus has the article.
    Added { title: String },
    /// Only the first has it.
    Gone { title: String },
    /// The texts part at `excerpt`; without one, only spaces, paragraphs, sentences or the entries of a list differ.
    Changed { title: String, revid: [Option<u64>; 2], excerpt: Option<[String; 2]> },
    /// Another revision, page number or time, with the same text.
    Revision { title: String, revid: [Option<u64>; 2], pageid: [Option<u64>; 2] },
    /// Only the second corpus has the redirect, or it led elsewhere.
    RedirectAdded { title: String, to: String },
    /// Only the first has it, or it leads elsewhere.
    RedirectGone { title: String, to: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    pub added: u64,
    pub gone: u64,
    pub changed: u64,
    pub revision: u64,
    pub redirect_added: u64,
    pub redirect_gone: u64,
    pub same: u64,
}

impl Counts {
    pub fn equal(&self) -> bool {
        *self == Self { same: self.same, ..Self::default() }
    }

    /// Counts a difference; returns how many of its kind there are with it.
    pub fn add(&mut self, difference: &Difference) -> u64 {
        let count = match difference {
            Difference::Added { .. } => &mut self.added,
            Difference::Gone { .. } => &mut self.gone,
            Difference::Changed { .. } => &mut self.changed,
            Difference::Revision { .. } => &mut self.revision,
            Difference::RedirectAdded { .. } => &mut self.redirect_added,
            Difference::RedirectGone { .. } => &mut self.redirect_gone,
        };
        *count += 1;
        *count
    }
}

impl Side {
    /// Opens a folder that was built, a pack, or lines in title order.
    pub fn open(path: &Path) -> Result<Self, DiffError> {
        let file = path.display().to_string();
        let format = Format::detect(path).ok_or_else(|| DiffError::Unknown(file.clone()))?;
        let records = import::open(format, path).map_err(|error| unreadable(&file, error))?;
        let mut side = Self { manifest: None, file, records: records.peekable(), last: None };
        let about = |found: &Result<Imported, _>| matches!(found, Ok(Imported { record: Record::About(_), .. }));
        if let Some(Ok(Imported { record: Record::About(about), .. })) = side.records.next_if(about) {
            side.manifest = Some(about.manifest);
        }
        Ok(side)
    }

    fn next(&mut self) -> Result<Option<Article>, DiffError> {
        let Some(found) = self.records.next() else { return Ok(None) };
        let Imported { record, place } = found.map_err(|error| unreadable(&self.file, error))?;
        let Record::Article(article) = record else {
            let (file, reason) = (self.file.clone(), "it is not an article".to_owned());
            return Err(DiffError::Input { file, place: place.to_string(), reason });
        };
        if let Some(before) = self.last.as_ref().filter(|before| **before >= article.title) {
            let (title, before) = (printable(&article.title, 80), printable(before, 80));
            return Err(DiffError::Order { file: self.file.clone(), title, before });
        }
        self.last = Some(article.title.clone());
        Ok(Some(article))
    }
}

fn unreadable(file: &str, error: ImportError) -> DiffError {
    let (place, reason) = match error {
        ImportError::Record { place, reason } => (place.to_string(), reason),
        error => (String::new(), error.reason()),
    };
    DiffError::Input { file: file.to_owned(), place, reason }
}

/// Goes through both in title order and shows every difference to `each`.
pub fn diff(
    mut a: Side,
    mut b: Side,
    each: &mut dyn FnMut(&Difference) -> io::Result<()>,
) -> Result<Counts, DiffError> {
    let mut counts = Counts::default();
    let mut say = |difference: Difference| {
        counts.add(&difference);
        each(&difference)
    };
    let (mut old, mut new) = (a.next()?, b.next()?);
    let mut same = 0;
    loop {
        let order = match (&old, &new) {
            (None, None) => break,
            (Some(old), Some(new)) => old.title.cmp(&new.title),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
        };
        let (before, after) = (old.take_if(|_| order.is_le()), new.take_if(|_| order.is_ge()));
        same += u64::from(!compare_pair(before.as_ref(), after.as_ref(), &mut say)?);
        if order.is_le() {
            old = a.next()?;
        }
        if order.is_ge() {
            new = b.next()?;
        }
    }
    Ok(Counts { same, ..counts })
}

/// What differs between two articles of one title, of which one may be absent; whether the articles themselves do.
fn compare_pair(
    old: Option<&Article>,
    new: Option<&Article>,
    say: &mut dyn FnMut(Difference) -> io::Result<()>,
) -> io::Result<bool> {
    let title = || old.or(new).map(|article| article.title.clone()).unwrap_or_default();
    let found = match (old, new) {
        (Some(old), Some(new)) => compare_articles(old, new),
        (None, _) => Some(Difference::Added { title: title() }),
        (_, None) => Some(Difference::Gone { title: title() }),
    };
    let differs = found.is_some();
    if let Some(found) = found {
        say(found)?;
    }
    let [before, after] = [old, new].map(|article| article.map_or(&[][..], |article| &article.redirects));
    // Both are sorted.
    for redirect in before.iter().filter(|name| after.binary_search(name).is_err()) {
        say(Difference::RedirectGone { title: redirect.clone(), to: title() })?;
    }
    for redirect in after.iter().filter(|name| before.binary_search(name).is_err()) {
        say(Difference::RedirectAdded { title: redirect.clone(), to: title() })?;
    }
    Ok(differs)
}

fn compare_articles(old: &Article, new: &Article) -> Option<Difference> {
    let (title, revid) = (old.title.clone(), [old.revid, new.revid]);
    let of = |article: &Article| (article.pageid, article.revid, article.timestamp.clone());
    if (&old.blocks, &old.entries) == (&new.blocks, &new.entries) {
        let pageid = [old.pageid, new.pageid];
        return (of(old) != of(new)).then_some(Difference::Revision { title, revid, pageid });
    }
    Some(Difference::Changed { title, revid, excerpt: excerpt(&old.blocks, &new.blocks) })
}

/// Both texts from a little before the first word that differs.
fn excerpt(old: &[Block], new: &[Block]) -> Option<[String; 2]> {
    let [old, new] = [old, new].map(|blocks| blocks.iter().map(Block::text).collect::<Vec<_>>().join("\n"));
    let [old, new] = [&old, &new].map(|text| text.split_whitespace().collect::<Vec<_>>());
    let parted = old.iter().zip(&new).position(|(old, new)| old != new);
    let parted = parted.unwrap_or_else(|| old.len().min(new.len()));
    let shown = |words: &[&str]| {
        let from = parted.saturating_sub(BEFORE);
        let to = words.len().min(parted + SHOWN);
        let [before, after] = [from > 0, to < words.len()].map(|cut| if cut { "…" } else { "" });
        cut(&format!("{before}{}{after}", words[from.min(to)..to].join(" ")), MAX_EXCERPT).into_owned()
    };
    (old != new).then(|| [shown(&old), shown(&new)])
}
