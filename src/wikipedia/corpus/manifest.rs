//! `corpus.toml`: what a corpus is, for people and for whoever opens it.
//! Beside it, of a corpus that was frozen from a site: what is kept of each title while it is fetched, and what is built of it.

use super::CorpusError;
use crate::base::bounded::{MAX_LINE_BYTES, lines, text_at_most};
use crate::base::text::counted;
use crate::base::{Compat, json_error, named};
use crate::net::recording::Inside;
use crate::wikipedia::api_source::{LeftOut, Pin, SitePage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

pub(super) const SEARCHES_FILE: &str = "queries.jsonl";

/// The file that makes a folder a corpus.
pub(super) const FILE: &str = "corpus.toml";
/// The newest layout of the folder that is read, and the one that is written.
pub(super) const FORMAT: u32 = 1;
/// No manifest is larger, in bytes.
pub(super) const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// What a corpus is. The identity is that of its articles; everything else may differ between equal corpora.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    /// `wt1:` and SHA-256 over the canonical records in title order.
    pub id: String,
    /// What people call it.
    pub name: String,
    pub extent: Extent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// Articles, disambiguation pages included.
    pub articles: u32,
    /// Names that lead to an article and are not its title.
    pub redirects: u64,
    /// Pages that list the articles of one name.
    pub disambiguations: u32,
    pub sentences: Sentences,
    pub text_bytes: u64,
    pub license: License,
    /// The site that the pages were frozen from, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freeze: Option<Freeze>,
    #[serde(rename = "source")]
    pub sources: Vec<SourceFile>,
    pub names: NameCounts,
    pub build: Build,
    /// Size and SHA-256 of each file.
    pub files: BTreeMap<String, Digest>,
}

