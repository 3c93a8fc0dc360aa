//! ZIM files, in which Kiwix publishes Wikipedia: pages as HTML, and redirects.
//!
//! Pages go through the reader that `--compat fixed` has for live ones. They are packed in clusters, which are unpacked and
//! read on several threads, each once. The memory that is taken is some bytes for each page, and a cluster for each thread.

use super::lines::{Batch, XZ_MEMORY, on_all_processors};
use super::{Facts, Found, ImportError, Place, Records};
use crate::base::bounded::read_at_most;
use crate::base::digest::{hex, md5_hex};
use crate::wikipedia::corpus::pages::Positioned;
use crate::wikipedia::corpus::record::{Article, Block, Dropped, Record};
use crate::wikipedia::html::{self, ArticleOptions, PageKind};
use lzma_rust2::XzReader;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use std::cmp::Ordering;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use url::Url;

pub(super) const MAGIC: [u8; 4] = *b"ZIM\x04";
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

pub(super) fn facts(path: &Path) -> Facts {
    let Ok(archive) = Archive::open(path) else { return Facts::default() };
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
    Facts {
        language,
        as_of: fact("Date"),
        license: fact("License"),
        attribution: fact("Creator").or_else(|| fact("Title")),
        changes: None,
    }
}

enum Job {
    Say(ImportError),
    /// Pages of one cluster, in its order.
    Pages(Vec<Page>),
    /// Those of the entries that redirect to an article; with whether each of all entries is one.
    Redirects(Arc<[bool]>, Range<u32>),
}

/// Where the page of an entry is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Page {
    cluster: u32,
    blob: u32,
    entry: u32,
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
    let mut articles = vec![false; archive.entries as usize];
    for page in &pages {
        articles[page.entry as usize] = true;
    }
    for cluster in pages.chunk_by(|one, other| one.cluster == other.cluster) {
        if jobs.send(Job::Pages(cluster.to_vec())).is_err() {
            return;
        }
    }
    let articles: Arc<[bool]> = articles.into();
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
            let (articles, others): (Vec<Page>, Vec<Page>) =
                pages.into_iter().partition(|page| listed[page.entry as usize]);
            Some(if articles.is_empty() { others } else { articles })
        }
        Ok(None) => Some(pages),
        Err(reason) => say(bad(LIST.to_owned(), reason)).then_some(pages),
    }
}

/// Whether each entry is an article, if the file has a list of these.
fn listed_articles(archive: &Archive) -> Result<Option<Vec<bool>>> {
    let Some(Target::Blob { cluster, blob, .. }) = archive.find(b'X', LIST).map(|entry| entry.target) else {
        return Ok(None);
    };
    let mut cluster = Cluster::open(archive, cluster)?;
    let mut listed = vec![false; archive.entries as usize];
    for entry in cluster.blob(blob, 4 * u64::from(archive.entries))?.chunks_exact(4) {
        if let Some(listed) = listed.get_mut(read_u32(entry) as usize) {
            *listed = true;
        }
    }
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
                record(archive.entry(page.entry), |entry| article(archive, entry, blob?))
            };
            pages.iter().map(read).collect()
        }
        Job::Redirects(articles, range) => {
            let entries = range.filter_map(|index| archive.entry(index).ok());
            let redirects = entries.filter_map(|entry| {
                let Target::Redirect(to) = entry.target else { return None };
                (entry.namespace == archive.articles).then(|| {
                    let end = redirect_end(archive, &articles, to);
                    record(Ok(entry), |entry| match end {
                        Ok(target) => Ok(Record::Redirect { title: entry.title()?, to: target.title()? }),
                        Err(dropped) => Ok(Record::Dropped(dropped)),
                    })
                })
            });
            redirects.collect()
        }
    }
}

/// The article that redirects lead to. Those to a picture or in a circle are not names of an article.
fn redirect_end(archive: &Archive, articles: &[bool], mut to: u32) -> std::result::Result<Entry, Dropped> {
    for _ in 0..MAX_HOPS {
        let entry = archive.entry(to).map_err(|_| Dropped::ToNothing)?;
        match entry.target {
            Target::Redirect(next) => to = next,
            _ if articles[to as usize] => return Ok(entry),
            _ => return Err(Dropped::ToNothing),
        }
    }
    Err(Dropped::Circle)
}

