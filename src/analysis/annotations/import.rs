//! Judgements from elsewhere: what a page saved, what another program or a table holds.

use super::{ANNOTATION_VERSION, Annotation, AnnotationClass, Annotations};
use crate::base::json_error;
use crate::base::text::printable;
use crate::dataset::{LineCounter, unguarded};
use crate::runner::store::{Records, StoreError};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The episodes of a run by their keys, each as a judgement that says nothing.
#[derive(Debug, Default)]
pub(crate) struct EpisodeIndex {
    episodes: HashMap<String, Annotation>,
    /// By id, variant and repeat.
    keys: HashMap<(String, String, u32), String>,
    variants: BTreeSet<String>,
    repeats: BTreeSet<u32>,
}

#[derive(Debug, Default)]
pub(crate) struct Imported {
    /// What is new, ready to be appended.
    pub taken: Vec<Annotation>,
    pub known: usize,
    /// Rows that are not taken: the line, from 1, and why.
    pub refused: Vec<(usize, String)>,
    /// Columns of a table that mean nothing here.
    pub unused: Vec<String>,
}

/// A row, of which much may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Row {
    v: Option<u32>,
    key: Option<String>,
    id: Option<String>,
    variant: Option<String>,
    repeat: Option<u32>,
    by: Option<String>,
    at: Option<String>,
    #[serde(deserialize_with = "truth")]
    correct: Option<bool>,
    class: Option<AnnotationClass>,
    step: Option<u32>,
    note: Option<String>,
    #[serde(deserialize_with = "truth")]
    blind: Option<bool>,
    page_sha256: Option<String>,
    started_at: Option<String>,
}

/// A truth value as programs write them: `true`, `1`, `"yes"`.
fn truth<'de, D: Deserializer<'de>>(value: D) -> Result<Option<bool>, D::Error> {
    match Value::deserialize(value)? {
        Value::Null => Ok(None),
        Value::Bool(truth) => Ok(Some(truth)),
        Value::String(word) => yes_or_no(&word).map(Some).map_err(D::Error::custom),
        other => yes_or_no(&other.to_string()).map(Some).map_err(D::Error::custom),
    }
}

const COLUMNS: &str = "key id variant repeat by at correct class step note blind page_sha256 started_at";

impl EpisodeIndex {
    pub(crate) fn of(records: &Records) -> Result<Self, StoreError> {
        let mut shelf = Self::default();
        for trajectory in records.iter() {
            shelf.add(Annotation::of(&trajectory?));
        }
        Ok(shelf)
    }

    pub(super) fn add(&mut self, episode: Annotation) {
        let Annotation { key, id, variant, repeat, .. } = &episode;
        self.variants.insert(variant.clone());
        self.repeats.insert(*repeat);
        self.keys.insert((id.clone(), variant.clone(), *repeat), key.clone());
        self.episodes.insert(key.clone(), episode);
    }

    /// The episode of a row: by its key, else by id, variant and repeat, which may be left out where the run has only one.
    fn find(&self, row: &Row) -> Result<&Annotation, String> {
        if let Some(key) = &row.key {
            let known = self.episodes.get(key).or_else(|| self.episodes.get(unguarded(key))).ok_or_else(|| {
                let id = row.id.as_deref().map(|id| format!(" (question `{}`)", short(id))).unwrap_or_default();
                format!("its episode{id} is not in this run: no key `{}`", short(key))
            })?;
            return refuse_other_run(row, known).map(|()| known);
        }
        let id = row.id.clone().ok_or("it has neither `key` nor `id`")?;
        let variant = only(row.variant.clone(), &self.variants, "variant")?;
        let repeat = only(row.repeat, &self.repeats, "repeat")?;
        let episode = |id: &str, variant: &str| {
            let key = self.keys.get(&(id.to_owned(), variant.to_owned(), repeat))?;
            self.episodes.get(key)
        };
        episode(&id, &variant).or_else(|| episode(unguarded(&id), unguarded(&variant))).ok_or_else(|| {
            let (id, variant) = (short(&id), short(&variant));
            format!("this run has no episode of question `{id}`, variant `{variant}`, repeat {repeat}")
        })
    }
}

/// A page over several runs with the same settings has episodes with the same key.
fn refuse_other_run(row: &Row, known: &Annotation) -> Result<(), String> {
    match (row.started_at.as_deref().filter(|at| !at.is_empty()), &known.started_at) {
        (Some(judged), Some(own)) if judged != own => Err(format!(
            "it judges an episode of another run with the same settings, which began at {}; this run's began at {}",
            short(judged),
            short(own)
        )),
        _ => Ok(()),
    }
}

/// What was given, or the only value that there is.
fn only<T: Clone + Ord>(given: Option<T>, all: &BTreeSet<T>, what: &str) -> Result<T, String> {
    match (given, all.len()) {
        (Some(given), _) => Ok(given),
        (None, 1) => all.first().cloned().ok_or_else(String::new),
        (None, _) => Err(format!("it has neither `key` nor `{what}`, and the run has several")),
    }
}

