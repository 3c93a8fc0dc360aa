//! A corpus from a live site: the pages of wanted titles and the answers to searches, fetched into a file, then built.
//!
//! Each title takes two requests, one for the revision and one for its text. Each answer is kept in a file beside the corpus as
//! it comes, and never asked for again. At the end the builder of corpora makes the folder of the file. Which titles are wanted
//! is up to the caller.

use super::corpus::{
    BuildError, BuildSettings, Built, Extent, Facts, FetchedLine, Format, Freeze, Frozen, Progress, SearchAnswer, build,
};
use super::{ApiSource, Found, LeftOut, Pin, Revision, SiteFacts, Source as _, SourceError};
use crate::base::bounded::lines;
use crate::base::{Compat, locked, processors, sha256_hex};
use crate::net::recording::{FileError, LineFile};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const VERSION: u32 = 2;
/// A search this long is not made again in brackets, in bytes.
const MAX_AGAIN: usize = 300;
const CHANGES: &str = "text extracted, footnotes removed";
const CHANGES_WITH_MARKS: &str = "text extracted";
/// Memory to sort in; a freeze is small.
const MEMORY: u64 = 256 << 20;

#[derive(Debug, Default)]
pub(crate) struct FreezeTargets {
    /// Titles, with the revision that a run read.
    pub(crate) titles: BTreeMap<String, Option<u64>>,
    pub(crate) gold: BTreeSet<String>,
    /// Searches, with what the site answered; nothing where only the site can say it.
    pub(crate) searches: BTreeMap<String, Option<SearchAnswer>>,
}

/// The corpus to be, and how the site is read.
#[derive(Debug, Clone)]
pub(crate) struct FreezeOptions {
    pub(crate) dir: PathBuf,
    pub(crate) name: Option<String>,
    /// Links of each lead whose pages are needed too.
    pub(crate) links: usize,
    /// The time whose revisions are wanted, RFC 3339 in UTC.
    pub(crate) as_of: Option<String>,
    pub(crate) site: String,
    pub(crate) compat: Compat,
    pub(crate) footnotes: bool,
}

pub(crate) enum FreezeError {
    /// The file of what was fetched cannot be read or written.
    File(FileError),
    /// A line of it, from 1, is not one that a freeze writes.
    Damaged { path: PathBuf, line: u64 },
    /// Another process freezes this folder.
    Busy(PathBuf),
    /// The file holds what was fetched for another freeze.
    OtherFreeze { path: PathBuf, what: String },
    /// There is nothing to keep, or it cannot be written as JSON.
    Unwritable(String),
    /// Asking the site failed.
    Source(SourceError),
    /// Fetching ended with this error; what was fetched is in the file at `path`.
    Fetch { error: Box<FreezeError>, plan: FreezePlan, path: PathBuf },
    /// Everything that was fetched is in the file at `path`.
    Build { error: BuildError, path: PathBuf },
}

impl FreezeError {
    fn file(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File(FileError { action, path: path.to_owned(), source })
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is the argument of `map_err`")]
    fn unwritable(error: impl ToString) -> Self {
        Self::Unwritable(error.to_string())
    }
}

impl From<FileError> for FreezeError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl From<SourceError> for FreezeError {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct FreezePlan {
    /// Titles to ask for, without those that leads link to.
    pub(crate) titles: usize,
    /// Titles of them that need no further request.
    pub(crate) fetched: usize,
    /// Searches whose answers are known or will be.
    pub(crate) searches: usize,
    /// Requests at most, without those for linked pages.
    pub(crate) requests: usize,
    /// How long they take at the rate that the site allows, in milliseconds; nothing where there is no limit.
    pub(crate) least_ms: Option<u64>,
    pub(crate) gold_only: bool,
}

pub(crate) enum FreezeEnd {
    /// The corpus, and titles without a page.
    Done(Box<Built>, BTreeSet<(LeftOut, String)>),
    /// With what is left to do.
    Interrupted(FreezePlan),
}

pub(crate) enum FreezeProgress {
    /// What was asked is waited for, and nothing more is asked.
    Stopping,
    /// So many of the titles were fetched.
    Fetching(usize, usize),
    Building(Progress),
}

pub(crate) struct Freezer {
    options: FreezeOptions,
    targets: FreezeTargets,
    source: Arc<ApiSource>,
    fetched: FetchedFile,
}

/// One request for a title.
enum Step {
    Revision(String, Option<u64>),
    Text(String, Pin),
}

impl Freezer {
    /// Opens the file of what was fetched. Sends nothing.
    pub(crate) fn open(options: FreezeOptions, targets: FreezeTargets, source: ApiSource) -> Result<Self, FreezeError> {
        let fetched = FetchedFile::open(&options.dir)?;
        Ok(Self { options, targets, source: Arc::new(source), fetched })
    }

