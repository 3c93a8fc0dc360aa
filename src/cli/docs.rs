//! `docs`, `man`, `completions` and the examples below the help of each command: help that is part of the program.

use super::failure::{self, Failure};
use super::flags::Suggested;
use super::output_file;
use super::say::say;
use crate::analysis::output_file::{Force, OutputFile, Start};
use crate::analysis::report::console::stdout;
use crate::analysis::report::{View, counted, labelled};
use crate::base::text::{closest, excerpt, visible_line};
use clap::builder::{PossibleValue, StringValueParser, Styles};
use clap::{Arg, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::Write as _;
use std::path::PathBuf;

const PAGES: &[(&str, &str)] = &[
    ("guide", include_str!("../../docs/guide.md")),
    ("install", include_str!("../../docs/install.md")),
    ("commands", include_str!("../../docs/commands.md")),
    ("settings", include_str!("../../docs/settings.md")),
    ("troubleshooting", include_str!("../../docs/troubleshooting.md")),
    ("for-a-paper", include_str!("../../docs/for-a-paper.md")),
    ("for-teaching", include_str!("../../docs/for-teaching.md")),
    ("prompts", include_str!("../../prompts/README.md")),
    ("datasets", include_str!("../../datasets/README.md")),
    ("protocol-texts", include_str!("../../prompts/protocols/en.toml")),
    ("models", include_str!("../../docs/models.md")),
    ("prices", include_str!("../models/prices.toml")),
    ("wikipedia", include_str!("../../docs/wikipedia.md")),
    ("corpora", include_str!("../../docs/corpora.md")),
    ("protocols", include_str!("../../docs/protocols.md")),
    ("methods", include_str!("../../docs/methods.md")),
    ("agents", include_str!("../../docs/agents.md")),
    ("experiments", include_str!("../../docs/experiments.md")),
    ("compare", include_str!("../../docs/compare.md")),
    ("ci", include_str!("../../docs/ci.md")),
    ("statistics", include_str!("../../docs/statistics.md")),
    ("statistics-tables", include_str!("../../docs/statistics-tables.md")),
    ("metrics", include_str!("../../docs/metrics.md")),
    ("report", include_str!("../../docs/report.md")),
    ("annotation", include_str!("../../docs/annotation.md")),
    ("judge", include_str!("../../docs/judge.md")),
    ("branch", include_str!("../../docs/branch.md")),
    ("reproduce", include_str!("../../docs/reproduce.md")),
    ("fidelity", include_str!("../../docs/fidelity.md")),
    ("formats", include_str!("../../docs/formats.md")),
    ("columns", include_str!("../../docs/columns.md")),
    ("exports", include_str!("../../docs/exports.md")),
    ("python", include_str!("../../docs/python.md")),
    ("serve", include_str!("../../docs/serve.md")),
    ("cluster", include_str!("../../docs/cluster.md")),
    ("performance", include_str!("../../docs/performance.md")),
    ("security", include_str!("../../docs/security.md")),
    ("experiments/sample.toml", include_str!("../../experiments/sample.toml")),
    ("experiments/demo.toml", include_str!("../../experiments/demo.toml")),
    ("experiments/interface.toml", include_str!("../../experiments/interface.toml")),
    ("experiments/table1.toml", include_str!("../../experiments/table1.toml")),
    ("architecture", include_str!("../../docs/architecture.md")),
    ("glossary", include_str!("../../docs/glossary.md")),
];

#[derive(Debug, clap::Args)]
pub(super) struct DocsArgs {
    /// The page, a section of it as PAGE#SECTION, or a shipped experiment file; without one, the pages are listed.
    #[arg(value_name = "PAGE[#SECTION]", value_parser = pages(), hide_possible_values = true)]
    page: Option<String>,
    /// List the sections that hold this word or text, in any case of its letters, each with its first line that does.
    #[arg(long, value_name = "TEXT", conflicts_with = "page")]
    search: Option<String>,
}

pub(super) fn print_docs(args: &DocsArgs) -> anyhow::Result<u8> {
    let mut out = stdout();
    if let Some(wanted) = &args.search {
        let found: String = PAGES.iter().flat_map(|(name, text)| search(name, text, wanted)).collect();
        if found.is_empty() {
            let what = format!("no page holds `{}`", excerpt(wanted));
            return Err(Failure::usage(what, "try a shorter word; `wikitrail docs` lists the pages"));
        }
        out.write_all(found.as_bytes())?;
        say("next:\n  wikitrail docs PAGE#SECTION");
        return Ok(failure::OK);
    }
    match &args.page {
        Some(page) => out.write_all(page_text(page)?.as_bytes())?,
        None => out.write_all(page_list().as_bytes())?,
    }
    Ok(failure::OK)
}

fn pages() -> Suggested<StringValueParser> {
    Suggested { parser: StringValueParser::new(), words: || names().collect() }
}

fn names() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(name, _)| *name)
}

