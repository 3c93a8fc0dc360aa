//! `corpus build` and `add`: from files in a public format to a folder.

use crate::analysis::report::console::stdout;
use crate::analysis::report::corpus::{megabytes, write_manifest};
use crate::analysis::report::progress::{Bar, stage_bar};
use crate::analysis::report::{counted, thousands};
use crate::base::text::{closest, is_date, shell_word};
use crate::cli::failure::{self};
use crate::cli::output_file::json_line;
use crate::cli::say::say;
use crate::runner::corpus_inputs::{explain_build, format_names, input_format};
use crate::wikipedia::corpus::{BuildSettings, Built, Extent, Format, LEAST_MEMORY, OnDuplicate, Progress, build};
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct BuildArgs {
    /// New folder (written as DIR.partial, then renamed).
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct AddArgs {
    /// The corpus to add to, which is not changed.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The new folder.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, clap::Args)]
struct Options {
    /// File or folder to read; may be repeated. FORMAT is `hotpotqa`, `jsonl`, `dspy`, `dpr`, `wiki18`, `beir`, `kilt`,
    /// `fever`, `2wiki`, `dataset`, `parquet`, `zim`, `corpus` or `redirects`; without it, the first record and the name
    /// decide.
    #[arg(long, required = true, value_name = "[FORMAT:]PATH", value_parser = source)]
    from: Vec<(Option<Format>, PathBuf)>,
    /// What to call it [default: that of the input corpus, else the folder's name].
    #[arg(long)]
    name: Option<String>,
    /// How much of a page an article has: `lead`, `page` or `passages` [default: what the format has].
    #[arg(long, value_parser = extent)]
    extent: Option<Extent>,
    /// Code of the language, such as `en`.
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// The date of the encyclopedia, such as 2017-10-01.
    #[arg(long, value_name = "DATE", value_parser = date)]
    as_of: Option<String>,
    /// License of the texts, such as CC-BY-SA-4.0, or `unknown` [default: as the publisher of a format says, else unknown].
    #[arg(long, value_name = "SPDX")]
    license: Option<String>,
    /// Authors to credit, such as "Wikipedia contributors".
    #[arg(long, value_name = "TEXT")]
    attribution: Option<String>,
    /// Changes made to the texts; some licenses require it.
    #[arg(long, value_name = "TEXT")]
    changes: Option<String>,
    /// Of articles with the same title, keep the one with the lowest page number or the one that is read last, or refuse to
    /// build.
    #[arg(long, value_name = "WHICH", default_value = "lowest-id", value_parser = ["lowest-id", "last", "error"])]
    on_duplicate: String,
    /// Threads that work at once [default: all processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Memory to sort in, such as 500M or 2G. It changes how long a build takes, and nothing else.
    #[arg(long, default_value = "1G", value_name = "SIZE", value_parser = memory)]
    memory: u64,
    /// Print the manifest and what was left out as one JSON object.
    #[arg(long)]
    json: bool,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

fn source(text: &str) -> Result<(Option<Format>, PathBuf), String> {
    if let Some((name, path)) = text.split_once(':') {
        if let Some(format) = Format::named(name) {
            return if path.is_empty() {
                Err("a path is expected after the format".to_owned())
            } else {
                Ok((Some(format), path.into()))
            };
        }
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric()) && name.len() > 1;
        if plain && !Path::new(text).exists() {
            let known = Format::NAMED.iter().map(|format| format.name());
            let meant = closest(name, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(format!("`{name}` is not a format{meant}\nformats: {}", format_names()));
        }
    }
    Ok((None, text.into()))
}

fn date(text: &str) -> Result<String, String> {
    if is_date(text) {
        Ok(text.to_owned())
    } else {
        Err("a date such as 2017-10-01, 2017-10 or 2017 is expected".to_owned())
    }
}

fn extent(text: &str) -> Result<Extent, String> {
    match text {
        "lead" => Ok(Extent::Lead),
        "page" => Ok(Extent::Page),
        "passages" => Ok(Extent::Passages),
        _ => Err("`lead`, `page` or `passages` is expected".to_owned()),
    }
}

fn memory(text: &str) -> Result<u64, String> {
    let units = [('K', 10), ('M', 20), ('G', 30)];
    let (number, shift) = units
        .iter()
        .find_map(|(unit, shift)| Some((text.to_uppercase().strip_suffix(*unit)?.to_owned(), *shift)))
        .unwrap_or((text.to_owned(), 0));
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    match bytes {
        Some(bytes) if bytes >= LEAST_MEMORY => Ok(bytes),
        Some(_) => Err(format!("at least {}M is needed", LEAST_MEMORY >> 20)),
        None => Err("a size such as 500M or 2G is expected".to_owned()),
    }
}

pub(super) fn build_new(args: &BuildArgs) -> anyhow::Result<u8> {
    build_folder(&args.dir, None, &args.options)
}

pub(super) fn add(args: &AddArgs) -> anyhow::Result<u8> {
    build_folder(&args.out, Some(&args.dir), &args.options)
}

/// Builds `dir` of the inputs, and before them of the corpus that they are added to.
fn build_folder(dir: &Path, to: Option<&PathBuf>, args: &Options) -> anyhow::Result<u8> {
    let tell = |text| say(text);
    let inputs = to.map(|to| (&None, to)).into_iter().chain(args.from.iter().map(|(format, path)| (format, path)));
    let sources = inputs.map(|(format, path)| Ok((input_format(*format, path, &tell)?, path.clone())));
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let settings = BuildSettings {
        sources: sources.collect::<anyhow::Result<_>>()?,
        extent: args.extent,
        name: args.name.clone(),
        language: args.language.clone(),
        as_of: args.as_of.clone(),
        license: args.license.clone(),
        attribution: args.attribution.clone(),
        changes: args.changes.clone(),
        on_duplicate: match args.on_duplicate.as_str() {
            "last" => OnDuplicate::Last,
            "error" => OnDuplicate::Error,
            _ => OnDuplicate::LowestId,
        },
        threads: args.threads.map_or(processors, usize::from),
        memory: args.memory,
        adds: to.is_some(),
        ..BuildSettings::default()
    };
    let bar = stage_bar(args.quiet);
    let built = build(dir, &settings, &mut |progress| show_progress(&bar, progress));
    bar.finish_and_clear();
    let Built { manifest, notes } = built.map_err(|error| explain_build(&error, &args.from, &settings, &tell))?;
    say_left_out(&notes);
    let mut out = stdout().styled();
    if args.json {
        json_line(&mut out, &serde_json::json!({ "manifest": manifest, "left_out": notes }))?;
        return Ok(failure::OK);
    }
    write_manifest(&manifest, &mut out)?;
    let dir = shell_word(&dir.display().to_string());
    let size = megabytes(manifest.files.values().map(|file| file.bytes).sum());
    writeln!(out, "wrote {dir}, {size}\nnext:\n  wikitrail wiki search QUERY --wiki corpus:{dir}")?;
    Ok(failure::OK)
}

pub(super) fn show_progress(bar: &Bar, progress: Progress) {
    bar.set_message(match progress {
        Progress::Reading(rows) => format!("reading, {}", counted(rows, "row")),
        Progress::Writing(done, all) => format!("writing, {} of {} articles", thousands(done), thousands(all)),
        Progress::Finishing => "putting the index together".to_owned(),
    });
    bar.tick();
}

pub(super) fn say_left_out(notes: &[String]) {
    for note in notes {
        say(format_args!("left out: {note}"));
    }
}

#[cfg(test)]
mod tests {
    use super::{date, memory, source};
    use crate::wikipedia::corpus::Format;

    #[test]
    fn inputs_and_sizes_are_read_or_refused_in_words() {
        assert_eq!(source("jsonl:a:b"), Ok((Some(Format::Jsonl), "a:b".into())));
        assert_eq!(source("C:\\x"), Ok((None, "C:\\x".into())));
        assert_eq!(source("jsonl:"), Err("a path is expected after the format".to_owned()));
        assert_eq!(source("2wiki:a"), Ok((Some(Format::Wiki2), "a".into())));
        assert!(source("wet:a").is_err_and(
            |error| error.starts_with("`wet` is not a format") && error.contains("\nformats: `hotpotqa`, ")
        ));
        assert_eq!([memory("64m"), memory("2G")], [Ok(64 << 20), Ok(2 << 30)]);
        for (text, taken) in [
            ("2017-10-01", true),
            ("2017", true),
            ("2017-10", true),
            ("October 2017", false),
            ("", false),
            ("1.1.2017", false),
        ] {
            assert_eq!(date(text).is_ok(), taken, "{text}");
        }
        assert_eq!(memory("15M"), Err("at least 16M is needed".to_owned()));
        for text in ["", "G", "-1G", "1.5G", "99999999999G"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }
}
