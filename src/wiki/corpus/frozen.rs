//! A corpus that was frozen from a site: what is kept of each title while it is fetched, and what is built of it.

use super::manifest::{Freeze, License};
use super::queries::{self, Answer};
use crate::wiki::site_page::{LeftOut, SitePage};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

/// The file that names what was left out.
const LEFT_OUT: &str = "left-out.jsonl";

/// A line of what was fetched. The first line of its file says of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Kept {
    /// A title that leads to a page.
    Page {
        /// The title that was asked for.
        asked: String,
        /// That of the page.
        title: String,
        /// Titles of the redirects between them.
        names: Vec<String>,
        /// Titles that the lead links to, as many as were wanted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        links: Vec<String>,
        /// The page; absent where another line has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        page: Option<SitePage>,
    },
    /// A title without a page.
    LeftOut {
        /// The title that was asked for.
        asked: String,
        /// Why there is no page.
        reason: LeftOut,
    },
    /// A search that the site was asked.
    Search {
        /// Its words.
        query: String,
        /// What the site answered.
        answer: Answer,
    },
}

/// What is built beside the articles, and said of them.
#[derive(Debug, Clone)]
pub struct Frozen {
    /// Where the pages are from.
    pub facts: Freeze,
    /// Under which terms they may be used.
    pub license: License,
    /// Searches, and what the site answered.
    pub searches: BTreeMap<String, Answer>,
    /// Titles without a page.
    pub left_out: BTreeSet<(LeftOut, String)>,
}

impl Frozen {
    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        if !self.searches.is_empty() {
            queries::write(dir, &self.searches)?;
        }
        if self.left_out.is_empty() {
            return Ok(());
        }
        let mut file = BufWriter::new(File::create_new(dir.join(LEFT_OUT))?);
        for (reason, title) in &self.left_out {
            serde_json::to_writer(&mut file, &serde_json::json!({ "title": title, "reason": reason }))?;
            file.write_all(b"\n")?;
        }
        file.into_inner()?.sync_all()
    }
}
