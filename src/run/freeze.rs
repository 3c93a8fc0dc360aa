//! `corpus freeze`: the pages that a dataset, a run or a list of titles needs, from a live site into a corpus.
//!
//! Titles are collected first, which sends nothing. Then each is asked for with two requests, one for the revision and one for
//! its text, and kept in a file beside the corpus; titles that are kept are never asked for again. At the end the builder of
//! corpora makes the folder of the file.

mod build_settings;
mod fetched;
mod targets;

use super::error::{RunError, classify};
use super::execute::Interrupts;
use super::model::is_on;
use super::wiki::{WIKIPEDIA, WikiSettings, site};
use crate::experiment::VariantSettings;
use crate::types::text::{counted, shell_word};
use crate::types::{Compat, sha256_hex};
use crate::wiki::corpus::{Built, FetchedLine, Progress, SearchAnswer, build};
use crate::wiki::{ApiSource, Found, LeftOut, Revision, Source as _, SourceError};
use fetched::{FetchedFile, FreezeRequest};
use futures_util::StreamExt as _;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Mutex;
use targets::FreezeTargets;

/// Version of the file of what was fetched.
const VERSION: u32 = 1;
/// A search this long is not made again in brackets, in bytes.
const MAX_AGAIN: usize = 300;

/// What to freeze.
#[derive(Debug, Clone, Default)]
pub(crate) struct FreezeSettings {
    /// The new folder.
    pub(crate) dir: PathBuf,
    pub(crate) name: Option<String>,
    /// Dataset files whose gold pages are needed.
    pub(crate) datasets: Vec<PathBuf>,
    /// Whether the pages of their contexts are needed too.
    pub(crate) contexts: bool,
    /// Folders of runs.
    pub(crate) runs: Vec<PathBuf>,
    /// Files of titles.
    pub(crate) titles: Vec<PathBuf>,
    /// Links of each lead whose pages are needed too.
    pub(crate) links: usize,
    /// The time whose revisions are wanted, RFC 3339 in UTC.
    pub(crate) as_of: Option<String>,
    /// The site, and how it is asked.
    pub(crate) wiki: VariantSettings,
}

/// What a freeze will take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FreezePlan {
    /// Titles to ask for, without those that leads link to.
    pub(crate) titles: usize,
    /// Titles of them that were fetched before.
    pub(crate) fetched: usize,
    /// Searches whose answers are known or will be.
    pub(crate) searches: usize,
    /// Requests at most, without those for linked pages.
    pub(crate) requests: usize,
    /// How long they take at the rate that the site allows, in milliseconds; nothing where there is no limit.
    pub(crate) least_ms: Option<u64>,
    /// Whether all titles are those of gold pages.
    pub(crate) gold_only: bool,
}

/// How a freeze ended.
pub(crate) enum FreezeEnd {
    /// The corpus, and titles without a page.
    Done(Box<Built>, BTreeSet<(LeftOut, String)>),
    /// So many titles are kept.
    Interrupted(usize),
}

/// How far a freeze is.
pub(crate) enum FreezeProgress {
    /// So many of the titles were fetched.
    Fetching(usize, usize),
    Building(Progress),
}

/// A freeze that is ready to begin.
pub(crate) struct PreparedFreeze {
    settings: FreezeSettings,
    targets: FreezeTargets,
    source: ApiSource,
    compat: Compat,
    footnotes: bool,
    site: String,
    fetched: FetchedFile,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
}

impl FreezeSettings {
    /// Collects what is needed. Sends nothing.
    pub(crate) fn prepare(mut self) -> Result<PreparedFreeze, RunError> {
        if self.dir.symlink_metadata().is_ok() {
            let message = format!("`{}` exists already", self.dir.display());
            return Err(RunError::usage(message, "a corpus is never changed; name another folder, or remove this one"));
        }
        let mut targets = FreezeTargets::default();
        self.datasets.iter().try_for_each(|path| targets.dataset(path, self.contexts))?;
        self.titles.iter().try_for_each(|path| targets.list(path))?;
        self.runs.iter().try_for_each(|path| targets.run(path))?;
        if targets.titles.is_empty() && targets.searches.is_empty() {
            return Err(RunError::input("no title was named", "--titles takes a UTF-8 file with one title a line"));
        }
        if self.wiki.compat.is_none()
            && self.wiki.keep_footnotes.is_none()
            && let Some((compat, footnotes)) = targets.reading()?
        {
            self.wiki.compat = Some(compat.to_owned());
            self.wiki.keep_footnotes = Some(footnotes);
        }
        if self.as_of.is_some() {
            targets.titles.values_mut().for_each(|revision| *revision = None);
        }
        let mut notes = Vec::new();
        if targets.whole_pages {
            notes.push(
                "note: in `paper` mode `--wiki html` reads whole pages with menus, which the API does not give; observations of \
                 this corpus will differ from the run's"
                    .to_owned(),
            );
        }
        let settings = WikiSettings(&self.wiki);
        let source = settings.api()?;
        let (compat, base) = (settings.compat(), self.wiki.wiki_url.as_deref().unwrap_or(WIKIPEDIA));
        let footnotes = compat == Compat::Paper || is_on(self.wiki.keep_footnotes);
        let site = site(base);
        if self.wiki.wiki_url.is_none() {
            targets.read_from(&site)?;
        }
        let fetched = FetchedFile::open(&self.dir)?;
        Ok(PreparedFreeze { settings: self, targets, source, compat, footnotes, site, fetched, notes })
    }
}

