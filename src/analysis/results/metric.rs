//! Metrics from files, from programs that are asked about episodes, and from the records of imported runs, joined to the episodes of
//! runs. No shell is between.

use super::{GradedRun, folder_name};
use crate::analysis::export::is_column;
use crate::base::Trajectory;
use crate::base::bounded::{lines, read_at_most};
use crate::base::text::{counted, joined, visible_line};
use crate::dataset::{DatasetError, Problem, ValueRow, ValueTable, read_values, unguarded};
use crate::runner::RunError;
use crate::runner::store::RunFolder;
use crate::scoring::{Figure, Pass, Unit};
use serde_json::json;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

/// Ids that are named where values are missing or belong to no episode.
const MAX_LISTED: usize = 3;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JoinedMetric {
    pub(crate) name: String,
    /// Shares if all values are from 0 to 1.
    pub(crate) unit: Unit,
    origin: MetricOrigin,
    rows: Vec<ValueRow>,
    by_id: HashMap<String, Vec<usize>>,
}

#[derive(Debug, Clone, PartialEq)]
enum MetricOrigin {
    Judges,
    /// What other programs say, in the records of the episodes.
    Records,
    /// A file or a program, as it was named.
    File(String),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct EpisodeName<'a> {
    pub(crate) run: &'a str,
    pub(crate) variant: &'a str,
    pub(crate) repeat: u32,
    pub(crate) id: &'a str,
}

impl<'a> EpisodeName<'a> {
    pub(crate) fn of(run: &'a str, trajectory: &'a Trajectory) -> Self {
        Self { run, variant: &trajectory.variant, repeat: trajectory.repeat, id: &trajectory.id }
    }

    /// The row of its value in no file.
    pub(super) fn row(self, value: f64) -> ValueRow {
        let Self { run, variant, repeat, id } = self;
        let (run, variant) = (Some(run.to_owned()), Some(variant.to_owned()));
        ValueRow { id: id.to_owned(), run, variant, repeat: Some(repeat), value, line: 0 }
    }
}

impl JoinedMetric {
    /// The metric of a file. A name that a figure of every run or a column of its export has is refused.
    pub(crate) fn new(file: &str, table: ValueTable) -> Result<Self, RunError> {
        let ValueTable { name, rows } = table;
        let shown = visible_line(&name, 60);
        let lower = name.to_ascii_lowercase();
        let figure = Figure::named(&lower).map(|_| "a figure of every run");
        if let Some(taken) = figure.or_else(|| is_column(&name).then_some("a column of every export")) {
            return Err(RunError::input(
                format!("`{file}`: `{lower}` is {taken} already"),
                format!("name the metric otherwise: --metric-file my_{lower}={file}"),
            ));
        }
        if !is_metric_name(&name) {
            return Err(RunError::input(
                format!("`{file}`: `{shown}` cannot be the name of a metric"),
                format!("name it with at most 60 characters and no comma: --metric-file judge={file}"),
            ));
        }
        Ok(Self::of(name, MetricOrigin::File(file.to_owned()), rows))
    }

    pub(crate) fn judged(ValueTable { name, rows }: ValueTable) -> Self {
        Self { unit: Unit::Share, ..Self::of(name, MetricOrigin::Judges, rows) }
    }

