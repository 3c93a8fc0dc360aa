//! The tool's state over one question: the open page, the lookup and its cursor, the answer.

use super::clean_str::{PythonError, clean_str, clean_str_or_keep};
use super::observe::{self, ObservationFormat, Part};
use super::source::{Found, FoundPassage, NO_RESULTS, Retrieval, SentenceMap, Source, SourceError};
use crate::base::{Compat, Failure, PassageHit, Provenance, Service, Tool, Wording};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Limits of a session, and its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionOptions {
    /// How often one search may be repeated in brackets because a disambiguation page came back. The paper's
    /// environment has no such limit, and ends in a `RecursionError`.
    pub disambiguation_retries: usize,
    /// Language of the tool's own messages. With [`Compat::Paper`], Chinese means the whole of the simplified
    /// Chinese script: what it answers and what it forgets. With [`Compat::Fixed`], Chinese pages have sentences too.
    pub wording: Wording,
    /// How many passages a call of [`Tool::Passages`] gives, at most.
    pub passages: usize,
    /// Characters after which the observation of a search or lookup is cut, and `…` added; without a number it is whole.
    pub observation_chars: Option<usize>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self { disambiguation_retries: 5, wording: Wording::English, passages: 3, observation_chars: None }
    }
}

/// What a step of the tool gives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// What the model is shown.
    pub text: String,
    /// Where it came from; searches have it, and lookups in a page whose source gives sentences.
    pub provenance: Option<Provenance>,
    /// What the record should add: that an older page stayed open.
    pub note: Option<String>,
    /// Whether a search found no page of that name, but titles, a disambiguation page or nothing. In `paper` mode the
    /// page that says so counts as well, although the environment treats it as an article.
    pub missed: bool,
}

/// The tool's state, as the paper's environment has it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SessionState {
    /// Length of the open page in characters; absent without a page.
    pub page_chars: Option<usize>,
    /// The keyword of the lookup in progress.
    pub lookup_keyword: Option<String>,
    /// How many sentences match it.
    pub lookup_len: Option<usize>,
    /// How many of them were shown.
    pub lookup_cnt: Option<usize>,
    /// Calls so far.
    pub steps: usize,
    /// The argument of `Finish`.
    pub answer: Option<String>,
}

#[derive(Debug)]
struct Lookup {
    keyword: String,
    sentences: Vec<String>,
    shown: usize,
}

/// One question's use of the tool.
pub struct Session {
    source: Arc<dyn Source>,
    compat: Compat,
    options: SessionOptions,
    format: ObservationFormat,
    page: Option<OpenPage>,
    /// Title of the open page, for notes.
    title: String,
    lookup: Option<Lookup>,
    observation: String,
    steps: usize,
    answer: Option<String>,
}

impl Session {
    /// A session without an open page.
    pub fn new(source: Arc<dyn Source>, compat: Compat, options: SessionOptions) -> Self {
        Self {
            source,
            compat,
            options,
            format: ObservationFormat::new(compat, options.wording),
            page: None,
            title: String::new(),
            lookup: None,
            observation: observe::START.to_owned(),
            steps: 0,
            answer: None,
        }
    }

    /// Uses a tool; `input` is its argument, for [`Tool::Invalid`] the whole action.
    ///
    /// After an answer every call gives the last observation, and the steps stand still.
    pub async fn call(&mut self, tool: Tool, input: &str) -> Result<Observation, SessionError> {
        if self.answer.is_some() {
            return Ok(Observation { text: self.observation.clone(), ..Observation::default() });
        }
        let mut given = Observation::default();
        let mut result = None;
        match tool {
            Tool::Search => given = self.search(input).await?,
            Tool::Lookup => result = self.look_up(input),
            Tool::Passages => (given, _) = self.passages(input, self.options.passages).await?,
            Tool::Document => given = self.document(input).await?,
            Tool::Finish => {
                // The script takes an empty answer for none, and goes on.
                if !(self.format.is_script() && input.is_empty()) {
                    self.answer = Some(input.to_owned());
                }
                self.format.finished().clone_into(&mut self.observation);
            }
            Tool::Think => self.observation = self.format.thought(input),
            Tool::Invalid | Tool::Other => self.observation = self.format.invalid(input),
        }
        if matches!(tool, Tool::Search | Tool::Lookup) {
            self.cut();
            let opened = tool == Tool::Search && !given.missed;
            given.provenance = self.provenance_of(opened, result).or(given.provenance);
        }
        self.steps += 1;
        given.text.clone_from(&self.observation);
        Ok(given)
    }

