//! Metrics from files, joined to the episodes of runs: a judge's or a person's grades.

use crate::base::Trajectory;
use crate::base::text::{counted, visible_line};
use crate::dataset::{ValueRow, ValueTable};
use crate::runner::RunError;
use crate::scoring::{Figure, Unit};
use std::collections::{HashMap, HashSet};

/// Ids that are named where values are missing or belong to no episode.
const MAX_LISTED: usize = 3;

/// Characters by which a cell of an export is prefixed with `'`.
const GUARDED: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JoinedMetric {
    pub(crate) name: String,
    /// Shares if all values are from 0 to 1.
    pub(crate) unit: Unit,
    /// As it was named, for messages; absent for the verdicts of judges.
    file: Option<String>,
    rows: Vec<ValueRow>,
    by_id: HashMap<String, Vec<usize>>,
}

/// An episode as the rows of a file name it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EpisodeName<'a> {
    /// Name of the run's folder.
    pub(crate) run: &'a str,
    pub(crate) variant: &'a str,
    pub(crate) repeat: u32,
    pub(crate) id: &'a str,
}

impl<'a> EpisodeName<'a> {
    pub(crate) fn of(run: &'a str, trajectory: &'a Trajectory) -> Self {
        Self { run, variant: &trajectory.variant, repeat: trajectory.repeat, id: &trajectory.id }
    }
}

impl JoinedMetric {
    /// The metric of a file. A name that a figure of every run has is refused.
    pub(crate) fn new(file: &str, table: ValueTable) -> Result<Self, RunError> {
        let ValueTable { name, rows } = table;
        let shown = visible_line(&name, 60);
        if let Some(figure) = Figure::named(&name.to_ascii_lowercase()) {
            return Err(RunError::input(
                format!("`{file}`: `{}` is a figure of every run already", figure.name),
                format!("name the metric otherwise: --metric-file my_{}={file}", figure.name),
            ));
        }
        if name.trim().is_empty() || name.chars().count() > 60 || name.contains([',', '\n']) {
            return Err(RunError::input(
                format!("`{file}`: `{shown}` cannot be the name of a metric"),
                format!("name it with at most 60 characters and no comma: --metric-file judge={file}"),
            ));
        }
        Ok(Self::of(name, Some(file.to_owned()), rows))
    }

    pub(crate) fn judged(ValueTable { name, rows }: ValueTable) -> Self {
        Self { unit: Unit::Share, ..Self::of(name, None, rows) }
    }

    fn of(name: String, file: Option<String>, rows: Vec<ValueRow>) -> Self {
        let share = rows.iter().all(|row| (0.0..=1.0).contains(&row.value));
        let mut by_id: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, row) in rows.iter().enumerate() {
            by_id.entry(unguarded(&row.id).to_owned()).or_default().push(at);
        }
        Self { name, unit: if share { Unit::Share } else { Unit::Amount }, file, rows, by_id }
    }

    pub(crate) fn is_judged(&self) -> bool {
        self.file.is_none()
    }

    /// The value of an episode; of several rows that mean it, that which says most.
    pub(crate) fn value(&self, episode: EpisodeName<'_>) -> Option<f64> {
        let is = |row: &ValueRow| {
            let same =
                |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|wanted| unguarded(wanted) == name);
            same(&row.run, episode.run)
                && same(&row.variant, episode.variant)
                && row.repeat.is_none_or(|repeat| repeat == episode.repeat)
        };
        let said = |row: &ValueRow| {
            [row.run.is_some(), row.variant.is_some(), row.repeat.is_some()].map(usize::from).iter().sum::<usize>()
        };
        let rows = self.by_id.get(unguarded(episode.id)).into_iter().flatten().map(|at| &self.rows[*at]);
        rows.filter(|row| is(row)).max_by_key(|row| said(row)).map(|row| row.value)
    }

    /// Whether a measured episode lacks a value that it could have: a tie of judges, or an answer that a file leaves out although
    /// it grades the question. `scored`: the gold is known, so that judges can be asked.
    pub(crate) fn lacks(&self, episode: EpisodeName<'_>, scored: bool) -> bool {
        let graded = if self.is_judged() { scored } else { self.by_id.contains_key(unguarded(episode.id)) };
        graded && self.value(episode).is_none()
    }

    /// What a reader should know of the join with these measured episodes; an error if no value is of any of them.
    pub(crate) fn coverage<'a>(
        &self,
        episodes: impl Iterator<Item = EpisodeName<'a>>,
    ) -> Result<Vec<String>, RunError> {
        let (mut all, mut missing, mut ids) = (0_usize, Vec::new(), HashSet::new());
        let mut lacking = 0_usize;
        for episode in episodes {
            all += 1;
            ids.insert(unguarded(episode.id));
            if self.value(episode).is_none() {
                lacking += 1;
                if missing.len() < MAX_LISTED {
                    missing.push(format!("{}:{}", visible_line(episode.variant, 40), visible_line(episode.id, 80)));
                }
            }
        }
        let name = visible_line(&self.name, 60);
        let Some(file) = &self.file else {
            let note = format!("note: `{name}`: no verdict on {lacking} of {}, such as", counted(all, "episode"));
            return Ok(if lacking > 0 { vec![format!("{note} {}", missing.join(", "))] } else { Vec::new() });
        };
        let file = visible_line(file, 200);
        if lacking == all {
            return Err(RunError::input(
                format!("`{file}`: no value of `{name}` is of an episode of these runs"),
                "its rows have the `id` of a question, and where needed `variant`, `repeat` (from 0) and `run` as \
                 `wikitrail export RUN` writes them",
            ));
        }
        let unknown: Vec<&ValueRow> = self.rows.iter().filter(|row| !ids.contains(unguarded(&row.id))).collect();
        let mut notes = Vec::new();
        if lacking > 0 {
            let named = missing.join(", ");
            notes.push(format!(
                "note: `{name}`: no value for {lacking} of {}, such as {named}",
                counted(all, "episode")
            ));
        }
        if !unknown.is_empty() {
            let named: Vec<String> = unknown
                .iter()
                .take(MAX_LISTED)
                .map(|row| format!("{} (line {})", visible_line(&row.id, 80), row.line))
                .collect();
            let of = counted(self.rows.len(), "value");
            notes.push(format!(
                "note: `{name}`: {} of {of} in `{file}` are of questions that these runs do not have, such as {}",
                unknown.len(),
                named.join(", ")
            ));
        }
        Ok(notes)
    }
}

