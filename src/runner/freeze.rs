//! `corpus freeze`: which pages a dataset, a run or a list of titles needs, and the settings of the site; `wiki::freeze` fetches
//! and builds. Titles are collected first, which sends nothing.

use super::error::RunError;
use super::model::is_on;
use super::questions;
use super::wiki::{WIKIPEDIA, WikiSettings};
use crate::base::bounded::text_at_most;
use crate::base::text::{counted, printable, shell_word, thousands};
use crate::base::{Compat, Provenance, Question, Step, Tool, WikiName, Wording};
use crate::dataset::ReadOptions;
use crate::net::redact;
use crate::runner::experiment::VariantSettings;
use crate::runner::store::{RunFolder, StoreError};
use crate::scoring::{GoldEvidence, page_title};
use crate::wikipedia::corpus::{BuildError, SearchAnswer, title_of};
pub(crate) use crate::wikipedia::freeze::{FreezeEnd, FreezePlan, FreezeProgress};
use crate::wikipedia::freeze::{FreezeError, FreezeOptions, FreezeTargets, Freezer};
use crate::wikipedia::observe::ObservationFormat;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Largest list of titles, in bytes.
const MAX_TITLE_LIST: u64 = 256 << 20;
/// What a page says that means that nothing was found, in `paper` mode.
const NOTHING: &str = "There were no results matching the query.";

#[derive(Debug, Clone, Default)]
pub(crate) struct FreezeSettings {
    pub(crate) dir: PathBuf,
    pub(crate) name: Option<String>,
    pub(crate) datasets: Vec<PathBuf>,
    pub(crate) contexts: bool,
    pub(crate) runs: Vec<PathBuf>,
    pub(crate) titles: Vec<PathBuf>,
    pub(crate) links: usize,
    /// The time whose revisions are wanted, RFC 3339 in UTC.
    pub(crate) as_of: Option<String>,
    pub(crate) wiki: VariantSettings,
}

