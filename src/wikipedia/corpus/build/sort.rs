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
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::iter::{self, Peekable};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many runs are read at once; each is an open file.
const MAX_RUNS: usize = 64;

/// A key with its value.
pub(super) type Pair = (Vec<u8>, Vec<u8>);

/// Pairs in order.
pub(super) type Sorted = Box<dyn Iterator<Item = io::Result<Pair>>>;

/// Pairs to be sorted by key, then by value.
pub(super) struct Sorter {
    /// Where runs are written, and how they are called.
    folder: PathBuf,
    name: String,
    /// How many bytes may be in memory, and how many are.
    most: usize,
    bytes: usize,
    pairs: Vec<Pair>,
    runs: Vec<PathBuf>,
    made: usize,
}

impl Sorter {
    pub(super) fn new(folder: &Path, name: &str, most: u64) -> Self {
        let (folder, name, most) = (folder.to_owned(), name.to_owned(), usize::try_from(most).unwrap_or(usize::MAX));
        Self { folder, name, most, bytes: 0, pairs: Vec::new(), runs: Vec::new(), made: 0 }
    }

    pub(super) fn push(&mut self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> io::Result<()> {
        let pair = (key.into(), value.into());
        let size = pair.0.len() + pair.1.len() + size_of::<Pair>();
        if self.bytes + size > self.most && !self.pairs.is_empty() {
            self.spill()?;
        }
        self.bytes += size;
        self.pairs.push(pair);
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        self.bytes = 0;
        self.pairs.sort_unstable();
        let pairs = mem::take(&mut self.pairs);
        self.write_run(pairs.into_iter().map(Ok))?;
        if self.runs.len() == MAX_RUNS {
            let runs = mem::take(&mut self.runs);
            self.write_run(merge(&runs)?)?;
            runs.iter().try_for_each(fs::remove_file)?;
        }
        Ok(())
    }

    fn write_run(&mut self, pairs: impl Iterator<Item = io::Result<Pair>>) -> io::Result<()> {
        let path = self.folder.join(format!("{}.{}.run", self.name, self.made));
        self.made += 1;
        let mut run = BufWriter::with_capacity(1 << 18, File::create_new(&path)?);
        self.runs.push(path);
        for pair in pairs {
            let (key, value) = pair?;
            write_pair(&mut run, &key, &value)?;
        }
        run.flush()
    }

    /// Everything, in order.
    pub(super) fn sorted(mut self) -> io::Result<Sorted> {
        if self.runs.is_empty() {
            self.pairs.sort_unstable();
            return Ok(Box::new(self.pairs.into_iter().map(Ok)));
        }
        if !self.pairs.is_empty() {
            self.spill()?;
        }
        merge(&self.runs)
    }
}

/// Runs that are read together. The least pair comes first; of equal ones, that of the first run.
fn merge(paths: &[PathBuf]) -> io::Result<Sorted> {
    let mut runs = paths.iter().map(|path| read_pairs(path)).collect::<io::Result<Vec<_>>>()?;
    let mut heads = BinaryHeap::with_capacity(runs.len());
    for (at, run) in runs.iter_mut().enumerate() {
        heads.extend(run.next().transpose()?.map(|pair| Reverse((pair, at))));
    }
    Ok(Box::new(iter::from_fn(move || {
        let Reverse((pair, at)) = heads.pop()?;
        match runs[at].next().transpose() {
            Ok(next) => heads.extend(next.map(|next| Reverse((next, at)))),
            Err(error) => return Some(Err(error)),
        }
        Some(Ok(pair))
    })))
}

/// The pairs of a file, in its order.
fn read_pairs(path: &Path) -> io::Result<Sorted> {
    let mut file = open_pieces(path)?;
    Ok(Box::new(iter::from_fn(move || {
        let pair = read(&mut file).and_then(|key| match key {
            Some(key) => Ok(Some((key, read(&mut file)?.ok_or(io::ErrorKind::UnexpectedEof)?))),
            None => Ok(None),
        });
        pair.transpose()
    })))
}

fn write_pair(out: &mut impl Write, key: &[u8], value: &[u8]) -> io::Result<()> {
    write(out, key)?;
    write(out, value)
}

/// Writes bytes behind their length.
fn write(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(bytes)
}

/// Reads what `write` wrote; nothing at the end.
fn read(source: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    if source.read(&mut length[..1])? == 0 {
        return Ok(None);
    }
    source.read_exact(&mut length[1..])?;
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    source.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}

fn open_pieces(path: &Path) -> io::Result<BufReader<File>> {
    Ok(BufReader::with_capacity(1 << 16, File::open(path)?))
}

// Of sorted records, each title once. Passages of one title are put together.

const ARTICLES: &str = "articles";
const TITLES: &str = "titles";

/// Articles in title order, each title once.
pub(super) struct Distinct {
    pub(super) count: u32,
    articles: PathBuf,
    /// With their numbers.
    titles: PathBuf,
}

struct Row {
    title: Vec<u8>,
    /// Of a passage, its format and its place among those of its title; of an article, nothing.
    order: Vec<u8>,
    frame: Vec<u8>,
    source: usize,
    place: Place,
}

impl Row {
    fn of((mut key, value): Pair) -> Self {
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let end = key.iter().position(|byte| *byte == 0).unwrap_or(key.len());
        let order = key[end + 9..].to_owned();
        key.truncate(end);
        let (length, rest) = value.split_at(4);
        let (frame, rest) = rest.split_at(usize::try_from(number(length)).unwrap_or(usize::MAX));
        let (source, rest) = rest.split_at(4);
        let (line, member) = rest.split_at(8);
        let member = (!member.is_empty()).then(|| Arc::from(String::from_utf8_lossy(member)));
        Self {
            title: key,
            order,
            frame: frame.to_owned(),
            source: usize::try_from(number(source)).unwrap_or(usize::MAX),
            place: Place { member, line: number(line) },
        }
    }