named! {
    /// How much of a page an article has.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Extent {
        /// Its first paragraph, or a few.
        Lead = "lead",
        #[default]
        Page = "page",
        Passages = "passages",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sentences {
    /// At least one block is a list of sentences.
    Given,
    #[default]
    None,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct License {
    /// SPDX identifier, or `unknown`.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
}

impl License {
    /// What a license is called that nobody knows.
    pub(super) const UNKNOWN: &str = "unknown";

    pub fn is_known(&self) -> bool {
        self.id != Self::UNKNOWN
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freeze {
    pub site: String,
    /// Its address of a revision, up to the number.
    pub permalink: String,
    /// Which reading of pages the texts are.
    pub compat: Compat,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub footnotes: bool,
    /// What the pages are true to.
    pub fidelity: String,
    /// Articles that are gold pages of the questions they were frozen for.
    pub gold_pages: u32,
    /// Searches whose answers are those of the site.
    pub searches: u64,
    /// Titles without a page, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    pub format: String,
    /// Name of the file, without its folder.
    pub file: String,
    /// The identity, where it was a corpus itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// SHA-256 of the file as it was read; absent for folders and pipes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Articles and redirects that it has, those that were left out included.
    pub rows: u64,
    pub skipped: Skipped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Skipped {
    /// Another article has the title, or another passage the title and the id.
    pub duplicate_title: u64,
    /// The same is there already.
    #[serde(default)]
    pub repeated: u64,
    pub empty: u64,
    pub bad: u64,
}

/// Names that lead nowhere or to more than one article.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NameCounts {
    /// Redirects that were dropped because an article has the name as its title.
    pub redirect_is_title: u64,
    /// Redirects that were dropped because the name leads to another article already.
    pub redirect_twice: u64,
    /// Redirects that were dropped because their target is not there.
    pub redirect_to_nothing: u64,
    /// Redirects that were dropped because they lead in a circle.
    pub redirect_circle: u64,
    /// Names that are the same as another article's without case, accents and punctuation.
    pub collisions: u64,
}

impl NameCounts {
    /// With what another build had dropped before. Its collisions are still there, and were counted.
    #[must_use]
    pub(super) fn with_dropped(self, before: &Self) -> Self {
        Self {
            redirect_is_title: self.redirect_is_title.saturating_add(before.redirect_is_title),
            redirect_twice: self.redirect_twice.saturating_add(before.redirect_twice),
            redirect_to_nothing: self.redirect_to_nothing.saturating_add(before.redirect_to_nothing),
            redirect_circle: self.redirect_circle.saturating_add(before.redirect_circle),
            collisions: self.collisions,
        }
    }
}

/// The rules that a corpus was built by. One of other rules is built anew, not misread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    pub wikitrail: String,
    /// Version of the folding of names and words.
    pub fold: u32,
    /// Version of the ranking of similar titles.
    pub rank: u32,
    pub index: String,
}

impl Build {
    pub(super) fn current() -> Self {
        Self {
            wikitrail: env!("CARGO_PKG_VERSION").to_owned(),
            fold: 2,
            rank: 4,
            index: format!("tantivy-{}", tantivy::INDEX_FORMAT_VERSION),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    pub bytes: u64,
    pub sha256: String,
}

impl Manifest {
    pub fn read(dir: &Path) -> Result<Self, CorpusError> {
        let path = dir.join(FILE);
        let text =
            Inside::of(dir).and_then(|dir| dir.open(&path)).and_then(|file| text_at_most(file, MAX_MANIFEST_BYTES));
        let damaged = |reason: String| CorpusError::Damaged { file: path.display().to_string(), reason };
        let text = text.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::FileTooLarge => damaged(error.to_string()),
            _ => CorpusError::Read { path: path.display().to_string(), reason: error.to_string() },
        })?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| damaged(error.message().to_owned()))?;
        let other = |what: String| Err(CorpusError::Other { file: path.display().to_string(), what });
        let format = table.get("format").and_then(toml::Value::as_integer);
        if let Some(found) = format.filter(|found| *found > i64::from(FORMAT)) {
            return other(format!("has format {found}, and this version reads formats up to {FORMAT}"));
        }
        let manifest: Self = table.try_into().map_err(|error: toml::de::Error| damaged(error.message().to_owned()))?;
        let (built, current) = (&manifest.build, Build::current());
        if built.fold > current.fold || built.rank > current.rank || built.index != current.index {
            let by = &built.wikitrail;
            return other(format!("was built by rules of wikitrail {by}, which differ from those of this version"));
        }
        Ok(manifest)
    }

    /// How many articles of what kind it has, in words.
    pub fn contents(&self) -> String {
        let extent = match self.extent {
            Extent::Lead => "leads",
            Extent::Page => "pages",
            Extent::Passages => "passages",
        };
        let sentences = if self.sentences == Sentences::Given { ", sentences given" } else { "" };
        format!("{} ({extent}{sentences})", counted(self.articles, "article"))
    }

    /// What a run over it depends on: the articles, and the searches that were frozen with them.
    pub(super) fn identity(&self) -> String {
        let searches = self.files.get(SEARCHES_FILE).and_then(|file| file.sha256.get(..16));
        searches.map_or_else(|| self.id.clone(), |searches| format!("{}+{searches}", self.id))
    }

    pub(super) fn bytes(&self) -> u64 {
        self.files.values().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }
}

// A corpus that was frozen from a site.

pub(super) const LEFT_OUT_FILE: &str = "left-out.jsonl";

/// A line of what was fetched. The first line of its file says of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FetchedLine {
    /// Where a title leads to.
    Revision { asked: String, pin: Pin },
    /// A page as it is read.
    Page {
        page: SitePage,
        /// Titles that the lead links to, as many as were wanted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        links: Vec<String>,
    },
    /// A title that has no page.
    LeftOut { asked: String, reason: LeftOut },
    /// What the site answered to a search.
    Search { query: String, answer: SearchAnswer },
}

/// A title without a page, as a line has it.
#[derive(Serialize, Deserialize)]
struct NoPage {
    title: String,
    reason: LeftOut,
}

impl NoPage {
    fn lines(left_out: &BTreeSet<(LeftOut, String)>) -> Vec<Self> {
        left_out.iter().map(|(reason, title)| Self { title: title.clone(), reason: *reason }).collect()
    }

    fn collect(lines: Vec<Self>) -> BTreeSet<(LeftOut, String)> {
        lines.into_iter().map(|Self { title, reason }| (reason, title)).collect()
    }
}

/// The lines of a file that a folder need not have.
fn read_lines<T: DeserializeOwned>(dir: &Path, manifest: &Manifest, name: &str) -> Result<Vec<T>, CorpusError> {
    if !manifest.files.contains_key(name) {
        return Ok(Vec::new());
    }
    let damaged = |line: usize, reason: String| CorpusError::Line { file: name.to_owned(), line, reason };
    let file = File::open(dir.join(name)).map_err(|error| damaged(1, error.to_string()))?;
    let read = |(number, line): (usize, io::Result<Vec<u8>>)| {
        let line = line.map_err(|error| damaged(number, error.to_string()))?;
        serde_json::from_slice(&line).map_err(|error| damaged(number, json_error::in_line(&error)))
    };
    (1..).zip(lines(BufReader::new(file))).map(read).collect()
}

/// Makes a file of these lines, unless there are none.
fn write_lines(path: &Path, lines: &[impl Serialize]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let mut file = BufWriter::new(File::create_new(path)?);
    for line in lines {
        serde_json::to_writer(&mut file, line)?;
        file.write_all(b"\n")?;
    }
    file.into_inner()?.sync_all()
}

/// What is built beside the articles, and said of them.
#[derive(Debug, Clone)]
pub struct Frozen {
    pub facts: Freeze,
    pub searches: FrozenSearches,
    pub left_out: BTreeSet<(LeftOut, String)>,
}

impl Frozen {
    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        write_lines(&dir.join(SEARCHES_FILE), &SearchLine::lines(&self.searches))?;
        write_lines(&dir.join(LEFT_OUT_FILE), &NoPage::lines(&self.left_out))
    }
}

// Searches that were frozen with a corpus: what the site answered to each.

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchAnswer {
    Page(String),
    /// No page, but these titles, as the site words them; none if it found nothing.
    Titles(Vec<String>),
}