fn page_list() -> String {
    let width = names().map(str::len).max().unwrap_or(0);
    let line = |(name, text): &(&str, &str)| {
        let title = text.lines().next().unwrap_or_default().trim_start_matches("# ");
        format!("{name:width$}  {title}\n")
    };
    PAGES.iter().map(line).collect()
}

fn page_text(wanted: &str) -> anyhow::Result<&'static str> {
    let (name, section) = wanted.split_once('#').map_or((wanted, None), |(name, section)| (name, Some(section)));
    // Links and hints of older versions name files.
    let name = name.trim_start_matches("docs/").trim_end_matches("/README.md").trim_end_matches(".md");
    let Some((_, text)) = PAGES.iter().find(|(known, _)| *known == name) else {
        let hint = match closest(name, names()) {
            Some(near) => format!("did you mean `wikitrail docs {near}`?"),
            None => "`wikitrail docs` lists the pages".to_owned(),
        };
        return Err(Failure::usage(format!("there is no page `{}`", excerpt(name)), hint));
    };
    let Some(section) = section else { return Ok(text) };
    section_of(text, section).ok_or_else(|| {
        let slugs: Vec<String> = headings(text).map(|heading| heading.slug).collect();
        let hint = format!("its sections are {}", visible_line(&slugs.join(", "), 2000));
        Failure::usage(format!("`{name}` has no section `{}`", excerpt(section)), hint)
    })
}

/// A line for each section of a page that holds the text: what `docs` prints it by, and its first line that does.
fn search(name: &str, text: &str, wanted: &str) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    // Before its first heading a page has no section.
    let begin = Heading { at: 0, level: 0, slug: String::new() };
    let all: Vec<Heading> = std::iter::once(begin).chain(headings(text)).collect();
    let ends = all.iter().skip(1).map(|heading| heading.at).chain([text.len()]);
    let sections = all.iter().zip(ends).filter_map(|(heading, end)| Some((heading, text.get(heading.at..end)?)));
    let found = |(heading, text): (&Heading, &str)| {
        let line = text.lines().find(|line| line.to_lowercase().contains(&wanted))?;
        // The first heading is the page's title.
        let section = if heading.level > 1 { format!("#{}", heading.slug) } else { String::new() };
        Some(format!("{name}{section}\n    {}\n", visible_line(line.trim(), 120)))
    };
    sections.filter_map(found).collect()
}

struct Heading {
    at: usize,
    level: usize,
    slug: String,
}

/// The headings of a page; a line of a code block is none.
fn headings(text: &str) -> impl Iterator<Item = Heading> {
    let (mut at, mut in_code) = (0, false);
    text.split_inclusive('\n').filter_map(move |line| {
        let begin = at;
        at += line.len();
        in_code ^= line.starts_with("```");
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        (level > 0 && !in_code && title.starts_with(' ')).then(|| Heading { at: begin, level, slug: slug(title) })
    })
}

/// The name of a heading in links, as GitHub makes it.
fn slug(title: &str) -> String {
    let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn section_of<'t>(text: &'t str, section: &str) -> Option<&'t str> {
    let wanted = slug(&section.replace('-', " "));
    let mut all = headings(text).skip_while(|heading| heading.slug != wanted);
    let first = all.next()?;
    let end = all.find(|heading| heading.level <= first.level).map_or(text.len(), |heading| heading.at);
    text.get(first.at..end)
}

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
        let is_earlier = |start: &Start| start.text.contains("\n.TH wikitrail");
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