impl FreezeSettings {
    /// Collects what is needed; also returns what a person should know. Sends nothing.
    pub(crate) fn prepare(mut self) -> Result<(Freezer, Vec<String>), RunError> {
        if self.dir.symlink_metadata().is_ok() {
            let message = format!("`{}` exists already", self.dir.display());
            return Err(RunError::usage(message, "a corpus is never changed; name another folder, or remove this one"));
        }
        let mut collected = Collected::default();
        self.datasets.iter().try_for_each(|path| collected.dataset(path, self.contexts))?;
        self.titles.iter().try_for_each(|path| collected.list(path))?;
        self.runs.iter().try_for_each(|path| collected.run(path))?;
        if collected.targets.titles.is_empty() && collected.targets.searches.is_empty() {
            return Err(RunError::input("no title was named", "--titles takes a UTF-8 file with one title a line"));
        }
        if self.wiki.compat.is_none()
            && self.wiki.keep_footnotes.is_none()
            && let Some((compat, footnotes)) = collected.reading()?
        {
            self.wiki.compat = Some(compat.to_owned());
            self.wiki.keep_footnotes = Some(footnotes);
        }
        if self.as_of.is_some() {
            collected.targets.titles.values_mut().for_each(|revision| *revision = None);
        }
        let mut notes = Vec::new();
        if collected.whole_pages {
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
        let site = redact::url(base);
        if self.wiki.wiki_url.is_none() {
            collected.read_from(&site)?;
        }
        let Self { dir, name, links, as_of, .. } = self;
        let options = FreezeOptions { dir, name, links, as_of, site, compat, footnotes };
        Ok((Freezer::open(options, collected.targets, source).map_err(explain_freeze)?, notes))
    }
}

/// An error with what to do about it: nothing that was fetched is lost.
pub(crate) fn explain_freeze(error: FreezeError) -> RunError {
    match error {
        FreezeError::File(error) => StoreError::from(error).into(),
        FreezeError::Damaged { path, line } => RunError::input(
            format!("`{}`, line {line}, is not what this version of `corpus freeze` writes", path.display()),
            "remove the file to begin anew, or name another folder",
        ),
        FreezeError::Busy(dir) => RunError::unexpected(
            format!("another process is freezing `{}`", dir.display()),
            "wait for it to end, or name another folder",
        ),
        FreezeError::OtherFreeze { path, what } => {
            let message = format!("`{}` holds what was fetched for another freeze: {what}", path.display());
            let path = shell_word(&path.display().to_string());
            RunError::usage(message, format!("give the same settings to go on, or remove {path} to begin anew"))
        }
        FreezeError::Unwritable(error) => RunError::unwritable(error),
        FreezeError::Source(error) => {
            let hint = error.hint().unwrap_or_else(|| "try again later".to_owned());
            RunError::unexpected(error, hint)
        }
        FreezeError::Fetch { error, plan: FreezePlan { titles, fetched, .. }, path } => {
            let error = explain_freeze(*error);
            if error.kind() != super::ErrorKind::Unexpected {
                return error;
            }
            let (fetched, titles, path) = (thousands(fetched), counted(titles, "title"), path.display());
            let go_on =
                format!("{fetched} of {titles} fetched; `{path}` keeps every answer, and the same command goes on");
            let hint = if error.hint().is_empty() { go_on } else { format!("{}. {go_on}", error.hint()) };
            RunError::unexpected(error, hint)
        }
        FreezeError::Build { error, path } => unbuilt(&error, &path),
    }
}

fn unbuilt(error: &BuildError, path: &Path) -> RunError {
    let path = path.display();
    match error {
        BuildError::Empty(_) => {
            let kept = format!("what was asked for is in `{path}`, which may be removed");
            let hint = format!("check --wiki-url, the titles and --as-of; {kept}");
            RunError::input("the site has none of the titles", hint)
        }
        BuildError::Exists(_) | BuildError::InTheWay(_) => {
            RunError::usage(error, "remove it; the same command goes on with what was fetched")
        }
        _ => {
            RunError::unexpected(error, format!("everything that was fetched is in `{path}`; the same command goes on"))
        }
    }
}

#[derive(Debug, Default)]
struct Collected {
    targets: FreezeTargets,
    /// The readings of pages that runs had, and whether they kept footnote marks.
    readings: BTreeSet<(&'static str, bool)>,
    /// The sites that runs read, each with the run.
    sites: BTreeSet<(String, String)>,
    /// Whether a run read whole pages as a browser does, the paper's way.
    whole_pages: bool,
}

impl Collected {
    /// The gold pages of a dataset and, if wanted, the pages of its contexts.
    fn dataset(&mut self, path: &Path, contexts: bool) -> Result<(), RunError> {
        let before = self.targets.titles.len();
        for question in questions::load(path, &ReadOptions::default())?.questions {
            let gold = gold_of(&question);
            self.targets.titles.extend(gold.iter().map(|title| (title.clone(), None)));
            self.targets.gold.extend(gold);
            let context = question.context.iter().filter(|_| contexts).map(|paragraph| page_title(&paragraph.title));
            self.targets.titles.extend(context.map(|title| (title, None)));
        }
        if self.targets.titles.len() == before {
            let message = format!("no question of `{}` names a page", path.display());
            let hint = "freeze the pages of a run over it with --run, or name pages with --titles";
            return Err(RunError::input(message, hint));
        }
        Ok(())
    }

    fn list(&mut self, path: &Path) -> Result<(), RunError> {
        let text = File::open(path).and_then(|file| text_at_most(file, MAX_TITLE_LIST));
        let text = text.map_err(|error| {
            let message = format!("cannot read the titles in `{}`: {error}", path.display());
            RunError::input(message, "--titles takes a UTF-8 file with one title a line")
        })?;
        let titles = text.trim_start_matches('\u{feff}').lines().map(str::trim).filter(|title| !title.is_empty());
        self.targets.titles.extend(titles.map(|title| (title.to_owned(), None)));
        Ok(())
    }

