//! Sorting more than fits into memory: sorted runs in files, merged while they are read.

use super::{BuildError, BuildSettings, OnDuplicate, ReadInput, cannot_write};
use crate::base::bounded::MAX_LINE_BYTES;
use crate::base::text::printable;
use crate::wikipedia::corpus::import::Place;
use crate::wikipedia::corpus::manifest::NameCounts;
use crate::wikipedia::corpus::pages;
use crate::wikipedia::corpus::record::{Article, Block};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec;

/// How many runs are read at once; each is an open file.
const MAX_RUNS: usize = 64;

/// Pairs of bytes, to be sorted by key, then by value.
pub(super) struct Sorter {
    /// Where runs are written, and how they are called.
    folder: PathBuf,
    name: String,
    /// How many bytes may be in memory.
    most: usize,
    bytes: Vec<u8>,
    entries: Vec<PairPlace>,
    runs: Vec<PathBuf>,
    made: usize,
}

#[derive(Clone, Copy)]
pub(super) struct PairPlace {
    at: usize,
    key: u32,
    value: u32,
}

impl PairPlace {
    fn of(self, bytes: &[u8]) -> (&[u8], &[u8]) {
        let (key, value) = (self.key as usize, self.value as usize);
        bytes[self.at..self.at + key + value].split_at(key)
    }
}

impl Sorter {
    pub(super) fn new(folder: &Path, name: &str, most: u64) -> Self {
        let (folder, name, most) = (folder.to_owned(), name.to_owned(), usize::try_from(most).unwrap_or(usize::MAX));
        Self { folder, name, most, bytes: Vec::new(), entries: Vec::new(), runs: Vec::new(), made: 0 }
    }

    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let length = |part: &[u8]| u32::try_from(part.len()).map_err(|_| io::ErrorKind::FileTooLarge);
        let entry = PairPlace { at: self.bytes.len(), key: length(key)?, value: length(value)? };
        let taken = self.bytes.len() + (self.entries.len() + 1) * size_of::<PairPlace>();
        if taken + key.len() + value.len() > self.most && !self.entries.is_empty() {
            self.spill()?;
            return self.push(key, value);
        }
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.entries.push(entry);
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        let mut run = self.next_run()?;
        for entry in self.entries.drain(..) {
            let (key, value) = entry.of(&self.bytes);
            write_pair(&mut run, key, value)?;
        }
        run.flush()?;
        self.bytes.clear();
        if self.runs.len() == MAX_RUNS {
            let runs = mem::take(&mut self.runs);
            let (mut merge, mut whole) = (Merge::over(&runs)?, self.next_run()?);
            while let Some((key, value)) = merge.next()? {
                write_pair(&mut whole, key, value)?;
            }
            whole.flush()?;
            runs.iter().try_for_each(fs::remove_file)?;
        }
        Ok(())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.entries.sort_unstable_by(|a, b| a.of(bytes).cmp(&b.of(bytes)));
    }

    fn next_run(&mut self) -> io::Result<BufWriter<File>> {
        let path = self.folder.join(format!("{}.{}.run", self.name, self.made));
        self.made += 1;
        let file = File::create_new(&path)?;
        self.runs.push(path);
        Ok(BufWriter::with_capacity(1 << 18, file))
    }

    /// Everything, in order.
    pub(super) fn sorted(mut self) -> io::Result<Sorted> {
        if self.runs.is_empty() {
            self.sort();
            return Ok(Sorted::InMemory { bytes: self.bytes, entries: self.entries.into_iter() });
        }
        if !self.entries.is_empty() {
            self.spill()?;
        }
        Merge::over(&self.runs).map(Sorted::Merged)
    }
}

pub(super) enum Sorted {
    InMemory { bytes: Vec<u8>, entries: vec::IntoIter<PairPlace> },
    Merged(Merge),
}

impl Sorted {
    pub(super) fn next(&mut self) -> io::Result<Option<(&[u8], &[u8])>> {
        match self {
            Self::Merged(merge) => merge.next(),
            Self::InMemory { bytes, entries } => Ok(entries.next().map(|entry| entry.of(bytes))),
        }
    }

    pub(super) fn pairs(mut self) -> impl Iterator<Item = io::Result<(Vec<u8>, Vec<u8>)>> {
        let owned = |(key, value): (&[u8], &[u8])| (key.to_vec(), value.to_vec());
        std::iter::from_fn(move || self.next().map(|pair| pair.map(owned)).transpose())
    }
}