    fn of(name: String, origin: MetricOrigin, rows: Vec<ValueRow>) -> Self {
        let share = rows.iter().all(|row| (0.0..=1.0).contains(&row.value));
        let mut by_id: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, row) in rows.iter().enumerate() {
            by_id.entry(unguarded(&row.id).to_owned()).or_default().push(at);
        }
        Self { name, unit: if share { Unit::Share } else { Unit::Amount }, origin, rows, by_id }
    }

    pub(crate) fn is_judged(&self) -> bool {
        self.origin == MetricOrigin::Judges
    }

    pub(crate) fn is_recorded(&self) -> bool {
        self.origin == MetricOrigin::Records
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
        let episodes: Vec<EpisodeName<'a>> = episodes.collect();
        let lacking: Vec<_> = episodes.iter().filter(|episode| self.value(**episode).is_none()).collect();
        let shown = |one: &&EpisodeName<'_>| format!("{}:{}", visible_line(one.variant, 40), visible_line(one.id, 80));
        let name = visible_line(&self.name, 60);
        let none = if self.is_judged() { "no verdict on" } else { "no value for" };
        let lacks = joined(lacking.iter().take(MAX_LISTED).map(shown), ", ").map(|missing| {
            let all = counted(episodes.len(), "episode");
            format!("note: `{name}`: {none} {} of {all}, such as {missing}", lacking.len())
        });
        let file = match &self.origin {
            MetricOrigin::File(file) => visible_line(file, 200),
            // Other runs have other scorers.
            MetricOrigin::Records => return Ok(Vec::new()),
            MetricOrigin::Judges => return Ok(lacks.into_iter().collect()),
        };
        if lacking.len() == episodes.len() {
            return Err(RunError::input(
                format!("`{file}`: no value of `{name}` is of an episode of these runs"),
                "its rows have the `id` of a question, and where needed `variant`, `repeat` (from 0) and `run` as \
                 `wikitrail export RUN` writes them",
            ));
        }
        let ids: HashSet<&str> = episodes.iter().map(|episode| unguarded(episode.id)).collect();
        let unknown: Vec<&ValueRow> = self.rows.iter().filter(|row| !ids.contains(unguarded(&row.id))).collect();
        let strange = (!unknown.is_empty()).then(|| {
            let named = unknown.iter().map(|row| format!("{} (line {})", visible_line(&row.id, 80), row.line));
            format!(
                "note: `{name}`: {} of {} in `{file}` are of questions that these runs do not have, such as {}",
                unknown.len(),
                counted(self.rows.len(), "value"),
                named.take(MAX_LISTED).collect::<Vec<_>>().join(", ")
            )
        });
        Ok(lacks.into_iter().chain(strange).collect())
    }
}

/// Whether a metric can have this name: figures of every run and judges have others.
fn is_metric_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    !name.trim().is_empty()
        && Figure::named(&lower).is_none()
        && !is_column(&lower)
        && Pass::parse(&lower).is_none()
        && name.chars().count() <= 60
        && !name.contains([',', '\n'])
}

/// The metrics of judges, and behind them those of files, whose names must be others.
pub(crate) fn with_judges(files: Vec<JoinedMetric>, judges: Vec<JoinedMetric>) -> Result<Vec<JoinedMetric>, RunError> {
    let same = |file: &&JoinedMetric| judges.iter().any(|judge| judge.name.eq_ignore_ascii_case(&file.name));
    if let Some(file) = files.iter().find(same) {
        let name = visible_line(&file.name, 60);
        let message = format!("--metric-file: `{name}` is what the verdicts in the run's folder are called");
        return Err(RunError::usage(message, format!("name the metric otherwise: --metric-file my_{name}=FILE")));
    }
    Ok(judges.into_iter().chain(files).collect())
}