impl PreparedFreeze {
    /// The address of the site.
    pub(crate) fn site(&self) -> &str {
        &self.site
    }

    pub(crate) fn plan(&self) -> FreezePlan {
        let titles = self.targets.titles.len();
        let fetched = self.targets.titles.keys().filter(|title| self.fetched.has(title)).count();
        let open = self.targets.searches.iter().filter(|(query, answer)| self.is_open(query, answer.as_ref())).count();
        // A search takes three at most: for the name, the page or the list, and what the page is.
        let requests = usize::from(self.fetched.asked.is_none()) + 3 * open + 2 * (titles - fetched);
        let least_ms = self.source.per_minute().map(|rate| 60_000 * requests as u64 / u64::from(rate.get()));
        let gold_only =
            self.settings.links == 0 && self.targets.titles.keys().all(|title| self.targets.gold.contains(title));
        FreezePlan { titles, fetched, searches: self.targets.searches.len(), requests, least_ms, gold_only }
    }

    /// Whether only the site can say what it answers to a search, and it was not asked yet.
    fn is_open(&self, query: &str, answer: Option<&SearchAnswer>) -> bool {
        answer.is_none() && !self.fetched.searches.contains_key(query)
    }

    /// Removes the file of what was fetched, if nothing was.
    pub(crate) fn leave(self) -> Result<(), RunError> {
        if self.fetched.asked.is_none() { self.fetched.remove() } else { Ok(()) }
    }

    /// Fetches what is missing, and builds the corpus.
    pub(crate) async fn execute(
        mut self,
        mut interrupts: Interrupts,
        progress: &mut (dyn FnMut(FreezeProgress) + Send),
    ) -> Result<FreezeEnd, RunError> {
        let fetched = tokio::select! {
            fetched = self.fetch(progress) => Some(fetched),
            () = interrupts.next() => None,
        };
        match fetched {
            None => return Ok(FreezeEnd::Interrupted(self.fetched.done.len())),
            Some(Ok(())) => {}
            Some(Err(error)) => {
                let error = self.to_go_on(&error);
                self.leave()?;
                return Err(error);
            }
        }
        let (settings, left_out) = self.build_settings()?;
        let built = build(&self.settings.dir, &settings, &mut |stage| progress(FreezeProgress::Building(stage)));
        let built = built.map_err(|error| self.unbuilt(&error))?;
        self.fetched.remove()?;
        Ok(FreezeEnd::Done(Box::new(built), left_out))
    }

    async fn fetch(&mut self, progress: &mut (dyn FnMut(FreezeProgress) + Send)) -> Result<(), RunError> {
        self.begin().await?;
        self.searches().await?;
        let opened = self.fetched.searches.values().filter_map(|answer| match answer {
            SearchAnswer::Page(title) => Some((title.clone(), None)),
            SearchAnswer::Titles(_) => None,
        });
        let mut titles: BTreeMap<String, Option<u64>> = opened.collect();
        titles.extend(self.targets.titles.clone());
        // Those that a run read come first: under another name the site would give today's revision.
        let (read, others): (Vec<_>, Vec<_>) = titles.into_iter().partition(|(_, revision)| revision.is_some());
        let asked: HashSet<String> = read.iter().chain(&others).map(|(title, _)| title.clone()).collect();
        let mut all = read.len() + others.len();
        for titles in [read, others] {
            self.pages(titles, all, progress).await?;
        }
        if self.settings.links > 0 {
            let of = |title: &String| {
                self.fetched.done.get(title).or_else(|| self.fetched.done.get(self.fetched.names.get(title)?))
            };
            let pages: BTreeSet<&String> =
                asked.iter().filter_map(of).filter_map(|found| found.as_ref().ok()).collect();
            let links = pages.into_iter().filter_map(|title| self.fetched.links.get(title)).flatten();
            let linked: BTreeSet<String> = links.filter(|title| !asked.contains(*title)).cloned().collect();
            all += linked.len();
            self.pages(linked.into_iter().map(|title| (title, None)).collect(), all, progress).await?;
        }
        Ok(())
    }

