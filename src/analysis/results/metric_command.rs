//! Metrics that are made elsewhere: files of values, and programs that are asked about episodes. No shell is between.

use super::{EpisodeName, GradedRun, JoinedMetric, folder_name};
use crate::base::Trajectory;
use crate::base::bounded::{lines, read_at_most};
use crate::base::text::{counted, visible_line};
use crate::dataset::{DatasetError, Problem, read_values};
use crate::runner::RunError;
use serde_json::json;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

/// The metrics of judges, and behind them those of files, whose names must be others.
pub(crate) fn with_judges(files: Vec<JoinedMetric>, judges: Vec<JoinedMetric>) -> Result<Vec<JoinedMetric>, RunError> {
    let same = |file: &&JoinedMetric| judges.iter().any(|judge| judge.name.eq_ignore_ascii_case(&file.name));
    if let Some(file) = files.iter().find(same) {
        let name = visible_line(&file.name, 60);
        return Err(RunError::usage(
            format!("--metric-file: `{name}` is what the verdicts in the run's folder are called"),
            format!("name the metric otherwise: --metric-file my_{name}=FILE"),
        ));
    }
    Ok(judges.into_iter().chain(files).collect())
}

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
        return Err(RunError::usage(
            format!("{flag}: two metrics are called `{}`", visible_line(&metric.name, 60)),
            format!("name them: {flag} first=A {flag} second=B"),
        ));
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
    let read = std::thread::scope(|scope| {
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
    if read.1.as_ref().is_ok_and(Result::is_err) {
        // It may wait forever for somebody who reads on.
        let _ = child.kill();
    }
    let status = child.wait()?;
    let (episodes, read) = (
        read.0?,
        read.1.map_err(|_| {
            RunError::unexpected(
                "a fault in wikitrail; please report it",
                "run with --help to see what the command takes",
            )
        })?,
    );
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
