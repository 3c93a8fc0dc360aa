//! `corpus.toml`: what a corpus is, for people and for whoever opens it.

use super::CorpusError;
use crate::base::Compat;
use crate::base::bounded::text_at_most;
use crate::base::named;
use crate::base::text::counted;
use crate::net::recording::Inside;
use crate::wikipedia::api_source::LeftOut;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

pub(super) const SEARCHES_FILE: &str = "queries.jsonl";

/// The file that makes a folder a corpus.
pub(super) const FILE: &str = "corpus.toml";
/// The newest layout of the folder that is read, and the one that is written.
pub(super) const FORMAT: u32 = 1;
/// No manifest is larger, in bytes.
pub(super) const LARGEST: u64 = 1 << 20;

/// What a corpus is. The identity is that of its articles; everything else may differ between equal corpora.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    /// `wt1:` and SHA-256 over the canonical records in title order.
    pub id: String,
    /// What people call it.
    pub name: String,
    pub extent: Extent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// Articles, disambiguation pages included.
    pub articles: u32,
    /// Names that lead to an article and are not its title.
    pub redirects: u64,
    /// Pages that list the articles of one name.
    pub disambiguations: u32,
    pub sentences: Sentences,
    /// Bytes of all texts.
    pub text_bytes: u64,
    pub license: License,
    /// The site that the pages were frozen from, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freeze: Option<Freeze>,
    #[serde(rename = "source")]
    pub sources: Vec<SourceFile>,
    pub names: NameCounts,
    pub build: Build,
    /// Size and SHA-256 of each file.
    pub files: BTreeMap<String, Digest>,
}

named! {
    /// How much of a page an article has.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Extent {
        /// Its first paragraph, or a few.
        Lead = "lead",
        #[default]
        Page = "page",
        Passages = "passages",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sentences {
    /// At least one block is a list of sentences.
    Given,
    /// Blocks are texts.
    None,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct License {
    /// SPDX identifier, or `unknown`.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
}

impl License {
    /// What a license is called that nobody knows.
    pub(super) const UNKNOWN: &str = "unknown";

    pub fn is_known(&self) -> bool {
        self.id != Self::UNKNOWN
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freeze {
    pub site: String,
    /// Its address of a revision, up to the number.
    pub permalink: String,
    /// Which reading of pages the texts are.
    pub compat: Compat,
    /// Whether the texts keep footnote marks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub footnotes: bool,
    /// What the pages are true to.
    pub fidelity: String,
    /// Articles that are gold pages of the questions they were frozen for.
    pub gold_pages: u32,
    /// Searches whose answers are those of the site.
    pub searches: u64,
    /// Titles without a page, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// How it was read.
    pub format: String,
    /// Name of the file, without its folder.
    pub file: String,
    /// The identity, where it was a corpus itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// SHA-256 of the file as it was read; absent for folders and pipes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Articles and redirects that it has, those that were left out included.
    pub rows: u64,
    pub skipped: Skipped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Skipped {
    /// Another article has the title, or another passage the title and the id.
    pub duplicate_title: u64,
    /// The same is there already.
    #[serde(default)]
    pub repeated: u64,
    pub empty: u64,
    pub bad: u64,
}

/// Names that lead nowhere or to more than one article.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NameCounts {
    /// Redirects that were dropped because an article has the name as its title.
    pub redirect_is_title: u64,
    /// Redirects that were dropped because the name leads to another article already.
    pub redirect_twice: u64,
    /// Redirects that were dropped because their target is not there.
    pub redirect_to_nothing: u64,
    /// Redirects that were dropped because they lead in a circle.
    pub redirect_circle: u64,
    /// Names that are the same as another article's without case, accents and punctuation.
    pub collisions: u64,
}

impl NameCounts {
    /// With what another build had dropped before. Its collisions are still there, and were counted.
    #[must_use]
    pub(super) fn with_dropped(self, before: &Self) -> Self {
        Self {
            redirect_is_title: self.redirect_is_title.saturating_add(before.redirect_is_title),
            redirect_twice: self.redirect_twice.saturating_add(before.redirect_twice),
            redirect_to_nothing: self.redirect_to_nothing.saturating_add(before.redirect_to_nothing),
            redirect_circle: self.redirect_circle.saturating_add(before.redirect_circle),
            collisions: self.collisions,
        }
    }
}

/// The rules that a corpus was built by. One of other rules is built anew, not misread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    pub wikitrail: String,
    /// Version of the folding of names and words.
    pub fold: u32,
    /// Version of the ranking of similar titles.
    pub rank: u32,
    pub index: String,
}

impl Build {
    pub(super) fn current() -> Self {
        Self {
            wikitrail: env!("CARGO_PKG_VERSION").to_owned(),
            fold: 1,
            rank: 3,
            index: format!("tantivy-{}", tantivy::INDEX_FORMAT_VERSION),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    pub bytes: u64,
    pub sha256: String,
}

impl Manifest {
    pub(super) const FORMAT: u32 = FORMAT;

    pub fn read(dir: &Path) -> Result<Self, CorpusError> {
        let path = dir.join(FILE);
        let text = Inside::of(dir).and_then(|dir| dir.open(&path)).and_then(|file| text_at_most(file, LARGEST));
        let text =
            text.map_err(|error| CorpusError::Read { path: path.display().to_string(), reason: error.to_string() })?;
        let damaged = |reason: String| CorpusError::Damaged { file: path.display().to_string(), reason };
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| damaged(error.message().to_owned()))?;
        match table.get("format").and_then(toml::Value::as_integer) {
            Some(found) if found > i64::from(FORMAT) => {
                return Err(CorpusError::Other {
                    file: path.display().to_string(),
                    what: format!("has format {found}, and this version reads formats up to {FORMAT}"),
                });
            }
            _ => {}
        }
        let manifest: Self = table.try_into().map_err(|error: toml::de::Error| damaged(error.message().to_owned()))?;
        let Build { fold, index, .. } = Build::current();
        let built = &manifest.build;
        if (built.fold, &built.index) != (fold, &index) || built.rank > Build::current().rank {
            return Err(CorpusError::Other {
                file: path.display().to_string(),
                what: format!(
                    "was built by rules of wikitrail {}, which differ from those of this version",
                    built.wikitrail
                ),
            });
        }
        Ok(manifest)
    }

    /// How many articles of what kind it has, in words.
    pub fn contents(&self) -> String {
        let extent = match self.extent {
            Extent::Lead => "leads",
            Extent::Page => "pages",
            Extent::Passages => "passages",
        };
        let sentences = if self.sentences == Sentences::Given { ", sentences given" } else { "" };
        format!("{} ({extent}{sentences})", counted(self.articles, "article"))
    }

    /// What a run over it depends on: the articles, and the searches that were frozen with them.
    pub(super) fn identity(&self) -> String {
        let searches = self.files.get(SEARCHES_FILE).and_then(|file| file.sha256.get(..16));
        searches.map_or_else(|| self.id.clone(), |searches| format!("{}+{searches}", self.id))
    }

    pub(super) fn bytes(&self) -> u64 {
        self.files.values().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }
}
