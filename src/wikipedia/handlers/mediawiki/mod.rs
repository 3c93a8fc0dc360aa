//! `MediaWiki`, as far as clients of Wikipedia call it: the Action API, the search page, articles, and two corners of REST.
//!
//! | file | what it holds |
//! |---|---|
//! | this one | the Action API: parameters, actions, errors, warnings, both versions of the format |
//! | `site` | what the site, its one user and its modules are |
//! | `pages` | titles to pages, what is said of each, texts and HTML |
//! | `search` | lists and searches of the Action API, `/w/index.php`, `/wiki/TITLE`, REST |

mod pages;
mod search;
mod site;

pub(crate) use search::{article, index, rest_search, rest_search_titles, summary};

use super::{Answer, CorpusService, Fault};
use crate::base::locked;
use crate::base::text::printable;
use crate::net::escaped_path;
use crate::wikipedia::{CorpusError, query};
use pages::{parse, query_pages};
use search::{add_list, generated, open_search};
use serde_json::{Map, Value, json};
use site::{members, parameter_info, site_info, tokens, user_info};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use url::form_urlencoded;

/// The number of a page for clients: its place in the corpus, from 1. Every page has one, whatever it came from.
fn page_id(number: u32) -> u64 {
    u64::from(number) + 1
}

fn number_of(page_id: &str, service: &CorpusService) -> Option<u32> {
    let number: u32 = page_id.trim().parse::<u32>().ok()?.checked_sub(1)?;
    (number < service.corpus.count()).then_some(number)
}

/// The path of an article. Titles that a client would take for a step up the path go by another.
fn path_of(title: &str) -> String {
    // Who reads underscores as spaces, and spaces in a row as one, would find another title or none.
    let written = if query::spaced(title) == title { title.replace(' ', "_") } else { title.to_owned() };
    let name = escaped_path(&written).to_string();
    if title.split('/').any(|step| matches!(step, "" | "." | "..")) {
        return format!("/w/index.php?title={}", name.replace('/', "%2F"));
    }
    format!("/wiki/{name}")
}

/// How many titles or numbers of pages one request may name.
const MAX_PAGES: usize = 50;

struct Params(Vec<(String, String)>);

impl Params {
    fn of(query: Option<&str>, form: &[u8]) -> Self {
        let parts = [query.unwrap_or_default().as_bytes(), form];
        Self(
            parts.into_iter().flat_map(form_urlencoded::parse).map(|(k, v)| (k.into_owned(), v.into_owned())).collect(),
        )
    }

    /// The last value counts, as in PHP.
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Whether a switch is on: it is there, with whatever value.
    fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Several values, between bars, or, behind U+001F, between those.
    fn list(&self, name: &str) -> Vec<&str> {
        let value = self.get(name).unwrap_or_default();
        let split: Vec<&str> = match value.strip_prefix('\u{1f}') {
            Some(value) => value.split('\u{1f}').collect(),
            None => value.split('|').collect(),
        };
        split.into_iter().filter(|value| !value.is_empty()).collect()
    }

    /// Several values, or those that hold where none is named.
    fn list_or<'a>(&'a self, name: &str, usual: &[&'a str]) -> Vec<&'a str> {
        if self.is_on(name) { self.list(name) } else { usual.to_vec() }
    }

    /// A number, at most `most`, which is also what `max` means.
    fn number(&self, name: &str, usual: usize, most: usize) -> usize {
        match self.get(name) {
            Some("max") => most,
            Some(value) => value.trim().parse().unwrap_or(usual).min(most),
            None => usual,
        }
    }
}

struct Call<'a> {
    service: &'a CorpusService,
    /// Where this server is, without a path.
    base: &'a str,
    params: Params,
    /// What was asked for and is not here, by module.
    warnings: Mutex<BTreeMap<&'static str, Vec<String>>>,
}

impl Call<'_> {
    /// Those values of a parameter that this server knows. `MediaWiki` names others in a warning of the module, and goes on.
    fn known<'v>(&self, module: &'static str, name: &str, asked: Vec<&'v str>, known: &[&str]) -> Vec<&'v str> {
        let (kept, others): (Vec<&str>, Vec<&str>) = asked.into_iter().partition(|value| known.contains(value));
        if !others.is_empty() {
            let values = if others.len() == 1 { "value" } else { "values" };
            let shown: Vec<String> = others.iter().take(MAX_PAGES).map(|value| printable(value, 60)).collect();
            self.warn(module, format!("Unrecognized {values} for parameter \"{name}\": {}.", shown.join(", ")));
        }
        kept
    }

    fn warn(&self, module: &'static str, warning: String) {
        locked(&self.warnings).entry(module).or_default().push(warning);
    }

    fn warned(self, mut answer: Value) -> Value {
        let warnings = self.warnings.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (module, lines) in warnings {
            answer["warnings"][module] = json!({ "warnings": lines.join("\n") });
        }
        answer
    }
}

fn address_of(base: &str, title: &str) -> String {
    format!("{base}{}", path_of(title))
}

enum ApiError {
    /// In the API's own words, which clients read.
    Refused { code: &'static str, info: String },
    /// A failure of this server.
    Fault(Fault),
}

impl From<Fault> for ApiError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<CorpusError> for ApiError {
    fn from(error: CorpusError) -> Self {
        Self::Fault(error.into())
    }
}

impl ApiError {
    fn refused(code: &'static str, info: impl Into<String>) -> Self {
        Self::Refused { code, info: info.into() }
    }