fn record(entry: Result<Entry>, read: impl FnOnce(&Entry) -> Result<Record>) -> Found {
    let entry = entry.map_err(|reason| ImportError::Broken { reason })?;
    Place { member: Some(entry.path().into()), line: 0 }.found(read(&entry))
}

/// The record of a page, read as a live one is.
fn article(archive: &Archive, entry: &Entry, page: &[u8]) -> Result<Record> {
    let text = str::from_utf8(page).map_err(|_| "it is not UTF-8 text".to_owned())?;
    let title_of = |address: &str| archive.linked(entry, address)?.title().ok();
    let page = html::article_among(text, ArticleOptions::default(), title_of).map_err(|error| error.to_string())?;
    let entries = match page.kind {
        PageKind::Article => None,
        PageKind::Disambiguation => Some(page.links.to_vec()),
        PageKind::Results => return Err("it is a list of search results".to_owned()),
    };
    let blocks = page.blocks.iter().map(|block| Block::Text(block.clone())).collect();
    Ok(Record::Article(Article { title: entry.title()?, blocks, entries, ..Article::default() }))
}

// What is where in a ZIM file: its header, media types and entries. All numbers are little-endian.

const HEADER: usize = 80;
const HEADER_MAGIC: u32 = 72_173_914;
/// The MD5 of everything before it is the end of the file.
const CHECKSUM: u64 = 16;
/// The list of media types is shorter, in bytes.
const TYPES: usize = 1 << 16;
/// No address and title together are longer, in bytes; most are shorter than the second.
const MAX_ENTRY: usize = 1 << 16;
const USUAL_ENTRY: usize = 512;

/// Reasons are for people.
type Result<T> = std::result::Result<T, String>;

struct Archive {
    parts: Parts,
    entries: u32,
    clusters: u32,
    /// Where the entries' places are, by address.
    entries_at: u64,
    clusters_at: u64,
    /// Where everything but the checksum ends.
    end: u64,
    articles: u8,
    /// Whether a media type is HTML, by its number.
    types: Vec<bool>,
}

/// An address with what it leads to.
struct Entry {
    namespace: u8,
    url: Vec<u8>,
    title: Vec<u8>,
    target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// The entry of this number.
    Redirect(u32),
    /// The text of this number in a cluster.
    Blob { html: bool, cluster: u32, blob: u32 },
    /// It was deleted.
    Nothing,
}

impl Entry {
    fn title(&self) -> Result<String> {
        let title = if self.title.is_empty() { &self.url } else { &self.title };
        String::from_utf8(title.clone()).map_err(|_| "its title is not UTF-8".to_owned())
    }

    fn path(&self) -> String {
        format!("{}/{}", char::from(self.namespace), String::from_utf8_lossy(&self.url))
    }
}

impl Archive {
    fn open(path: &Path) -> Result<Self> {
        let parts = Parts::open(path).map_err(|error| error.to_string())?;
        let mut header = [0; HEADER];
        let length = parts.length();
        if length < HEADER as u64 {
            return Err(format!("it has {length} bytes, and the header of a ZIM file has {HEADER}"));
        }
        parts.read(&mut header, 0).map_err(|error| error.to_string())?;
        let (short, long) = (|at| read_u32(&header[at..]), |at| read_number(&header[at..at + 8]));
        if short(0) != HEADER_MAGIC {
            return Err(
                "it does not begin as a ZIM file does; one inside another file has to be cut out first".to_owned()
            );
        }
        let (major, minor) = (short(4) & 0xffff, short(4) >> 16);
        if !matches!(major, 5 | 6) {
            return Err(format!("it is of version {major} of the format; 5 and 6 are read"));
        }
        let end = long(72);
        match end.checked_add(CHECKSUM).map(|whole| (whole, length.cmp(&whole))) {
            Some((_, Ordering::Equal)) => {}
            Some((whole, Ordering::Less)) => return Err(format!("it is cut: {length} bytes of {whole} are there")),
            _ => return Err(format!("its header says that it ends with byte {end}, and it has {length} bytes")),
        }
        let articles = if (major, minor) >= (6, 1) { b'C' } else { b'A' };
        let (entries, clusters, entries_at, clusters_at) = (short(24), short(28), long(32), long(48));
        for (what, at, count) in [("entries", entries_at, entries), ("clusters", clusters_at, clusters)] {
            if at.checked_add(8 * u64::from(count)).is_none_or(|last| last > end) {
                return Err(format!("its list of {count} {what} would lie behind its end"));
            }
        }
        let mut archive = Self { parts, entries, clusters, entries_at, clusters_at, end, articles, types: Vec::new() };
        archive.types = html_types(&archive.piece(long(56), TYPES, "its list of media types")?)
            .filter(|_| long(56) >= HEADER as u64)
            .ok_or("its list of media types is damaged")?;
        Ok(archive)
    }

