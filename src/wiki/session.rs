//! The tool's state over one question: the open page, the lookup and its cursor, the answer.

use super::clean_str::{PythonError, clean_str};
use super::observe;
use super::source::{Found, NO_RESULTS, Source, SourceError};
use crate::types::{Compat, Provenance, Tool};
use std::sync::Arc;

/// Limits of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionOptions {
    /// How often one search may be repeated in brackets because a disambiguation page came back. The paper's
    /// environment has no such limit, and ends in a `RecursionError`.
    pub disambiguation_retries: usize,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self { disambiguation_retries: 5 }
    }
}

/// What the tool answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// The text that the agent sees.
    pub text: String,
    /// Where it came from; only searches have it.
    pub provenance: Option<Provenance>,
    /// What the record should add: that an older page stayed open.
    pub note: Option<String>,
    /// Whether a search found no page of that name, but titles, a disambiguation page or nothing. In `paper` mode the
    /// page that says so counts as well, although the environment takes it for an article.
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
    /// Steps taken.
    pub steps: usize,
    /// The answer given.
    pub answer: Option<String>,
}

/// Why a step has no observation.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The source failed: nothing changed, and the episode is not measured (but see
    /// [`is_infrastructure`](SessionError::is_infrastructure)).
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The paper's environment raises here, and leaves the state that the session then has.
    #[error(transparent)]
    Page(#[from] PageError),
}

/// A fault of the paper's environment that ends an episode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// `clean_str` raised part-way.
    #[error("the paper's environment raises {0}")]
    Python(#[from] PythonError),
    /// Disambiguation page upon disambiguation page.
    #[error("`{query}` led to disambiguation pages {retries} times in a row")]
    Disambiguation {
        /// The query as it was first made.
        query: String,
        /// How often it was repeated in brackets.
        retries: usize,
    },
}

impl PageError {
    /// Name of the Python exception that stands for it.
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

    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Source(error) => error.hint(),
            Self::Page(_) => Some("`--compat fixed` does not have this fault".to_owned()),
        }
    }
}

/// A lookup in progress.
#[derive(Debug)]
struct Lookup {
    keyword: String,
    sentences: Vec<String>,
    shown: usize,
}

/// The open page.
#[derive(Debug, Default)]
struct Page {
    text: String,
    /// Its length in characters, counted as it grows: the state is asked for at every step.
    chars: usize,
}

impl Page {
    fn push(&mut self, block: &str) {
        self.text.push_str(block);
        self.text.push('\n');
        self.chars += block.chars().count() + 1;
    }
}

/// What a search adds to its observation.
struct Searched {
    provenance: Provenance,
    note: Option<String>,
    missed: bool,
}

/// One question's use of the tool.
pub struct Session {
    source: Arc<dyn Source>,
    compat: Compat,
    options: SessionOptions,
    page: Option<Page>,
    /// Title of the open page, for notes.
    title: String,
    lookup: Option<Lookup>,
    observation: String,
    steps: usize,
    answer: Option<String>,
}

impl Session {
    /// A session without a page.
    pub fn new(source: Arc<dyn Source>, compat: Compat, options: SessionOptions) -> Self {
        Self {
            source,
            compat,
            options,
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
            return Ok(self.plain());
        }
        let mut searched = None;
        match tool {
            Tool::Search => searched = Some(self.search(input).await?),
            Tool::Lookup => self.look_up(input),
            Tool::Finish => {
                self.answer = Some(input.to_owned());
                observe::FINISHED.clone_into(&mut self.observation);
            }
            Tool::Think => observe::THOUGHT.clone_into(&mut self.observation),
            Tool::Invalid => self.observation = observe::invalid(input),
        }
        self.steps += 1;
        Ok(match searched {
            Some(Searched { provenance, note, missed }) => {
                Observation { provenance: Some(provenance), note, missed, ..self.plain() }
            }
            None => self.plain(),
        })
    }

    /// The last observation; before the first step, the environment's greeting.
    pub fn observation(&self) -> &str {
        &self.observation
    }

    /// Whether an answer was given.
    pub fn done(&self) -> bool {
        self.answer.is_some()
    }

    /// The text of the open page.
    pub fn page(&self) -> Option<&str> {
        self.page.as_ref().map(|page| page.text.as_str())
    }

