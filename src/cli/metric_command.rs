//! `--metric-command`: a metric that a program of the user's computes, JSON lines in and JSON lines out.
//!
//! The program is named on the command line and nowhere else: no file that came with data starts one. No shell is between.

use super::failure::Failure;
use super::say::say;
use crate::graded::{GradedRun, folder_name};
use crate::run::RunError;
use crate::types::bounded::{lines, read_at_most};
use crate::types::text::{counted, visible_line};
use serde_json::json;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

/// Most bytes of a program's output.
const MAX_OUTPUT_BYTES: u64 = 1 << 30;
/// Characters of a line of its errors that are shown.
const MAX_LINE_CHARS: usize = 500;

/// What a program says of the episodes of these runs. What it writes to stderr is shown as it comes.
pub(super) fn program_output(program: &str, runs: &[&Path]) -> anyhow::Result<Vec<u8>> {
    let shown = visible_line(program, 200);
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| not_started(&shown, program, &error))?;
    let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(Failure::unexpected("the program has no pipes", "start the command again"));
    };
    let read = std::thread::scope(|scope| {
        let name = &shown;
        scope.spawn(move || {
            for line in lines(BufReader::new(errors)).map_while(Result::ok) {
                say(format_args!("{name}: {}", visible_line(&String::from_utf8_lossy(&line), MAX_LINE_CHARS)));
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
    let (episodes, read) = (read.0?, read.1.map_err(|_| anyhow::anyhow!("a fault in wikitrail; please report it"))?);
    let read = read.map_err(|error| {
        Failure::bad_input(
            format!("--metric-command `{shown}`: its output cannot be read: {error}"),
            "a line an episode is enough",
        )
    })?;
    if !status.success() {
        return Err(Failure::bad_input(
            format!("--metric-command `{shown}` failed ({status}) on {}", counted(episodes, "episode")),
            "what it wrote to stderr is above; `wikitrail export RUN --format jsonl` gives it something to try by hand",
        ));
    }
    Ok(read)
}

fn not_started(shown: &str, program: &str, error: &io::Error) -> anyhow::Error {
    let here = !program.contains('/') && Path::new(program).exists();
    let hint = match error.kind() {
        io::ErrorKind::NotFound if here => format!("a program of this folder is ./{shown}"),
        io::ErrorKind::PermissionDenied => format!("make it executable: chmod +x {shown}"),
        _ => "name an executable file, such as ./grade.py with a first line #!/usr/bin/env python3".to_owned(),
    };
    Failure::bad_input(format!("--metric-command `{shown}` cannot be started: {error}"), hint)
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