    /// Every page that a run opened, every title that it was shown, and every search.
    fn run(&mut self, path: &Path) -> Result<(), RunError> {
        let folder = RunFolder::open(path)?;
        for variant in folder.manifest()?.known_variants() {
            self.readings.insert((variant.compat_name(), WikiName::of(&variant.wiki).footnotes));
            if let Some(site) = variant.wiki_origin.as_ref().filter(|site| site.starts_with("http")) {
                self.sites.insert((site.clone(), path.display().to_string()));
            }
            self.whole_pages |= variant.wiki == "html" && variant.compat == Some(Compat::Paper);
        }
        for question in folder.questions(None)?.into_iter().flatten() {
            self.targets.gold.extend(gold_of(&question?));
        }
        for trajectory in folder.records()?.iter() {
            for step in trajectory?.steps {
                self.step(&step);
            }
        }
        if self.targets.searches.is_empty() {
            let message = format!("no episode of `{}` has searched", path.display());
            return Err(RunError::input(message, "name a run of a method that searches, over `--wiki api` or `html`"));
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) {
        let (Some(Tool::Search), Some(input)) = (step.tool, &step.input) else { return };
        let Some(provenance) = &step.provenance else {
            // The search failed, or the page could not be shown.
            self.targets.searches.entry(input.trim().to_owned()).or_default();
            return;
        };
        let observation = step.observation.as_deref().unwrap_or_default();
        let (input, subject) = (input.trim(), provenance.title.trim());
        let formats =
            [Wording::English, Wording::Chinese].map(|wording| ObservationFormat::new(Compat::Fixed, wording));
        let queries = [input, step.input.as_deref().unwrap_or_default(), &provenance.title];
        let mut tries = formats.iter().flat_map(|format| queries.iter().map(move |query| (format, query)));
        let shown = tries.find_map(|(format, query)| format.titles_shown(query, observation));
        for title in shown.iter().flatten() {
            self.targets.titles.entry(page_title(title_of(title))).or_default();
        }
        if leads_to_page(provenance) {
            let revid = provenance.revid.filter(|_| provenance.source == "api");
            let known = self.targets.titles.entry(subject.to_owned()).or_default();
            *known = (*known).max(revid);
            self.targets.searches.insert(input.to_owned(), Some(SearchAnswer::Page(subject.to_owned())));
            return;
        }
        // In `paper` mode a page that lists others makes the tool search again, in brackets.
        let mut inner = subject;
        while inner != input
            && let Some(rest) = inner.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
        {
            inner = rest;
            self.targets.searches.entry(inner.trim().to_owned()).or_default();
        }
        let answer = shown.or_else(|| observation.starts_with(NOTHING).then(Vec::new)).map(SearchAnswer::Titles);
        self.targets.searches.insert(subject.to_owned(), answer);
    }

    /// Makes sure that the runs read this site, which nobody named. An address in a file is not used unasked.
    fn read_from(&self, site: &str) -> Result<(), RunError> {
        let bare = |address: &str| address.trim_end_matches('/').to_owned();
        self.sites.iter().find(|(read, _)| bare(read) != bare(site)).map_or(Ok(()), |(read, run)| {
            let message = format!("`{}` read {}, not {site}", printable(run, 200), printable(read, 200));
            Err(RunError::usage(message, format!("add --wiki-url {}", shell_word(read))))
        })
    }

    /// The only reading of pages that the runs had.
    fn reading(&self) -> Result<Option<(&'static str, bool)>, RunError> {
        if self.readings.len() > 1 {
            return Err(RunError::usage(
                "the variants of the runs read pages in different ways, and a corpus has one reading",
                "choose one with --compat, and --keep-footnotes where it was on; freeze twice for both",
            ));
        }
        Ok(self.readings.first().copied())
    }
}

/// Whether a finding was a page, not a list or nothing.
fn leads_to_page(provenance: &Provenance) -> bool {
    match provenance.source.as_str() {
        "api" => provenance.pageid.is_some(),
        "corpus" => provenance.url.contains('#'),
        _ => provenance.url.contains("/wiki/"),
    }
}

/// The gold pages of a question, as `MediaWiki` spells them.
fn gold_of(question: &Question) -> Vec<String> {
    let gold = GoldEvidence::of(question);
    let pages = gold.iter().flat_map(GoldEvidence::groups).flat_map(|group| &group.pages);
    pages.map(|page| page_title(page)).collect()
}
