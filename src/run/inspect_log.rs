//! A run folder of the answers in a log of Inspect (`inspect_ai`), the JSON form.

mod sample;

use super::error::RunError;
use super::imported;
use super::merge::refuse_target;
use crate::store::{RunFolder, StoreError};
use crate::types::bounded::read_at_most;
use crate::types::json_error;
use crate::types::text::{printable, shell_word, visible_line};
use crate::types::{DatasetRecord, Manifest, Question, Selection, Trajectory, sha256_hex};
use sample::Sample;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::path::Path;

/// Name of the variant of all answers.
const VARIANT: &str = "inspect";

/// The largest log, in bytes.
const LARGEST_LOG: u64 = 1 << 30;

/// The largest sample, its messages and events included, in bytes.
const LARGEST_SAMPLE: usize = 64 << 20;

/// The most samples of one log.
const MOST_SAMPLES: usize = 1_000_000;

/// What to import, and how.
#[derive(Debug)]
pub(crate) struct Import<'a> {
    pub(crate) log: &'a Path,
    pub(crate) out: &'a Path,
    /// The scorer that read the answers from the outputs.
    pub(crate) scorer: Option<&'a str>,
    /// The run whose questions were asked: its ids and golds are taken.
    pub(crate) like: Option<&'a Path>,
    pub(crate) command_line: Vec<String>,
}

/// What was imported.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    pub(crate) episodes: usize,
    pub(crate) not_measured: usize,
    /// Of each first scorer how many it has as right.
    pub(crate) claims: BTreeMap<String, usize>,
    /// Samples that are left out, and why.
    pub(crate) skipped: Vec<String>,
}

#[derive(Deserialize)]
struct Log<'a> {
    version: u64,
    eval: Value,
    #[serde(borrow, default)]
    samples: Option<Samples<'a>>,
}

/// The samples, each to be read by itself, so that a bad one costs no other.
struct Samples<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Samples<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Samples<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of samples")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Samples<'de>, A::Error> {
                let mut samples = Vec::new();
                while let Some(sample) = list.next_element()? {
                    if samples.len() == MOST_SAMPLES {
                        return Err(A::Error::custom(format!("more than {MOST_SAMPLES} samples")));
                    }
                    samples.push(sample);
                }
                Ok(Samples(samples))
            }
        }

        deserializer.deserialize_seq(Each)
    }
}

/// Writes the answers of a log into a new folder.
pub(crate) fn import(wanted: &Import<'_>) -> Result<Imported, RunError> {
    refuse_target(&RunFolder::at(wanted.out))?;
    let asked = wanted.like.map(Asked::read).transpose()?;
    let mut bytes = read(wanted.log)?;
    let sha256 = sha256_hex([bytes.as_slice()]);
    without_constants(&mut bytes);
    let shown = visible_line(&wanted.log.display().to_string(), 300);
    let not_a_log = |why: &str| {
        let hint =
            "name a log of Inspect, version 2, as `inspect log convert LOG --to json --output-dir DIR` writes it";
        RunError::input(format!("`{shown}` is not a log of Inspect: {why}"), hint)
    };
    let log: Log<'_> = serde_json::from_slice(&bytes).map_err(|error| not_a_log(&json_error::in_file(&error)))?;
    if log.version > 2 {
        return Err(not_a_log(&format!("its version is {}", log.version)));
    }
    let mut found = Found { scorer: wanted.scorer, asked, ..Found::default() };
    for (at, text) in log.samples.map(|samples| samples.0).unwrap_or_default().into_iter().enumerate() {
        if let Err(why) = found.add(text.get()) {
            found.said.skipped.push(format!("{shown}: sample {}: {}", at + 1, visible_line(&why, 300)));
        }
    }
    if found.episodes.is_empty() {
        let why = found.said.skipped.first().map_or("it has no samples", String::as_str);
        return Err(RunError::input(
            format!("`{shown}` holds no answer: {why}"),
            "name a log with its samples: `inspect eval --log-samples` keeps them",
        ));
    }
    found.write(wanted, &log.eval, sha256)
}

/// The log's bytes. The packed form is known by its first two.
fn read(path: &Path) -> Result<Vec<u8>, RunError> {
    let shown = visible_line(&path.display().to_string(), 300);
    let cannot = |error: std::io::Error| RunError::input(format!("cannot read `{shown}`: {error}"), "check the path");
    let bytes = File::open(path).and_then(|file| read_at_most(file, LARGEST_LOG)).map_err(cannot)?;
    if bytes.starts_with(b"PK") {
        let word = shell_word(&shown);
        return Err(RunError::input(
            format!("`{shown}` is a packed log, and the JSON form is needed"),
            format!("write it: inspect log convert {word} --to json --output-dir json"),
        ));
    }
    Ok(bytes)
}

