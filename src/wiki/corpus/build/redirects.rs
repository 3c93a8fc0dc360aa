//! Redirects, followed to the articles at their ends.

use super::BuildSettings;
use super::distinct::{self, Distinct, Pieces};
use super::sorter::{Sorted, Sorter};
use crate::wiki::corpus::manifest::NameCounts;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Redirects that are still under way after so many steps lead in a circle.
const MAX_REDIRECT_STEPS: usize = 16;

/// Follows all redirects: number of the article → its other names, in order.
pub(super) fn follow_redirects(
    work: &Path,
    distinct: &Distinct,
    redirects: Sorter,
    settings: &BuildSettings,
) -> io::Result<(Sorted, NameCounts)> {
    let mut counts = NameCounts::default();
    let sorter = |name: &str| {
        Sorter::new(work.to_owned(), name.to_owned(), usize::try_from(settings.memory / 16).unwrap_or(usize::MAX))
    };
    let mut pending = sorter("pending");
    let links = work.join("links");
    first_of_each(&links, distinct, redirects, &mut pending, &mut counts)?;
    let mut ends = sorter("ends");
    for step in 0..MAX_REDIRECT_STEPS {
        let mut next = sorter(&format!("step{step}"));
        let under_way = take_step(&links, distinct, pending, &mut next, &mut ends, &mut counts)?;
        pending = next;
        if under_way == 0 {
            break;
        }
    }
    let mut circles = pending.sorted()?;
    let (mut key, mut value) = (Vec::new(), Vec::new());
    while circles.next(&mut key, &mut value)? {
        counts.redirect_circle += 1;
    }
    Ok((ends.sorted()?, counts))
}

/// Writes the first target of each redirect that is not a title, and begins to follow it.
fn first_of_each(
    links: &PathBuf,
    distinct: &Distinct,
    redirects: Sorter,
    pending: &mut Sorter,
    counts: &mut NameCounts,
) -> io::Result<()> {
    let mut links = BufWriter::new(File::create_new(links)?);
    let mut titles = Cursor::new(distinct.titles()?)?;
    let mut sorted = redirects.sorted()?;
    let (mut from, mut to, mut last) = (Vec::new(), Vec::new(), (Vec::new(), Vec::new()));
    while sorted.next(&mut from, &mut to)? {
        if from == last.0 {
            // The same redirect may be written at the page and by itself.
            counts.redirect_twice += u64::from(to != last.1);
            continue;
        }
        last.0.clone_from(&from);
        last.1.clone_from(&to);
        if titles.find(&from)?.is_some() {
            counts.redirect_is_title += u64::from(from != to);
            continue;
        }
        distinct::write(&mut links, &from)?;
        distinct::write(&mut links, &to)?;
        pending.push(&to, &from)?;
    }
    links.flush()
}

/// Follows each redirect by one step; returns how many are not at their ends.
fn take_step(
    links: &Path,
    distinct: &Distinct,
    pending: Sorter,
    next: &mut Sorter,
    ends: &mut Sorter,
    counts: &mut NameCounts,
) -> io::Result<u64> {
    let mut titles = Cursor::new(distinct.titles()?)?;
    let mut links = Links { pieces: Pieces::open(links)?, from: Vec::new(), to: Vec::new(), ended: false };
    let mut sorted = pending.sorted()?;
    let (mut to, mut from, mut under_way) = (Vec::new(), Vec::new(), 0);
    while sorted.next(&mut to, &mut from)? {
        if let Some(number) = titles.find(&to)? {
            ends.push(&number.to_be_bytes(), &from)?;
        } else if let Some(further) = links.find(&to)? {
            next.push(further, &from)?;
            under_way += 1;
        } else {
            counts.redirect_to_nothing += 1;
        }
    }
    Ok(under_way)
}

/// Titles in order, with their numbers.
struct Cursor {
    pieces: Pieces,
    title: Option<Vec<u8>>,
    number: u32,
}

impl Cursor {
    fn new(mut pieces: Pieces) -> io::Result<Self> {
        let title = pieces.next()?.map(<[u8]>::to_vec);
        Ok(Self { pieces, title, number: 0 })
    }

    /// The number of a title; names are asked for in order.
    fn find(&mut self, name: &[u8]) -> io::Result<Option<u32>> {
        while let Some(title) = self.title.as_mut().filter(|title| title.as_slice() < name) {
            match self.pieces.next()? {
                Some(next) => {
                    title.clear();
                    title.extend_from_slice(next);
                    self.number += 1;
                }
                None => self.title = None,
            }
        }
        Ok((self.title.as_deref() == Some(name)).then_some(self.number))
    }
}

/// Redirects in order, with their targets.
struct Links {
    pieces: Pieces,
    from: Vec<u8>,
    to: Vec<u8>,
    ended: bool,
}

impl Links {
    /// Where a redirect leads; names are asked for in order.
    fn find(&mut self, name: &[u8]) -> io::Result<Option<&[u8]>> {
        while !self.ended && self.from.as_slice() < name {
            for part in [&mut self.from, &mut self.to] {
                match self.pieces.next()? {
                    Some(piece) => piece.clone_into(part),
                    None => self.ended = true,
                }
            }
        }
        Ok((!self.ended && self.from == name).then_some(&self.to))
    }
}
