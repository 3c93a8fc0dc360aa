//! `verdicts.jsonl` and `classifications.jsonl`: reading them, appending to them, and taking them along.

use super::verdict::Answer;
use super::verdict::{Chosen, Judge, JudgeTask, Judgement, Line, Rule, VERDICT_VERSION, Verdict, key};
use crate::base::json_error;
use crate::base::text::is_control;
use crate::runner::store::{RunFolder, Skipped, StoreError, carry_lines, read_lines};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The verdicts of a run, or its readings.
#[derive(Debug)]
pub(crate) struct Verdicts<V = Verdict> {
    by_key: HashMap<String, Judgement<V>>,
    /// In the order in which they first judged.
    pub(crate) judges: Vec<KnownJudge>,
    pub(crate) skipped: Vec<Skipped>,
}

/// A judge of a run, and how its answers were chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct KnownJudge {
    pub(crate) judge: Judge,
    pub(crate) rule: Rule,
}

/// The rule of verdicts whose own one is lost: what was judged is what there is.
const UNKNOWN: Rule = Rule { judged: Chosen::WrongByEm, audit: 0, seed: 0 };

impl<V> Default for Verdicts<V> {
    fn default() -> Self {
        Self { by_key: HashMap::new(), judges: Vec::new(), skipped: Vec::new() }
    }
}

impl<V: JudgeTask> Verdicts<V> {
    /// Reads those of a run, if there are any. Lines that cannot be read are left out and listed.
    pub(crate) fn read(folder: &RunFolder) -> Result<Self, StoreError> {
        let (lines, skipped) = read_lines(&V::file(folder), parse::<V>)?;
        let mut read = Self { skipped, ..Self::default() };
        for line in lines {
            match line {
                Line::Rule(record) => {
                    let known = read.judge(&record.judge);
                    // Who was asked about everything once has been asked about everything.
                    if known.rule.judged != Chosen::All {
                        known.rule = record.rule;
                    }
                }
                Line::Verdict(one) => {
                    read.judge(&one.judge);
                    read.by_key.entry(one.key.clone()).or_insert(*one);
                }
            }
        }
        Ok(read)
    }

    fn judge(&mut self, judge: &Judge) -> &mut KnownJudge {
        let at = self.judges.iter().position(|known| known.judge == *judge).unwrap_or_else(|| {
            self.judges.push(KnownJudge { judge: judge.clone(), rule: UNKNOWN });
            self.judges.len() - 1
        });
        &mut self.judges[at]
    }

    pub(crate) fn of(&self, judge: &Judge, answer: &Answer) -> Option<&Judgement<V>> {
        self.by_key.get(&key(judge, answer))
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.by_key.contains_key(key)
    }

    pub(crate) fn by<'a>(&'a self, judge: &'a Judge) -> impl Iterator<Item = &'a Judgement<V>> {
        self.by_key.values().filter(move |one| one.judge == *judge)
    }

    /// The names of the judges behind `judge:` or `model:`: the model's, with a digest where a model judged in several ways.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |known: &KnownJudge| {
            let model = &known.judge.model;
            let alone = self.judges.iter().filter(|other| other.judge.model == *model).count() == 1;
            let digest =
                &crate::base::sha256_hex([serde_json::to_string(&known.judge).unwrap_or_default().as_bytes()])[..8];
            let plain: String = model.chars().filter(|c| !is_control(*c) && ![',', '|'].contains(c)).take(40).collect();
            if alone { format!("{}:{plain}", V::NAME) } else { format!("{}:{plain}#{digest}", V::NAME) }
        };
        self.judges.iter().map(name).collect()
    }

    /// A warning for each line that cannot be read.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.skipped
            .iter()
            .map(|Skipped { path, line, reason }| format!("warning: {}:{line}: {reason}; left out", path.display()))
    }
}

fn parse<V: JudgeTask>(line: &[u8]) -> Result<Line<V>, String> {
    /// What tells the two kinds of lines apart, so that an error is about the kind that was meant.
    #[derive(Deserialize)]
    struct Kind {
        rule: Option<IgnoredAny>,
        v: Option<u64>,
    }
    let bad = |error| format!("not a {}: {}", V::LINE, json_error::in_line(&error));
    let Kind { rule, v } = serde_json::from_slice(line).map_err(bad)?;
    match v {
        Some(v) if v > u64::from(VERDICT_VERSION) => {
            Err(format!("format version {v}, and this program reads up to {VERDICT_VERSION}"))
        }
        _ if rule.is_some() => Ok(Line::Rule(serde_json::from_slice(line).map_err(bad)?)),
        _ => Ok(Line::Verdict(serde_json::from_slice(line).map_err(bad)?)),
    }
}

/// Writes the verdicts of several folders of one run into a new one, each line once, with the prompts that they name.
pub(crate) fn carry<V: JudgeTask>(folders: &[&RunFolder], new: &RunFolder) -> Result<Vec<String>, StoreError> {
    let notes = carry_lines(folders.iter().map(|folder| V::file(folder)), &V::file(new), parse::<V>)?;
    for known in &Verdicts::<V>::read(new)?.judges {
        let sha256 = &known.judge.prompt_sha256;
        let texts = folders.iter().filter_map(|folder| folder.prompt(sha256).ok());
        let mut whole = texts.filter(|text| crate::base::sha256_hex([text.as_bytes()]) == *sha256);
        if let Some(text) = whole.next() {
            new.write_prompt(sha256, &text)?;
        }
    }
    Ok(notes)
}

impl Verdicts {
    pub(crate) fn counts(&self, judge: &Judge) -> [usize; 4] {
        Verdict::ALL.map(|verdict| self.by(judge).filter(|one| one.verdict == verdict).count())
    }
}
