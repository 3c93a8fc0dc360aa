//! The command line: one file a command, each with its flags and an `execute` that returns an exit code.
//!
//! Data goes to stdout, everything else to stderr.

mod ask;
mod builtin;
mod dataset;
mod evidence;
mod export;
mod failure;
mod model_args;
mod models;
mod parse;
mod prices;
mod prompt;
mod replay;
mod run;
mod say;
mod score;
mod score_files;
mod show;
mod tape_args;
mod variant;
mod wiki;
mod wiki_args;

use clap::{Parser, Subcommand};
use say::say;
use std::process::ExitCode;

/// Question answering agents over Wikipedia: run, record, score, export.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 ok; 1 unexpected; 2 usage; 3 bad input file, prompt or run folder;
4 ended, but some episodes were not measured; 5 a replay found a difference; 130 interrupted (finished episodes are kept)";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a dataset through an agent and record every step.
    Run(Box<run::Args>),
    /// Ask one question and watch it being answered, or have a conversation.
    Ask(Box<ask::Args>),
    /// Score a run again from its trajectories, or a file of predictions.
    Score(score::Args),
    /// Write a run's trajectories as CSV or JSON Lines.
    Export(export::Args),
    /// Print one trajectory for reading.
    Show(show::Args),
    /// Execute recorded episodes again and list every difference.
    Replay(replay::Args),
    /// Use the Wikipedia tool by hand or from a script.
    Wiki(wiki::WikiCommandArgs),
    /// Describe, convert and fetch dataset files.
    Dataset(dataset::Args),
    /// Say what a protocol's parser makes of replies.
    Parse(parse::Args),
    /// List, show and check prompts.
    Prompt(prompt::Args),
    /// Ask a model's server what it supports.
    Models(models::ModelsArgs),
}

/// Runs the program: parses the command line, carries the command out, explains what went wrong.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => {
            let result = runtime.block_on(dispatch(cli.command));
            // Everything that matters has been waited for; a page that is still being parsed has not.
            runtime.shutdown_background();
            result
        }
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let (code, text) = failure::explain(&error);
            if !text.is_empty() {
                say(text);
            }
            ExitCode::from(code)
        }
    }
}

async fn dispatch(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Run(args) => run::execute(*args).await,
        Command::Ask(args) => ask::execute(*args, &mut std::io::stdout()).await,
        Command::Score(args) => score::execute(&args),
        Command::Export(args) => export::execute(&args),
        Command::Show(args) => show::execute(&args),
        Command::Replay(args) => replay::execute(&args),
        Command::Wiki(args) => wiki::execute(args, &mut std::io::stdout()).await,
        Command::Dataset(args) => dataset::execute(args).await,
        Command::Parse(args) => parse::execute(&args),
        Command::Prompt(args) => prompt::execute(args),
        Command::Models(args) => models::execute(&args, &mut std::io::stdout()).await.map(|()| failure::OK),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_flag_table_is_sound() {
        super::Cli::command().debug_assert();
    }
}