/// What the records of imported runs say of their episodes: a metric for each name, without those of files. A name that a
/// column of an export has becomes `inspect_NAME`, as the import does with figures.
pub(crate) fn with_recorded(files: Vec<JoinedMetric>, runs: &[&Path]) -> Result<Vec<JoinedMetric>, RunError> {
    let mut rows: BTreeMap<String, Vec<ValueRow>> = BTreeMap::new();
    for path in runs.iter().filter(|path| !path.is_file()) {
        let folder = RunFolder::open(*path)?;
        if !folder.manifest()?.is_imported() {
            continue;
        }
        let run = folder_name(path);
        for trajectory in folder.records()?.iter() {
            let trajectory = trajectory?;
            for (name, value) in trajectory.scores.iter().filter(|(_, value)| value.is_finite()) {
                rows.entry(name.clone()).or_default().push(EpisodeName::of(&run, &trajectory).row(*value));
            }
        }
    }
    let mut named: BTreeMap<String, Vec<ValueRow>> = BTreeMap::new();
    for (name, rows) in rows {
        let name = if is_column(&name) { format!("inspect_{name}") } else { name };
        named.entry(name).or_default().extend(rows);
    }
    let is_free = |name: &String| files.iter().all(|file| !file.name.eq_ignore_ascii_case(name));
    let recorded = named.into_iter().filter(|(name, _)| is_free(name) && is_metric_name(name)).take(MAX_RECORDED);
    let recorded = recorded.map(|(name, rows)| JoinedMetric::of(name, MetricOrigin::Records, rows)).collect::<Vec<_>>();
    Ok(recorded.into_iter().chain(files).collect())
}

/// The most metrics of records that are read: a column each.
const MAX_RECORDED: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct EpisodeNames(Vec<(String, String, u32, String)>);

impl EpisodeNames {
    /// Adds an episode of the run that has this name, if it was measured.
    pub(crate) fn add(&mut self, run: &str, trajectory: &Trajectory) {
        if trajectory.measured() {
            let (variant, id) = (trajectory.variant.clone(), trajectory.id.clone());
            self.0.push((run.to_owned(), variant, trajectory.repeat, id));
        }
    }

    /// Notes on which of them have no value, and which values are of none of them.
    pub(crate) fn coverage(&self, metrics: &[JoinedMetric]) -> Result<Vec<String>, RunError> {
        let mut notes = Vec::new();
        for metric in metrics {
            let names =
                self.0.iter().map(|(run, variant, repeat, id)| EpisodeName { run, variant, repeat: *repeat, id });
            notes.extend(metric.coverage(names)?);
        }
        Ok(notes)
    }
}

/// The error of a file; its hint is about metrics rather than datasets.
pub(crate) fn explain_metric(error: DatasetError, file: &str) -> RunError {
    let hint = match &error.problem {
        Problem::Io(cause) => {
            let what = format!("cannot read the metric file `{}`: {cause}", visible_line(file, 200));
            return RunError::input(what, "check the path; a name comes before it: --metric-file judge=grades.csv");
        }
        Problem::NoColumn(name, _) if name == "id" => "a row has the `id` of its question, and a value",
        Problem::NoColumn(..) => {
            "the values are in the column `value`, or in one of the metric's name: --metric-file NAME=FILE"
        }
        Problem::Field(..) => "correct the line, or leave the value empty if there is none",
        Problem::Duplicate(..) => "distinguish the episodes of a question by the columns `variant`, `repeat` and `run`",
        Problem::Empty => "a metric needs at least one value",
        _ => "give a CSV or JSON Lines file with `id` and `value` in each row",
    };
    RunError::input(error, hint)
}

/// Adds the metric of a table, unless another one has its name.
pub(crate) fn add_metric(
    read: &mut Vec<JoinedMetric>,
    file: &str,
    bytes: &[u8],
    name: Option<&str>,
    flag: &str,
) -> Result<(), RunError> {
    let table = read_values(file, bytes, name).map_err(|error| explain_metric(error, file))?;
    let metric = JoinedMetric::new(file, table)?;
    if read.iter().any(|known| known.name.eq_ignore_ascii_case(&metric.name)) {
        let message = format!("{flag}: two metrics are called `{}`", visible_line(&metric.name, 60));
        return Err(RunError::usage(message, format!("name them: {flag} first=A {flag} second=B")));
    }
    read.push(metric);
    Ok(())
}

const MAX_OUTPUT_BYTES: u64 = 1 << 30;
/// Characters of a line of its errors that are shown.
const MAX_LINE_CHARS: usize = 500;