    fn compare_checksum(&self) -> Result<()> {
        let whole = Section { parts: &self.parts, at: 0, end: self.end };
        let found = md5_hex(whole).map_err(|error| error.to_string())?;
        let mut wanted = [0; 16];
        self.read(&mut wanted, self.end)?;
        let wanted = hex(&wanted);
        if found == wanted { Ok(()) } else { Err(format!("it is damaged: its MD5 is {found}, not {wanted}")) }
    }

    fn read(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        self.parts.read(bytes, at).map_err(|error| error.to_string())
    }

    /// At most so many bytes from `at`.
    fn piece(&self, at: u64, most: usize, what: &str) -> Result<Vec<u8>> {
        let left = self
            .end
            .checked_sub(at)
            .filter(|left| *left > 0)
            .ok_or_else(|| format!("{what} would lie behind its end"))?;
        let mut bytes = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(most)];
        self.read(&mut bytes, at).map(|()| bytes)
    }

    fn place(&self, list: u64, index: u32) -> Result<u64> {
        let mut bytes = [0; 8];
        self.read(&mut bytes, list + 8 * u64::from(index)).map(|()| u64::from_le_bytes(bytes))
    }

    fn entry(&self, index: u32) -> Result<Entry> {
        if index >= self.entries {
            return Err(format!("there is no entry {index}"));
        }
        let at = self.place(self.entries_at, index)?;
        for most in [USUAL_ENTRY, MAX_ENTRY] {
            if let Some(entry) = self.parsed(&self.piece(at, most, "the entry")?)? {
                return Ok(entry);
            }
        }
        Err("its address and title have no end".to_owned())
    }

    /// The entry at the beginning of `bytes`, if all of it is there.
    fn parsed(&self, bytes: &[u8]) -> Result<Option<Entry>> {
        let Some((head, rest)) = bytes.split_at_checked(12) else { return Ok(None) };
        let index = read_u32(&head[8..]);
        let (target, names) = match read_number(&head[..2]) {
            0xffff => (Target::Redirect(index), Some(rest)),
            0xfffd | 0xfffe => (Target::Nothing, bytes.get(8..)),
            kind => {
                let kinds = self.types.len();
                let html = *usize::try_from(kind)
                    .ok()
                    .and_then(|kind| self.types.get(kind))
                    .ok_or_else(|| format!("its media type has the number {kind}, and there are {kinds}"))?;
                let blob = read_u32(rest);
                (Target::Blob { html, cluster: index, blob }, rest.get(4..))
            }
        };
        let mut names = names.unwrap_or_default().splitn(3, |byte| *byte == 0);
        let (Some(url), Some(title), Some(_)) = (names.next(), names.next(), names.next()) else { return Ok(None) };
        Ok(Some(Entry { namespace: head[3], url: url.to_owned(), title: title.to_owned(), target }))
    }

    /// The page or redirect that a link on a page leads to.
    fn linked(&self, page: &Entry, address: &str) -> Option<Entry> {
        // Addresses had their namespace in front before there was one for all contents.
        let within = if self.articles == b'C' { "" } else { "A/" };
        let url = percent_encode(&page.url, NON_ALPHANUMERIC).to_string().replace("%2F", "/");
        let here = Url::parse(&format!("http://zim/{within}{url}")).ok()?;
        let there =
            here.join(address).ok().filter(|there| there.origin() == here.origin() && there.path() != here.path())?;
        let path = percent_decode_str(there.path().strip_prefix('/')?).decode_utf8().ok()?;
        let entry = self.find(self.articles, path.strip_prefix(within)?)?;
        matches!(entry.target, Target::Redirect(_) | Target::Blob { html: true, .. }).then_some(entry)
    }

    /// The entry of an address, which the order of the list leads to.
    fn find(&self, namespace: u8, url: &str) -> Option<Entry> {
        let (mut low, mut high) = (0, self.entries);
        while low < high {
            let middle = low + (high - low) / 2;
            let entry = self.entry(middle).ok()?;
            match (entry.namespace, entry.url.as_slice()).cmp(&(namespace, url.as_bytes())) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(entry),
            }
        }
        None
    }
}

