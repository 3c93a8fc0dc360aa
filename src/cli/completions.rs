//! `completions`: what a shell has to know to complete commands, flags and files.

use super::failure;
use crate::analysis::report::console::stdout;
use clap_complete::Shell;
use std::io::Write as _;

#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn print_completions(args: &CompletionsArgs) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    // Into memory first: the library panics where it cannot write.
    clap_complete::generate(args.shell, &mut super::command(), "wikitrail", &mut script);
    stdout().write_all(&script)?;
    Ok(failure::OK)
}

#[cfg(test)]
mod tests {
    use clap::Command;

    /// The values that completions offer, each with where it is offered.
    fn offered(command: &Command, path: &str, found: &mut Vec<(String, String)>) {
        let path = format!("{path} {}", command.get_name());
        for arg in command.get_arguments() {
            let values = arg.get_value_parser().possible_values().into_iter().flatten();
            found.extend(values.map(|value| (format!("{path} {}", arg.get_id()), value.get_name().to_owned())));
        }
        command.get_subcommands().for_each(|command| offered(command, &path, found));
    }

    #[test]
    fn no_offered_value_means_something_to_a_shell() {
        let mut found = Vec::new();
        offered(&crate::cli::command(), "", &mut found);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,/:@%+=#".contains(c);
        for (place, value) in &found {
            assert!(value.chars().all(is_plain), "{place}: `{value}`");
            // At the start these are a comment, a home folder, a flag or an expansion.
            assert!(value.starts_with(|c: char| c.is_ascii_alphanumeric()), "{place}: `{value}`");
        }
        let methods = found.iter().filter(|(place, _)| place == " wikitrail run method");
        assert_eq!(methods.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), crate::base::Method::CLI_NAMES);
        assert!(found.len() > 100, "{}", found.len());
    }
}