    pub(crate) fn site(&self) -> &str {
        &self.options.site
    }

    pub(crate) fn plan(&self) -> FreezePlan {
        let titles = self.targets.titles.len();
        let due: Vec<_> = self.targets.titles.keys().filter(|title| !self.fetched.has(title)).collect();
        let known = due.iter().filter(|title| self.fetched.pins.contains_key(**title)).count();
        let open = self.targets.searches.iter().filter(|(query, answer)| self.is_open(query, answer.as_ref())).count();
        // A search takes three at most: for the name, the page or the list, and what the page is.
        let requests = usize::from(self.fetched.asked.is_none()) + 3 * open + 2 * due.len() - known;
        let least_ms = self.source.per_minute().map(|rate| 60_000 * requests as u64 / u64::from(rate.get()));
        let gold_only =
            self.options.links == 0 && self.targets.titles.keys().all(|title| self.targets.gold.contains(title));
        FreezePlan {
            titles,
            fetched: titles - due.len(),
            searches: self.targets.searches.len(),
            requests,
            least_ms,
            gold_only,
        }
    }

    /// Whether only the site can say what it answers to a search, and it was not asked yet.
    fn is_open(&self, query: &str, answer: Option<&SearchAnswer>) -> bool {
        answer.is_none() && !self.fetched.searches.contains_key(query)
    }

    /// Removes the file of what was fetched, if nothing was.
    pub(crate) fn leave(self) -> Result<(), FreezeError> {
        if self.fetched.asked.is_none() { self.fetched.remove() } else { Ok(()) }
    }

    /// Fetches and builds. After the first `stop` nothing more is asked, and after the second one nothing is waited for.
    pub(crate) async fn execute(
        mut self,
        mut stop: impl AsyncFnMut(),
        progress: &mut (dyn FnMut(FreezeProgress) + Send),
    ) -> Result<FreezeEnd, FreezeError> {
        let progress = Mutex::new(progress);
        let show = |stage| locked(&progress)(stage);
        let source = Arc::clone(&self.source);
        let fetched = {
            let fetching = self.fetch(&show);
            tokio::pin!(fetching);
            tokio::select! {
                fetched = &mut fetching => Some(fetched),
                () = stop() => {
                    source.ask_no_more();
                    show(FreezeProgress::Stopping);
                    tokio::select! {
                        // Requests that were not sent have failed.
                        fetched = &mut fetching => match fetched {
                            Ok(()) | Err(FreezeError::Source(_)) => None,
                            failed => Some(failed),
                        },
                        () = stop() => None,
                    }
                }
            }
        };
        match fetched {
            None => return Ok(FreezeEnd::Interrupted(self.plan())),
            Some(Ok(())) => {}
            Some(Err(error)) if self.fetched.asked.is_none() => {
                self.leave()?;
                return Err(error);
            }
            Some(Err(error)) => {
                let (plan, path) = (self.plan(), self.fetched.lines.path.clone());
                return Err(FreezeError::Fetch { error: Box::new(error), plan, path });
            }
        }
        let (settings, left_out) = self.build_settings()?;
        let built = build(&self.options.dir, &settings, &mut |stage| show(FreezeProgress::Building(stage)));
        let path = self.fetched.lines.path.clone();
        let built = built.map_err(|error| FreezeError::Build { error, path })?;
        self.fetched.remove()?;
        Ok(FreezeEnd::Done(Box::new(built), left_out))
    }