    fn format(&self) -> &[u8] {
        self.order.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    fn bytes(&self) -> u64 {
        (self.frame.len() + size_of::<Block>()) as u64
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
    /// Those of the last row, whether it was kept or not.
    order: Vec<u8>,
    frame: Vec<u8>,
}

impl LastTitle {
    fn take(&mut self, row: &Row) -> io::Result<()> {
        if !row.order.is_empty() {
            let passage = pages::decode_article(&row.frame).ok_or(io::ErrorKind::InvalidData)?;
            self.bytes += row.bytes();
            self.passages.extend(passage.blocks);
        }
        self.source = row.source;
        self.place = row.place.clone();
        Ok(())
    }
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
    let mut kept = LastTitle::default();
    for pair in articles.sorted().map_err(cannot)? {
        let row = Row::of(pair.map_err(cannot)?);
        // No record is nothing.
        if row.title != kept.title || kept.frame.is_empty() {
            writer.passages(&mut kept).map_err(cannot)?;
            if row.order.is_empty() {
                writer.write_piece(&row.title, &row.frame).map_err(cannot)?;
            }
            kept = LastTitle { title: row.title.clone(), format: row.format().to_owned(), ..LastTitle::default() };
            kept.take(&row).map_err(cannot)?;
            (kept.order, kept.frame) = (row.order, row.frame);
            continue;
        }
        let input = &mut sources[row.source];
        let title = || printable(&String::from_utf8_lossy(&row.title), 80);
        let same_place = !row.order.is_empty() && row.order == kept.order;
        match row.order == kept.order {
            true if row.frame == kept.frame => input.skipped.repeated += 1,
            false if row.format() == kept.format && kept.bytes + row.bytes() <= MAX_LINE_BYTES => {
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
        (kept.order, kept.frame) = (row.order, row.frame);
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
        let blocks = mem::take(&mut kept.passages);
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
        let mut pieces = open_pieces(&self.articles)?;
        Ok((0..self.count).map(move |_| {
            let piece = read(&mut pieces)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            pages::decode_article(&piece).ok_or_else(|| io::ErrorKind::InvalidData.into())
        }))
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
    for circle in pending.sorted()? {
        circle?;
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
    let mut titles = Cursor::open(&distinct.titles)?;
    let mut last = Pair::default();
    for pair in redirects.sorted()? {
        let (from, to) = pair?;
        if from == last.0 {
            // The same redirect may be written at the page and by itself.
            counts.redirect_twice += u64::from(to != last.1);
            continue;
        }
        if titles.find(&from)?.is_some() {
            counts.redirect_is_title += u64::from(from != to);
        } else {
            write_pair(&mut links, &from, &to)?;
            pending.push(&to[..], &from[..])?;
        }
        last = (from, to);
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
    let (mut titles, mut links) = (Cursor::open(&distinct.titles)?, Cursor::open(links)?);
    let mut under_way = 0;
    for pair in pending.sorted()? {
        let (to, from) = pair?;
        if let Some(number) = titles.find(&to)? {
            ends.push(number, from)?;
        } else if let Some(further) = links.find(&to)? {
            next.push(further, from)?;
            under_way += 1;
        } else {
            counts.redirect_to_nothing += 1;
        }
    }
    Ok(under_way)
}

/// A file of sorted pairs, whose keys are asked for in order.
struct Cursor(Peekable<Sorted>);

impl Cursor {
    fn open(path: &Path) -> io::Result<Self> {
        read_pairs(path).map(|pairs| Self(pairs.peekable()))
    }

    fn find(&mut self, key: &[u8]) -> io::Result<Option<&[u8]>> {
        let is_before = |pair: &io::Result<Pair>| pair.as_ref().map_or(true, |(own, _)| own.as_slice() < key);
        while let Some(before) = self.0.next_if(is_before) {
            before?;
        }
        let next = self.0.peek().and_then(|pair| pair.as_ref().ok());
        Ok(next.filter(|(own, _)| own == key).map(|(_, value)| value.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_RUNS, Pair, Sorter};

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
            let found: Vec<Pair> = sorter.sorted().expect("runs").map(|pair| pair.expect("a run")).collect();
            assert_eq!(found, expected, "{most}");
            for run in std::fs::read_dir(dir.path()).expect("a folder") {
                std::fs::remove_file(run.expect("a run").path()).expect("removed");
            }
        }
    }
}
