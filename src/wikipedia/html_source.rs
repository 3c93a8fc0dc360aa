//! A `MediaWiki` site read the paper's way: its search page is asked, and whatever comes back is read.

use super::cache::{PageCache, Pages, Reading};
use super::html::{Article, ArticleOptions, PageKind};
use super::query;
use super::site_policy::{self, LiveSettings, Site, SitePolicyError, Way};
use super::source::{
    self, Found, MAX_QUERY_BYTES, Retrieval, Source, SourceError, URI_TOO_LONG, no_results, self_description, shown_url,
};
use crate::base::text::printable;
use crate::base::{Compat, Provenance};
use crate::net::Answer;
use encoding_rs::Encoding;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use percent_encoding::percent_decode_str;
use std::sync::Arc;

const NAME: &str = "html";

/// A `MediaWiki` site, read as a browser reads it.
pub struct HtmlSource {
    site: Site,
    compat: Compat,
    reading: Reading,
    cache: PageCache,
}

impl HtmlSource {
    /// A source over the site at `base`, such as `https://en.wikipedia.org`. Sends nothing yet.
    pub fn new(base: &str, settings: &LiveSettings, options: ArticleOptions) -> Result<Self, SitePolicyError> {
        let reading = Reading::of(settings.compat, options);
        let site = site_policy::site(base, Way::Html, settings)?;
        let cache = PageCache::new(site.concurrent);
        Ok(Self { site, compat: settings.compat, reading, cache })
    }

    async fn find(&self, query: &str) -> Result<Found, SourceError> {
        let value = match self.compat {
            Compat::Paper => query::quote_like_requests(query),
            Compat::Fixed => query::quote_form(query),
        };
        if self.compat == Compat::Fixed && query.len() > MAX_QUERY_BYTES {
            let provenance = source::provenance_unsent(&format!("{}/index.php", self.site.shown), NAME, query);
            return Ok(Found::Nothing { blocks: no_results(), provenance });
        }
        let _turn = self.cache.turn().await;
        let answer = self.site.get(&format!("/index.php?search={value}"), &[]).await?;
        if self.compat == Compat::Fixed && !self.site.is_own(&answer.url) {
            return Err(SourceError::of_another_site(&answer));
        }
        self.read(query, answer).await
    }

    /// What the site's answer to a search for `query` says. A page whose bytes were read before is not read again.
    pub async fn read(&self, query: &str, answer: Answer) -> Result<Found, SourceError> {
        let (compat, reading, query) = (self.compat, self.reading, query.to_owned());
        self.cache.read(move |pages| read(pages, compat, reading, &query, answer)).await
    }
}

fn read(pages: &Pages, compat: Compat, reading: Reading, query: &str, answer: Answer) -> Result<Found, SourceError> {
    let provenance = source::provenance_of(&answer, NAME, query);
    let _memory = answer.memory.clone();
    if compat == Compat::Fixed && answer.status == URI_TOO_LONG {
        return Ok(Found::Nothing { blocks: no_results(), provenance });
    }
    let digest = format!("{} {}", provenance.sha256, answer.content_type.as_deref().unwrap_or_default());
    let url = answer.url.clone();
    let text = match compat {
        Compat::Paper => text_like_requests(answer),
        Compat::Fixed => page_text(answer)?,
    };
    let page = pages.page(digest, reading, &url, &text)?;
    if !page.from_mediawiki {
        return Err(SourceError::not_the_wiki(&url, 200, &text, "with a page that MediaWiki did not make"));
    }
    Ok(finding_of_page(&page, &url, query, provenance))
}

impl Source for HtmlSource {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        async move { self.find(asked.of_site()?).await }.boxed()
    }
}

/// What a page at `url` says to `query`; its provenance is titled with the query, and gets the title of a page.
fn finding_of_page(page: &Article, url: &str, query: &str, provenance: Provenance) -> Found {
    let Article { title, kind, blocks, links, titles, .. } = page;
    let title = title_of(url).or_else(|| title.clone()).unwrap_or_else(|| query.to_owned());
    let blocks = Arc::clone(blocks);
    match kind {
        PageKind::Results if titles.is_empty() => Found::Nothing { blocks, provenance },
        PageKind::Results => Found::Titles { titles: Arc::clone(titles), provenance },
        PageKind::Disambiguation => {
            let provenance = Provenance { title: title.clone(), ..provenance };
            Found::Disambiguation { title, entries: Arc::clone(links), blocks, provenance }
        }
        PageKind::Article => {
            let provenance = Provenance { title: title.clone(), ..provenance };
            Found::Page { title, blocks, sentences: None, provenance }
        }
    }
}

/// The title that an article's address spells.
fn title_of(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next()?;
    let name = path.split_once("/wiki/")?.1;
    let title = percent_decode_str(name).decode_utf8_lossy().replace('_', " ");
    (!title.is_empty()).then_some(title)
}