/// Reads JSON objects, one a line, or CSV with a header; rows that name nobody are `by` this person, and of `now`.
pub(crate) fn import(text: &str, shelf: &EpisodeIndex, known: &Annotations, by: Option<&str>, now: &str) -> Imported {
    let text = text.trim_start_matches('\u{feff}');
    let mut imported = Imported::default();
    let rows = if text.trim_start().starts_with('{') { of_json(text) } else { of_csv(text, &mut imported.unused) };
    let of = |annotation: &Annotation| (annotation.key.clone(), annotation.by.clone());
    let mut latest: HashMap<(String, String), Annotation> =
        known.latest().into_iter().map(|annotation| (of(annotation), annotation.clone())).collect();
    // A file may hold what somebody said before; reading it again adds nothing.
    let mut recorded: HashSet<(String, String, String)> =
        known.all.iter().map(|known| (known.key.clone(), known.by.clone(), known.at.clone())).collect();
    for (line, row) in rows {
        let dated = row.as_ref().is_ok_and(|row| row.at.is_some());
        match row.and_then(|row| annotation(row, shelf, by, now)) {
            Err(why) => imported.refused.push((line, why)),
            Ok(new) => {
                let is_known = latest.get(&of(&new)).is_some_and(|before| before.says(&new));
                let is_news = recorded.insert((new.key.clone(), new.by.clone(), new.at.clone()));
                if is_known || (dated && !is_news) {
                    imported.known += 1;
                } else {
                    latest.insert(of(&new), new.clone());
                    imported.taken.push(new);
                }
            }
        }
    }
    imported
}

fn annotation(row: Row, shelf: &EpisodeIndex, by: Option<&str>, now: &str) -> Result<Annotation, String> {
    let episode = shelf.find(&row)?.clone();
    let by = row.by.filter(|by| !by.is_empty()).or_else(|| by.map(str::to_owned));
    let text = |text: Option<String>| text.filter(|text| !text.is_empty());
    let annotation = Annotation {
        v: row.v.unwrap_or(ANNOTATION_VERSION),
        by: by.ok_or("it does not say who judged: add `by` to it, or --by to the command")?,
        at: text(row.at).unwrap_or_else(|| now.to_owned()),
        correct: row.correct,
        class: row.class,
        step: row.step,
        note: text(row.note),
        blind: row.blind.unwrap_or_default(),
        page_sha256: text(row.page_sha256),
        ..episode
    };
    // A record of ours may withdraw what was said before.
    if annotation.is_empty() && row.v.is_none() {
        return Err("it has neither `correct` nor `class` nor `note`".to_owned());
    }
    annotation.fault().map_or(Ok(annotation), Err)
}

type Rows = Vec<(usize, Result<Row, String>)>;

fn of_json(text: &str) -> Rows {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let row = |line: &str| serde_json::from_str(line).map_err(|error| json_error::in_line(&error));
    lines.map(|(number, line)| (number + 1, row(line))).collect()
}

fn of_csv(text: &str, unused: &mut Vec<String>) -> Rows {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header: Vec<String> = match reader.headers() {
        Ok(header) => header.iter().map(|name| name.trim().to_ascii_lowercase()).collect(),
        Err(error) => return vec![(1, Err(error.to_string()))],
    };
    if !header.iter().any(|name| name == "id" || name == "key") {
        let why = "neither JSON objects nor a table: its first line names no column `id` or `key`";
        return vec![(1, Err(why.to_owned()))];
    }
    unused.extend(header.iter().filter(|name| COLUMNS.split(' ').all(|known| known != *name)).map(|name| short(name)));
    let mut lines = LineCounter::new(text, 1);
    let row = |record: Result<csv::StringRecord, csv::Error>| match record {
        Err(error) => (lines.line_of(error.position()), Err(error.to_string())),
        Ok(record) => {
            let cells = header.iter().zip(record.iter()).filter(|(_, cell)| !cell.is_empty());
            (lines.line_of(record.position()), of_cells(cells))
        }
    };
    let mut rows: Rows = reader.records().map(row).collect();
    if let Some(line) = lines.unclosed(b',') {
        let why = "a quoted cell that begins here is not closed: put a double quote behind it".to_owned();
        rows.pop();
        rows.push((line, Err(why)));
    }
    rows
}

fn of_cells<'a>(cells: impl Iterator<Item = (&'a String, &'a str)>) -> Result<Row, String> {
    let mut row = Map::new();
    for (name, cell) in cells.filter(|(name, _)| COLUMNS.split(' ').any(|known| known == *name)) {
        let value = match name.as_str() {
            "repeat" | "step" => {
                json!(cell.parse::<u32>().map_err(|_| format!("`{name}` is not a whole number: `{}`", short(cell)))?)
            }
            "correct" | "blind" => json!(yes_or_no(cell).map_err(|why| format!("`{name}`: {why}"))?),
            "class" => json!(AnnotationClass::try_from(cell.to_owned())?),
            _ => json!(cell),
        };
        row.insert(name.clone(), value);
    }
    serde_json::from_value(Value::Object(row)).map_err(|error| error.to_string())
}

fn yes_or_no(cell: &str) -> Result<bool, String> {
    match cell.to_ascii_lowercase().as_str() {
        "true" | "1" | "1.0" | "yes" | "right" => Ok(true),
        "false" | "0" | "0.0" | "no" | "wrong" => Ok(false),
        _ => Err(format!(
            "`{}` is neither right nor wrong; use true, yes, right or 1, or false, no, wrong or 0",
            short(cell)
        )),
    }
}

fn short(text: &str) -> String {
    printable(text, 60)
}