/// A text as it was before an export for spreadsheets put a `'` in front of it.
fn unguarded(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| rest.starts_with(GUARDED)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{EpisodeName, JoinedMetric};
    use crate::dataset::read_values;
    use crate::scoring::Unit;

    fn metric(text: &str) -> JoinedMetric {
        JoinedMetric::new("j.csv", read_values("j.csv", text.as_bytes(), Some("judge")).expect("values"))
            .expect("a metric")
    }

    #[test]
    fn the_row_that_says_most_wins_and_what_is_left_out_means_all() {
        let metric = metric("id,run,variant,repeat,judge\nq,,,,1\nq,,act,,2\nq,,act,1,3\nq,other,act,1,4\n'-x,,,,5\n");
        let value = |run, variant, repeat, id| metric.value(EpisodeName { run, variant, repeat, id });
        for (run, variant, repeat, id, expected) in [
            ("r", "react", 0, "q", Some(1.0)),
            ("r", "act", 0, "q", Some(2.0)),
            ("r", "act", 1, "q", Some(3.0)),
            ("other", "act", 1, "q", Some(4.0)),
            ("r", "react", 0, "-x", Some(5.0)),
            ("r", "react", 0, "p", None),
        ] {
            assert_eq!(value(run, variant, repeat, id), expected, "{run} {variant} {repeat} {id}");
        }
        assert_eq!(metric.unit, Unit::Amount);
    }

    #[test]
    fn a_file_lacks_answers_to_the_questions_that_it_grades() {
        let metric = metric("id,variant,judge\nq,act,1\n");
        let lacks = |variant, id| metric.lacks(EpisodeName { run: "r", variant, repeat: 0, id }, false);
        assert_eq!([lacks("act", "q"), lacks("react", "q"), lacks("react", "p")], [false, true, false]);
        // A judge can be asked of every answer whose gold is known.
        let judge = JoinedMetric { file: None, ..metric.clone() };
        let lacks = |id, scored| judge.lacks(EpisodeName { run: "r", variant: "react", repeat: 0, id }, scored);
        assert_eq!([lacks("q", true), lacks("p", true), lacks("p", false)], [true, true, false]);
    }

    #[test]
    fn missing_and_unknown_ids_are_counted_and_named() {
        let metric = metric("id,judge\na,1\nzz,0.5\n");
        assert_eq!(metric.unit, Unit::Share);
        let episode = |id| EpisodeName { run: "r", variant: "main", repeat: 0, id };
        let notes = metric.coverage(["a", "b\u{1b}"].map(episode).into_iter()).expect("notes");
        assert_eq!(
            notes,
            [
                "note: `judge`: no value for 1 of 2 episodes, such as main:b\\u{1b}",
                "note: `judge`: 1 of 2 values in `j.csv` are of questions that these runs do not have, such as zz (line 3)",
            ]
        );
        assert!(metric.coverage(["b"].map(episode).into_iter()).is_err());
        let table = read_values("j.csv", b"id,em\na,1\n", None).expect("values");
        assert!(JoinedMetric::new("j.csv", table).expect_err("a figure").to_string().contains("figure of every run"));
    }
}