    /// Asks what the site is, or makes sure that what was fetched was asked for in the same way.
    async fn begin(&mut self) -> Result<(), RunError> {
        let known = self.fetched.asked.clone();
        let facts = match &known {
            Some(asked) => asked.facts.clone(),
            None => self.source.facts().await.map_err(failed)?,
        };
        let titles =
            serde_json::to_vec(&(&self.targets.titles, &self.targets.searches)).map_err(RunError::unwritable)?;
        let asked = FreezeRequest {
            v: VERSION,
            site: self.site.clone(),
            compat: self.compat.name().to_owned(),
            footnotes: self.footnotes,
            as_of: self.settings.as_of.clone(),
            links: self.settings.links,
            titles: sha256_hex([titles.as_slice()]),
            facts,
            began: known.as_ref().map_or_else(today, |asked| asked.began.clone()),
        };
        match known {
            None => self.fetched.begin(asked),
            Some(known) if known == asked => Ok(()),
            Some(known) => Err(self.refused(&known, &asked)),
        }
    }

    fn refused(&self, known: &FreezeRequest, asked: &FreezeRequest) -> RunError {
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
        let path = self.fetched.path.display();
        RunError::usage(
            format!("`{path}` holds what was fetched for another freeze: {what}"),
            format!("give the same settings to go on, or remove {} to begin anew", shell_word(&path.to_string())),
        )
    }

    /// Asks the site for the answers to searches that only it can say.
    async fn searches(&mut self) -> Result<(), RunError> {
        let open = self.targets.searches.iter().filter(|(query, answer)| self.is_open(query, answer.as_ref()));
        let mut open: Vec<String> = open.map(|(query, _)| query.clone()).collect();
        while let Some(query) = open.pop() {
            let found = self.source.search(&query).await;
            let answer = match found {
                Err(SourceError::Extract { .. }) => continue,
                found => match found.map_err(failed)? {
                    Found::Page { title, blocks, .. } => {
                        let again = format!("[{query}]");
                        // In `paper` mode such a page makes the tool search again.
                        if self.compat == Compat::Paper
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
                    Found::Nothing { .. } => SearchAnswer::Titles(Vec::new()),
                },
            };
            self.fetched.keep(&FetchedLine::Search { query, answer })?;
        }
        Ok(())
    }

    async fn pages(
        &mut self,
        titles: Vec<(String, Option<u64>)>,
        all: usize,
        progress: &mut (dyn FnMut(FreezeProgress) + Send),
    ) -> Result<(), RunError> {
        let due: Vec<_> = titles.into_iter().filter(|(title, _)| !self.fetched.has(title)).collect();
        // A page that comes under several names is asked for once.
        let taken = Mutex::new(self.fetched.pages.iter().cloned().collect::<HashSet<String>>());
        let (source, as_of, links) = (&self.source, self.settings.as_of.as_deref(), self.settings.links);
        let due = due.into_iter().map(|(title, number)| {
            let revision = as_of.map(Revision::Before).or(number.map(Revision::Number)).unwrap_or(Revision::Current);
            let taken = &taken;
            async move { page(source, title, revision, links, taken).await }
        });
        let mut fetched = futures_util::stream::iter(due).buffer_unordered(source.concurrent());
        while let Some(kept) = fetched.next().await {
            self.fetched.keep(&kept.map_err(failed)?)?;
            progress(FreezeProgress::Fetching(self.fetched.done.len().min(all), all));
        }
        Ok(())
    }

    /// The error with what to do about it: nothing that was fetched is lost.
    fn to_go_on(&self, error: &RunError) -> RunError {
        let kept = self.fetched.done.len();
        let (_, hint) = classify(error).unwrap_or((error.kind(), None));
        let hint = hint.unwrap_or_default();
        if kept == 0 || error.kind() != super::ErrorKind::Unexpected {
            return error.clone();
        }
        let go_on = format!("{} kept in `{}`; the same command goes on", are(kept), self.fetched.path.display());
        let hint = if hint.is_empty() { go_on } else { format!("{hint}. {go_on}") };
        RunError::unexpected(error, hint)
    }
}

fn are(titles: usize) -> String {
    format!("{} {}", counted(titles, "title"), if titles == 1 { "is" } else { "are" })
}

fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

fn failed(error: SourceError) -> RunError {
    let hint = error.hint().unwrap_or_else(|| "try again later".to_owned());
    RunError::unexpected(error, hint)
}

/// The line of a title. The text is asked for unless the page was `taken` already.
async fn page(
    source: &ApiSource,
    asked: String,
    revision: Revision<'_>,
    links: usize,
    taken: &Mutex<HashSet<String>>,
) -> Result<FetchedLine, SourceError> {
    let pin = match source.pin(&asked, revision).await? {
        Ok(pin) => pin,
        Err(reason) => return Ok(FetchedLine::LeftOut { asked, reason }),
    };
    let is_new = taken.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(pin.title.clone());
    let (page, links) = if is_new {
        match source.page_at(&pin, links).await? {
            Ok((page, links)) => (Some(page), links),
            Err(reason) => return Ok(FetchedLine::LeftOut { asked, reason }),
        }
    } else {
        (None, Vec::new())
    };
    Ok(FetchedLine::Page { asked, title: pin.title, names: pin.names, links, page })
}
