//! The tool for agents of other programs: search and lookup as an agent's session does them, whole pages, similar titles.
//!
//! The state of a session, the open page and how far its last lookup came, is in a handle that the client gets with each
//! answer and sends back. It grants nothing, and any server of the same corpus understands it.

use super::retriever::MAX_TOP_K;
use super::{Answer, CorpusService, Fault, MAX_QUERY};
use crate::base::text::printable;
use crate::base::{PassageHit, Provenance, Tool, sha256_hex};
use crate::wikipedia::corpus::Page;
use crate::wikipedia::{Corpus, CorpusError, Session, SessionError, SessionOptions, Source};
use futures_util::FutureExt as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::Arc;

/// A tool as hosts show it to their models, with the JSON schemas of its input and its result.
pub(crate) struct ToolDescription {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) input: Map<String, Value>,
    pub(crate) output: Map<String, Value>,
}

/// Tools that a server offers to agents of other programs, and who answers their calls.
pub(crate) trait Tools: Clone + Send + Sync + 'static {
    /// The tools; if the server keeps the last `session` of its one client, no tool requires it.
    fn offered(&self, keeps_session: bool) -> Vec<ToolDescription>;

    /// The answer of a tool; none if there is no tool of that name.
    fn call(
        &self,
        name: &str,
        input: Map<String, Value>,
    ) -> impl Future<Output = Option<Result<ToolAnswer, ToolError>>> + Send;
}

impl Tools for CorpusService {
    fn offered(&self, keeps_session: bool) -> Vec<ToolDescription> {
        offered(if keeps_session { SessionArgument::Kept } else { SessionArgument::Required }).into()
    }

    async fn call(&self, name: &str, input: Map<String, Value>) -> Option<Result<ToolAnswer, ToolError>> {
        Some(match name {
            "search" => with(input, "\"query\": text", async |input| search(self, input).await).await,
            "lookup" => {
                let shape = "\"keyword\": text, \"session\": the last result's";
                with(input, shape, async |input| in_turn(self, move |service| lookup(service, &input)).await).await
            }
            "read" => {
                let shape = "\"title\": text, \"from\": 1, \"to\": 20";
                with(input, shape, async |input| in_turn(self, move |service| read_page(service, &input)).await).await
            }
            "similar" => with(input, "\"query\": text", async |input| similar(self, input).await).await,
            "passages" => with(input, "\"query\": text, \"k\": 3", async |input| passages(self, input).await).await,
            "document" => {
                let shape = "\"id\": text";
                with(input, shape, async |input| in_turn(self, move |service| document(service, &input)).await).await
            }
            _ => return None,
        })
    }
}

/// Who keeps the state of a session between two calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionArgument {
    /// The client, which sends `session` back.
    Required,
    /// The client or the server, which has one client.
    Kept,
    /// The server, and `session` is no argument.
    None,
}

/// `POST /tool/NAME`: the tool's answer, or the words for the agent as `error`.
pub(crate) async fn posted(service: &impl Tools, name: &str, body: &[u8]) -> Answer {
    let input = match serde_json::from_slice::<Map<String, Value>>(body) {
        Ok(input) => input,
        Err(error) => {
            return Answer::text(
                422,
                &format!("expected a JSON object of arguments: {}", printable(&error.to_string(), 200)),
            );
        }
    };
    match service.call(name, input).await {
        Some(Ok(answer)) => Answer::json(&answer.0),
        Some(Err(ToolError(words))) => refused(422, &words),
        None => {
            let names: Vec<&str> = service.offered(false).iter().map(|tool| tool.name).collect();
            refused(404, &format!("there is no such tool; the tools are {}", names.join(", ")))
        }
    }
}

fn refused(status: u16, words: &str) -> Answer {
    Answer::json_with(status, &json!({ "error": words }))
}

/// `GET /tool`: the tools, as chat completions describe functions.
pub(crate) fn function_list(service: &impl Tools) -> Answer {
    let function = |ToolDescription { name, description, input, .. }: ToolDescription| json!({ "type": "function", "function": { "name": name, "description": description, "parameters": input } });
    Answer::json(&service.offered(false).into_iter().map(function).collect::<Value>())
}

