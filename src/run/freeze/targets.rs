//! What a freeze needs: titles of datasets, of lists and of runs, and the searches of runs.

use crate::experiment::DatasetSettings;
use crate::run::error::RunError;
use crate::run::questions;
use crate::score::{GoldEvidence, page_title};
use crate::store::RunFolder;
use crate::types::bounded::text_at_most;
use crate::types::text::{printable, shell_word};
use crate::types::{Compat, Provenance, Question, Step, Tool, WikiName, Wording};
use crate::wiki::corpus::{SearchAnswer, title_of};
use crate::wiki::observe::ObservationFormat;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

/// Largest list of titles, in bytes.
const MAX_TITLE_LIST: u64 = 256 << 20;
/// What a page says that means that nothing was found, in `paper` mode.
const NOTHING: &str = "There were no results matching the query.";

/// What to ask a site for.
#[derive(Debug, Default)]
pub(super) struct FreezeTargets {
    /// Titles, with the revision that a run read.
    pub(super) titles: BTreeMap<String, Option<u64>>,
    /// Titles of gold pages.
    pub(super) gold: BTreeSet<String>,
    /// Searches, with what the site answered; nothing where only the site can say it.
    pub(super) searches: BTreeMap<String, Option<SearchAnswer>>,
    /// The readings of pages that runs had, and whether they kept footnote marks.
    pub(super) readings: BTreeSet<(&'static str, bool)>,
    /// The sites that runs read, each with the run.
    sites: BTreeSet<(String, String)>,
    /// Whether a run read whole pages as a browser does, the paper's way.
    pub(super) whole_pages: bool,
}

impl FreezeTargets {
    /// The gold pages of a dataset and, if wanted, the pages of its contexts.
    pub(super) fn dataset(&mut self, path: &Path, contexts: bool) -> Result<(), RunError> {
        let before = self.titles.len();
        for question in questions::load(path, &DatasetSettings::default())?.questions {
            let gold = gold_of(&question);
            self.titles.extend(gold.iter().map(|title| (title.clone(), None)));
            self.gold.extend(gold);
            let context = question.context.iter().filter(|_| contexts).map(|paragraph| page_title(&paragraph.title));
            self.titles.extend(context.map(|title| (title, None)));
        }
        if self.titles.len() == before {
            let message = format!("no question of `{}` names a page", path.display());
            return Err(RunError::input(
                message,
                "freeze the pages of a run over it with --run, or name pages with --titles",
            ));
        }
        Ok(())
    }

    /// The titles in a file, one a line.
    pub(super) fn list(&mut self, path: &Path) -> Result<(), RunError> {
        let text = File::open(path).and_then(|file| text_at_most(file, MAX_TITLE_LIST));
        let text = text.map_err(|error| {
            let message = format!("cannot read the titles in `{}`: {error}", path.display());
            RunError::input(message, "--titles takes a UTF-8 file with one title a line")
        })?;
        let titles = text.trim_start_matches('\u{feff}').lines().map(str::trim).filter(|title| !title.is_empty());
        self.titles.extend(titles.map(|title| (title.to_owned(), None)));
        Ok(())
    }

    /// Every page that a run opened, every title that it was shown, and every search.
    pub(super) fn run(&mut self, path: &Path) -> Result<(), RunError> {
        let folder = RunFolder::open(path)?;
        for variant in folder.manifest()?.known_variants() {
            self.readings.insert((variant.compat_name(), WikiName::of(&variant.wiki).footnotes));
            if let Some(site) = variant.wiki_origin.as_ref().filter(|site| site.starts_with("http")) {
                self.sites.insert((site.clone(), path.display().to_string()));
            }
            self.whole_pages |= variant.wiki == "html" && variant.compat == Some(Compat::Paper);
        }
        for question in folder.questions(None)?.into_iter().flatten() {
            self.gold.extend(gold_of(&question?));
        }
        for trajectory in folder.records()?.iter() {
            for step in trajectory?.steps {
                self.step(&step);
            }
        }
        if self.searches.is_empty() {
            let message = format!("no episode of `{}` has searched", path.display());
            return Err(RunError::input(message, "name a run of a method that searches, over `--wiki api` or `html`"));
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) {
        let (Some(Tool::Search), Some(input)) = (step.tool, &step.input) else { return };
        let Some(provenance) = &step.provenance else {
            // The search failed, or the page could not be shown.
            self.searches.entry(input.trim().to_owned()).or_default();
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
            self.titles.entry(page_title(title_of(title))).or_default();
        }
        if leads_to_page(provenance) {
            let revid = provenance.revid.filter(|_| provenance.source == "api");
            let known = self.titles.entry(subject.to_owned()).or_default();
            *known = (*known).max(revid);
            self.searches.insert(input.to_owned(), Some(SearchAnswer::Page(subject.to_owned())));
            return;
        }
        // In `paper` mode a page that lists others makes the tool search again, in brackets.
        let mut inner = subject;
        while inner != input
            && let Some(rest) = inner.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
        {
            inner = rest;
            self.searches.entry(inner.trim().to_owned()).or_default();
        }
        let answer = shown.or_else(|| observation.starts_with(NOTHING).then(Vec::new)).map(SearchAnswer::Titles);
        self.searches.insert(subject.to_owned(), answer);
    }

    /// Makes sure that the runs read this site, which nobody named. An address in a file is not used unasked.
    pub(super) fn read_from(&self, site: &str) -> Result<(), RunError> {
        let bare = |address: &str| address.trim_end_matches('/').to_owned();
        match self.sites.iter().find(|(read, _)| bare(read) != bare(site)) {
            None => Ok(()),
            Some((read, run)) => Err(RunError::usage(
                format!("`{}` read {}, not {site}", printable(run, 200), printable(read, 200)),
                format!("add --wiki-url {}", shell_word(read)),
            )),
        }
    }

    /// The only reading of pages that the runs had.
    pub(super) fn reading(&self) -> Result<Option<(&'static str, bool)>, RunError> {
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
