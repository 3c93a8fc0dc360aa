//! From settings to a source of pages.

use super::breaker::{Breakers, Watched};
use super::error::RunError;
use super::model::is_on;
use crate::base::{Compat, Service, Tool, WikiKind, WikiName, Wording};
use crate::net::limit::Limiters;
use crate::net::redact;
use crate::runner::experiment::VariantSettings;
use crate::wikipedia::html::ArticleOptions;
use crate::wikipedia::{
    ApiSource, HtmlSource, LagSettings, LiveSettings, RetrieverAddress, RetrieverSource, SearchCache, Source,
};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// The encyclopedia that is part of the program.
const SAMPLE: &str = "corpus:datasets/sample-wiki";
/// The site that is asked when none is named.
pub(super) const WIKIPEDIA: &str = "https://en.wikipedia.org";

#[derive(Clone)]
pub(super) struct BuiltWiki {
    pub(super) source: Arc<dyn Source>,
    /// Base URL of the site, or digest of the corpus.
    pub(super) origin: Option<String>,
    pub(super) kind: WikiKind,
    /// The source as it was named, with `+footnotes` where it keeps their marks.
    pub(super) label: String,
    /// What a large corpus or a retriever is, in words.
    pub(super) about: Option<String>,
    /// How many passages the address of a retriever asks for.
    pub(super) passages: Option<usize>,
}

impl BuiltWiki {
    /// The tools that it can answer.
    pub(super) fn tools(&self) -> &'static [Tool] {
        match self.kind {
            WikiKind::Corpus => &[Tool::Search, Tool::Lookup, Tool::Passages, Tool::Document],
            WikiKind::Retriever => &[Tool::Search, Tool::Lookup, Tool::Passages],
            _ => &[Tool::Search, Tool::Lookup],
        }
    }

    /// With what was found at hand, so that a search is not made again; a corpus is at hand as it is.
    pub(super) fn with_search_cache(self) -> Self {
        if self.kind == WikiKind::Corpus {
            return self;
        }
        Self { source: Arc::new(SearchCache::new(self.source)), ..self }
    }
}

/// The settings of a variant, read as those of a source.
#[derive(Debug, Clone, Copy)]
pub(super) struct WikiSettings<'a>(pub(super) &'a VariantSettings);

impl<'a> WikiSettings<'a> {
    /// Makes the source, whose requests wait for the limiter of its site. Sends nothing; a corpus is read whole.
    pub(super) fn build(self, limiters: &Arc<Limiters>) -> Result<BuiltWiki, RunError> {
        let label = self.name();
        if self.0.wiki_url.is_some() && matches!(self.kind(), WikiKind::Corpus | WikiKind::Retriever) {
            let source = crate::base::text::printable(&RetrieverAddress::public_label(label), 80);
            let message = format!("--wiki-url is about a site, but pages come from `{source}`");
            return Err(RunError::usage(message, "add --wiki api or --wiki html"));
        }
        let base = self.0.wiki_url.as_deref().unwrap_or(WIKIPEDIA);
        let settings = self.live(limiters);
        let options = ArticleOptions { drop_footnote_marks: !is_on(self.0.keep_footnotes) };
        let (mut about, mut passages) = (None, None);
        let (source, origin): (Arc<dyn Source>, String) = match label.split_once(':').unwrap_or((label, "")) {
            ("html", "") => (Arc::new(HtmlSource::new(base, &settings, options)?), redact::url(base)),
            ("api", "") => {
                (Arc::new(ApiSource::new(base, &settings, options, LagSettings::default())?), redact::url(base))
            }
            ("retriever", address) => {
                let address = RetrieverAddress::parse(address)?;
                let label = address.label();
                about = Some(format!("{label}: a search opens the article of the best passages"));
                passages = Some(address.count());
                (
                    Arc::new(RetrieverSource::new(&address, &settings)?),
                    redact::url(label.trim_start_matches("retriever:")),
                )
            }
            ("corpus", dir) if !dir.is_empty() => corpus(dir, &mut about)?,
            _ => {
                let message = format!("`--wiki {}` is not a source", crate::base::text::printable(label, 80));
                return Err(RunError::usage(message, "sources are `corpus:DIR`, `api`, `html` and `retriever:URL`"));
            }
        };
        Ok(BuiltWiki { source, origin: Some(origin), kind: self.kind(), label: self.label(), about, passages })
    }

    /// The site's API, which a freeze asks for revisions. Sends nothing.
    #[cfg(feature = "index")]
    pub(super) fn api(self) -> Result<ApiSource, RunError> {
        let base = self.0.wiki_url.as_deref().unwrap_or(WIKIPEDIA);
        let options = ArticleOptions { drop_footnote_marks: !is_on(self.0.keep_footnotes) };
        Ok(ApiSource::new(base, &self.live(&Arc::default()), options, LagSettings::default())?)
    }