#[derive(Serialize, Deserialize)]
struct SearchLine {
    query: String,
    #[serde(flatten)]
    answer: SearchAnswer,
}

impl SearchLine {
    fn lines(searches: &FrozenSearches) -> Vec<Self> {
        searches.iter().map(|(query, answer)| Self { query: query.clone(), answer: answer.clone() }).collect()
    }

    fn collect(lines: Vec<Self>) -> FrozenSearches {
        lines.into_iter().map(|Self { query, answer }| (query, answer)).collect()
    }
}

/// Searches by their words, without spaces around them.
pub(super) type FrozenSearches = BTreeMap<String, SearchAnswer>;

pub(super) fn read_searches(dir: &Path, manifest: &Manifest) -> Result<FrozenSearches, CorpusError> {
    read_lines(dir, manifest, SEARCHES_FILE).map(SearchLine::collect)
}

/// The title in the heading of a hit: what follows says which redirect, category or section was found.
pub fn title_of(heading: &str) -> &str {
    let end = heading.find(" (redirect from ").into_iter().chain(heading.find("  ")).min();
    &heading[..end.unwrap_or(heading.len())]
}

// What a corpus says of itself, beside its articles: in its folder, and in the first line of a pack.

/// Keys of the manifest that are true of one folder only.
const OF_THE_FOLDER: [&str; 2] = ["build", "files"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About {
    pub(super) manifest: Manifest,
    pub(super) searches: FrozenSearches,
    /// Titles without a page in what was frozen.
    pub(super) left_out: BTreeSet<(LeftOut, String)>,
}

#[derive(Serialize, Deserialize)]
struct Head<T> {
    corpus: T,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    searches: Vec<SearchLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<NoPage>,
}

impl About {
    pub(super) fn of_folder(dir: &Path, manifest: Manifest) -> Result<Self, CorpusError> {
        let searches = read_searches(dir, &manifest)?;
        let left_out = NoPage::collect(read_lines(dir, &manifest, LEFT_OUT_FILE)?);
        Ok(Self { manifest, searches, left_out })
    }

    pub(super) fn write_line(&self, out: &mut impl Write) -> io::Result<()> {
        let mut corpus = serde_json::to_value(&self.manifest)?;
        if let Some(corpus) = corpus.as_object_mut() {
            corpus.retain(|key, _| !OF_THE_FOLDER.contains(&key.as_str()));
        }
        let head =
            Head { corpus, searches: SearchLine::lines(&self.searches), left_out: NoPage::lines(&self.left_out) };
        let line = serde_json::to_vec(&head)?;
        if line.len() as u64 >= MAX_LINE_BYTES {
            let what = format!("its frozen searches take more than {} MiB", MAX_LINE_BYTES >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        out.write_all(&line)?;
        out.write_all(b"\n")
    }

    /// Whether a line is meant to be the first one of a pack.
    pub(super) fn is_meant(line: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Meant {
            #[serde(rename = "corpus")]
            _corpus: serde::de::IgnoredAny,
        }
        serde_json::from_slice::<Meant>(line).is_ok()
    }

    /// Reads a line that is meant to be the first one of a pack; what is wrong with it is said in words.
    pub(super) fn parse(line: &[u8]) -> Option<Result<Self, String>> {
        Self::is_meant(line).then(|| Self::read(line))
    }

    fn read(line: &[u8]) -> Result<Self, String> {
        let wrong = |reason: &dyn Display| format!("`corpus`: {reason}");
        let head: Head<Map<String, Value>> =
            serde_json::from_slice(line).map_err(|error| wrong(&json_error::in_line(&error)))?;
        let mut corpus = head.corpus;
        let format = corpus.get("format").and_then(Value::as_u64);
        if let Some(found) = format.filter(|found| *found > u64::from(FORMAT)) {
            return Err(wrong(&format!("it has format {found}, and this version reads formats up to {FORMAT}")));
        }
        let folder = [json!(Build::current()), json!({})];
        corpus.extend(OF_THE_FOLDER.map(str::to_owned).into_iter().zip(folder));
        let manifest: Manifest =
            serde_json::from_value(corpus.into()).map_err(|error| wrong(&json_error::in_line(&error)))?;
        let text = toml::to_string(&manifest).map_err(|error| wrong(&error))?;
        // What cannot be read again would be known only when the corpus is built.
        text.parse::<toml::Table>().map_err(|error| wrong(&error.message()))?;
        if text.len() as u64 > MAX_MANIFEST_BYTES / 2 {
            return Err(wrong(&"it is larger than 512 KiB"));
        }
        Ok(Self { manifest, searches: SearchLine::collect(head.searches), left_out: NoPage::collect(head.left_out) })
    }
}

#[cfg(test)]
mod tests {
    use super::title_of;

    #[test]
    fn a_heading_begins_with_the_title() {
        for heading in
            ["Go (game)", "Go (game) (redirect from Weiqi)", "Go (game)  (category Games)", "Go (game)   (section X)"]
        {
            assert_eq!(title_of(heading), "Go (game)");
        }
    }
}