/// The commands by what a person wants to do, in the order in which people need them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Run", &["run", "ask", "demo", "reproduce", "branch"]),
    ("Look", &["list", "show", "report", "view", "annotate", "note"]),
    ("Compare", &["score", "compare", "replay"]),
    ("Data", &["dataset", "prompt", "export", "import", "merge"]),
    ("Wikipedia", &["wiki", "corpus", "serve", "mcp"]),
    ("Other", &["models", "parse", "config", "docs", "completions", "man"]),
];

/// Lists the commands in groups. A build without a feature lacks the commands of that feature.
pub(super) fn group_commands(command: Command) -> Command {
    let header = Styles::default();
    let header = header.get_header();
    let width = View::of_stdout().width.clamp(60, 100);
    let mut text = String::new();
    for (group, names) in GROUPS {
        text = format!("{text}{header}{group}:{header:#}\n");
        for command in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            text += &labelled(command.get_name(), &about, 12, width);
        }
        text.push('\n');
    }
    command.help_template(format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}{header}Options:{header:#}\n{{options}}{{after-help}}"))
}

/// The flags of `run` that most runs need, each with what `-h` says of it. `-h` has no others, and `--help` has them first.
const COMMON: &[(&str, &str)] = &[
    ("dataset", "Dataset file, or an experiment file (.toml)"),
    ("model", "Model, such as openai:NAME [default: baseline]"),
    ("base_url", "Base URL of the model's server"),
    ("prompt", "Prompt file; several make a variant each"),
    ("method", "Method, such as react or cot; several alike"),
    ("protocol", "How the agent talks to the model; several alike"),
    ("temperature", "Sampling temperature, 0 to 2 [default: 0]"),
    ("wiki", "Where pages come from: a corpus, the live site"),
    ("contact", "Your address, for operators of the live site"),
    ("limit", "Maximum number of questions [default: all]"),
    ("repeats", "How often each question is asked [default: 1]"),
    ("out", "The run's folder [default: one under results/]"),
    ("resume", "Resume the run in --out"),
    ("dry_run", "Show what would be run and what it would take"),
    ("budget_usd", "Stop when this many US dollars are spent"),
];

/// Shortens `run -h` to these flags.
pub(super) fn shorten_run(command: Command) -> Command {
    let shorten = |arg: Arg| match COMMON.iter().position(|(name, _)| arg.get_id() == *name) {
        Some(at) => long_help(arg).help(COMMON[at].1).display_order(at),
        None => arg.hide_short_help(true),
    };
    command.mut_subcommand("run", |run| run.mut_args(shorten))
}

/// A flag whose help is for `--help` alone, and its values too; it comes before the flags with a heading.
fn long_help(arg: Arg) -> Arg {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let arg = if arg.is_positional() { arg } else { arg.help_heading(None::<&str>) };
    let values = arg.get_possible_values();
    if values.is_empty() || !arg.get_action().takes_values() {
        return arg.long_help(help);
    }
    let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    arg.clone().long_help(format!("{help} [possible values: {}]", values.join(", "))).hide_possible_values(true)
}

#[cfg(test)]
mod tests {
    use super::{COMMON, GROUPS, PAGES, headings, page_list, page_text, search, section_of};
    use clap::Command;
    use std::path::Path;

    const ROOT: &str = env!("CARGO_MANIFEST_DIR");

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let command = crate::cli::command();
        let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        // A build without a feature lacks the commands of that feature.
        grouped.retain(|name| all.contains(name));
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn the_short_help_of_run_fits_on_a_screen() {
        let mut command = crate::cli::command();
        let run = command.find_subcommand_mut("run").expect("run").clone().term_width(80);
        let [short, long] = [run.clone().render_help(), run.clone().render_long_help()].map(|text| text.to_string());
        assert!(short.lines().count() <= 40, "{short}");
        assert!(short.lines().all(|line| line.chars().count() <= 80), "{short}");
        for (name, _) in COMMON {
            let arg = run.get_arguments().find(|arg| arg.get_id() == *name).expect(name);
            let flag = arg.get_long().map_or_else(|| "[DATASET]".to_owned(), |long| format!("--{long}"));
            assert!(short.contains(&flag) && long.contains(&flag), "{name}: {short}");
        }
        assert!(long.contains("--max-steps") && !short.contains("--max-steps"));
    }