    /// A value that the corpus, or this server, does not have.
    fn bad_value(name: &str, value: &str) -> Self {
        let value = printable(value, 60);
        Self::refused("badvalue", format!("Unrecognized value for parameter \"{name}\": {value}."))
    }
}

/// `/w/api.php`: the Action API, with the parameters of the query and those of a posted form.
pub(crate) async fn api(service: &CorpusService, base: &str, query: Option<&str>, form: &[u8]) -> Answer {
    let call = Call { service, base, params: Params::of(query, form), warnings: Mutex::default() };
    let first_form = call.params.get("formatversion").is_none_or(|version| version == "1");
    let result = match act(&call).await {
        // The answer to `opensearch` is a list and has no place for warnings.
        Ok(result) if result.is_object() => call.warned(result),
        Ok(result) => result,
        Err(ApiError::Fault(fault)) => return fault.into(),
        Err(ApiError::Refused { code, info }) => {
            let answer = Answer::json(&json!({ "error": { "code": code, "info": info } }));
            return answer.with_header("mediawiki-api-error", code);
        }
    };
    Answer::json(&if first_form { in_first_form(result) } else { result })
}

async fn act(call: &Call<'_>) -> Result<Value, ApiError> {
    match call.params.get("format") {
        None | Some("json" | "none") => {}
        Some(other) => return Err(ApiError::bad_value("format", other)),
    }
    match call.params.get("action") {
        Some("query") => query(call).await,
        Some("parse") => parse(call),
        Some("opensearch") => open_search(call),
        Some("paraminfo") => Ok(parameter_info(call)),
        Some(other) => Err(ApiError::bad_value("action", other)),
        None => Err(ApiError::refused("missingparam", "The \"action\" parameter must be set.")),
    }
}

async fn query(call: &Call<'_>) -> Result<Value, ApiError> {
    let params = &call.params;
    let mut answer = json!({ "batchcomplete": true });
    let mut query = Map::new();
    for meta in call.known("query", "meta", params.list("meta"), &members("meta")) {
        match meta {
            "siteinfo" => site_info(call, &mut query),
            "tokens" => tokens(call, &mut query),
            _ => user_info(call, &mut query),
        }
    }
    if params.list("titles").len().max(params.list("pageids").len()) > MAX_PAGES {
        return Err(ApiError::refused("toomanyvalues", format!("A request names at most {MAX_PAGES} pages.")));
    }
    let generated = generated(call).await?;
    query_pages(call, &generated.numbers, &mut query)?;
    let mut more = vec![generated.next];
    for list in call.known("query", "list", params.list("list"), &members("list")) {
        more.push(add_list(call, list, &mut query).await?);
    }
    for (parameter, next) in more.into_iter().flatten() {
        answer["continue"]["continue"] = json!("-||");
        answer["continue"][parameter] = next;
    }
    if !query.is_empty() {
        answer["query"] = Value::Object(query);
    }
    Ok(answer)
}

/// The answer as the format's first version has it, which clients get who ask for none: pages by number, texts as `*`,
/// switches that are empty texts or not there.
fn in_first_form(mut answer: Value) -> Value {
    if let Some(pages) = answer.pointer_mut("/query/pages") {
        *pages = by_number(pages.take());
    }
    for language in answer.pointer_mut("/query/languages").and_then(Value::as_array_mut).into_iter().flatten() {
        starred(language, "name");
    }
    let namespaces = answer.pointer_mut("/query/namespaces").and_then(Value::as_object_mut);
    for namespace in namespaces.into_iter().flat_map(Map::values_mut) {
        starred(namespace, "name");
    }
    for module in answer.get_mut("warnings").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        starred(module, "warnings");
    }
    if let Some(text) = answer.pointer_mut("/parse/text") {
        *text = json!({ "*": text.take() });
    }
    if let Some(properties) = answer.pointer_mut("/parse/properties") {
        let list = properties.as_object().into_iter().flatten();
        *properties = list.map(|(name, value)| json!({ "name": name, "*": value })).collect();
    }
    switched(answer)
}

fn by_number(pages: Value) -> Value {
    let Value::Array(pages) = pages else { return pages };
    let mut missing = 0;
    let numbered = pages.into_iter().map(|mut page| {
        for revision in page.get_mut("revisions").and_then(Value::as_array_mut).into_iter().flatten() {
            starred(revision, "content");
            if let Some(main) = revision.pointer_mut("/slots/main") {
                starred(main, "content");
            }
        }
        let number = page["pageid"].as_u64().map(|number| number.to_string());
        let number = number.filter(|_| page.get("missing").is_none());
        let number = number.unwrap_or_else(|| {
            missing -= 1;
            format!("{missing}")
        });
        (number, page)
    });
    Value::Object(numbered.collect())
}

fn starred(object: &mut Value, name: &str) {
    if let Some(object) = object.as_object_mut()
        && let Some(text) = object.remove(name)
    {
        object.insert("*".to_owned(), text);
    }
}

fn switched(value: Value) -> Value {
    match value {
        Value::Bool(true) => Value::from(""),
        Value::Array(list) => list.into_iter().map(switched).collect(),
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(_, value)| *value != Value::Bool(false));
            Value::Object(kept.map(|(name, value)| (name, switched(value))).collect())
        }
        other => other,
    }
}
