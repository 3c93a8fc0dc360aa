//! `stop_when`: looking at two variants after every question, in the order of the plan.
//!
//! A look takes the questions up to the first that is not finished under both variants, whatever else has ended: what ends
//! first is what is quick, and would favour quick answers.

use super::error::RunError;
use super::plan::Due;
use crate::base::stats::Betting;
use crate::base::text::{closest, counted, printable};
use crate::base::{Manifest, Question, Selection, Shard, StopRule, Stopping, Trajectory, locked};
use crate::runner::experiment::DatasetSpec;
use crate::runner::store::{Records, RunFolder};
use crate::scoring::{Tally, score_answers};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

const MAX_LISTED: usize = 8;
/// Seed of the order of the questions where none was given.
const SEED: u64 = 0;

#[derive(Debug)]
pub(crate) struct Watch {
    rule: StopRule,
    places: HashMap<String, usize>,
    repeats: u32,
    tally: Tally,
    /// So many questions were looked at by earlier starts, which did not stop there.
    looked_before: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    questions: Vec<QuestionState>,
    looked: usize,
    betting: Betting,
    sums: [f64; 2],
    left_out: usize,
    decided: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct QuestionState {
    sides: [Side; 2],
    episodes: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Side {
    finished: u32,
    scored: u32,
    sum: f64,
}

impl Side {
    fn mean(self) -> Option<f64> {
        (self.scored > 0).then(|| self.sum / f64::from(self.scored))
    }
}

impl Watch {
    /// The rule of a run with these questions, which has seen nothing; none where the run has no rule.
    fn new<'q>(manifest: &Manifest, questions: impl Iterator<Item = &'q str>) -> Option<Self> {
        let rule = manifest.stop_when.clone()?;
        let mut places: HashMap<String, usize> = HashMap::new();
        for id in questions {
            let at = places.len();
            places.entry(id.to_owned()).or_insert(at);
        }
        let state = State { questions: vec![QuestionState::default(); places.len()], ..State::default() };
        let (state, tally) = (Mutex::new(state), Tally::new(&manifest.dataset.name));
        Some(Self { rule, places, repeats: manifest.repeats, tally, looked_before: manifest.stop_looked, state })
    }

    /// The rule of a run with all that is recorded; none where the run has no rule.
    pub(crate) fn of_records(
        folder: &RunFolder,
        manifest: &Manifest,
        records: &Records,
    ) -> Result<Option<Self>, RunError> {
        if manifest.stop_when.is_none() {
            return Ok(None);
        }
        let Some(questions) = folder.questions(None)? else { return Ok(None) };
        let ids = questions.map(|question| Ok(question?.id)).collect::<Result<Vec<String>, RunError>>()?;
        let Some(watch) = Self::new(manifest, ids.iter().map(String::as_str)) else { return Ok(None) };
        for trajectory in records.iter() {
            watch.saw(&trajectory?);
        }
        Ok(Some(watch))
    }

    /// Takes an episode that has ended, and looks.
    pub(crate) fn saw(&self, trajectory: &Trajectory) {
        let Some(at) = self.places.get(&trajectory.id) else { return };
        let score = self.score(trajectory);
        let mut state = locked(&self.state);
        let seen = &mut state.questions[*at];
        seen.episodes += 1;
        let side = match &trajectory.variant {
            a if *a == self.rule.a => 0,
            b if *b == self.rule.b => 1,
            _ => return,
        };
        let side = &mut seen.sides[side];
        side.finished += 1;
        if let Some(score) = score {
            side.scored += 1;
            side.sum += score;
        }
        self.look(&mut state);
    }

    pub(crate) fn is_decided(&self) -> bool {
        locked(&self.state).decided
    }

    /// Whether a question comes after the one at which it was decided: its episodes were running then, and count for nothing.
    pub(crate) fn is_after_stop(&self, id: &str) -> bool {
        let state = locked(&self.state);
        state.decided && self.places.get(id).is_some_and(|at| *at >= state.looked)
    }

    pub(crate) fn stopping(&self) -> Stopping {
        let state = locked(&self.state);
        let betting = &state.betting;
        let n = betting.questions();
        #[expect(clippy::cast_precision_loss, reason = "counts of questions are far below 2^53")]
        let mean = |sum: f64| (n > 0).then(|| sum / n as f64);
        let interval = betting.interval(self.rule.alpha);
        Stopping {
            rule: self.rule.clone(),
            planned: self.places.len(),
            looked: state.looked,
            decided: state.decided,
            n,
            left_out: state.left_out,
            later: state.questions[state.looked..].iter().map(|seen| seen.episodes).sum(),
            e_value: betting.e_value(),
            a_mean: mean(state.sums[0]),
            b_mean: mean(state.sums[1]),
            difference: betting.mean(),
            low: interval.low,
            high: interval.high,
        }
    }

    /// Looks up to the first unfinished question. One measured after earlier looks must not decide in hindsight.
    fn look(&self, state: &mut State) {
        while !state.decided {
            let Some(QuestionState { sides, .. }) = state.questions.get(state.looked).copied() else { return };
            if sides.iter().any(|side| side.finished < self.repeats) {
                return;
            }
            state.looked += 1;
            match sides.map(Side::mean) {
                [Some(a), Some(b)] => {
                    state.betting.add(b - a);
                    state.sums[0] += a;
                    state.sums[1] += b;
                }
                _ => state.left_out += 1,
            }
            state.decided = state.looked >= self.looked_before && state.betting.e_value() >= self.rule.limit();
        }
    }

    /// The score of an episode; none if it was not measured or has no gold.
    fn score(&self, trajectory: &Trajectory) -> Option<f64> {
        let metric = self.tally.metric_for(&trajectory.answers);
        let score = score_answers(metric, trajectory.answer.as_deref(), &trajectory.answers);
        let score = score.filter(|_| trajectory.measured())?;
        Some(match self.rule.metric.as_str() {
            "em" => score.em,
            "f1" => score.f1,
            "precision" => score.precision,
            _ => score.recall,
        })
    }

    pub(super) fn notes(&self, selection: &Selection) -> Vec<String> {
        let rule = format!("stop rule: {}", self.rule);
        if self.is_decided() {
            // The summary at the end has the figures.
            let (looked, planned) = (self.stopping().looked, counted(self.places.len(), "question"));
            return vec![rule, format!("note: it was decided after {looked} of {planned}, so nothing is run")];
        }
        let order = match (selection.shuffle, selection.shuffle_like_paper) {
            (Some(seed), _) => format!("with seed {seed}"),
            (None, Some(seed)) => format!("as the paper's, with seed {seed}"),
            (None, None) => "not at all".to_owned(),
        };
        vec![
            rule,
            format!("note: questions are shuffled {order}"),
            "note: calls, tokens and costs are those of a run that the rule does not stop".to_owned(),
        ]
    }
}

/// The rule of a run that begins or goes on, with what is recorded. Where that decides it already, nothing is due any more.
/// Episodes that were not measured are run again, and counted when they end.
pub(super) fn watch_from_records(
    manifest: &Manifest,
    questions: &[Arc<Question>],
    records: Option<&Records>,
    due: &mut Due,
) -> Result<Option<Watch>, RunError> {
    let new = |looked: usize| {
        let manifest = Manifest { stop_looked: looked, ..manifest.clone() };
        Watch::new(&manifest, questions.iter().map(|question| question.id.as_str()))
    };
    let (Some(all), Some(records)) = (new(manifest.stop_looked), records) else { return Ok(new(0)) };
    for trajectory in records.iter() {
        all.saw(&trajectory?);
    }
    if all.is_decided() {
        (due.redo, due.new) = (0, 0);
        due.episodes.clear();
        return Ok(Some(all));
    }
    let watch = new(manifest.stop_looked.max(locked(&all.state).looked));
    if let Some(watch) = &watch {
        for trajectory in records.iter() {
            let trajectory = trajectory?;
            if trajectory.measured() {
                watch.saw(&trajectory);
            }
        }
    }
    Ok(watch)
}

/// Writes down how many questions earlier starts have looked at, before any is looked at again.
pub(super) fn remember(watch: Option<&Watch>, folder: &RunFolder, manifest: &mut Manifest) -> Result<(), RunError> {
    if let Some(watch) = watch.filter(|watch| watch.looked_before > manifest.stop_looked) {
        manifest.stop_looked = watch.looked_before;
        folder.write_manifest(manifest)?;
    }
    Ok(())
}

/// The dataset in random order: in that of a file, easy questions may come first.
pub(crate) fn ordered(spec: &DatasetSpec) -> DatasetSpec {
    let mut spec = spec.clone();
    if spec.settings.shuffle_like_paper.is_none() {
        spec.settings.shuffle.get_or_insert(SEED);
    }
    spec
}

/// Refuses a rule that the run cannot follow.
pub(super) fn check(
    rule: &StopRule,
    names: &[&str],
    questions: &[Arc<Question>],
    shard: Option<Shard>,
) -> Result<(), RunError> {
    let flag = format!("--stop-when {}", printable(&rule.to_string(), 120));
    if shard.is_some() {
        let message = format!("{flag} looks at all questions in order, and a shard has a part of them");
        return Err(RunError::usage(message, "remove --shard, or run all shards without the rule"));
    }
    if names.len() < 2 {
        let hint = "name several methods, protocols or prompts, or an experiment file";
        return Err(RunError::usage(format!("{flag} compares two variants, and the run has one"), hint));
    }
    for name in [&rule.a, &rule.b] {
        if names.contains(&name.as_str()) {
            continue;
        }
        let more = if names.len() > MAX_LISTED { ", …" } else { "" };
        let listed: Vec<String> = names.iter().take(MAX_LISTED).map(|name| printable(name, 60)).collect();
        let known = || format!("its variants are {}{more}", listed.join(", "));
        let hint =
            closest(name, names.iter().copied()).map(|known| format!("did you mean `{}`?", printable(known, 60)));
        let message = format!("{flag}: the run has no variant `{}`", printable(name, 60));
        return Err(RunError::usage(message, hint.unwrap_or_else(known)));
    }
    if questions.iter().all(|question| question.answers.is_empty()) {
        let hint = "use a dataset with gold answers, or remove the rule";
        return Err(RunError::input(format!("{flag}: no question has a gold answer, so that nothing is scored"), hint));
    }
    let mut clusters: BTreeMap<&str, usize> = BTreeMap::new();
    for cluster in questions.iter().filter_map(|question| question.cluster.as_deref()) {
        *clusters.entry(cluster).or_default() += 1;
    }
    if let Some((cluster, n)) = clusters.iter().find(|(_, n)| **n > 1) {
        let theirs = format!("{} are of the cluster `{}`", counted(*n, "question"), printable(cluster, 60));
        return Err(RunError::input(
            format!("{flag} needs questions that are independent of each other, and {theirs}"),
            "select one question of each cluster with --ids, or run all and use `wikitrail compare`, which knows clusters",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