    /// The provenance of an observation of given sentences: of a page just `opened`, or of a lookup's `result`, from 0.
    fn provenance_of(&self, opened: bool, result: Option<usize>) -> Option<Provenance> {
        let (page, format) = (self.page.as_ref()?, self.format);
        if opened {
            return page.provenance(format.first_parts(page.numbered_blocks()), &self.observation);
        }
        let (result, lookup) = (result?, self.lookup.as_ref()?);
        let before = format.lookup_result(result + 1, lookup.sentences.len(), "");
        let found = format.matching_parts(page.numbered_blocks(), &lookup.keyword).skip(result).take(1);
        page.provenance(found, self.observation.strip_prefix(&before).unwrap_or_default())
    }

    /// Cuts the observation, and returns where its own text ends.
    fn cut(&mut self) -> usize {
        let limit = self.options.observation_chars;
        let Some((end, _)) = limit.and_then(|limit| self.observation.char_indices().nth(limit)) else {
            return self.observation.len();
        };
        self.observation.truncate(end);
        self.observation.push('…');
        end
    }

    /// Opens a page that is at hand, as a search that finds it does.
    pub fn open_page(&mut self, title: String, blocks: Arc<[String]>) -> Result<(), SessionError> {
        Ok(self.open(title, blocks, None, &Provenance::default())?)
    }

    /// Makes the next lookup of `keyword` go on behind so many results.
    pub fn resume_lookup(&mut self, keyword: &str, shown: usize) {
        self.look_up(keyword);
        if let Some(lookup) = &mut self.lookup {
            lookup.shown = shown.min(lookup.sentences.len());
        }
    }

    /// The last observation; before the first step, the environment's greeting.
    pub fn observation(&self) -> &str {
        &self.observation
    }

    /// Whether an answer was given.
    pub fn done(&self) -> bool {
        self.answer.is_some()
    }

    /// The text of the open page, put together for the asking.
    pub fn page(&self) -> Option<String> {
        self.page.as_ref().map(OpenPage::to_text)
    }

    /// Title of the open page.
    pub fn title(&self) -> Option<&str> {
        self.page.as_ref().map(|_| self.title.as_str())
    }

    /// The tool's state now.
    pub fn state(&self) -> SessionState {
        SessionState {
            page_chars: self.page.as_ref().map(OpenPage::chars),
            lookup_keyword: self.lookup.as_ref().map(|lookup| lookup.keyword.clone()),
            lookup_len: self.lookup.as_ref().map(|lookup| lookup.sentences.len()),
            lookup_cnt: self.lookup.as_ref().map(|lookup| lookup.shown),
            steps: self.steps,
            answer: self.answer.clone(),
        }
    }

    // A search sets the observation, and returns what belongs to it except the text.
    async fn search(&mut self, query: &str) -> Result<Observation, SessionError> {
        match self.compat {
            Compat::Paper if self.format.is_script() => self.search_like_script(query).await,
            Compat::Paper => self.search_like_paper(query).await,
            Compat::Fixed => self.search_fixed(query).await,
        }
    }

    async fn search_like_paper(&mut self, query: &str) -> Result<Observation, SessionError> {
        let mut sent = query.to_owned();
        for _ in 0..=self.options.disambiguation_retries {
            let (title, blocks, sentences, provenance) = match self.source.search(&sent).await? {
                Found::Titles { titles, provenance } => {
                    let titles: Result<Vec<_>, _> = titles.iter().map(|title| self.cleaned(title)).collect();
                    self.observation = self.format.not_found(&sent, &titles?);
                    return Ok(Observation { provenance: Some(provenance), missed: true, ..Observation::default() });
                }
                Found::Page { title, blocks, sentences, provenance } => (title, blocks, sentences, provenance),
                Found::Disambiguation { title, blocks, provenance, .. } => (title, blocks, None, provenance),
                Found::Passages { provenance, .. } => (sent.clone(), Arc::default(), None, provenance),
                Found::Nothing { blocks, provenance } => (sent.clone(), blocks, None, provenance),
            };
            if blocks.iter().any(|block| block.contains("may refer to:")) {
                sent = format!("[{sent}]");
                continue;
            }
            let missed = blocks.iter().any(|block| block == NO_RESULTS);
            self.open(title, blocks, sentences, &provenance)?;
            return Ok(Observation { provenance: Some(provenance), missed, ..Observation::default() });
        }
        let retries = self.options.disambiguation_retries;
        Err(PageError::Disambiguation { query: query.to_owned(), retries }.into())
    }