/// The next pair of a run, and which run it is.
type Head = (Vec<u8>, Vec<u8>, usize);

/// Runs that are read together. The least pair comes first; of equal ones, that of the first run.
pub(super) struct Merge {
    runs: Vec<BufReader<File>>,
    heads: BinaryHeap<Reverse<Head>>,
    /// The pair that was taken last.
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Merge {
    fn over(paths: &[PathBuf]) -> io::Result<Self> {
        let mut runs = Vec::with_capacity(paths.len());
        let mut heads = BinaryHeap::with_capacity(paths.len());
        for (at, path) in paths.iter().enumerate() {
            let mut run = BufReader::with_capacity(1 << 16, File::open(path)?);
            let (mut key, mut value) = (Vec::new(), Vec::new());
            if read_pair(&mut run, &mut key, &mut value)? {
                heads.push(Reverse((key, value, at)));
            }
            runs.push(run);
        }
        Ok(Self { runs, heads, key: Vec::new(), value: Vec::new() })
    }

    fn next(&mut self) -> io::Result<Option<(&[u8], &[u8])>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((next_key, next_value, run)) = &mut *head;
        mem::swap(&mut self.key, next_key);
        mem::swap(&mut self.value, next_value);
        if !read_pair(&mut self.runs[*run], next_key, next_value)? {
            PeekMut::pop(head);
        }
        Ok(Some((&self.key, &self.value)))
    }
}

fn write_pair(out: &mut impl Write, key: &[u8], value: &[u8]) -> io::Result<()> {
    write(out, key)?;
    write(out, value)
}

