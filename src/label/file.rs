//! `annotations.jsonl`: reading it, appending to it, and taking it along.

use super::Annotation;
use crate::store::{RunFolder, Skipped, StoreError};
use crate::tape::LineFile;
use crate::types::bounded::{read_line, too_long};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a file is tried that another process holds: it does so for one line.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// The judgements on the episodes of a run.
#[derive(Debug, Default)]
pub(crate) struct Annotations {
    /// All of them, in the order of the file.
    all: Vec<Annotation>,
    /// Lines that are left out.
    pub(crate) skipped: Vec<Skipped>,
}

impl Annotations {
    /// Reads those of a run, if there are any. Lines that cannot be read are left out and listed.
    pub(crate) fn read(folder: &RunFolder) -> Result<Self, StoreError> {
        let mut read = Self::default();
        each_line(&folder.annotations(), |number, line| match line.and_then(|line| parse(&line)) {
            Ok(annotation) => read.all.push(annotation),
            Err(reason) => read.skipped.push(Skipped { path: folder.annotations(), line: number, reason }),
        })?;
        Ok(read)
    }

    /// All of them, in the order of the file, also those that later ones replace.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Annotation> {
        self.all.iter()
    }

    /// The latest judgement of each person on each episode, by person and then in the order of the file. What was withdrawn
    /// is left out.
    pub(crate) fn latest(&self) -> Vec<&Annotation> {
        let mut latest: HashMap<(&str, &str), (usize, &Annotation)> = HashMap::new();
        for (at, annotation) in self.all.iter().enumerate() {
            let known = latest.entry((&annotation.key, &annotation.by)).or_insert((at, annotation));
            if annotation.time() >= known.1.time() {
                *known = (at, annotation);
            }
        }
        let mut latest: Vec<_> = latest.into_values().filter(|(_, annotation)| !annotation.is_empty()).collect();
        latest.sort_by(|a, b| (&a.1.by, a.0).cmp(&(&b.1.by, b.0)));
        latest.into_iter().map(|(_, annotation)| annotation).collect()
    }

    /// The latest of each person, by the episode's key.
    pub(crate) fn by_key(&self) -> BTreeMap<&str, Vec<&Annotation>> {
        let mut by_key: BTreeMap<&str, Vec<&Annotation>> = BTreeMap::new();
        for annotation in self.latest() {
            by_key.entry(&annotation.key).or_default().push(annotation);
        }
        by_key
    }

    /// A warning for each line that cannot be read.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.skipped
            .iter()
            .map(|Skipped { path, line, reason }| format!("warning: {}:{line}: {reason}; left out", path.display()))
    }
}

fn parse(line: &[u8]) -> Result<Annotation, String> {
    let annotation: Annotation =
        serde_json::from_slice(line).map_err(|error| format!("not a judgement: {}", without_place(&error)))?;
    annotation.fault().map_or(Ok(annotation), Err)
}

/// What a JSON error says; the line within a line is always the first.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let column = || text.rsplit_once(" column ").map(|(_, column)| column);
    match (text.rsplit_once(" at line "), column()) {
        (Some((what, _)), Some(column)) if column != "0" => format!("{what} at column {column}"),
        (Some((what, _)), _) => what.to_owned(),
        _ => text,
    }
}

/// Shows every line that is not empty, with its number, or why it cannot be read. A file that is absent has none.
fn each_line(path: &Path, mut look: impl FnMut(usize, Result<Vec<u8>, String>)) -> Result<(), StoreError> {
    // A pipe has no end, and is nothing that this program wrote.
    if !path.is_file() {
        return Ok(());
    }
    let file = File::open(path).map_err(StoreError::io("read", path))?;
    let (mut reader, mut line) = (BufReader::new(file), Vec::new());
    for number in 1.. {
        let length = read_line(&mut reader, &mut line).map_err(StoreError::io("read", path))?;
        if length == 0 {
            break;
        }
        let torn = length == line.len() && line.last() != Some(&b'\n') && !is_json(&line);
        match too_long(&line, length) {
            Some(why) => look(number, Err(why)),
            None if torn => look(number, Err("the last line is incomplete".to_owned())),
            None if line.trim_ascii().is_empty() => {}
            None => look(number, Ok(line.trim_ascii().to_vec())),
        }
    }
    Ok(())
}

fn is_json(line: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

/// Appends judgements to those of a run and waits until they are on disk. The file is held for this long only, so that
/// several people can judge at once. An incomplete last line is removed.
pub(crate) fn append(folder: &RunFolder, annotations: &[Annotation]) -> Result<(), StoreError> {
    let path = folder.annotations();
    let mut lines = Vec::new();
    for annotation in annotations {
        serde_json::to_writer(&mut lines, annotation)
            .map_err(|error| StoreError::io("append to", &path)(error.into()))?;
        lines.push(b'\n');
    }
    append_lines(path, &lines)
}

fn append_lines(path: PathBuf, lines: &[u8]) -> Result<(), StoreError> {
    let mut file = LineFile::open(&path)?;
    let mut attempts = 1;
    while !file.lock()? {
        if attempts == ATTEMPTS {
            return Err(StoreError::Locked { path, holder: None });
        }
        attempts += 1;
        std::thread::sleep(PAUSE);
    }
    let tail = file.tail()?;
    file.repair(&tail, is_json(&tail))?;
    Ok(file.append(lines)?)
}

/// Writes the judgements of several folders of one run into a new one, each line once. Lines that cannot be read are kept,
/// apart from incomplete ones, and noted.
pub(crate) fn carry(folders: &[&RunFolder], new: &RunFolder) -> Result<Vec<String>, StoreError> {
    let (mut known, mut lines, mut notes) = (HashSet::new(), Vec::new(), Vec::new());
    for folder in folders {
        let path = folder.annotations();
        each_line(&path, |number, line| match line {
            Ok(line) if known.insert(line.clone()) => {
                lines.extend_from_slice(&line);
                lines.push(b'\n');
            }
            Ok(_) => {}
            Err(reason) => notes.push(format!("warning: {}:{number}: {reason}; left out", path.display())),
        })?;
    }
    if !lines.is_empty() {
        append_lines(new.annotations(), &lines)?;
    }
    Ok(notes)
}