    /// The state, in the paper's terms.
    pub fn state(&self) -> SessionState {
        SessionState {
            page_chars: self.page.as_ref().map(|page| page.chars),
            lookup_keyword: self.lookup.as_ref().map(|lookup| lookup.keyword.clone()),
            lookup_len: self.lookup.as_ref().map(|lookup| lookup.sentences.len()),
            lookup_cnt: self.lookup.as_ref().map(|lookup| lookup.shown),
            steps: self.steps,
            answer: self.answer.clone(),
        }
    }

    fn plain(&self) -> Observation {
        Observation { text: self.observation.clone(), provenance: None, note: None, missed: false }
    }

    async fn search(&mut self, query: &str) -> Result<Searched, SessionError> {
        match self.compat {
            Compat::Paper => self.search_like_paper(query).await,
            Compat::Fixed => self.search_fixed(query).await,
        }
    }

    async fn search_like_paper(&mut self, query: &str) -> Result<Searched, SessionError> {
        let mut sent = query.to_owned();
        for _ in 0..=self.options.disambiguation_retries {
            let (title, blocks, provenance) = match self.source.search(&sent).await? {
                Found::Titles { titles, provenance } => {
                    let titles = titles.iter().map(|title| clean_str(title)).collect::<Result<Vec<_>, _>>();
                    self.observation = observe::not_found(&sent, &titles.map_err(PageError::from)?);
                    return Ok(Searched { provenance, note: None, missed: true });
                }
                Found::Page { title, blocks, provenance } | Found::Disambiguation { title, blocks, provenance, .. } => {
                    (title, blocks, provenance)
                }
                Found::Nothing { blocks, provenance } => (sent.clone(), blocks, provenance),
            };
            if blocks.iter().any(|block| block.contains("may refer to:")) {
                sent = format!("[{sent}]");
                continue;
            }
            self.open(title, &blocks)?;
            let missed = blocks.iter().any(|block| block == NO_RESULTS);
            return Ok(Searched { provenance, note: None, missed });
        }
        let retries = self.options.disambiguation_retries;
        Err(PageError::Disambiguation { query: query.to_owned(), retries }.into())
    }

    async fn search_fixed(&mut self, query: &str) -> Result<Searched, SessionError> {
        let (titles, provenance) = match self.source.search(query).await? {
            Found::Page { title, blocks, provenance } => {
                self.open(title, &blocks)?;
                return Ok(Searched { provenance, note: None, missed: false });
            }
            Found::Disambiguation { entries, provenance, .. } => (entries, provenance),
            Found::Titles { titles, provenance } => (titles, provenance),
            Found::Nothing { provenance, .. } => (Arc::default(), provenance),
        };
        self.observation = observe::not_found(query, &titles);
        let note = self.page.as_ref().map(|_| format!("no page was found; `{}` stays open", self.title));
        Ok(Searched { provenance, note, missed: true })
    }

    /// Opens a page. Where `clean_str` raises, the page holds the blocks before it, and nothing else has changed.
    fn open(&mut self, title: String, blocks: &[String]) -> Result<(), PageError> {
        self.title = title;
        let page = self.page.insert(Page::default());
        for block in blocks.iter().filter(|block| block.split(' ').nth(2).is_some()) {
            match self.compat {
                Compat::Paper => page.push(&clean_str(block)?),
                Compat::Fixed => page.push(block),
            }
        }
        self.observation = observe::page(&page.text);
        self.lookup = None;
        Ok(())
    }

    fn look_up(&mut self, keyword: &str) {
        if self.lookup.as_ref().is_none_or(|lookup| lookup.keyword != keyword) {
            let sentences = self.page().map(|page| observe::lookup_list(page, keyword)).unwrap_or_default();
            self.lookup = Some(Lookup { keyword: keyword.to_owned(), sentences, shown: 0 });
        }
        let Some(lookup) = &mut self.lookup else { return };
        self.observation = match lookup.sentences.get(lookup.shown) {
            Some(sentence) => {
                lookup.shown += 1;
                observe::lookup_result(lookup.shown, lookup.sentences.len(), sentence)
            }
            None => observe::NO_MORE.to_owned(),
        };
    }
}

#[cfg(test)]
mod tests;
