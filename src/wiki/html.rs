//! Text out of HTML pages, in two readings: the paper's ([`paper_page`]) and the article body only ([`article()`]).
//!
//! Both are plain functions from text to owned data, to be called on a blocking thread.

mod article;
mod entities;
mod html5;
mod marks;
mod page;
mod paper;
mod start_tag;
mod tokens;
mod tree;

pub use article::{Article, ArticleOptions, PageKind, article};
pub use paper::{PaperPage, paper_page};

/// Why a page has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// A declaration that `html.parser` raises on; the paper's environment dies here.
    #[error("the page's markup was rejected by the parser")]
    Rejected,
    /// Lists nested so deep that their repeated text outgrows the page many times.
    #[error("the page's blocks repeat each other beyond all measure")]
    TooMuchText,
    /// Markup that stands for far more elements or attributes than its length accounts for.
    #[error("the page's markup unfolds beyond all measure")]
    TooMuchMarkup,
    /// Elements nested deeper than any browser follows.
    #[error("the page's elements are nested more than {} deep", tree::DEEPEST)]
    TooDeep,
}

impl ExtractError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Rejected | Self::TooMuchText => Some("`--compat fixed` reads such a page"),
            Self::TooMuchMarkup | Self::TooDeep => {
                Some("no real article is like that: check that `--wiki-url` names a MediaWiki site")
            }
        }
    }
}

#[cfg(test)]
mod tests;