/// Calls a tool with what it takes. A model that sent something else is told what to send, so that it can do better.
pub(crate) async fn with<T: DeserializeOwned>(
    input: Map<String, Value>,
    shape: &str,
    call: impl AsyncFnOnce(T) -> Result<ToolAnswer, ToolError>,
) -> Result<ToolAnswer, ToolError> {
    match serde_json::from_value(Value::Object(input)) {
        Ok(input) => call(input).await,
        Err(error) => {
            Err(ToolError(format!("wrong arguments: {}; send {{{shape}}}", printable(&error.to_string(), 200))))
        }
    }
}

const MAX_PARAGRAPHS: usize = 20;
const MAX_SIMILAR: usize = 20;

/// What a tool answers, as JSON: the `observation`, and the `session` to go on with.
pub(crate) struct ToolAnswer(pub(crate) Value);

impl ToolAnswer {
    pub(crate) fn of_passages(observation: &str, hits: &[PassageHit]) -> Self {
        let passages = hits
            .iter()
            .map(|hit| json!({ "id": hit.id, "title": hit.title, "rank": hit.rank, "score": hit.score }))
            .collect::<Value>();
        Self(json!({ "observation": observation, "passages": passages }))
    }

    /// The page that an observation is from, if it is from one.
    pub(crate) fn of_page(observation: &str, page: Option<&Provenance>) -> Self {
        Self(json!({
            "observation": observation, "title": page.map(|page| &page.title), "url": page.map(|page| &page.url),
            "revid": page.and_then(|page| page.revid),
        }))
    }
}

/// Why a tool has no answer, in words for the agent.
#[derive(Debug)]
pub(crate) struct ToolError(pub(crate) String);

impl From<CorpusError> for ToolError {
    fn from(error: CorpusError) -> Self {
        Fault::Corpus(error).into()
    }
}

impl From<Fault> for ToolError {
    fn from(fault: Fault) -> Self {
        Self(fault.to_string())
    }
}