    #[test]
    fn every_page_is_part_of_the_program() {
        for entry in std::fs::read_dir(Path::new(ROOT).join("docs")).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
                // Indexes of a site are for its builder.
                let known =
                    PAGES.iter().any(|(page, _)| *page == name) || ["SUMMARY", "README", "index"].contains(&name);
                assert!(known, "add docs/{name}.md to src/cli/docs.rs");
            }
        }
        assert!(
            page_list().lines().any(|line| line.split_whitespace().eq(["settings", "Settings"])),
            "{}",
            page_list()
        );
    }

    #[test]
    fn a_page_is_printed_whole_or_in_part() {
        for name in ["prompts", "prompts/README.md", "docs/prompts.md"] {
            assert!(page_text(name).expect("a page").starts_with("# Prompts"), "{name}");
        }
        let text = "# A\nx\n## B c\n```\n# no heading\n```\n### D\ny\n## E\n";
        assert_eq!(headings(text).map(|heading| heading.slug).collect::<Vec<_>>(), ["a", "b-c", "d", "e"]);
        assert_eq!(section_of(text, "b-c"), Some("## B c\n```\n# no heading\n```\n### D\ny\n"));
        assert_eq!(section_of(text, "x"), None);
        assert!(
            page_text("security#servers-keys-and-files").expect("a section").starts_with("## Servers, keys and files")
        );
        let refused = |name: &str| format!("{:#}", page_text(name).expect_err(name));
        assert_eq!(refused("promts"), "there is no page `promts`");
        assert_eq!(refused("models#nothing"), "`models` has no section `nothing`");
    }

    #[test]
    fn sections_that_hold_a_word_are_found() {
        let text = "# A\nOne tape.\n## B c\nno\n### Tape heads\nA TAPE and\na tape\n";
        assert_eq!(search("p", text, "tape"), ["p\n    One tape.\n", "p#tape-heads\n    ### Tape heads\n"]);
        assert_eq!(search("p", text, "a TAPE"), ["p#tape-heads\n    A TAPE and\n"]);
        assert_eq!(search("p", text, "reel"), [""; 0]);
        for name in ["sample", "demo", "interface", "table1"] {
            let path = format!("experiments/{name}.toml");
            let file = crate::runner::experiment::shipped::file(&path).expect("shipped");
            assert_eq!(page_text(&path).expect("a page").as_bytes(), file);
        }
    }

    /// Every page that a hint, an error or a help names can be printed, and none names a file of the repository.
    #[test]
    fn hints_name_pages_that_there_are() {
        let mut named = 0;
        let mut folders = vec![Path::new(ROOT).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let is_read = path.extension().is_some_and(|kind| kind == "rs" || kind == "txt");
                let tests = path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("docs.rs");
                if !is_read || tests {
                    continue;
                }
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
                {
                    let place = format!("{}:{}", path.display(), number + 1);
                    for rest in line.split("wikitrail docs ").skip(1) {
                        let page: String =
                            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_#".contains(*c)).collect();
                        page_text(&page).unwrap_or_else(|error| panic!("{place}: {error}"));
                        named += 1;
                    }
                    let of_file = line.contains("docs/") && line.contains(".md") && !line.contains("://");
                    let read =
                        line.contains("include_str!") || line.contains("CARGO_MANIFEST_DIR") || line.contains("assert");
                    assert!(read || !(of_file || line.contains("prompts/README.md")), "{place} names a file: {line}");
                }
            }
        }
        assert!(named > 10, "{named}");
    }

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
        assert_eq!(
            methods.map(|(_, value)| value.as_str()).collect::<Vec<_>>(),
            crate::base::Method::ALL.map(crate::base::Method::typed)
        );
        assert!(found.len() > 100, "{}", found.len());
    }
}
