//! What the tool of MCP does: search and lookup as an agent's session does them, whole pages, similar titles.

use super::handle::Handle;
use super::reply::Fault;
use super::shelf::{LONGEST_QUERY, Shelf};
use crate::types::Tool;
use crate::wiki::corpus::Page;
use crate::wiki::{Corpus, CorpusError, Session, SessionError, SessionOptions, Source};
use futures_util::FutureExt as _;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Paragraphs that one reading gives.
const PARAGRAPHS: usize = 20;
/// Similar titles.
const SIMILAR: usize = 20;

/// What a tool answers: the observation, all of it as JSON, and the handle to go on with.
pub(super) struct Told {
    pub(super) observation: String,
    pub(super) structured: Value,
    pub(super) handle: Option<Handle>,
}

/// Why a tool has no answer, in words for the agent.
#[derive(Debug)]
pub(super) struct Untold(pub(super) String);

impl From<CorpusError> for Untold {
    fn from(error: CorpusError) -> Self {
        Fault::Corpus(error).into()
    }
}

impl From<Fault> for Untold {
    fn from(fault: Fault) -> Self {
        Self(fault.to_string())
    }
}

impl From<SessionError> for Untold {
    fn from(error: SessionError) -> Self {
        Self(error.to_string())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchInput {
    query: String,
    session: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LookupInput {
    keyword: String,
    session: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadInput {
    title: String,
    from: Option<usize>,
    to: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SimilarInput {
    query: String,
}

/// A session as an agent of ours has it. The corpus answers at once, so nothing waits in it.
fn session(shelf: &Shelf) -> Session {
    let source: Arc<dyn Source> = Arc::clone(&shelf.corpus) as Arc<dyn Source>;
    Session::new(source, shelf.compat, SessionOptions::default())
}

fn known(corpus: &Corpus, handle: Option<&str>) -> Result<Option<Handle>, Untold> {
    let read = |text| {
        Handle::read(corpus, text).ok_or_else(|| {
            Untold("`session` is not one of this corpus; take it from the last result of `search`".to_owned())
        })
    };
    handle.map(read).transpose()
}

fn short(query: &str) -> Result<(), Untold> {
    if query.len() <= LONGEST_QUERY {
        Ok(())
    } else {
        Err(Untold(format!("a query has at most {LONGEST_QUERY} bytes")))
    }
}

/// What is said of a page.
fn about(shelf: &Shelf, page: &Page, observation: &str, handle: &Handle) -> Value {
    json!({
        "observation": observation, "title": page.title,
        "url": format!("corpus:{}#{}", shelf.name(), page.title.replace(' ', "_")),
        "revid": page.revid, "session": handle.to_string(),
    })
}

pub(super) async fn search(shelf: &Shelf, input: SearchInput) -> Result<Told, Untold> {
    let SearchInput { query, session: given } = input;
    short(&query)?;
    let open = known(&shelf.corpus, given.as_deref())?;
    let mut session = session(shelf);
    let searched = shelf.search(move |_| Ok(session.call(Tool::Search, &query).now_or_never())).await?;
    let observed = searched.ok_or(Fault::Lost)??;
    let title = observed.provenance.filter(|_| !observed.missed).map(|provenance| provenance.title);
    let number = title.map(|title| shelf.corpus.exact(&title)).transpose()?.flatten();
    let observation = observed.text;
    let Some(number) = number else {
        // A page that was open stays open.
        let session = open.as_ref().map(Handle::to_string);
        let structured =
            json!({ "observation": observation, "title": null, "url": null, "revid": null, "session": session });
        return Ok(Told { observation, structured, handle: open });
    };
    let handle = Handle::of(&shelf.corpus, number);
    let structured = about(shelf, &*shelf.corpus.page(number)?, &observation, &handle);
    Ok(Told { observation, structured, handle: Some(handle) })
}

pub(super) fn lookup(shelf: &Shelf, input: &LookupInput) -> Result<Told, Untold> {
    let LookupInput { keyword, session: given } = input;
    short(keyword)?;
    let handle = known(&shelf.corpus, given.as_deref())?;
    let handle =
        handle.ok_or_else(|| Untold("no page is open: give the `session` that `search` returned".to_owned()))?;
    let page = shelf.corpus.page(handle.page)?;
    let mut session = session(shelf);
    session.open_page(page.title.clone(), Arc::clone(&page.blocks))?;
    if let Some(shown) = handle.shown(keyword) {
        session.resume_lookup(keyword, shown);
    }
    let before = session.state().lookup_cnt;
    let observation = session.call(Tool::Lookup, keyword).now_or_never().ok_or(Fault::Lost)??.text;
    let state = session.state();
    let (count, shown) = (state.lookup_len.unwrap_or(0), state.lookup_cnt.unwrap_or(0));
    let handle = handle.with_lookup(keyword, shown);
    let mut structured = about(shelf, &page, &observation, &handle);
    // Behind the last result there is none.
    structured["result"] = json!((shown > before.unwrap_or(0)).then_some(shown));
    structured["of"] = json!(count);
    Ok(Told { observation, structured, handle: Some(handle) })
}

pub(super) fn read(shelf: &Shelf, input: &ReadInput) -> Result<Told, Untold> {
    let ReadInput { title, from, to } = input;
    short(title)?;
    let number = shelf.corpus.opens(title)?;
    let number = number.ok_or_else(|| {
        Untold(format!("page `{}` not found; `similar` lists titles", crate::types::text::printable(title, 80)))
    })?;
    let page = shelf.corpus.page(number)?;
    let count = page.blocks.len();
    let from = from.unwrap_or(1).max(1);
    let to = to.unwrap_or(from.saturating_add(PARAGRAPHS - 1)).min(count);
    let text = page.blocks.get(from - 1..to).ok_or_else(|| Untold(format!("the page has paragraphs 1 to {count}")))?;
    let observation = text.join("\n\n");
    let handle = Handle::of(&shelf.corpus, number);
    let mut structured = about(shelf, &page, &observation, &handle);
    structured["from"] = json!(from);
    structured["to"] = json!(to);
    structured["of"] = json!(count);
    Ok(Told { observation, structured, handle: Some(handle) })
}

pub(super) async fn similar(shelf: &Shelf, input: SimilarInput) -> Result<Told, Untold> {
    let SimilarInput { query } = input;
    short(&query)?;
    let titles = shelf.search(move |corpus| {
        let hits = corpus.similar(&query, SIMILAR)?;
        hits.into_iter().map(|hit| corpus.title(hit.number)).collect::<Result<Vec<_>, _>>()
    });
    let titles = titles.await?;
    let observation = titles.join("\n");
    let structured = json!({ "observation": observation, "titles": titles });
    Ok(Told { observation, structured, handle: None })
}