    /// The script's search is the paper's, but one without a page closes the page that was open, and errors that would
    /// come again every time are observations. Its network errors are observations too; here the episode is not measured.
    async fn search_like_script(&mut self, query: &str) -> Result<Observation, SessionError> {
        let before = (self.page.take(), self.lookup.take());
        self.observation = match self.search_like_paper(query).await {
            Ok(searched) => return Ok(searched),
            Err(SessionError::Page(PageError::Disambiguation { query, retries })) => {
                observe::chinese_disambiguation(&query, retries)
            }
            Err(error) if !error.is_infrastructure() => format!("{}{error}", observe::CHINESE_FAILED),
            Err(error) => {
                (self.page, self.lookup) = before;
                return Err(error);
            }
        };
        Ok(Observation { missed: true, ..Observation::default() })
    }

    async fn search_fixed(&mut self, query: &str) -> Result<Observation, SessionError> {
        let (titles, provenance) = match self.source.search(query).await? {
            Found::Page { title, blocks, sentences, provenance } => {
                self.open(title, blocks, sentences, &provenance)?;
                return Ok(Observation { provenance: Some(provenance), ..Observation::default() });
            }
            Found::Disambiguation { entries, provenance, .. } => (entries, provenance),
            Found::Titles { titles, provenance } => (titles, provenance),
            Found::Nothing { provenance, .. } | Found::Passages { provenance, .. } => (Arc::default(), provenance),
        };
        self.observation = self.format.not_found(query, &titles);
        let note = self.page.as_ref().map(|_| format!("no page was found; `{}` stays open", self.title));
        Ok(Observation { provenance: Some(provenance), note, missed: true, ..Observation::default() })
    }

    /// Shows the best passages, `count` at most, and returns them too; the page that is open stays open.
    pub(crate) async fn passages(
        &mut self,
        query: &str,
        count: usize,
    ) -> Result<(Observation, Arc<[FoundPassage]>), SessionError> {
        let found = self.source.retrieve(Retrieval::Passages { query, count }).await?;
        let mut provenance = found.provenance().clone();
        let passages = if let Found::Passages { passages, .. } = found { Some(passages) } else { None };
        let missed = passages.is_none();
        let none = || (self.format.no_passages().to_owned(), Vec::new());
        let (text, places) = passages.as_deref().map_or_else(none, passages_text);
        self.observation = text;
        let end = self.cut();
        let passages = passages.unwrap_or_default();
        let places = (1..).zip(&*passages).zip(places);
        provenance.hits = places.map(|((rank, passage), place)| hit(rank, passage, place.start, end)).collect();
        let (text, provenance) = (self.observation.clone(), Some(provenance));
        Ok((Observation { text, provenance, note: None, missed }, passages))
    }

    /// Shows a document whole, its title on the first line.
    async fn document(&mut self, id: &str) -> Result<Observation, SessionError> {
        let found = self.source.retrieve(Retrieval::Document { id }).await?;
        let (title, blocks, sentences, mut provenance) = match found {
            Found::Page { title, blocks, sentences, provenance } => (title, blocks, sentences, provenance),
            Found::Disambiguation { title, blocks, provenance, .. } => (title, blocks, None, provenance),
            other => {
                self.observation = self.format.no_document(id);
                self.cut();
                let provenance = Some(other.provenance().clone());
                return Ok(Observation { provenance, missed: true, ..Observation::default() });
            }
        };
        self.observation = format!("{title}\n{}", blocks.join("\n"));
        let end = self.cut();
        if let Some(sentences) = sentences {
            let mut at = title.len() + 1;
            let places = blocks.iter().enumerate().map(|(number, block)| {
                let shown = end.saturating_sub(at).min(block.len());
                at += block.len() + 1;
                (number, 0..shown)
            });
            provenance.sentences = Some(sentences.sentence_ranges(&blocks, &places.collect::<Vec<_>>()));
        }
        Ok(Observation { provenance: Some(provenance), ..Observation::default() })
    }