/// `Response.text` of the paper's client: the declared encoding, Latin-1 for texts that declare none, faults replaced.
fn text_like_requests(answer: Answer) -> String {
    let Answer { content_type, body, .. } = answer;
    let declared = content_type.as_deref().unwrap_or("");
    match charset(declared) {
        None if declared.to_ascii_lowercase().contains("text") => latin1(&body),
        // The client would guess here; sites of our time send UTF-8.
        None => lossy(body),
        Some(name) => match name.to_ascii_lowercase().replace('_', "-").as_str() {
            "iso-8859-1" | "iso8859-1" | "latin-1" | "latin1" | "l1" => latin1(&body),
            "ascii" | "us-ascii" => {
                body.iter().map(|&byte| if byte < 128 { char::from(byte) } else { '\u{fffd}' }).collect()
            }
            name => match Encoding::for_label(name.as_bytes()) {
                Some(encoding) if encoding != encoding_rs::UTF_8 => {
                    encoding.decode_without_bom_handling(&body).0.into_owned()
                }
                _ => lossy(body),
            },
        },
    }
}

/// UTF-8 with its faults replaced; without faults the bytes become the text as they are.
fn lossy(body: Vec<u8>) -> String {
    String::from_utf8(body).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn latin1(body: &[u8]) -> String {
    body.iter().copied().map(char::from).collect()
}

/// The `charset` parameter of a content type, without quotes.
fn charset(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
    })
}

/// The text of an answer that is a whole HTML page; anything else is an error.
fn page_text(answer: Answer) -> Result<String, SourceError> {
    // A part of a page (206), somebody's changed copy (203) and no page (204, 205) are successes for HTTP only.
    if answer.status != 200 {
        return Err(SourceError::of_status(&answer, self_description(&String::from_utf8_lossy(&answer.body))));
    }
    let declared = answer.content_type.as_deref().unwrap_or("");
    let media_type = declared.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    if !matches!(media_type.as_str(), "text/html" | "application/xhtml+xml") {
        return Err(SourceError::of_content_type(&answer, declared, "HTML"));
    }
    let label = charset(declared).unwrap_or("utf-8");
    let wrong =
        || SourceError::Encoding { url: shown_url(&answer.url), encoding: printable(&label.to_ascii_uppercase(), 40) };
    let encoding = Encoding::for_label(label.as_bytes()).ok_or_else(wrong)?;
    if encoding == encoding_rs::UTF_8 {
        return String::from_utf8(answer.body).map_err(|_| wrong());
    }
    let text = encoding.decode_without_bom_handling_and_without_replacement(&answer.body);
    text.map(std::borrow::Cow::into_owned).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::{page_text, text_like_requests, title_of};
    use crate::net::Answer;

    fn answer(status: u16, content_type: Option<&str>, body: &[u8]) -> Answer {
        Answer {
            status,
            content_type: content_type.map(str::to_owned),
            url: "http://h/w/index.php?search=x".to_owned(),
            body: body.to_vec(),
            ..Answer::default()
        }
    }

    #[test]
    fn the_papers_client_decodes_as_declared_and_texts_as_latin_1() {
        let body = "Café".as_bytes();
        for (declared, text) in [
            (Some("text/html; charset=UTF-8"), "Café"),
            (Some("text/html;charset=\"utf-8\""), "Café"),
            (Some("text/html"), "CafÃ©"),
            (Some("text/html; charset=latin1"), "CafÃ©"),
            (Some("text/html; charset=ascii"), "Caf\u{fffd}\u{fffd}"),
            (Some("text/html; charset=nonsense"), "Café"),
            (Some("application/octet-stream"), "Café"),
            (None, "Café"),
        ] {
            assert_eq!(text_like_requests(answer(503, declared, body)), text, "{declared:?}");
        }
    }

    #[test]
    fn anything_but_a_page_is_an_error() {
        let html = Some("text/html; charset=UTF-8");
        let told = |status, declared, body: &[u8]| {
            page_text(answer(status, declared, body)).unwrap_or_else(|error| error.to_string())
        };
        assert_eq!(told(200, html, b"<p>x"), "<p>x");
        let url = "http://h/w/index.php?search=x";
        assert_eq!(told(503, html, b"<p>x"), format!("`{url}` answered with status 503 (\"x\")"));
        for status in [201, 203, 204, 205, 206] {
            assert_eq!(told(status, html, b""), format!("`{url}` answered with status {status} (nothing)"));
        }
        assert_eq!(
            told(200, Some("application/pdf"), b"x"),
            format!("`{url}` answered with content type `application/pdf` instead of HTML")
        );
        assert_eq!(told(200, None, b"x"), format!("`{url}` answered with content type `` instead of HTML"));
        assert_eq!(told(200, html, b"\xff"), format!("the answer of `{url}` is not valid UTF-8"));
    }

    #[test]
    fn titles_are_spelled_by_addresses() {
        assert_eq!(title_of("http://h/wiki/Bein'_Green%3F?x=1").as_deref(), Some("Bein' Green?"));
        assert_eq!(title_of("http://h/w/index.php?search=/wiki/x"), None);
    }
}
