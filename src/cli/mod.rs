//! The command line: one file per command, each with its flags and an `execute` that returns an exit code.
//!
//! Data goes to stdout, everything else to stderr.
//!
//! | file | what it holds |
//! |---|---|
//! | `run`, `score`, `compare`, … | the command of that name |
//! | `flags` | flags made from the table of settings; which of them were typed |
//! | `config` | values from settings files and the environment, for all commands and for `config` |
//! | `say`, `output_file` | messages, input from a terminal, output files |
//! | `failure` | exit codes and hints |
//! | `docs` | help: `docs`, `man`, `completions`, examples |

mod annotate;
mod ask;
mod branch;
mod compare;
mod config;
#[cfg(feature = "index")]
mod corpus;
mod dataset;
mod demo;
mod docs;
mod export;
mod failure;
mod flags;
mod import;
mod list;
mod merge;
mod models;
mod output_file;
mod parse;
mod prompt;
mod replay;
mod report;
mod reproduce;
mod run;
mod say;
mod score;
#[cfg(feature = "serve")]
mod serve;
mod show;
mod wiki;

use crate::analysis::report::console::stdout;
use crate::base::{locked, processors};
use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use failure::Failure;
use flags::{Resumable as _, explicit_args};
use say::say;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Question answering agents over Wikipedia: run, record, score, export.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 ok; 1 unexpected; 2 usage; 3 bad input file, prompt or run folder;
4 finished, but some episodes were not measured, or a model did not answer; 5 a replay or a check found a difference, or a --fail-if condition holds; 130 interrupted (finished episodes are kept)";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a dataset through an agent and record every step.
    Run(Box<run::Args>),
    /// Compare a real model's recorded answers: no key, no network.
    Demo(demo::Args),
    /// Ask one question and watch the answer, or have a conversation.
    Ask(Box<ask::Args>),
    /// Score a run from its trajectories, or a file of predictions.
    Score(Box<score::Args>),
    /// Compare variants or runs question by question.
    ///
    /// Differences come with intervals and tests; flipped answers are listed.
    Compare(Box<compare::Args>),
    /// Show runs as a page: one file to open, send and print.
    Report(report::Args),
    /// List runs with their scores and ranks.
    List(list::Args),
    /// Tag a run, or write a note about it.
    Note(list::NoteArgs),
    /// Export the trajectories of runs for other programs.
    Export(export::Args),
    /// List a run's episodes, print one, or two together.
    Show(show::Args),
    /// Judge episodes by reading them, or take judgements from a file.
    Annotate(annotate::Args),
    /// Edit a step of recorded episodes and run on from there.
    ///
    /// The edited branch is compared with an unedited control or placebos.
    Branch(branch::Args),
    /// Replay recorded episodes and list every difference.
    Replay(replay::Args),
    /// Run the paper's table with your own model, beside its figures.
    Reproduce(Box<reproduce::Args>),
    /// Make a run folder of episodes that another program recorded.
    #[command(subcommand)]
    Import(import::Command),
    /// Make one run folder of several, such as those of shards.
    Merge(merge::Args),
    /// Use the Wikipedia tool by hand or from a script.
    #[command(subcommand)]
    Wiki(wiki::Command),
    /// Build, freeze, describe and check frozen encyclopedias.
    #[cfg(feature = "index")]
    #[command(subcommand)]
    Corpus(corpus::Command),
    /// Serve a corpus to other programs.
    ///
    /// It is served as Wikipedia's API and pages, and as Search-R1's retriever.
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    /// Look at runs in a browser, also at those that are still going.
    #[cfg(feature = "serve")]
    View(serve::ViewArgs),
    /// Give the Wikipedia tool to a host of the Model Context Protocol.
    ///
    /// It talks over stdin and stdout.
    #[cfg(feature = "mcp")]
    Mcp(serve::McpArgs),
    /// Describe, convert and fetch dataset files.
    #[command(subcommand)]
    Dataset(dataset::Command),
    /// Show how a protocol parses model replies.
    Parse(parse::Args),
    /// Write, list, show, check and compare prompts.
    #[command(subcommand)]
    Prompt(prompt::Command),
    /// Check which settings a model's server supports.
    #[command(subcommand)]
    Models(models::Command),
    /// Show the settings of all commands, and where each comes from.
    Config(config::Args),
    /// Print a page of the documentation, or list the pages.
    Docs(docs::DocsArgs),
    /// Print shell completions.
    Completions(docs::CompletionsArgs),
    /// Write the manual pages of all commands.
    Man(docs::ManArgs),
}