    fn name(self) -> &'a str {
        self.0.wiki.as_deref().unwrap_or(SAMPLE)
    }

    fn kind(self) -> WikiKind {
        WikiName::of(self.name()).kind
    }

    pub(super) fn is_corpus(self) -> bool {
        self.kind() == WikiKind::Corpus
    }

    pub(super) fn compat(self) -> Compat {
        if self.0.compat.as_deref() == Some(Compat::Paper.name()) { Compat::Paper } else { Compat::Fixed }
    }

    /// Language of the tool's messages, where one was set.
    pub(super) fn wording(self) -> Option<Wording> {
        let chinese = self.0.wording.as_deref()? == "chinese";
        Some(if chinese { Wording::Chinese } else { Wording::English })
    }

    /// The source as it was named, and what else decides what it shows: runs that differ in it must not be mixed up.
    fn label(self) -> String {
        let name = RetrieverAddress::public_label(self.name());
        let name = WikiName::of(&name);
        let footnotes = name.is_site() && is_on(self.0.keep_footnotes) && self.compat() == Compat::Fixed;
        WikiName { footnotes, ..name }.to_string()
    }

    fn live(self, limiters: &Arc<Limiters>) -> LiveSettings {
        LiveSettings {
            compat: self.compat(),
            contact: self.0.contact.clone(),
            allow_html: is_on(self.0.allow_html),
            per_minute: self.0.wiki_per_minute.and_then(NonZeroU32::new),
            concurrent: self.0.wiki_concurrency,
            limiters: Arc::clone(limiters),
            timeout: self.0.wiki_timeout.map(Duration::from_secs),
            ..LiveSettings::default()
        }
    }
}

#[cfg(feature = "index")]
fn corpus(dir: &str, about: &mut Option<String>) -> Result<(Arc<dyn Source>, String), RunError> {
    let corpus = open_corpus(dir)?;
    let id = corpus.identity();
    *about = corpus.manifest().map(|manifest| format!("corpus {dir}: {}, {id}", manifest.contents()));
    Ok((Arc::new(corpus), id))
}

/// The corpus in a folder, or the one that the program carries under that path.
#[cfg(feature = "index")]
pub(crate) fn open_corpus(dir: &str) -> Result<crate::wikipedia::Corpus, RunError> {
    use crate::runner::experiment::shipped;
    use crate::wikipedia::Corpus;
    use std::path::Path;
    let file = format!("{}/articles.jsonl", dir.trim_end_matches('/'));
    let shipped = shipped::file(&file).filter(|_| !Path::new(dir).exists());
    if shipped.is_none() && !Path::new(dir).exists() {
        return Err(RunError::input(format!("`{dir}` does not exist"), "check the path"));
    }
    let corpus = match shipped {
        Some(bytes) => Corpus::from_jsonl(dir, bytes),
        None => Corpus::open(Path::new(dir)),
    };
    corpus.map_err(|error| {
        let hint = error.hint().unwrap_or("is there enough memory?");
        RunError::input(error, hint)
    })
}

#[cfg(not(feature = "index"))]
fn corpus(dir: &str, _about: &mut Option<String>) -> Result<(Arc<dyn Source>, String), RunError> {
    let message = format!("`--wiki corpus:{dir}` needs the text index, which this program was built without");
    Err(RunError::usage(message, "build with `--features index`, or use `--wiki api`"))
}

#[cfg(all(test, feature = "index"))]
mod tests {
    use super::WikiSettings;
    use crate::runner::experiment::VariantSettings;

    #[test]
    fn a_record_distinguishes_runs_with_and_without_footnote_marks() {
        let label = |wiki: &str, footnotes: bool, compat: &str| {
            let settings = VariantSettings {
                wiki: Some(wiki.to_owned()),
                // A corpus has no address, and refuses one.
                wiki_url: (!wiki.starts_with("corpus:")).then(|| "http://127.0.0.1:9".to_owned()),
                keep_footnotes: Some(footnotes),
                compat: Some(compat.to_owned()),
                ..VariantSettings::default()
            };
            WikiSettings(&settings).build(&std::sync::Arc::default()).expect("a source").label
        };
        assert_eq!(label("api", false, "fixed"), "api");
        assert_eq!(label("api", true, "fixed"), "api+footnotes");
        assert_eq!(label("html", true, "paper"), "html");
        assert_eq!(label("corpus:datasets/sample-wiki", true, "fixed"), "corpus:datasets/sample-wiki");
    }
}

impl Breakers {
    /// The source with its site watched; a corpus needs no watching.
    pub(super) fn wiki(&self, built: BuiltWiki) -> BuiltWiki {
        if built.kind == WikiKind::Corpus {
            return built;
        }
        let breaker = self.breaker(Service::Wikipedia, built.origin.as_deref());
        BuiltWiki { source: Arc::new(Watched::new(built.source, breaker)), ..built }
    }
}