/// The number that up to eight bytes are.
fn read_number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The number that the first four bytes are.
fn read_u32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default())
}

/// Which of the media types are HTML. An empty one ends the list.
fn html_types(list: &[u8]) -> Option<Vec<bool>> {
    let mut types = Vec::new();
    for name in list.split_inclusive(|byte| *byte == 0) {
        match name.strip_suffix(&[0])? {
            [] => return Some(types),
            name => types
                .push(name.split(|byte| *byte == b';').next().is_some_and(|name| name.trim_ascii() == b"text/html")),
        }
    }
    None
}

// A cluster of a ZIM file: blobs that are packed together.

/// No cluster unpacks to more, in bytes; articles are packed in pieces of about two million.
const MAX_CLUSTER: u64 = 256 << 20;
/// No table of a cluster's blobs is larger, in bytes.
const MAX_TABLE: u64 = 16 << 20;

/// A cluster that is read once, from front to end.
struct Cluster<'a> {
    source: Box<dyn Read + 'a>,
    is_packed: bool,
    /// Where each blob begins, and the last ends.
    places: Vec<u64>,
    at: u64,
    /// The blob that was read last, or why nothing more can be read.
    last: Result<(usize, Vec<u8>)>,
}

impl<'a> Cluster<'a> {
    fn open(archive: &'a Archive, index: u32) -> Result<Self> {
        if index >= archive.clusters {
            return Err(format!("there is no cluster {index}"));
        }
        let at = archive.place(archive.clusters_at, index)?;
        if at >= archive.end {
            return Err(format!("cluster {index} would lie behind its end"));
        }
        let damaged = |error: io::Error| format!("cluster {index} is damaged: {error}");
        let mut section = Section { parts: &archive.parts, at, end: archive.end };
        let [kind] = read_exactly(&mut section).map_err(damaged)?;
        let width = if kind & 0x10 == 0 { 4 } else { 8 };
        let bytes = BufReader::with_capacity(1 << 16, section);
        let (is_packed, mut source): (bool, Box<dyn Read>) = match kind & 0x0f {
            0 | 1 => (false, Box::new(bytes)),
            4 => (true, Box::new(XzReader::new_mem_limit(bytes, false, XZ_MEMORY))),
            5 => {
                let unpacker = zstd::stream::read::Decoder::with_buffer(bytes).map_err(damaged)?;
                (true, Box::new(unpacker.single_frame()))
            }
            other => return Err(format!("cluster {index} is packed in the way {other}, which is not known")),
        };
        let places = blob_places(&mut source, width).map_err(damaged)?;
        let at = places.first().copied().unwrap_or_default();
        Ok(Self { source, is_packed, places, at, last: Ok((usize::MAX, Vec::new())) })
    }

    /// A blob of at most so many bytes, which may not lie before one that was asked for.
    fn blob(&mut self, index: u32, most: u64) -> Result<&[u8]> {
        let index = index as usize;
        if self.last.as_ref().is_ok_and(|(last, _)| *last != index) {
            self.last = self.next(index, most).map(|blob| (index, blob));
        }
        self.last.as_ref().map(|(_, blob)| blob.as_slice()).map_err(Clone::clone)
    }