/// The table of commands and flags, with examples below each command's help.
fn command() -> clap::Command {
    let command =
        Cli::command().mut_subcommand("reproduce", reproduce::command).mut_subcommand("ask", flags::for_one_variant);
    docs::group_commands(docs::shorten_run(docs::add_examples(with_negative_numbers(command))))
}

/// Takes a number below 0 for a value, which may be a bad one, rather than for an unknown flag.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let takes_value = |arg: &clap::Arg| arg.get_action().takes_values();
    command
        .mut_args(|arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(with_negative_numbers)
}

/// Runs the program: parses the command line, executes the command, explains errors.
pub fn main() -> ExitCode {
    let cli = match parsed(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return not_parsed(&error),
    };
    let result = runtime(event_loops(&cli.command)).and_then(|runtime| {
        let result = runtime.block_on(dispatch(cli.command));
        // Only pages that are still being parsed can be left.
        runtime.shutdown_background();
        result
    });
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

/// A command line, the program's name included.
fn parsed(line: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Cli, clap::Error> {
    let matches = command().try_get_matches_from(line)?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    match (&mut cli.command, matches.subcommand()) {
        (Command::Run(args), Some((_, matches))) => args.explicit = explicit_args(&run::Args::command(), matches),
        (Command::Reproduce(args), Some((_, matches))) => {
            args.explicit = explicit_args(&reproduce::Args::command(), matches);
        }
        _ => {}
    }
    Ok(cli)
}

/// Prints help, or what is wrong with the command line: it may hold the name of somebody else's file.
fn not_parsed(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        say(error.render().to_string().trim_end());
        return ExitCode::from(failure::USAGE);
    }
    error.exit()
}

/// Threads for episodes. One thread for two processors serves a thousand waiting episodes a second, as pages are parsed on
/// threads of their own; more threads would mostly wake each other. Episodes of the baseline and of replays never wait.
fn event_loops(command: &Command) -> usize {
    match command {
        Command::Run(args) if !args.waits() => processors(),
        // Names and pages are read where the request is.
        #[cfg(feature = "serve")]
        Command::Serve(_) => processors(),
        _ => processors().div_ceil(2),
    }
}

/// Threads for work that blocks, such as writing and reading pages, that are started at once and stay. More are started when
/// there is more to do. Where that fails, for lack of memory or by a limit, work waits for one of these; without them it would
/// wait for ever.
const BLOCKING: usize = 4;
/// Memory of a thread's stack, in bytes.
const STACK: usize = 2 << 20;
const STAYS: Duration = Duration::from_hours(24 * 365);
/// How long a thread may take to start.
const START: Duration = Duration::from_secs(30);

/// The runtime, with as many threads for waiting tasks.
fn runtime(loops: usize) -> anyhow::Result<Runtime> {
    // It panics where one of its own cannot be started.
    let started = rehearse(loops + BLOCKING).and_then(|()| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(loops).thread_stack_size(STACK).thread_keep_alive(STAYS).enable_all().build()
    });
    started.and_then(|runtime| warm(&runtime).map(|()| runtime)).map_err(|error| {
        let message = format!("cannot start {} threads: {error}", loops + BLOCKING);
        Failure::unexpected(message, "allow more memory or processes: see `ulimit -v` and `ulimit -u`")
    })
}

fn rehearse(count: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    std::thread::scope(|scope| {
        let _closed = gate.lock();
        let wait = || drop(gate.lock());
        (0..count).try_for_each(|_| std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, wait).map(drop))
    })
}

/// Has the runtime start its threads for work that blocks.
fn warm(runtime: &Runtime) -> io::Result<()> {
    let gate = Arc::new(Mutex::new(()));
    let _closed = locked(&gate);
    let (started, all) = mpsc::channel();
    for _ in 0..BLOCKING {
        let (gate, started) = (Arc::clone(&gate), started.clone());
        runtime.spawn_blocking(move || {
            // Nobody waits any more if another one did not start.
            let _ = started.send(());
            drop(gate.lock());
        });
    }
    (0..BLOCKING).try_for_each(|_| all.recv_timeout(START).map_err(io::Error::other))
}