    async fn fetch(&mut self, progress: &(dyn Fn(FreezeProgress) + Sync)) -> Result<(), FreezeError> {
        self.begin().await?;
        self.searches().await?;
        let opened = self.fetched.searches.values().filter_map(|answer| match answer {
            SearchAnswer::Page(title) => Some((title.clone(), None)),
            SearchAnswer::Titles(_) => None,
        });
        let mut titles: BTreeMap<String, Option<u64>> = opened.collect();
        titles.extend(self.targets.titles.clone());
        let asked: HashSet<String> = titles.keys().cloned().collect();
        // Those that a run read come first: under another name the site would give today's revision.
        let (read, others): (Vec<_>, Vec<_>) = titles.into_iter().partition(|(_, revision)| revision.is_some());
        let (first, all) = (read.len(), asked.len());
        self.pages(read, 0, all, progress).await?;
        self.pages(others, first, all, progress).await?;
        if self.options.links > 0 {
            let pages: BTreeSet<&str> =
                asked.iter().filter_map(|title| self.fetched.fate(title)).filter_map(Result::ok).collect();
            let links = pages.into_iter().filter_map(|title| self.fetched.pages.get(title)).flatten();
            let linked: BTreeSet<String> = links.filter(|title| !asked.contains(*title)).cloned().collect();
            let all = all + linked.len();
            let linked = linked.into_iter().map(|title| (title, None)).collect();
            self.pages(linked, asked.len(), all, progress).await?;
        }
        Ok(())
    }

    /// Asks what the site is, or makes sure that what was fetched was asked for in the same way.
    async fn begin(&mut self) -> Result<(), FreezeError> {
        let known = self.fetched.asked.clone();
        let facts = match &known {
            Some(asked) => asked.facts.clone(),
            None => self.source.facts().await?,
        };
        let titles =
            serde_json::to_vec(&(&self.targets.titles, &self.targets.searches)).map_err(FreezeError::unwritable)?;
        let asked = FreezeRequest {
            v: VERSION,
            site: self.options.site.clone(),
            compat: self.options.compat.name().to_owned(),
            footnotes: self.options.footnotes,
            as_of: self.options.as_of.clone(),
            links: self.options.links,
            titles: sha256_hex([titles.as_slice()]),
            facts,
            began: known.as_ref().map_or_else(today, |asked| asked.began.clone()),
        };
        match known {
            None => {
                self.fetched.append(&asked)?;
                self.fetched.asked = Some(asked);
                Ok(())
            }
            Some(known) if known == asked => Ok(()),
            Some(known) => Err(self.refused(&known, &asked)),
        }
    }

    fn refused(&self, known: &FreezeRequest, asked: &FreezeRequest) -> FreezeError {
        let as_of = |asked: &FreezeRequest| asked.as_of.clone().unwrap_or_else(|| "today".to_owned());
        let pairs = [
            ("--wiki-url", known.site.clone(), asked.site.clone()),
            ("--compat", known.compat.clone(), asked.compat.clone()),
            ("--keep-footnotes", known.footnotes.to_string(), asked.footnotes.to_string()),
            ("--as-of", as_of(known), as_of(asked)),
            ("--links", known.links.to_string(), asked.links.to_string()),
        ];
        let differing: Vec<String> = pairs
            .into_iter()
            .filter(|(_, known, asked)| known != asked)
            .map(|(flag, known, asked)| format!("{flag} was {known}, and is {asked}"))
            .collect();
        let what = if differing.is_empty() { "the titles are others".to_owned() } else { differing.join("; ") };
        FreezeError::OtherFreeze { path: self.fetched.lines.path.clone(), what }
    }

