//! What a corpus says of itself, beside its articles: in its folder, and in the first line of a pack.

use super::CorpusError;
use super::frozen::{self, NoPage};
use super::manifest::{self, Build, Manifest};
use super::queries::{self, SearchAnswer};
use crate::types::bounded::LONGEST_LINE;
use crate::types::json_error;
use crate::wiki::site_page::LeftOut;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

/// Keys of the manifest that are true of one folder only.
const OF_THE_FOLDER: [&str; 2] = ["build", "files"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About {
    pub(super) manifest: Manifest,
    /// Searches that were frozen with it.
    pub(super) searches: BTreeMap<String, SearchAnswer>,
    /// Titles without a page in what was frozen.
    pub(super) left_out: BTreeSet<(LeftOut, String)>,
}

/// The first line of a pack.
#[derive(Serialize, Deserialize)]
struct Head<T> {
    corpus: T,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    searches: Vec<queries::SearchLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<NoPage>,
}

impl About {
    /// From a folder that was built.
    pub(super) fn of_folder(dir: &Path, manifest: Manifest) -> Result<Self, CorpusError> {
        let searches = queries::read_searches(dir, &manifest)?.into_iter().collect();
        let left_out = frozen::read_left_out(dir, &manifest)?;
        Ok(Self { manifest, searches, left_out })
    }

    /// Writes the first line of a pack.
    pub(super) fn write_line(&self, out: &mut impl Write) -> io::Result<()> {
        let mut corpus = serde_json::to_value(&self.manifest)?;
        if let Some(corpus) = corpus.as_object_mut() {
            corpus.retain(|key, _| !OF_THE_FOLDER.contains(&key.as_str()));
        }
        let searches = self.searches.iter().map(|(query, answer)| (query.clone(), answer.clone()).into());
        let left_out = self.left_out.iter().cloned().map(NoPage::from);
        let head = Head { corpus, searches: searches.collect(), left_out: left_out.collect() };
        let line = serde_json::to_vec(&head)?;
        if line.len() as u64 >= LONGEST_LINE {
            let what = format!("its frozen searches take more than {} MiB", LONGEST_LINE >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        out.write_all(&line)?;
        out.write_all(b"\n")
    }

    /// Whether a line is meant to be the first one of a pack.
    pub(super) fn is_meant(line: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Meant {
            #[serde(rename = "corpus")]
            _corpus: serde::de::IgnoredAny,
        }
        serde_json::from_slice::<Meant>(line).is_ok()
    }

    /// Reads a line that is meant to be the first one of a pack; what is wrong with it is said in words.
    pub(super) fn parse(line: &[u8]) -> Option<Result<Self, String>> {
        Self::is_meant(line).then(|| Self::read(line))
    }

    fn read(line: &[u8]) -> Result<Self, String> {
        let wrong = |reason: &dyn Display| format!("`corpus`: {reason}");
        let head: Head<Map<String, Value>> =
            serde_json::from_slice(line).map_err(|error| wrong(&json_error::in_line(&error)))?;
        let mut corpus = head.corpus;
        match corpus.get("format").and_then(Value::as_u64) {
            Some(found) if found > u64::from(manifest::FORMAT) => {
                let newest = manifest::FORMAT;
                return Err(wrong(&format_args!(
                    "it has format {found}, and this version reads formats up to {newest}"
                )));
            }
            _ => {}
        }
        let folder = [json!(Build::current()), json!({})];
        corpus.extend(OF_THE_FOLDER.map(str::to_owned).into_iter().zip(folder));
        let manifest: Manifest =
            serde_json::from_value(corpus.into()).map_err(|error| wrong(&json_error::in_line(&error)))?;
        let text = toml::to_string(&manifest).map_err(|error| wrong(&error))?;
        // What cannot be read again would be known only when the corpus is built.
        text.parse::<toml::Table>().map_err(|error| wrong(&error.message()))?;
        if text.len() as u64 > manifest::LARGEST / 2 {
            return Err(wrong(&"it is larger than 512 KiB"));
        }
        let searches = head.searches.into_iter().map(<(String, SearchAnswer)>::from).collect();
        let left_out = head.left_out.into_iter().map(<(LeftOut, String)>::from).collect();
        Ok(Self { manifest, searches, left_out })
    }
}
