//! Of sorted records, each title once. Passages of one title are put together.

use super::collect::{Notes, ReadInput, cannot_write};
use super::sorter::Sorter;
use super::{BuildError, BuildSettings, OnDuplicate};
use crate::types::bounded::LONGEST_LINE;
use crate::types::text::printable;
use crate::wiki::corpus::frame;
use crate::wiki::corpus::import::Place;
use crate::wiki::corpus::record::{Article, Block, listed_entries};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of what is kept.
const ARTICLES: &str = "articles";
const TITLES: &str = "titles";

/// Articles in title order, each title once.
pub(super) struct Distinct {
    pub(super) count: u32,
    articles: PathBuf,
    titles: PathBuf,
}

/// A record as it is sorted.
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

/// What is known of a row whose title is that of the row before.
enum SameTitle {
    /// It says the same.
    Repeated,
    /// It is the next passage.
    Next,
    /// The passages are too long for one more.
    TooLong,
    /// It says something else.
    Other,
}

/// What was kept of a title, and the last row that had it.
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
            let passage = frame::decode_article(row.frame).ok_or(io::ErrorKind::InvalidData)?;
            self.bytes += taken(row);
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

    fn same_title(&self, row: &Row<'_>) -> SameTitle {
        match row.order == self.order {
            true if row.frame == self.frame => SameTitle::Repeated,
            false if row.format() != self.format => SameTitle::Other,
            false if self.bytes + taken(row) > LONGEST_LINE => SameTitle::TooLong,
            false => SameTitle::Next,
            true => SameTitle::Other,
        }
    }
}

/// The memory that a passage takes.
fn taken(row: &Row<'_>) -> u64 {
    (row.frame.len() + size_of::<Block>()) as u64
}

/// Of articles with one title, keeps that of the lowest page number, then the least record, or the last that was read. Passages
/// come after articles.
pub(super) fn write_distinct(
    work: &Path,
    articles: Sorter,
    settings: &BuildSettings,
    sources: &mut [ReadInput],
    notes: &mut Notes,
) -> Result<Distinct, BuildError> {
    let cannot = |error: io::Error| cannot_write(work, &error);
    let mut writer = Writer::new(work).map_err(cannot)?;
    let mut sorted = articles.sorted().map_err(cannot)?;
    let (mut key, mut value, mut kept) = (Vec::new(), Vec::new(), LastTitle::default());
    while sorted.next(&mut key, &mut value).map_err(cannot)? {
        let row = Row::of(&key, &value);
        // No record is nothing.
        if row.title != kept.title || kept.frame.is_empty() {
            writer.passages(&mut kept).map_err(cannot)?;
            if row.order.is_empty() {
                writer.write_piece(row.title, row.frame).map_err(cannot)?;
            }
            kept.begin(&row).map_err(cannot)?;
            continue;
        }
        let skipped = &mut sources[row.source].skipped;
        let title = || printable(&String::from_utf8_lossy(row.title), 80);
        let same_place = !row.order.is_empty() && row.order == kept.order;
        match kept.same_title(&row) {
            SameTitle::Next => kept.take(&row).map_err(cannot)?,
            SameTitle::Repeated => skipped.repeated += 1,
            SameTitle::TooLong => {
                skipped.bad += 1;
                let what = format!("the passages of `{}` exceed {} MiB", title(), LONGEST_LINE >> 20);
                notes.add(settings, row.source, &row.place, what);
            }
            SameTitle::Other if settings.on_duplicate == OnDuplicate::Error => {
                let file = |source: usize| settings.sources[source].1.display();
                let (here, there, at) = (file(row.source), file(kept.source), &kept.place);
                let (what, are) = if same_place { ("id and title", "are those") } else { ("the title", "is that") };
                let twice = format!("`{here}`{}: {what} `{}` {are} of `{there}`{at}", row.place, title());
                return Err(BuildError::Duplicate(twice));
            }
            SameTitle::Other => {
                skipped.duplicate_title += 1;
                let what = if same_place { "another passage with this id" } else { "another record" };
                notes.add(settings, row.source, &row.place, format_args!("{what} of `{}` was kept", title()));
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
        self.count = self.count.checked_add(1).ok_or_else(|| io::Error::other("more than 4,294,967,295 articles"))?;
        write(&mut self.articles, frame)?;
        write(&mut self.titles, title)
    }

    /// Writes the article of passages, if there are any.
    fn passages(&mut self, kept: &mut LastTitle) -> io::Result<()> {
        if kept.passages.is_empty() {
            return Ok(());
        }
        let title = String::from_utf8_lossy(&kept.title).into_owned();
        let blocks = std::mem::take(&mut kept.passages);
        let entries = listed_entries(&blocks);
        let mut bytes = Vec::new();
        frame::encode_article(&Article { title, blocks, entries, ..Article::default() }, &mut bytes);
        self.write_piece(&kept.title, &bytes)
    }

    fn finish(mut self, work: &Path) -> io::Result<Distinct> {
        self.articles.flush()?;
        self.titles.flush()?;
        Ok(Distinct { count: self.count, articles: work.join(ARTICLES), titles: work.join(TITLES) })
    }
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
            frame::decode_article(piece).ok_or_else(|| io::ErrorKind::InvalidData.into())
        }))
    }
}

/// Writes bytes behind their length.
pub(super) fn write(out: &mut impl io::Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(bytes)
}

/// Reads what [`write_piece`] wrote, piece by piece.
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
