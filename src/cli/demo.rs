//! `demo`: a comparison of a real model's answers, from a recording that is part of the program.

use super::failure;
use super::say::say;
use crate::base::text::{shell_word, visible_line};
use std::path::PathBuf;

/// What is shown, before anything is.
const ABOUT: &str = "\
This is a recording of a real model: SmolLM2-135M-Instruct, 135 million
parameters, asked the 60 sample questions on a processor, each with the
paragraphs that hold its answer. One variant asks in a chat, the other gives the
same prompt as a text to continue. Nothing is sent to a server: the recorded
answers are read, scored and compared by the commands that are printed, which
you can type yourself. So small a model is mostly wrong; look at the difference.";

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folder of the run; its page is written beside it, with the ending .html.
    #[arg(long, value_name = "DIR", default_value = "results/demo")]
    out: PathBuf,
}

pub(super) async fn execute(args: &Args) -> anyhow::Result<u8> {
    say(ABOUT);
    let page = args.out.with_extension("html");
    let (run, page) = (args.out.to_string_lossy(), page.to_string_lossy());
    let started = args.out.join("manifest.json").exists();
    let first: &[&str] = if started {
        &["score", &run]
    } else {
        &["run", "experiments/demo.toml", "--replay", "datasets/demo.recording.jsonl", "--quiet", "--out", &run]
    };
    for command in [first, &["compare", &run, "--metric", "em,f1", "--flips=3"], &["report", &run, "--out", &page]] {
        let words: Vec<String> = command.iter().map(|word| shell_word(word)).collect();
        say(format_args!("\n$ wikitrail {}", visible_line(&words.join(" "), 500)));
        let parsed = super::parsed(["wikitrail"].iter().chain(command))?;
        let code = Box::pin(super::dispatch(parsed.command)).await?;
        if code != failure::OK {
            return Ok(code);
        }
    }
    say("\nnext: the same with questions, a prompt and a model of yours: wikitrail docs guide");
    Ok(failure::OK)
}