    /// Opens a page. Where `clean_str` raises, the page holds the blocks before it, and nothing else has changed.
    fn open(
        &mut self,
        title: String,
        blocks: Arc<[String]>,
        sentences: Option<SentenceMap>,
        provenance: &Provenance,
    ) -> Result<(), PageError> {
        self.title = title;
        let (mut page, raised) = self.read(blocks);
        // Only if it is the source's text that is read.
        let given = sentences.filter(|_| page.format.is_some());
        page.given = given.map(|sentences| (sentences, provenance.clone()));
        let page = self.page.insert(page);
        if let Some(error) = raised {
            return Err(error);
        }
        self.observation = self.format.page(page.blocks());
        self.lookup = None;
        Ok(())
    }

    /// A page as the session reads it, up to where `clean_str` raises.
    fn read(&self, blocks: Arc<[String]>) -> (OpenPage, Option<PageError>) {
        if self.compat == Compat::Fixed {
            return (OpenPage::new(blocks, Some(self.format)), None);
        }
        let mut raised = None;
        let cleaned = blocks.iter().filter_map(|block| self.format.read(block)).map(|block| self.cleaned(block));
        let cleaned: Vec<_> = cleaned.map_while(|block| block.map_err(|error| raised = Some(error)).ok()).collect();
        if raised.is_none() && cleaned.iter().all(|block| matches!(block, Cow::Borrowed(_))) {
            drop(cleaned);
            return (OpenPage::new(blocks, Some(self.format)), None);
        }
        (OpenPage::new(cleaned.into_iter().map(Cow::into_owned).collect(), None), raised)
    }

    fn cleaned<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, PageError> {
        match self.compat {
            Compat::Paper if self.format.is_script() => Ok(clean_str_or_keep(text)),
            Compat::Paper => Ok(clean_str(text)?),
            Compat::Fixed => Ok(Cow::Borrowed(text)),
        }
    }

    /// Sets the observation, and returns which result it shows, from 0.
    fn look_up(&mut self, keyword: &str) -> Option<usize> {
        // The script takes a page without text for none.
        if self.page.as_ref().is_none_or(OpenPage::is_empty)
            && let Some(no_page) = self.format.no_page()
        {
            no_page.clone_into(&mut self.observation);
            return None;
        }
        if self.lookup.as_ref().is_none_or(|lookup| lookup.keyword != keyword) {
            let blocks = self.page.iter().flat_map(OpenPage::blocks);
            let sentences = self.format.lookup_list(blocks, keyword);
            self.lookup = Some(Lookup { keyword: keyword.to_owned(), sentences, shown: 0 });
        }
        let lookup = self.lookup.as_mut()?;
        let Some(sentence) = lookup.sentences.get(lookup.shown) else {
            self.format.no_more().clone_into(&mut self.observation);
            return None;
        };
        lookup.shown += 1;
        self.observation = self.format.lookup_result(lookup.shown, lookup.sentences.len(), sentence);
        Some(lookup.shown - 1)
    }
}

/// The observation that shows these passages, each under its rank, title and id; and where in it their texts are.
fn passages_text(passages: &[FoundPassage]) -> (String, Vec<Range<usize>>) {
    let (mut shown, mut places) = (String::new(), Vec::new());
    for (rank, FoundPassage { id, title, text, .. }) in (1..).zip(passages) {
        let apart = if rank > 1 { "\n\n" } else { "" };
        let id = if id.is_empty() { String::new() } else { format!("(id {id})") };
        let heading = [format!("[{rank}]"), title.replace(char::is_control, " "), id];
        let heading: Vec<String> = heading.into_iter().filter(|part| !part.is_empty()).collect();
        shown.extend([apart, &heading.join(" "), "\n"]);
        places.push(shown.len()..shown.len() + text.len());
        shown += text;
    }
    (shown, places)
}

