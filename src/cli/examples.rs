//! Examples below the help of each command. A test runs those that need no server, in one folder.

use clap::Command;

const EXAMPLES: &str = include_str!("examples.txt");

/// Adds the examples to the help of their commands.
pub(super) fn add_examples(command: Command) -> Command {
    EXAMPLES.split("\n== ").skip(1).fold(command, |command, section| {
        let (path, lines) = section.split_once('\n').unwrap_or((section, ""));
        let path: Vec<&str> = path.split(' ').collect();
        add_examples_below(command, &path, lines.trim_end())
    })
}

fn add_examples_below(command: Command, path: &[&str], lines: &str) -> Command {
    match path {
        [] => command.after_help(format!("Examples:\n  {}", lines.replace('\n', "\n  "))),
        // A build without a feature lacks the commands of that feature.
        [first, ..] if command.find_subcommand(first).is_none() => command,
        [first, rest @ ..] => command.mut_subcommand(first, |command| add_examples_below(command, rest, lines)),
    }
}