    fn next(&mut self, index: usize, most: u64) -> Result<Vec<u8>> {
        let (Some(begin), Some(end)) = (self.places.get(index), self.places.get(index + 1)) else {
            return Err(format!("there is no blob {index} in its cluster"));
        };
        let (Some(skipped), Some(length)) = (begin.checked_sub(self.at), end.checked_sub(*begin)) else {
            return Err("the blobs of its cluster are in no order".to_owned());
        };
        if *begin > MAX_CLUSTER && self.is_packed {
            return Err(format!("its cluster is larger than {} MiB", MAX_CLUSTER >> 20));
        }
        if length > most {
            return Err(format!("it is larger than {} MiB", most >> 20));
        }
        let skip = io::copy(&mut self.source.by_ref().take(skipped), &mut io::sink());
        let read = skip.and_then(|_| read_at_most(self.source.by_ref().take(length), most));
        let blob = read.map_err(|error| format!("its cluster is damaged: {error}"))?;
        self.at = *end;
        if blob.len() as u64 == length { Ok(blob) } else { Err("its cluster ends too early".to_owned()) }
    }
}

fn read_exactly<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes).map(|()| bytes)
}

/// The table that a cluster begins with. Its first number is its own length.
fn blob_places(source: &mut impl Read, width: usize) -> io::Result<Vec<u64>> {
    let first = if width == 4 { read_exactly::<4>(source)?.to_vec() } else { read_exactly::<8>(source)?.to_vec() };
    let length = read_number(&first);
    if length < width as u64 || !length.is_multiple_of(width as u64) || length > MAX_TABLE {
        return Err(io::Error::other(format!("its table cannot have {length} bytes")));
    }
    let rest = read_at_most(source.take(length - width as u64), MAX_TABLE)?;
    if (rest.len() + width) as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(std::iter::once(length).chain(rest.chunks_exact(width).map(read_number)).collect())
}

// A file, or the parts that it was split into, read at any place.

/// The parts of a ZIM file, `.zimaa`, `.zimab` and so on, by the name of the first or by their name without the last two
/// letters; none if it is not such a name.
pub(super) fn zim_parts(path: &Path) -> Vec<PathBuf> {
    let name = path.as_os_str().to_str().unwrap_or_default();
    let is_zim = |name| Path::new(name).extension().is_some_and(|ending| ending == "zim");
    let whole = match name.strip_suffix("aa") {
        Some(whole) if is_zim(whole) => whole,
        _ if is_zim(name) && !path.exists() => name,
        _ => return Vec::new(),
    };
    let letters = || 'a'..='z';
    let part = |(first, second)| PathBuf::from(OsString::from(format!("{whole}{first}{second}")));
    letters()
        .flat_map(|first| letters().map(move |second| (first, second)))
        .map(part)
        .take_while(|p| p.exists())
        .collect()
}

struct Parts(Vec<(u64, Positioned)>);

impl Parts {
    fn open(path: &Path) -> io::Result<Self> {
        let mut paths = zim_parts(path);
        if paths.is_empty() {
            paths.push(path.to_owned());
        }
        let mut end = 0_u64;
        let open = |path| {
            let file = File::open(path)?;
            end = end.checked_add(file.metadata()?.len()).ok_or(io::ErrorKind::FileTooLarge)?;
            Ok((end, Positioned::new(file)))
        };
        paths.iter().map(open).collect::<io::Result<_>>().map(Self)
    }

    fn length(&self) -> u64 {
        self.0.last().map_or(0, |(end, _)| *end)
    }

    /// Fills `bytes` with what is at `at`.
    fn read(&self, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let part = self.0.partition_point(|(end, _)| *end <= at);
            let (end, file) = self.0.get(part).ok_or(io::ErrorKind::UnexpectedEof)?;
            let begin = part.checked_sub(1).map_or(0, |before| self.0[before].0);
            let here = usize::try_from(end - at).unwrap_or(usize::MAX).min(bytes.len());
            let (now, later) = bytes.split_at_mut(here);
            file.read(now, at - begin)?;
            (bytes, at) = (later, at + here as u64);
        }
        Ok(())
    }
}

struct Section<'a> {
    parts: &'a Parts,
    at: u64,
    end: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let here = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(bytes.len());
        self.parts.read(&mut bytes[..here], self.at)?;
        self.at += here as u64;
        Ok(here)
    }
}

#[cfg(test)]
mod tests;