/// What an observation that ends at `end` shows of a passage whose text begins at `start`; both in bytes.
fn hit(rank: usize, passage: &FoundPassage, start: usize, end: usize) -> PassageHit {
    let bytes = end.saturating_sub(start).min(passage.text.len());
    PassageHit {
        id: passage.id.clone(),
        title: passage.title.clone(),
        rank,
        score: passage.score,
        shown: passage.text.get(..bytes).map_or(0, |shown| shown.chars().count()),
        sentences: passage.sentence_ranges(bytes),
    }
}

// Why a step of a session has no observation.

/// Why a step has no observation.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The source failed and nothing changed; see [`is_infrastructure`](SessionError::is_infrastructure).
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The paper's environment raises here, and leaves the state that the session then has.
    #[error(transparent)]
    Page(#[from] PageError),
}

/// A fault of the paper's environment that ends an episode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    #[error("the paper's environment raises {0}")]
    Python(#[from] PythonError),
    #[error("`{query}` led to disambiguation pages {retries} times in a row")]
    Disambiguation { query: String, retries: usize },
}

impl PageError {
    /// Name of the Python exception that the original raises.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Python(error) => error.kind,
            Self::Disambiguation { .. } => "RecursionError",
        }
    }

    /// The text of that exception, or ours where the original's depends on its stack.
    pub fn message(&self) -> String {
        match self {
            Self::Python(error) => error.message.clone(),
            Self::Disambiguation { .. } => self.to_string(),
        }
    }
}

impl SessionError {
    /// Whether the step failed for reasons outside of agent and tool, so that the episode is not measured and is worth
    /// doing again. Otherwise the paper's environment itself raises here, every time: the episode ends, as it did there.
    pub fn is_infrastructure(&self) -> bool {
        match self {
            Self::Source(error) => error.is_infrastructure(),
            Self::Page(_) => false,
        }
    }

    /// Who failed and why, for programs; nothing where the paper's environment itself raises.
    pub fn failure(&self) -> Option<Failure> {
        match self {
            Self::Source(error) => Some(Failure { service: Service::Wikipedia, cause: error.cause() }),
            Self::Page(_) => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Source(error) => error.hint(),
            Self::Page(_) => Some("`--compat fixed` does not have this fault".to_owned()),
        }
    }
}

// The open page.

/// Each episode in flight has one open, so it shares the source's blocks, and has others only where it must differ.
#[derive(Debug)]
struct OpenPage {
    blocks: Arc<[String]>,
    /// It says what is read of them; without one all is.
    format: Option<ObservationFormat>,
    /// The sentences that the source gives, and where they come from; not if the text was mended.
    given: Option<(SentenceMap, Provenance)>,
    /// Length of the text in characters, counted once: the state may be asked for at every step.
    chars: OnceLock<usize>,
}

impl OpenPage {
    fn new(blocks: Arc<[String]>, format: Option<ObservationFormat>) -> Self {
        Self { blocks, format, given: None, chars: OnceLock::new() }
    }

    /// Where an observation comes from that shows these `parts` of the page; `None` where the source gives no sentences.
    fn provenance<'a>(&self, parts: impl Iterator<Item = (usize, Part<'a>)>, observation: &str) -> Option<Provenance> {
        let (sentences, provenance) = self.given.as_ref()?;
        let places = observe::part_ranges(&self.blocks, parts, observation);
        let sentences = Some(sentences.sentence_ranges(&self.blocks, &places));
        Some(Provenance { sentences, ..provenance.clone() })
    }

    fn blocks(&self) -> impl Iterator<Item = &str> {
        self.numbered_blocks().map(|(_, block)| block)
    }

    /// The same with their numbers among all that the source gave.
    fn numbered_blocks(&self) -> impl Iterator<Item = (usize, &str)> {
        let read = |block| self.format.map_or(Some(block), |format| format.read(block));
        let blocks = self.blocks.iter().enumerate();
        blocks.filter_map(move |(number, block)| Some((number, read(block.as_str())?)))
    }

    /// The text as the paper's environment keeps it: each block on a line of its own.
    fn to_text(&self) -> String {
        self.blocks().flat_map(|block| [block, "\n"]).collect()
    }

    fn chars(&self) -> usize {
        *self.chars.get_or_init(|| self.blocks().map(|block| block.chars().count() + 1).sum())
    }

    fn is_empty(&self) -> bool {
        self.blocks().next().is_none()
    }
}

#[cfg(test)]
mod tests;