/// What a program writes of the episodes of these runs. Each line of its stderr goes to `tell` as it comes.
pub(crate) fn program_output(
    program: &str,
    runs: &[&Path],
    tell: &(dyn Fn(String) + Sync),
) -> Result<Vec<u8>, RunError> {
    let shown = visible_line(program, 200);
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| not_started(&shown, program, &error))?;
    let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(RunError::unexpected("the program has no pipes", "start the command again"));
    };
    let (episodes, read) = std::thread::scope(|scope| {
        let name = &shown;
        scope.spawn(move || {
            for line in lines(BufReader::new(errors)).map_while(Result::ok) {
                tell(format!("{name}: {}", visible_line(&String::from_utf8_lossy(&line), MAX_LINE_CHARS)));
            }
        });
        let reading = scope.spawn(move || read_at_most(output, MAX_OUTPUT_BYTES));
        // Here, as episodes are read by one thread.
        let written = write_episodes(input, runs);
        (written, reading.join())
    });
    if read.as_ref().is_ok_and(Result::is_err) {
        // It may wait forever for somebody who reads on.
        let _ = child.kill();
    }
    let status = child.wait()?;
    let episodes = episodes?;
    let read = read.map_err(|_| {
        RunError::unexpected("a fault in wikitrail; please report it", "run with --help to see what the command takes")
    })?;
    let read = read.map_err(|error| {
        RunError::input(
            format!("--metric-command `{shown}`: its output cannot be read: {error}"),
            "a line an episode is enough",
        )
    })?;
    if !status.success() {
        return Err(RunError::input(
            format!("--metric-command `{shown}` failed ({status}) on {}", counted(episodes, "episode")),
            "what it wrote to stderr is above; `wikitrail export RUN --format jsonl` gives it something to try by hand",
        ));
    }
    Ok(read)
}

fn not_started(shown: &str, program: &str, error: &io::Error) -> RunError {
    let here = !program.contains('/') && Path::new(program).exists();
    let hint = match error.kind() {
        io::ErrorKind::NotFound if here => format!("a program of this folder is ./{shown}"),
        io::ErrorKind::PermissionDenied => format!("make it executable: chmod +x {shown}"),
        _ => "name an executable file, such as ./grade.py with a first line #!/usr/bin/env python3".to_owned(),
    };
    RunError::input(format!("--metric-command `{shown}` cannot be started: {error}"), hint)
}

/// Writes a line for each measured episode; a program that has read enough may stop.
fn write_episodes(input: ChildStdin, runs: &[&Path]) -> Result<usize, RunError> {
    let mut input = BufWriter::new(input);
    let mut episodes = 0;
    for path in runs {
        let run = folder_name(path);
        for graded in GradedRun::open(path)?.episodes() {
            let graded = graded?;
            let trajectory = &graded.trajectory;
            if !trajectory.measured() {
                continue;
            }
            let line = json!({
                "run": run,
                "id": trajectory.id,
                "variant": trajectory.variant,
                "repeat": trajectory.repeat,
                "question": trajectory.question,
                "answer": trajectory.answer,
                "golds": trajectory.answers,
                "em": graded.score.map(|score| score.em),
                "f1": graded.score.map(|score| score.f1),
                "steps": trajectory.has_steps().then_some(trajectory.steps.len()),
            });
            episodes += 1;
            match writeln!(input, "{line}") {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(episodes),
                written => written?,
            }
        }
    }
    match input.flush() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(episodes),
    }
}

#[cfg(test)]
mod tests {
    use super::{EpisodeName, JoinedMetric, MetricOrigin};
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
        let judge = JoinedMetric { origin: MetricOrigin::Judges, ..metric.clone() };
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
        for name in ["id", "outcome", "Gold", "run", "model", "type", "meta.x"] {
            let table = read_values("j.csv", b"id,value\na,1\n", Some(name)).expect("values");
            let error = JoinedMetric::new("j.csv", table).expect_err(name).to_string();
            assert!(error.contains("column of every export"), "{name}: {error}");
        }
    }
}