/// Reads a pair; `false` at the end.
fn read_pair(run: &mut impl Read, key: &mut Vec<u8>, value: &mut Vec<u8>) -> io::Result<bool> {
    if !read(run, key)? {
        return Ok(false);
    }
    if read(run, value)? { Ok(true) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Writes bytes behind their length.
fn write(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(bytes)
}

/// Reads what `write` wrote; `false` at the end.
fn read(source: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let mut length = [0; 4];
    if source.read(&mut length[..1])? == 0 {
        return Ok(false);
    }
    source.read_exact(&mut length[1..])?;
    bytes.resize(u32::from_le_bytes(length) as usize, 0);
    source.read_exact(bytes)?;
    Ok(true)
}

fn open_pieces(path: &Path) -> io::Result<BufReader<File>> {
    Ok(BufReader::with_capacity(1 << 18, File::open(path)?))
}

// Of sorted records, each title once. Passages of one title are put together.

/// The files of what is kept.
const ARTICLES: &str = "articles";
const TITLES: &str = "titles";

/// Articles in title order, each title once.
pub(super) struct Distinct {
    pub(super) count: u32,
    articles: PathBuf,
    titles: PathBuf,
}

struct Row<'a> {
    title: &'a [u8],
    /// Of a passage, its format and its place among those of its title; of an article, nothing.
    order: &'a [u8],
    frame: &'a [u8],
    source: usize,
    place: Place,
}

impl<'a> Row<'a> {
    fn of(key: &'a [u8], value: &'a [u8]) -> Self {
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let end = key.iter().position(|byte| *byte == 0).unwrap_or(key.len());
        let (length, rest) = value.split_at(4);
        let (frame, rest) = rest.split_at(usize::try_from(number(length)).unwrap_or(usize::MAX));
        let (source, rest) = rest.split_at(4);
        let (line, member) = rest.split_at(8);
        let member = (!member.is_empty()).then(|| Arc::from(String::from_utf8_lossy(member)));
        Self {
            title: &key[..end],
            order: &key[end + 9..],
            frame,
            source: usize::try_from(number(source)).unwrap_or(usize::MAX),
            place: Place { member, line: number(line) },
        }
    }

    fn format(&self) -> &[u8] {
        self.order.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

#[derive(Default)]
struct LastTitle {
    title: Vec<u8>,
    /// The format of its passages; nothing if it is an article.
    format: Vec<u8>,
    passages: Vec<Block>,
    bytes: u64,
    source: usize,
    place: Place,
    order: Vec<u8>,
    frame: Vec<u8>,
}

impl LastTitle {
    fn begin(&mut self, row: &Row<'_>) -> io::Result<()> {
        row.title.clone_into(&mut self.title);
        row.format().clone_into(&mut self.format);
        self.bytes = 0;
        self.take(row)?;
        self.pass(row);
        Ok(())
    }

    fn take(&mut self, row: &Row<'_>) -> io::Result<()> {
        if !row.order.is_empty() {
            let passage = pages::decode_article(row.frame).ok_or(io::ErrorKind::InvalidData)?;
            self.bytes += row_bytes(row);
            self.passages.extend(passage.blocks);
        }
        self.source = row.source;
        self.place = row.place.clone();
        Ok(())
    }

    fn pass(&mut self, row: &Row<'_>) {
        row.order.clone_into(&mut self.order);
        row.frame.clone_into(&mut self.frame);
    }
}

fn row_bytes(row: &Row<'_>) -> u64 {
    (row.frame.len() + size_of::<Block>()) as u64
}

/// Of articles with one title, keeps that of the lowest page number, then the least record, or the last that was read. Passages
/// come after articles.
pub(super) fn write_distinct(
    work: &Path,
    articles: Sorter,
    on_duplicate: OnDuplicate,
    sources: &mut [ReadInput<'_>],
) -> Result<Distinct, BuildError> {
    let cannot = cannot_write(work);
    let mut writer = Writer::new(work).map_err(cannot)?;
    let mut sorted = articles.sorted().map_err(cannot)?;
    let mut kept = LastTitle::default();
    while let Some((key, value)) = sorted.next().map_err(cannot)? {
        let row = Row::of(key, value);
        // No record is nothing.
        if row.title != kept.title || kept.frame.is_empty() {
            writer.passages(&mut kept).map_err(cannot)?;
            if row.order.is_empty() {
                writer.write_piece(row.title, row.frame).map_err(cannot)?;
            }
            kept.begin(&row).map_err(cannot)?;
            continue;
        }
        let input = &mut sources[row.source];
        let title = || printable(&String::from_utf8_lossy(row.title), 80);
        let same_place = !row.order.is_empty() && row.order == kept.order;
        match row.order == kept.order {
            true if row.frame == kept.frame => input.skipped.repeated += 1,
            false if row.format() == kept.format && kept.bytes + row_bytes(&row) <= MAX_LINE_BYTES => {
                kept.take(&row).map_err(cannot)?;
            }
            false if row.format() == kept.format => {
                input.skipped.bad += 1;
                let what = format!("the passages of `{}` exceed {} MiB", title(), MAX_LINE_BYTES >> 20);
                input.leave_out(&row.place, what);
            }
            _ if on_duplicate == OnDuplicate::Error => {
                let file = |source: usize| sources[source].path.display();
                let (here, there, at) = (file(row.source), file(kept.source), &kept.place);
                let (what, are) = if same_place { ("id and title", "are those") } else { ("the title", "is that") };
                let twice = format!("`{here}`{}: {what} `{}` {are} of `{there}`{at}", row.place, title());
                return Err(BuildError::Duplicate(twice));
            }
            _ => {
                input.skipped.duplicate_title += 1;
                let what = if same_place { "another passage with this id" } else { "another record" };
                input.leave_out(&row.place, format_args!("{what} of `{}` was kept", title()));
            }
        }
        kept.pass(&row);
    }
    writer.passages(&mut kept).and_then(|()| writer.finish(work)).map_err(cannot)
}

struct Writer {
    count: u32,
    articles: BufWriter<File>,
    titles: BufWriter<File>,
}

impl Writer {
    fn new(work: &Path) -> io::Result<Self> {
        let create = |name| File::create_new(work.join(name)).map(BufWriter::new);
        Ok(Self { count: 0, articles: create(ARTICLES)?, titles: create(TITLES)? })
    }

    fn write_piece(&mut self, title: &[u8], frame: &[u8]) -> io::Result<()> {
        let number = self.count;
        self.count = number.checked_add(1).ok_or_else(|| io::Error::other("more than 4,294,967,295 articles"))?;
        write(&mut self.articles, frame)?;
        write_pair(&mut self.titles, title, &number.to_be_bytes())
    }

    /// Writes the article of passages, if there are any.
    fn passages(&mut self, kept: &mut LastTitle) -> io::Result<()> {
        if kept.passages.is_empty() {
            return Ok(());
        }
        let title = String::from_utf8_lossy(&kept.title).into_owned();
        let blocks = std::mem::take(&mut kept.passages);
        let mut bytes = Vec::new();
        pages::encode_article(&Article::of_blocks(title, None, blocks), &mut bytes);
        self.write_piece(&kept.title, &bytes)
    }

    fn finish(mut self, work: &Path) -> io::Result<Distinct> {
        self.articles.flush()?;
        self.titles.flush()?;
        Ok(Distinct { count: self.count, articles: work.join(ARTICLES), titles: work.join(TITLES) })
    }
}

impl Distinct {
    pub(super) fn articles(&self) -> io::Result<impl Iterator<Item = io::Result<Article>> + use<>> {
        let (mut pieces, mut piece) = (open_pieces(&self.articles)?, Vec::new());
        Ok((0..self.count).map(move |_| {
            if !read(&mut pieces, &mut piece)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            pages::decode_article(&piece).ok_or_else(|| io::ErrorKind::InvalidData.into())
        }))
    }

    /// Titles with their numbers.
    fn titles(&self) -> io::Result<Cursor> {
        let mut titles = Cursor::open(&self.titles)?;
        titles.step()?;
        Ok(titles)
    }
}

// Redirects, followed to the articles at their ends.

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
    let sorter = |name: &str| Sorter::new(work, name, settings.memory / 16);
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
    while circles.next()?.is_some() {
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
    let mut titles = distinct.titles()?;
    let mut sorted = redirects.sorted()?;
    let mut last = (Vec::new(), Vec::new());
    while let Some((from, to)) = sorted.next()? {
        if from == last.0 {
            // The same redirect may be written at the page and by itself.
            counts.redirect_twice += u64::from(to != last.1);
            continue;
        }
        from.clone_into(&mut last.0);
        to.clone_into(&mut last.1);
        if titles.find(from)?.is_some() {
            counts.redirect_is_title += u64::from(from != to);
            continue;
        }
        write_pair(&mut links, from, to)?;
        pending.push(to, from)?;
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
    let (mut titles, mut links) = (distinct.titles()?, Cursor::open(links)?);
    let mut sorted = pending.sorted()?;
    let mut under_way = 0;
    while let Some((to, from)) = sorted.next()? {
        if let Some(number) = titles.find(to)? {
            ends.push(number, from)?;
        } else if let Some(further) = links.find(to)? {
            next.push(further, from)?;
            under_way += 1;
        } else {
            counts.redirect_to_nothing += 1;
        }
    }
    Ok(under_way)
}

/// A file of sorted pairs, whose keys are asked for in order.
struct Cursor {
    pairs: BufReader<File>,
    key: Vec<u8>,
    value: Vec<u8>,
    ended: bool,
}

impl Cursor {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { pairs: open_pieces(path)?, key: Vec::new(), value: Vec::new(), ended: false })
    }

    fn step(&mut self) -> io::Result<()> {
        self.ended = !read_pair(&mut self.pairs, &mut self.key, &mut self.value)?;
        Ok(())
    }

    fn find(&mut self, key: &[u8]) -> io::Result<Option<&[u8]>> {
        while !self.ended && self.key.as_slice() < key {
            self.step()?;
        }
        Ok((!self.ended && self.key == key).then_some(&self.value))
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_RUNS, Sorter};

    #[test]
    fn little_memory_makes_runs_and_the_same_order() {
        let dir = tempfile::tempdir().expect("a folder");
        let pairs: Vec<(String, String)> = (0..3_000u32)
            .map(|n| (format!("{}", n.wrapping_mul(2_654_435_761) % 701), "v".repeat((n % 7) as usize)))
            .collect();
        let mut expected: Vec<(Vec<u8>, Vec<u8>)> =
            pairs.iter().map(|(key, value)| (key.clone().into(), value.clone().into())).collect();
        expected.sort();
        for (most, runs) in [(1 << 20, 0), (4 << 10, 2), (200, MAX_RUNS)] {
            let mut sorter = Sorter::new(dir.path(), "test", most);
            for (key, value) in &pairs {
                sorter.push(key.as_bytes(), value.as_bytes()).expect("a run");
            }
            assert!(sorter.made >= runs, "{most}: {}", sorter.made);
            let mut all = sorter.sorted().expect("runs");
            let mut found = Vec::new();
            while let Some((key, value)) = all.next().expect("a run") {
                found.push((key.to_vec(), value.to_vec()));
            }
            assert_eq!(found, expected, "{most}");
            for run in std::fs::read_dir(dir.path()).expect("a folder") {
                std::fs::remove_file(run.expect("a run").path()).expect("removed");
            }
        }
    }
}