impl From<SessionError> for ToolError {
    fn from(error: SessionError) -> Self {
        Self(error.to_string())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchInput {
    query: String,
    session: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LookupInput {
    keyword: String,
    session: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadInput {
    title: String,
    from: Option<usize>,
    to: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SimilarInput {
    query: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PassagesInput {
    query: String,
    k: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentInput {
    id: String,
}

/// A session as an agent of ours has it. The corpus answers at once, so nothing waits in it.
fn session(service: &CorpusService, options: SessionOptions) -> Session {
    Session::new(Arc::clone(&service.corpus) as Arc<dyn Source>, service.compat, options)
}

/// A call that reads a page, which takes its place among the searches.
async fn in_turn(
    service: &CorpusService,
    call: impl FnOnce(&CorpusService) -> Result<ToolAnswer, ToolError> + Send + 'static,
) -> Result<ToolAnswer, ToolError> {
    let own = service.clone();
    service.search(move |_| Ok(call(&own))).await?
}

fn handle_of(corpus: &Corpus, handle: Option<&str>) -> Result<Option<Handle>, ToolError> {
    let read = |text| {
        Handle::read(corpus, text).ok_or_else(|| {
            ToolError("`session` is not one of this corpus; take it from the last result of `search`".to_owned())
        })
    };
    handle.map(read).transpose()
}

fn check_length(query: &str) -> Result<(), ToolError> {
    if query.len() <= MAX_QUERY { Ok(()) } else { Err(ToolError(format!("a query has at most {MAX_QUERY} bytes"))) }
}

/// An observation of a page that is open.
fn open_page(service: &CorpusService, page: &Page, observation: &str, handle: &Handle) -> ToolAnswer {
    ToolAnswer(json!({
        "observation": observation, "title": page.title,
        "url": format!("corpus:{}#{}", service.name(), page.title.replace(' ', "_")),
        "revid": page.revid, "session": handle.to_string(),
    }))
}

async fn search(service: &CorpusService, input: SearchInput) -> Result<ToolAnswer, ToolError> {
    let SearchInput { query, session: given } = input;
    check_length(&query)?;
    let open = handle_of(&service.corpus, given.as_deref())?;
    let mut session = session(service, SessionOptions::default());
    let searched = service.search(move |_| Ok(session.call(Tool::Search, &query).now_or_never())).await?;
    let observed = searched.ok_or(Fault::Lost)??;
    let title = observed.provenance.filter(|_| !observed.missed).map(|provenance| provenance.title);
    let number = title.map(|title| service.corpus.exact(&title)).transpose()?.flatten();
    let observation = observed.text;
    let Some(number) = number else {
        // A page that was open stays open.
        let session = open.as_ref().map(Handle::to_string);
        let mut answer = ToolAnswer::of_page(&observation, None);
        answer.0["session"] = json!(session);
        return Ok(answer);
    };
    let handle = Handle::of(&service.corpus, number);
    Ok(open_page(service, &*service.corpus.page(number)?, &observation, &handle))
}

fn lookup(service: &CorpusService, input: &LookupInput) -> Result<ToolAnswer, ToolError> {
    let LookupInput { keyword, session: given } = input;
    check_length(keyword)?;
    let handle = handle_of(&service.corpus, given.as_deref())?;
    let handle =
        handle.ok_or_else(|| ToolError("no page is open: give the `session` that `search` returned".to_owned()))?;
    let page = service.corpus.page(handle.page)?;
    let mut session = session(service, SessionOptions::default());
    session.open_page(page.title.clone(), Arc::clone(&page.blocks))?;
    if let Some(shown) = handle.results_shown(keyword) {
        session.resume_lookup(keyword, shown);
    }
    let before = session.state().lookup_cnt;
    let observation = session.call(Tool::Lookup, keyword).now_or_never().ok_or(Fault::Lost)??.text;
    let state = session.state();
    let (count, shown) = (state.lookup_len.unwrap_or(0), state.lookup_cnt.unwrap_or(0));
    let handle = handle.with_lookup(keyword, shown);
    let mut answer = open_page(service, &page, &observation, &handle);
    // Behind the last result there is none.
    answer.0["result"] = json!((shown > before.unwrap_or(0)).then_some(shown));
    answer.0["of"] = json!(count);
    Ok(answer)
}

fn read_page(service: &CorpusService, input: &ReadInput) -> Result<ToolAnswer, ToolError> {
    let ReadInput { title, from, to } = input;
    check_length(title)?;
    let number = service.corpus.opens(title)?;
    let number = number
        .ok_or_else(|| ToolError(format!("page `{}` not found; `similar` lists titles", printable(title, 80))))?;
    let page = service.corpus.page(number)?;
    let count = page.blocks.len();
    let from = from.unwrap_or(1);
    if from == 0 {
        return Err(ToolError(format!("the page has paragraphs 1 to {count}")));
    }
    let most = from.saturating_add(MAX_PARAGRAPHS - 1);
    let to = to.unwrap_or(most).min(most).min(count);
    let text =
        page.blocks.get(from - 1..to).ok_or_else(|| ToolError(format!("the page has paragraphs 1 to {count}")))?;
    let mut answer = open_page(service, &page, &text.join("\n\n"), &Handle::of(&service.corpus, number));
    for (name, number) in [("from", from), ("to", to), ("of", count)] {
        answer.0[name] = json!(number);
    }
    Ok(answer)
}

async fn similar(service: &CorpusService, SimilarInput { query }: SimilarInput) -> Result<ToolAnswer, ToolError> {
    check_length(&query)?;
    let words = query.clone();
    let titles =
        service.search(move |corpus| corpus.titles(corpus.similar(&words, MAX_SIMILAR)?.iter().map(|hit| hit.number)));
    let titles = titles.await?;
    let observation = if titles.is_empty() {
        format!("no page has the words of `{}`; try others", printable(&query, 80))
    } else {
        titles.join("\n")
    };
    Ok(ToolAnswer(json!({ "observation": observation, "titles": titles })))
}

async fn passages(service: &CorpusService, PassagesInput { query, k }: PassagesInput) -> Result<ToolAnswer, ToolError> {
    check_length(&query)?;
    let usual = SessionOptions::default();
    let count = k.unwrap_or(usual.passages);
    if !(1..=MAX_TOP_K).contains(&count) {
        return Err(ToolError(format!("`k` is a number from 1 to {MAX_TOP_K}")));
    }
    let mut session = session(service, SessionOptions { passages: count, ..usual });
    let found = service.search(move |_| Ok(session.call(Tool::Passages, &query).now_or_never())).await?;
    let observed = found.ok_or(Fault::Lost)??;
    let hits = observed.provenance.map(|provenance| provenance.hits).unwrap_or_default();
    Ok(ToolAnswer::of_passages(&observed.text, &hits))
}

fn document(service: &CorpusService, input: &DocumentInput) -> Result<ToolAnswer, ToolError> {
    check_length(&input.id)?;
    let mut session = session(service, SessionOptions::default());
    let observed = session.call(Tool::Document, &input.id).now_or_never().ok_or(Fault::Lost)??;
    match observed.provenance.filter(|_| !observed.missed) {
        Some(page) => Ok(ToolAnswer::of_page(&observed.text, Some(&page))),
        None => Err(ToolError(observed.text)),
    }
}

const EARLIER_SESSION: &str = "the `session` of an earlier result; the last one unless given";
const LAST_SESSION: &str = "the `session` of the last result";

pub(crate) fn offered(of_session: SessionArgument) -> [ToolDescription; 6] {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let number = |description: &str| json!({ "type": "integer", "minimum": 1, "description": description });
    let session = text(if of_session == SessionArgument::Kept { EARLIER_SESSION } else { LAST_SESSION });
    let k = json!({ "type": "integer", "minimum": 1, "maximum": MAX_TOP_K, "description": "how many, 3 unless given" });
    let tools = [
        (
            "search",
            "Search Wikipedia",
            "Open the Wikipedia page that a query names and get its first sentences; without such a page, similar titles.",
            json!({ "query": text("the title of a page, or words"), "session": session }),
            &["query"][..],
        ),
        (
            "lookup",
            "Look up a keyword",
            "Get the next sentence of the open page that contains a keyword; repeat it for further ones.",
            json!({ "keyword": text("letters to look for, in any case"), "session": session }),
            if of_session == SessionArgument::Required { &["keyword", "session"] } else { &["keyword"] },
        ),
        (
            "read",
            "Read a page",
            "Read the paragraphs of a page, 20 at a time.",
            json!({
                "title": text("the title of the page"), "from": number("the first paragraph, 1 unless given"),
                "to": number("the last one, at most 20 at a time"),
            }),
            &["title"],
        ),
        (
            "similar",
            "List similar titles",
            "List the titles of pages that the words of a query fit best.",
            json!({ "query": text("words") }),
            &["query"],
        ),
        (
            "passages",
            "Find passages",
            "Get the passages of Wikipedia that fit a query best, each with the title of its page and its id.",
            json!({ "query": text("a question, or words"), "k": k }),
            &["query"],
        ),
        (
            "document",
            "Read a document",
            "Get the whole document that a passage is from.",
            json!({ "id": text("the id of a passage") }),
            &["id"],
        ),
    ];
    tools.map(|(name, title, description, mut properties, required)| {
        if of_session == SessionArgument::None {
            properties.as_object_mut().map(|properties| properties.shift_remove("session"));
        }
        let input = input(properties, required);
        ToolDescription { name, title, description, input, output: output(name, of_session) }
    })
}

/// The schema of a tool's arguments, which are the properties and no others.
pub(crate) fn input(properties: Value, required: &[&str]) -> Map<String, Value> {
    let mut schema = schema(properties, required);
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

pub(crate) fn schema(properties: Value, required: &[&str]) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), json!(required));
    schema
}

/// The schema of a tool's result: the fields besides the observation, and the one of them that it always has.
fn output(tool: &str, of_session: SessionArgument) -> Map<String, Value> {
    let (fields, always): (&[&str], _) = match tool {
        "lookup" => (&["title", "url", "session", "revid", "result", "of"], "session"),
        "read" => (&["title", "url", "session", "revid", "from", "to", "of"], "session"),
        "similar" => (&["titles"], "titles"),
        "passages" => (&["passages"], "passages"),
        "document" => (&["title", "url", "revid"], "title"),
        _ => (&["title", "url", "session", "revid"], "session"),
    };
    let mut given = fields.to_vec();
    given.retain(|field| of_session != SessionArgument::None || *field != "session");
    let mut properties = json!({ "observation": { "type": "string" } });
    for field in &given {
        properties[*field] = match *field {
            "title" | "url" | "session" => json!({ "type": ["string", "null"] }),
            "titles" => json!({ "type": "array", "items": { "type": "string" } }),
            "passages" => {
                let id_and_title = json!({ "type": "string" });
                let passage = json!({
                    "id": id_and_title, "title": id_and_title, "rank": { "type": "integer" },
                    "score": { "type": ["number", "null"] },
                });
                json!({ "type": "array", "items": schema(passage, &["id", "title", "rank"]) })
            }
            _ => json!({ "type": ["integer", "null"] }),
        };
    }
    let required: Vec<&str> =
        ["observation"].into_iter().chain(given.into_iter().filter(|field| *field == always)).collect();
    schema(properties, &required)
}

/// The form of handles, which their first letters name.
const FORM: &str = "w1";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Handle {
    /// The beginning of the corpus's digest: numbers of pages are another corpus's otherwise.
    corpus: String,
    page: u32,
    /// The digest of the keyword, and how many of its results were shown.
    lookup: Option<(String, usize)>,
}

impl Handle {
    fn of(corpus: &Corpus, page: u32) -> Self {
        Self { corpus: first_digits(corpus.id().trim_start_matches("wt1:")), page, lookup: None }
    }

    fn read(corpus: &Corpus, text: &str) -> Option<Self> {
        let mut parts = text.trim().split('.');
        let (form, digest, page) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
        let lookup = match (parts.next(), parts.next()) {
            (None, None) => None,
            (keyword, shown) => Some((keyword?.to_owned(), shown?.parse().ok()?)),
        };
        let handle = Self { lookup, ..Self::of(corpus, page) };
        let whole = form == FORM && digest == handle.corpus && page < corpus.count() && parts.next().is_none();
        whole.then_some(handle)
    }

    /// How many results of this keyword were shown, if it is the one that was looked up last.
    fn results_shown(&self, keyword: &str) -> Option<usize> {
        self.lookup.as_ref().filter(|(digest, _)| *digest == digest_of(keyword)).map(|(_, shown)| *shown)
    }

    fn with_lookup(self, keyword: &str, shown: usize) -> Self {
        Self { lookup: Some((digest_of(keyword), shown)), ..self }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORM}.{}.{}", self.corpus, self.page)?;
        self.lookup.as_ref().map_or(Ok(()), |(keyword, shown)| write!(f, ".{keyword}.{shown}"))
    }
}

fn digest_of(keyword: &str) -> String {
    first_digits(&sha256_hex([keyword.as_bytes()]))
}

fn first_digits(digest: &str) -> String {
    digest.chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::{CorpusService, Handle, Tools as _};
    use crate::base::Compat;
    use crate::wikipedia::Corpus;
    use serde_json::json;
    use std::sync::Arc;

    fn corpus(title: &str) -> Corpus {
        let line = format!("{{\"title\": \"{title}\", \"text\": \"Words.\"}}");
        Corpus::from_jsonl("mine", line.as_bytes()).expect("a corpus")
    }

    #[tokio::test]
    async fn paragraphs_come_twenty_at_a_time() {
        let blocks: Vec<String> = (1..=50).map(|number| format!("Paragraph {number}.")).collect();
        let line = json!({ "title": "Long", "blocks": blocks }).to_string();
        let corpus = Corpus::from_jsonl("mine", line.as_bytes()).expect("a corpus");
        let service = CorpusService::new(Arc::new(corpus), Compat::Fixed);
        for (from, to, shown) in [(1, None, 20), (1, Some(50), 20), (5, Some(6), 6), (40, Some(usize::MAX), 50)] {
            let input = json!({ "title": "Long", "from": from, "to": to });
            let answer = service.call("read", input.as_object().cloned().unwrap_or_default()).await;
            let answer = answer.expect("a tool").expect("an answer").0;
            assert_eq!((&answer["from"], &answer["to"]), (&json!(from), &json!(shown)), "{answer}");
        }
    }

    #[test]
    fn a_handle_says_all_that_there_is() {
        let ada = corpus("Ada");
        let handle = Handle::of(&ada, 0);
        assert_eq!(Handle::read(&ada, &handle.to_string()), Some(handle.clone()));
        let looked = handle.with_lookup("born", 2);
        let read = Handle::read(&ada, &looked.to_string()).expect("a handle");
        assert_eq!((read.results_shown("born"), read.results_shown("died")), (Some(2), None));
        let text = looked.to_string();
        for wrong in ["", "w1", "w1.x.0", &text.replace("w1", "w2"), &text.replace(".0.", ".1."), &format!("{text}.1")]
        {
            assert_eq!(Handle::read(&ada, wrong), None, "{wrong}");
        }
        assert_eq!(Handle::read(&corpus("Bob"), &text), None, "another corpus");
    }
}