    /// Asks the site for the answers to searches that only it can say.
    async fn searches(&mut self) -> Result<(), FreezeError> {
        let open = self.targets.searches.iter().filter(|(query, answer)| self.is_open(query, answer.as_ref()));
        let mut open: Vec<String> = open.map(|(query, _)| query.clone()).collect();
        while let Some(query) = open.pop() {
            let found = self.source.search(&query).await;
            let answer = match found {
                Err(SourceError::Extract { .. }) => continue,
                found => match found? {
                    Found::Page { title, blocks, .. } => {
                        let again = format!("[{query}]");
                        // In `paper` mode such a page makes the tool search again.
                        if self.options.compat == Compat::Paper
                            && query.len() < MAX_AGAIN
                            && !self.targets.searches.contains_key(&again)
                            && blocks.iter().any(|block| block.contains("may refer to:"))
                        {
                            open.push(again);
                        }
                        SearchAnswer::Page(title)
                    }
                    Found::Disambiguation { title, .. } => SearchAnswer::Page(title),
                    Found::Titles { titles, .. } => SearchAnswer::Titles(titles.to_vec()),
                    Found::Nothing { .. } | Found::Passages { .. } => SearchAnswer::Titles(Vec::new()),
                },
            };
            self.fetched.keep(&FetchedLine::Search { query, answer })?;
        }
        Ok(())
    }

