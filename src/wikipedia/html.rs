//! Text from HTML pages, read as the paper's environment does ([`paper_page`]) or the article only ([`article()`]).
//!
//! Both functions take markup and return owned data. They can take many milliseconds: call them on a blocking thread.

mod article;
mod paper;
mod tree;

#[cfg(feature = "index")]
pub(crate) use article::article_among;
pub use article::{Article, ArticleOptions, PageKind, article, describe, lead_links};
pub use paper::{PaperPage, paper_page};

/// Why a page has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// `html.parser` raises an exception on a declaration, which ends an episode in the paper's environment.
    #[error("the page's markup was rejected by the parser")]
    Rejected,
    /// Lists are nested so deeply that their repeated text is many times longer than the page.
    #[error("the page's nested lists repeat too much text")]
    TooMuchText,
    /// The markup expands to far more elements or attributes than a page of its length has.
    #[error("the page's markup has too many elements or attributes for its length")]
    TooMuchMarkup,
    /// Elements are nested deeper than browsers allow.
    #[error("the page's elements are nested more than {} deep", tree::MAX_DEPTH)]
    TooDeep,
}

impl ExtractError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Rejected | Self::TooMuchText => Some("`--compat fixed` reads such a page"),
            Self::TooMuchMarkup | Self::TooDeep => {
                Some("no article looks like this; check that `--wiki-url` is a MediaWiki site")
            }
        }
    }
}

#[cfg(test)]
mod tests;
