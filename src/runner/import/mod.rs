//! Folders of episodes that other programs recorded.
//!
//! | file | what it holds |
//! |---|---|
//! | `inspect` | a folder of the answers in logs of Inspect; the run whose questions they answer |
//! | `inspect_file` | reading logs, packed ones too, one sample at a time |
//! | `inspect_sample` | a sample as a trajectory, and the log's settings as a variant |
//! | `notebook` | a folder of episodes that the paper's notebooks recorded |

mod inspect;
mod inspect_file;
mod inspect_sample;
mod notebook;

pub(crate) use inspect::{InspectImport, import_inspect};
pub(crate) use inspect_sample::AnswerFrom;
pub(crate) use notebook::{NotebookImported, import_notebook};

use crate::base::manifest::{MANIFEST_VERSION, UNKNOWN};
use crate::base::{DatasetRecord, DecodingRecord, Manifest, Variant, Wording};
use std::collections::BTreeMap;

const NEW_FOLDER: &str = "name a new folder with --out";

fn imported_manifest(
    variants: Vec<Variant>,
    dataset: DatasetRecord,
    repeats: u32,
    command_line: Vec<String>,
) -> Manifest {
    Manifest {
        v: MANIFEST_VERSION,
        variants,
        retired: Vec::new(),
        stop_when: None,
        stop_looked: 0,
        repeats,
        experiment: None,
        dataset,
        wikitrail: env!("CARGO_PKG_VERSION").to_owned(),
        git_revision: None,
        command_line,
        started_at: String::new(),
        ended_at: None,
        logs: Vec::new(),
        defaults: BTreeMap::new(),
        files: BTreeMap::new(),
        active_ms: 0,
        limit_history: Vec::new(),
        paid: BTreeMap::new(),
    }
}

/// A variant of which only the model is known.
fn imported_variant(name: &str, model: String) -> Variant {
    let unknown = || UNKNOWN.to_owned();
    Variant {
        name: name.to_owned(),
        repeats: None,
        protocol: unknown(),
        protocol_version: 1,
        options: BTreeMap::new(),
        method: unknown(),
        voting: None,
        oracle_context: false,
        max_steps: None,
        prompt: unknown(),
        prompt_sha256: String::new(),
        direct_prompt_sha256: None,
        texts: None,
        instruction: None,
        shots: None,
        exemplar_order: None,
        exemplar_seed: None,
        question_label: unknown(),
        model,
        endpoint: unknown(),
        base_url: None,
        price: None,
        decoding: DecodingRecord::default(),
        not_sent: Vec::new(),
        direct_max_tokens: None,
        wiki: unknown(),
        wiki_origin: None,
        compat: None,
        wording: Wording::default(),
        settings: BTreeMap::new(),
    }
}