    /// Fetches the pages of `titles`, which come after the `first` of `all`. On an error no more is asked, and what was asked
    /// is waited for.
    async fn pages(
        &mut self,
        titles: Vec<(String, Option<u64>)>,
        first: usize,
        all: usize,
        progress: &(dyn Fn(FreezeProgress) + Sync),
    ) -> Result<(), FreezeError> {
        let last = first + titles.len();
        let due = titles.into_iter().filter(|(title, _)| !self.fetched.has(title));
        let mut due: VecDeque<Step> = due
            .map(|(title, number)| match self.fetched.pins.get(&title) {
                Some(pin) => Step::Text(title, pin.clone()),
                None => Step::Revision(title, number),
            })
            .collect();
        let (source, mut failed, mut taken) = (Arc::clone(&self.source), None, HashSet::new());
        let (as_of, links) = (self.options.as_of.clone(), self.options.links);
        let mut asked = FuturesUnordered::new();
        loop {
            while failed.is_none()
                && asked.len() < source.concurrent()
                && let Some(step) = due.pop_front()
            {
                // A page that comes under several names is asked for once.
                let mut is_kept = |pin: &Pin| self.fetched.has(&pin.title) || !taken.insert(pin.title.clone());
                if !matches!(&step, Step::Text(_, pin) if is_kept(pin)) {
                    asked.push(step.ask(&source, as_of.as_deref(), links));
                }
            }
            match asked.next().await {
                None => return failed.map_or(Ok(()), |error: SourceError| Err(error.into())),
                Some(Err(error)) => {
                    source.ask_no_more();
                    failed.get_or_insert(error);
                }
                Some(Ok(line)) => {
                    self.fetched.keep(&line)?;
                    if let FetchedLine::Revision { asked, pin } = line {
                        due.push_front(Step::Text(asked, pin));
                    }
                }
            }
            progress(FreezeProgress::Fetching(last.saturating_sub(due.len() + asked.len()), all));
        }
    }
}

fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

impl Step {
    /// Asks for it, and gives the line to keep.
    async fn ask(self, source: &ApiSource, as_of: Option<&str>, links: usize) -> Result<FetchedLine, SourceError> {
        Ok(match self {
            Self::Revision(asked, number) => {
                let number = number.map_or(Revision::Current, Revision::Number);
                match source.pin(&asked, as_of.map_or(number, Revision::Before)).await? {
                    Ok(pin) => FetchedLine::Revision { asked, pin },
                    Err(reason) => FetchedLine::LeftOut { asked, reason },
                }
            }
            Self::Text(asked, pin) => match source.page_at(&pin, links).await? {
                Ok((page, links)) => FetchedLine::Page { page, links },
                Err(reason) => FetchedLine::LeftOut { asked, reason },
            },
        })
    }
}

impl Freezer {
    fn build_settings(&self) -> Result<(BuildSettings, BTreeSet<(LeftOut, String)>), FreezeError> {
        let Some(asked) = &self.fetched.asked else { return Err(FreezeError::unwritable("nothing was asked for")) };
        let kept = &self.fetched;
        let asked_for = self.targets.titles.keys().chain(kept.pins.keys()).chain(kept.left_out.keys());
        let left_out = asked_for.filter_map(|title| Some((kept.fate(title)?.err()?, title.clone())));
        let left_out: BTreeSet<(LeftOut, String)> = left_out.collect();
        let mut searches = kept.searches.clone();
        let known = self.targets.searches.iter();
        searches.extend(known.filter_map(|(query, answer)| Some((query.clone(), answer.clone()?))));
        let gold: BTreeSet<&String> =
            self.targets.gold.iter().map(|title| kept.names.get(title).unwrap_or(title)).collect();
        let mut counts = BTreeMap::new();
        for (reason, _) in &left_out {
            *counts.entry(*reason).or_default() += 1;
        }
        let frozen = Freeze {
            site: asked.site.clone(),
            permalink: asked.facts.permalink.clone(),
            compat: self.options.compat,
            footnotes: self.options.footnotes,
            fidelity: self.fidelity(asked),
            gold_pages: u32::try_from(gold.into_iter().filter(|title| kept.pages.contains_key(*title)).count())
                .unwrap_or(u32::MAX),
            searches: searches.len() as u64,
            left_out: counts,
        };
        let site = asked.facts.name.as_deref().unwrap_or(&asked.site);
        let facts = Facts {
            language: asked.facts.language.clone(),
            as_of: Some(asked.as_of.clone().unwrap_or_else(|| asked.began.clone())),
            license: Some(asked.facts.license.clone().unwrap_or_else(|| "unknown".to_owned())),
            attribution: Some(format!("{site} contributors")),
            changes: Some(if self.options.footnotes { CHANGES_WITH_MARKS } else { CHANGES }.to_owned()),
        };
        let settings = BuildSettings {
            sources: vec![(Format::Frozen, kept.lines.path.clone())],
            name: self.options.name.clone(),
            extent: Some(Extent::Page),
            facts,
            threads: processors(),
            memory: MEMORY,
            frozen: Some(Frozen { facts: frozen, searches, left_out: left_out.clone() }),
            ..BuildSettings::default()
        };
        Ok((settings, left_out))
    }

