//! Flags that say where Wikipedia comes from, shared by every command that needs it.

use super::failure::Failure;
use crate::net::limit::Limiters;
use crate::types::{Compat, Wording};
use crate::wiki::html::ArticleOptions;
use crate::wiki::{ApiSource, AtHand, HtmlSource, LagSettings, LiveSettings, MannersError, Source};
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

/// The encyclopedia that comes with the program.
const SAMPLE: &str = "corpus:datasets/sample-wiki";
/// The site that is asked when none is named.
const WIKIPEDIA: &str = "https://en.wikipedia.org";

/// Where pages come from.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(next_help_heading = "Wikipedia")]
pub(super) struct WikiArgs {
    /// Where pages come from: `corpus:DIR` (a folder with articles.jsonl, or a shipped one), `api` (a wiki's API) or `html`
    /// (its pages).
    #[arg(long = "wiki", value_name = "SOURCE", default_value = SAMPLE)]
    pub(super) wiki: String,
    /// Base URL of the site for `api` and `html` [default: the English Wikipedia].
    #[arg(long, value_name = "BASE")]
    pub(super) wiki_url: Option<String>,
    /// Semantics of the tool: `paper` reproduces the paper's environment, faults included; `fixed` mends them.
    #[arg(long, value_name = "MODE", default_value = "fixed",
          value_parser = PossibleValuesParser::new(["paper", "fixed"]).map(|name| compat(&name)))]
    pub(super) compat: Compat,
    /// Language of the tool's own messages, `english` or `chinese` [default: Chinese for react-zh and Chinese prompts].
    #[arg(long, value_name = "LANGUAGE", value_parser = PossibleValuesParser::new(["english", "chinese"]).map(|name| wording(&name)))]
    pub(super) wording: Option<Wording>,
    /// Your mail address or page, for the User-Agent; public sites are not asked without it.
    #[arg(long, value_name = "CONTACT")]
    pub(super) contact: Option<String>,
    /// Read Wikipedia's pages as HTML, although its robots.txt asks programs not to.
    #[arg(long)]
    pub(super) allow_html: bool,
    /// Keep footnote marks such as `[3]` in the text of pages from `api` and `html`; `paper` always keeps them.
    #[arg(long)]
    pub(super) keep_footnotes: bool,
    /// Requests to the site at once at most, fewer while it refuses some [default: 1 for public sites, else 64].
    #[arg(long, value_name = "N")]
    pub(super) wiki_concurrency: Option<NonZeroUsize>,
    /// Requests to the site in any minute [default: 180 for public sites, else unlimited].
    #[arg(long, value_name = "N")]
    pub(super) wiki_per_minute: Option<NonZeroU32>,
    /// Longest wait for one whole page, in seconds [default: 30].
    #[arg(long, value_name = "SECONDS")]
    pub(super) wiki_timeout: Option<NonZeroU64>,
}

/// A source that is ready, and what a record says about it.
#[derive(Clone)]
pub(super) struct BuiltWiki {
    /// The source, to be shared by all sessions.
    pub(super) source: Arc<dyn Source>,
    /// Base URL of the site, or digest of the corpus.
    pub(super) origin: Option<String>,
    /// The source as it was named, with `+footnotes` where it keeps their marks.
    pub(super) label: String,
}

impl BuiltWiki {
    /// With what was found at hand, so that a search is not made again; a corpus is at hand as it is.
    pub(super) fn at_hand(self) -> Self {
        if self.label.starts_with("corpus:") {
            return self;
        }
        Self { source: Arc::new(AtHand::new(self.source)), ..self }
    }
}

fn wording(name: &str) -> Wording {
    if name == "chinese" { Wording::Chinese } else { Wording::English }
}

fn compat(name: &str) -> Compat {
    if name == Compat::Paper.name() { Compat::Paper } else { Compat::Fixed }
}

