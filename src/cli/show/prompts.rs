//! `show RUN ID --prompt`: what the model was sent, exactly.

use super::{Args, find, name};
use crate::cli::failure::{self, Failure};
use crate::cli::output_file::json_line;
use crate::cli::prompt::write_prompt;
use crate::graded::RunRef;
use crate::report::View;
use crate::report::console::stdout;
use crate::report::trajectory::heading;
use crate::run::stored::Stored;
use crate::score::ScoredEpisode;
use crate::store::RunFolder;
use crate::types::RebuiltPrompt;
use crate::types::text::visible_line;
use serde_json::json;
use std::io::Write as _;

pub(super) fn show_prompts(args: &Args, run: &RunRef, id: &str, view: &View) -> anyhow::Result<u8> {
    if run.path.is_file() {
        return Err(Failure::usage(
            format!("`{}` is a file of trajectories, which does not have the prompts", run.path.display()),
            "name the folder of a run",
        ));
    }
    let (_, found) = find(args, run, id)?;
    let folder = RunFolder::open(&run.path)?;
    let stored = Stored::of(&folder, &folder.manifest()?)?;
    let mut out = stdout().styled();
    let (mut any, mut code) = (false, failure::OK);
    for graded in &found {
        let trajectory = &graded.trajectory;
        let prompts = stored.prompts(trajectory)?;
        for prompt in prompts.iter().filter(|prompt| args.step.is_none_or(|step| prompt.step == step)) {
            any = true;
            if !prompt.same {
                code = failure::DIFFERENCE;
            }
            if args.json {
                let mut line = prompt.to_json();
                line["id"] = json!(trajectory.id);
                line["variant"] = json!(trajectory.variant);
                line["repeat"] = json!(trajectory.repeat);
                json_line(&mut out, &line)?;
                continue;
            }
            let repeat = if trajectory.repeat > 0 { format!(", repeat {}", trajectory.repeat) } else { String::new() };
            let title = visible_line(&format!("{}{repeat}: {}", name(run, graded), place(prompt)), 300);
            out.write_all(heading(&title, view).as_bytes())?;
            writeln!(out, "{}\n", checked(prompt))?;
            if let Some(request) = &prompt.request {
                write_prompt(&mut out, request)?;
                writeln!(out, "\n")?;
            }
        }
    }
    if any { Ok(code) } else { Err(no_step(args, id, &found)) }
}

/// `step 3, call 2`, with its sample.
fn place(prompt: &RebuiltPrompt) -> String {
    let sample = prompt.sample.map_or_else(String::new, |sample| format!(", sample {sample}"));
    format!("step {}{sample}, call {}", prompt.step, prompt.call)
}

/// Whether the prompt is the one that was sent.
fn checked(prompt: &RebuiltPrompt) -> String {
    let sha256 = visible_line(&prompt.prompt_sha256, 64);
    match &prompt.request {
        Some(request) if prompt.same => {
            let stop = json!(request.stop);
            format!("{} characters, SHA-256 {sha256} as recorded, stop {stop}", request.prompt.chars())
        }
        Some(_) => format!("this is not what was sent: its SHA-256 is another than the recorded {sha256}"),
        None => format!("cannot be made again: the record does not replay up to here (SHA-256 {sha256})"),
    }
}

fn no_step(args: &Args, id: &str, found: &[ScoredEpisode]) -> anyhow::Error {
    let steps = found.iter().flat_map(|graded| &graded.trajectory.steps).filter(|step| !step.calls.is_empty());
    let last = steps.map(|step| step.n).max();
    let asked = args.step.map_or_else(String::new, |step| format!(" at step {step}"));
    Failure::bad_input(
        format!("`{}` has no call of a model{asked}", visible_line(id, 80)),
        last.map_or_else(
            || "its record has no call; `show` without --prompt prints what it has".to_owned(),
            |last| format!("its last step with a call is {last}"),
        ),
    )
}