async fn dispatch(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Run(args) => run::execute(*args).await,
        Command::Demo(args) => demo::execute(&args).await,
        Command::Ask(args) => ask::execute(*args, &mut stdout().styled()).await,
        Command::Score(args) => score::execute(&args).await,
        Command::Compare(args) => compare::execute(&args),
        Command::Report(args) => report::execute(&args),
        Command::List(args) => list::execute(&args),
        Command::Note(args) => list::note(&args),
        Command::Export(args) => export::execute(&args),
        Command::Show(args) => show::execute(&args),
        Command::Annotate(args) => annotate::execute(&args).await,
        Command::Replay(args) => replay::execute(&args),
        Command::Reproduce(args) => reproduce::execute(*args).await,
        Command::Import(command) => import::execute(&command),
        Command::Branch(args) => branch::execute(&args).await,
        Command::Merge(args) => merge::execute(&args),
        Command::Wiki(command) => wiki::execute(command, &mut stdout()).await,
        #[cfg(feature = "index")]
        Command::Corpus(command) => corpus::execute(command).await,
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::execute(args).await,
        #[cfg(feature = "serve")]
        Command::View(args) => serve::view_runs(args).await,
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => serve::serve_host(args).await,
        Command::Dataset(command) => dataset::execute(command).await,
        Command::Parse(args) => parse::execute(&args),
        Command::Prompt(command) => prompt::execute(command),
        Command::Config(args) => config::execute(&args),
        Command::Docs(args) => docs::print_docs(&args),
        Command::Completions(args) => docs::print_completions(&args),
        Command::Man(args) => docs::write_man(&args),
        Command::Models(command) => models::execute(&command, &mut stdout()).await,
    }
}

#[cfg(test)]
mod tests {
    use crate::runner::FLAGS_OF_FILES;
    use crate::runner::experiment::defaults::DEFAULTS;
    use crate::runner::experiment::{DATASET_SETTINGS, VARIANT_SETTINGS};
    use std::any::TypeId;
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    /// The settings that the page lists as naming a file.
    fn documented() -> BTreeSet<String> {
        let page = include_str!("../../docs/security.md");
        let (_, table) = page.split_once("<!-- files: begin -->").expect("the table");
        let (table, _) = table.split_once("<!-- files: end -->").expect("its end");
        let first = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
        let names = first
            .flat_map(|cell| format!("`{cell}").split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>());
        names.filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_')).collect()
    }

    #[test]
    fn the_page_lists_every_setting_that_names_a_file() {
        let settings = VARIANT_SETTINGS.iter().chain(DATASET_SETTINGS);
        let mut declared: BTreeSet<String> = settings
            .filter(|setting| setting.kind.path_in("corpus:x").is_some())
            .map(|setting| setting.name.to_owned())
            .chain(DEFAULTS.iter().filter(|setting| setting.is_path).map(|setting| setting.name.to_owned()))
            .chain(FLAGS_OF_FILES.iter().map(|(name, _)| (*name).to_owned()))
            .collect();
        let command = crate::cli::command();
        let mut known = BTreeSet::from(["path".to_owned()]);
        for name in ["run", "reproduce", "score"] {
            for argument in command.find_subcommand(name).expect(name).get_arguments() {
                let id = argument.get_id().to_string();
                // What a stored command line can hold.
                if name != "score" && argument.get_value_parser().type_id() == TypeId::of::<PathBuf>() {
                    declared.insert(id.clone());
                }
                known.insert(id);
            }
        }
        known.extend(declared.iter().cloned());
        let documented = documented();
        let missing: Vec<&String> = declared.difference(&documented).collect();
        assert!(missing.is_empty(), "docs/security.md lists no {missing:?}");
        let unknown: Vec<&String> =
            documented.difference(&known).filter(|name| *name != "reproduce" && *name != "score").collect();
        assert!(unknown.is_empty(), "docs/security.md lists {unknown:?}");
        assert!(
            ["instruction", "ids", "wiki", "report", "dataset", "hotpotqa", "results"]
                .iter()
                .all(|name| declared.contains(*name))
        );
    }

    #[test]
    fn the_flag_table_is_sound() {
        super::command().debug_assert();
    }
}
