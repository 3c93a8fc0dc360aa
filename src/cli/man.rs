//! `man`: the manual pages of all commands, made from the same table of flags as `--help`.

use super::failure::{self, Failure};
use super::output_file;
use super::say::say;
use crate::analysis::output_file::{Force, OutputFile, Start};
use crate::analysis::report::console::stdout;
use crate::analysis::report::counted;
use clap::Command;
use clap_mangen::Man;
use std::io::Write as _;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Folder for one file per command, such as `wikitrail-run.1` [default: print all pages to stdout].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn write_man(args: &ManArgs) -> anyhow::Result<u8> {
    let mut command = super::command().disable_help_subcommand(true);
    // Sets the names of subcommands.
    command.build();
    let mut pages = Vec::new();
    man_pages(&command, &mut pages)?;
    let Some(folder) = &args.out else {
        let mut out = stdout();
        pages.iter().try_for_each(|(_, text)| out.write_all(text.as_bytes()))?;
        return Ok(failure::OK);
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        let what = format!("cannot write the pages to `{}`: {error}", folder.display());
        Failure::unexpected(what, "name a writable folder with --out")
    })?;
    for (name, text) in &pages {
        let is_earlier = |start: &Start| start.text().contains("\n.TH wikitrail");
        let (path, what, force) = (&*folder.join(name), "a page of this manual", Force::Never("name another folder"));
        let file = OutputFile { path, what, is_earlier: &is_earlier, force, inputs: Vec::new() };
        output_file::write(&file, |mut file| Ok(file.write_all(text.as_bytes())?))?;
    }
    say(format_args!("{} written to {}", counted(pages.len(), "page"), folder.display()));
    Ok(failure::OK)
}

/// The page of a command as its file's name and troff source, then those of the commands below it.
fn man_pages(command: &Command, pages: &mut Vec<(String, String)>) -> std::io::Result<()> {
    let page = Man::new(command.clone()).source(concat!("wikitrail ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    pages.push((page.get_filename(), with_lines(&String::from_utf8_lossy(&text))));
    command.get_subcommands().filter(|below| !below.is_hide_set()).try_for_each(|below| man_pages(below, pages))
}

fn with_lines(text: &str) -> String {
    const EXTRA: &str = ".SH EXTRA\n";
    let Some((before, extra)) = text.split_once(EXTRA) else { return text.to_owned() };
    let (extra, after) = extra.find("\n.SH ").map_or((extra, ""), |at| extra.split_at(at + 1));
    let (title, lines) = extra.split_once("Examples:\n").map_or(("NOTES", extra), |(_, lines)| ("EXAMPLES", lines));
    format!("{before}.SH {title}\n.nf\n{}\n.fi\n{after}", lines.trim_end())
}