    /// What the pages are true to.
    fn fidelity(&self, asked: &FreezeRequest) -> String {
        let ended = today();
        let days = if ended == asked.began { ended } else { format!("{} to {ended}", asked.began) };
        let revisions = match asked.as_of {
            Some(_) => "oldid",
            None if self.targets.titles.values().any(Option::is_some) => "revisions that the run read",
            None => "current revisions",
        };
        format!("{revisions}, templates of {days}")
    }
}

/// What was asked for, which is the first line: the same command goes on with the file, another one is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FreezeRequest {
    v: u32,
    site: String,
    compat: String,
    footnotes: bool,
    /// The date of the revisions.
    as_of: Option<String>,
    links: usize,
    /// Digest of the titles and searches.
    titles: String,
    facts: SiteFacts,
    began: String,
}

struct FetchedFile {
    lines: LineFile,
    asked: Option<FreezeRequest>,
    /// Title that was asked for → the page and the revision that it leads to.
    pins: BTreeMap<String, Pin>,
    /// Title that was asked for → why it leads to none.
    left_out: BTreeMap<String, LeftOut>,
    /// Titles of the pages that were fetched, and those that their leads link to.
    pages: BTreeMap<String, Vec<String>>,
    /// Titles of the pages that cannot be, and why.
    unread: BTreeMap<String, LeftOut>,
    /// Every name of a page → its title.
    names: BTreeMap<String, String>,
    searches: BTreeMap<String, SearchAnswer>,
}

impl FetchedFile {
    /// Opens the file beside the corpus at `dir`, or makes it. A torn last line is dropped.
    fn open(dir: &Path) -> Result<Self, FreezeError> {
        let path = dir.with_added_extension("fetched.jsonl");
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|source| FreezeError::file("create", folder, source))?;
        }
        let mut file = LineFile::open(&path)?;
        if !file.lock()? {
            return Err(FreezeError::Busy(dir.to_owned()));
        }
        let tail = file.tail()?;
        file.repair(&tail, false)?;
        let mut kept = Self {
            lines: file,
            asked: None,
            pins: BTreeMap::new(),
            left_out: BTreeMap::new(),
            pages: BTreeMap::new(),
            unread: BTreeMap::new(),
            names: BTreeMap::new(),
            searches: BTreeMap::new(),
        };
        kept.read()?;
        Ok(kept)
    }

    fn read(&mut self) -> Result<(), FreezeError> {
        let file = self.lines.reader()?;
        for (number, line) in (1..).zip(lines(file)) {
            let line = line.map_err(|source| FreezeError::file("read", &self.lines.path, source))?;
            let parsed = if number == 1 {
                serde_json::from_slice(&line).map(|asked| self.asked = Some(asked))
            } else {
                serde_json::from_slice(&line).map(|kept| self.note(&kept))
            };
            let is_ours = parsed.is_ok() && self.asked.as_ref().is_some_and(|asked| asked.v == VERSION);
            if !is_ours {
                return Err(FreezeError::Damaged { path: self.lines.path.clone(), line: number });
            }
        }
        Ok(())
    }

    fn note(&mut self, kept: &FetchedLine) {
        match kept {
            FetchedLine::Revision { asked, pin } => {
                for name in pin.names.iter().chain([asked, &pin.title]) {
                    self.names.insert(name.clone(), pin.title.clone());
                }
                self.pins.insert(asked.clone(), pin.clone());
            }
            FetchedLine::Page { page, links } => {
                self.pages.insert(page.title.clone(), links.clone());
            }
            FetchedLine::LeftOut { asked, reason } => match self.pins.get(asked) {
                Some(pin) => drop(self.unread.insert(pin.title.clone(), *reason)),
                None => drop(self.left_out.insert(asked.clone(), *reason)),
            },
            FetchedLine::Search { query, answer } => {
                self.searches.insert(query.clone(), answer.clone());
            }
        }
    }

    /// The title of the page that was fetched under this name or another, or why there is none; nothing before that.
    fn fate(&self, title: &str) -> Option<Result<&str, LeftOut>> {
        let page = self.names.get(title).map_or(title, String::as_str);
        if let Some((page, _)) = self.pages.get_key_value(page) {
            return Some(Ok(page));
        }
        self.unread.get(page).or_else(|| self.left_out.get(title)).map(|reason| Err(*reason))
    }

    fn has(&self, title: &str) -> bool {
        self.fate(title).is_some()
    }

    /// Appends a line, which is on disk then.
    fn keep(&mut self, kept: &FetchedLine) -> Result<(), FreezeError> {
        self.append(kept)?;
        self.note(kept);
        Ok(())
    }

    fn append(&mut self, value: &impl Serialize) -> Result<(), FreezeError> {
        let mut line = serde_json::to_vec(value).map_err(FreezeError::unwritable)?;
        line.push(b'\n');
        Ok(self.lines.append(&line)?)
    }

    fn remove(self) -> Result<(), FreezeError> {
        let path = &self.lines.path;
        fs::remove_file(path).map_err(|source| FreezeError::file("remove", path, source))
    }
}