/// Python writes NaN and infinities, which JSON does not have: they become empty texts of the same length. No figure that is
/// read here is one.
fn without_constants(bytes: &mut [u8]) {
    let (mut at, mut in_text) = (0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_text => at += 1,
            b'"' => in_text = !in_text,
            b'N' | b'I' | b'-' if !in_text => {
                let constants: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
                if let Some(constant) = constants.into_iter().find(|constant| bytes[at..].starts_with(constant)) {
                    let end = at + constant.len();
                    bytes[at..end].fill(b' ');
                    bytes[at..at + 2].fill(b'"');
                    at = end - 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// The questions of another run.
struct Asked {
    dataset: DatasetRecord,
    /// By text: id, position, golds.
    questions: HashMap<String, Vec<(String, usize, Vec<String>)>>,
}

impl Asked {
    fn read(path: &Path) -> Result<Self, RunError> {
        let folder = RunFolder::open(path)?;
        let dataset = folder.manifest()?.dataset;
        let mut questions: HashMap<String, Vec<(String, usize, Vec<String>)>> = HashMap::new();
        let mut known = HashSet::new();
        for trajectory in folder.records()?.iter() {
            let Trajectory { id, index, question, answers, .. } = trajectory?;
            if known.insert(id.clone()) {
                questions.entry(question.trim().to_owned()).or_default().push((id, index, answers));
            }
        }
        Ok(Self { dataset, questions })
    }

    /// Gives an episode the id, the position and the golds that the run has for its question.
    fn name(&self, episode: &mut Trajectory) -> Result<(), String> {
        let same = self.questions.get(episode.question.trim()).map(Vec::as_slice).unwrap_or_default();
        let found = match same {
            [one] => Some(one),
            several => several.iter().find(|(id, ..)| *id == episode.id),
        };
        let (id, index, answers) = found.ok_or("the run of --like has no such question")?;
        (episode.id, episode.index, episode.answers) = (id.clone(), *index, answers.clone());
        Ok(())
    }
}

/// What the log holds.
#[derive(Default)]
struct Found<'a> {
    scorer: Option<&'a str>,
    asked: Option<Asked>,
    episodes: Vec<Trajectory>,
    /// Position of each question by its id, with its text.
    questions: HashMap<String, (usize, String)>,
    seen: HashSet<(String, u32)>,
    said: Imported,
}

impl Found<'_> {
    /// Takes a sample as an episode, or says why it is none.
    fn add(&mut self, text: &str) -> Result<(), String> {
        if text.len() > LARGEST_SAMPLE {
            return Err(format!("it is larger than {} MiB", LARGEST_SAMPLE >> 20));
        }
        let sample: Sample = serde_json::from_str(text).map_err(|error| json_error::in_line(&error))?;
        let mut episode = sample.episode(VARIANT, self.scorer)?;
        let next = self.questions.len();
        match &self.asked {
            Some(asked) => asked.name(&mut episode)?,
            None => episode.index = self.questions.get(&episode.id).map_or(next, |(index, _)| *index),
        }
        let name = (episode.id.clone(), episode.repeat);
        if self.seen.contains(&name) {
            return Err(format!("another sample has its id and epoch: {}, {}", name.0, name.1 + 1));
        }
        let known = self.questions.entry(episode.id.clone());
        if known.or_insert_with(|| (episode.index, episode.question.clone())).1 != episode.question {
            return Err(format!("another sample with the id {} has another question", episode.id));
        }
        episode.key = sha256_hex([VARIANT.as_bytes(), b"\n", text.as_bytes()]);
        self.seen.insert(name);
        self.said.episodes += 1;
        self.said.not_measured += usize::from(!episode.measured());
        if let Some((scorer, right)) = sample.claim() {
            *self.said.claims.entry(scorer.to_owned()).or_default() += usize::from(right);
        }
        self.episodes.push(episode);
        Ok(())
    }

    fn write(self, wanted: &Import<'_>, eval: &Value, sha256: String) -> Result<Imported, RunError> {
        let manifest = self.manifest(wanted, eval, sha256);
        let name = &manifest.dataset.name;
        let question = |episode: &Trajectory| Question {
            dataset: name.clone(),
            index: episode.index,
            ..Question::new(&episode.id, &episode.question, episode.answers.clone())
        };
        let mut written = HashSet::new();
        let first = |episode: &&Trajectory| written.insert(episode.id.clone());
        RunFolder::build(wanted.out, |new| {
            new.write_manifest(&manifest)?;
            new.write_questions(self.episodes.iter().filter(first).map(question))?;
            let lock = new.lock(None)?;
            let mut appender = new.appender(&lock)?;
            appender.append(self.episodes.iter())?;
            Ok::<(), StoreError>(())
        })?;
        Ok(self.said)
    }

    fn manifest(&self, wanted: &Import<'_>, eval: &Value, sha256: String) -> Manifest {
        let text = |value: &Value| value.as_str().map(|text| printable(text, 200)).filter(|text| !text.is_empty());
        let count = self.questions.len();
        let own = || DatasetRecord {
            name: text(&eval["dataset"]["name"]).unwrap_or_else(|| VARIANT.to_owned()),
            path: wanted.log.display().to_string(),
            format: VARIANT.to_owned(),
            columns: BTreeMap::new(),
            sha256,
            questions: count,
            selection: Selection::default(),
            ids_file: None,
            selected: count,
        };
        let dataset = self.asked.as_ref().map_or_else(own, |asked| asked.dataset.clone());
        let repeats = self.episodes.iter().map(|episode| episode.repeat + 1).max().unwrap_or(1);
        let model = text(&eval["model"]).unwrap_or_else(|| "unknown".to_owned());
        let mut variant = imported::variant(VARIANT, model);
        variant.prompt = text(&eval["task"]).unwrap_or(variant.prompt);
        imported::manifest(variant, dataset, repeats, wanted.command_line.clone())
    }
}