impl WikiArgs {
    /// Makes the source, whose requests wait at the limiter of its site. Sends nothing; a corpus is read whole.
    pub(super) fn build(&self, limiters: &Arc<Limiters>) -> anyhow::Result<BuiltWiki> {
        let label = self.wiki.as_str();
        if self.wiki_url.is_some() && self.is_corpus() {
            return Err(Failure::usage(
                format!(
                    "--wiki-url is about a site, but pages come from `{}`",
                    crate::net::redact::printable(label, 80)
                ),
                "add --wiki api or --wiki html",
            ));
        }
        let base = self.wiki_url.as_deref().unwrap_or(WIKIPEDIA);
        let settings = self.live(limiters);
        let options = ArticleOptions { drop_footnote_marks: !self.keep_footnotes };
        let (source, origin): (Arc<dyn Source>, String) = match self.wiki.split_once(':').unwrap_or((&self.wiki, "")) {
            ("html", "") => {
                let source = HtmlSource::new(base, &settings, options);
                (Arc::new(source.map_err(refused)?), site(base))
            }
            ("api", "") => {
                let source = ApiSource::new(base, &settings, options, LagSettings::default());
                (Arc::new(source.map_err(refused)?), site(base))
            }
            ("corpus", dir) if !dir.is_empty() => corpus(dir)?,
            _ => {
                let message = format!("`--wiki {}` names no source", crate::net::redact::printable(&self.wiki, 80));
                return Err(Failure::usage(message, "sources are `corpus:DIR`, `api` and `html`"));
            }
        };
        Ok(BuiltWiki { source, origin: Some(origin), label: self.label() })
    }

    /// Whether pages come from a frozen corpus.
    pub(super) fn is_corpus(&self) -> bool {
        self.wiki.starts_with("corpus:")
    }

    /// The source as it was named, and what else decides what it shows: runs that differ in it must not be taken for one.
    fn label(&self) -> String {
        let live = matches!(self.wiki.as_str(), "api" | "html");
        let marks = if live && self.keep_footnotes && self.compat == Compat::Fixed { "+footnotes" } else { "" };
        format!("{}{marks}", self.wiki)
    }

    fn live(&self, limiters: &Arc<Limiters>) -> LiveSettings {
        LiveSettings {
            compat: self.compat,
            contact: self.contact.clone(),
            allow_html: self.allow_html,
            per_minute: self.wiki_per_minute,
            concurrent: self.wiki_concurrency.map(NonZeroUsize::get),
            limiters: Arc::clone(limiters),
            timeout: self.wiki_timeout.map(|seconds| Duration::from_secs(seconds.get())),
            ..LiveSettings::default()
        }
    }
}

/// The address for the record: without user part and query.
fn site(base: &str) -> String {
    crate::net::redact::url(base)
}

fn refused(error: MannersError) -> anyhow::Error {
    let hint = error.hint().unwrap_or("check `--wiki-url`");
    Failure::usage(error, hint)
}

/// The corpus in a folder, or the one that the program carries under that path.
#[cfg(feature = "index")]
fn corpus(dir: &str) -> anyhow::Result<(Arc<dyn Source>, String)> {
    use crate::wiki::Corpus;
    use std::path::Path;
    let file = format!("{}/articles.jsonl", dir.trim_end_matches('/'));
    let shipped = super::builtin::file(&file).filter(|_| !Path::new(dir).exists());
    let corpus = match shipped {
        Some(bytes) => Corpus::from_jsonl(dir, bytes),
        None => Corpus::from_dir(Path::new(dir)),
    };
    let corpus = corpus.map_err(|error| {
        let hint = error.hint().unwrap_or("is there enough memory?");
        Failure::bad_input(error, hint)
    })?;
    let sha256 = corpus.sha256().to_owned();
    Ok((Arc::new(corpus), sha256))
}

#[cfg(not(feature = "index"))]
fn corpus(dir: &str) -> anyhow::Result<(Arc<dyn Source>, String)> {
    let message = format!("`--wiki corpus:{dir}` needs the text index, which this program was built without");
    Err(Failure::usage(message, "build with `--features index`, or use `--wiki api`"))
}
