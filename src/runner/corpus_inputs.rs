//! The inputs of a corpus that is built: their formats, and what is wrong with them.

use crate::base::text::{shell_word, thousands};
use crate::runner::RunError;
use crate::wikipedia::corpus::{BuildError, BuildSettings, Format, files};
use std::path::{Path, PathBuf};

pub(crate) fn format_names() -> String {
    let names: Vec<String> = Format::NAMED.iter().map(|format| format!("`{}`", format.name())).collect();
    names.join(", ")
}

/// The format of an input, which is told where it was not given.
pub(crate) fn input_format(format: Option<Format>, path: &Path, tell: &dyn Fn(String)) -> Result<Format, RunError> {
    let shown = path.display();
    if !files(path).iter().all(|file| file.exists()) {
        let message = format!("cannot read `{shown}`: there is no such file or folder");
        return Err(RunError::input(message, "check the path"));
    }
    if let Some(format) = format {
        let format = check_named_format(format, path)?;
        tell_unread(format, path, tell);
        return Ok(format);
    }
    let found = Format::detect(path).ok_or_else(|| {
        let hint = if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip")) {
            "unpack it, and name the file or folder that was in it".to_owned()
        } else {
            let names = format_names();
            format!(
                "say it with --from FORMAT:PATH; formats are {names}. A line of JSON is {{\"title\": str, \"text\": str}}; \
                 gzip, zstd, bzip2 and xz are unpacked"
            )
        };
        RunError::input(format!("cannot tell the format of `{shown}`"), hint)
    })?;
    tell(format!("reading `{shown}` as {}", found.name()));
    tell_unread(found, path, tell);
    check_is_built(found)
}

fn tell_unread(format: Format, path: &Path, tell: &dyn Fn(String)) {
    if let Some(what) = format.unread(path) {
        let shown = path.display();
        let written = shell_word(&shown.to_string());
        tell(format!(
            "warning: `{shown}`: {what}, and not read; numbers of pages are texts or signed integers in `id`, and passages are \
             read with --from beir:{written}"
        ));
    }
}

/// The format that was given, unless the path shows that another one was meant.
fn check_named_format(format: Format, path: &Path) -> Result<Format, RunError> {
    let shown = path.display();
    let written = shell_word(&shown.to_string());
    let ends = |wanted: &str| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(wanted));
    match format {
        Format::Hotpotqa if path.is_file() && (ends("json") || ends("jsonl")) => Err(RunError::input(
            format!("`{shown}` is not a dump of HotpotQA"),
            format!("for a file of questions write --from dataset:{written}"),
        )),
        Format::Corpus if path.is_file() => Err(RunError::input(
            format!("`{shown}` is a file, not a corpus folder"),
            format!("`corpus` takes a built folder; write --from {written}"),
        )),
        _ => check_is_built(format),
    }
}

fn check_is_built(format: Format) -> Result<Format, RunError> {
    if format.is_built() {
        return Ok(format);
    }
    let name = format.name();
    let message = format!("this program was built without the format {name}");
    Err(RunError::usage(message, format!("build it with the format: cargo install --path . --features {name}")))
}

pub(crate) fn explain_build(
    error: &BuildError,
    from: &[(Option<Format>, PathBuf)],
    settings: &BuildSettings,
    tell: &dyn Fn(String),
) -> RunError {
    let inputs: Vec<String> = from.iter().map(|(_, path)| format!("`{}`", path.display())).collect();
    let inputs = inputs.join(", ");
    let tell_left_out = |notes: &[String]| notes.iter().for_each(|note| tell(format!("left out: {note}")));
    match error {
        BuildError::Exists(_) => {
            RunError::usage(error, "a corpus is never changed; name another folder, or remove this one")
        }
        BuildError::InTheWay(_) => RunError::usage(error, "remove it or name another folder"),
        BuildError::Busy(_) => RunError::unexpected(error, "wait for it to end, or name another folder"),
        BuildError::Input { is_edited: true, .. } => {
            RunError::input(error, "it was edited or damaged; to build from it anyway remove its first line")
        }
        BuildError::Input { .. } => {
            RunError::input(error, "is the file whole? Compare its size and digest with the source's")
        }
        BuildError::Empty(notes) => {
            tell_left_out(notes);
            let read_as = |wanted| settings.sources.iter().any(|(format, _)| *format == wanted);
            let hint = match () {
                () if read_as(Format::Jsonl) => {
                    "a line is {\"title\": \"Ada Lovelace\", \"text\": \"One paragraph.\\n\\nAnother.\"}"
                }
                () if read_as(Format::Redirects) => {
                    "redirects alone make no corpus; name their articles with --from, too"
                }
                () => "is it the right file, and of this format? --from FORMAT:PATH names another format",
            };
            RunError::input(format!("no article was found in {inputs}"), hint)
        }
        BuildError::NothingAdded(rows, notes) => {
            tell_left_out(notes);
            let why = match rows {
                0 => "there is no line in it".to_owned(),
                1 => "its only line was left out".to_owned(),
                _ => format!("all {} lines were left out", thousands(*rows)),
            };
            let message = format!("nothing in {inputs} could be added: {why}");
            RunError::input(message, "is it of the format that it was read as? --from FORMAT:PATH names another format")
        }
        BuildError::Duplicate(_) => {
            RunError::input(error, "remove one of them, or take --on-duplicate lowest-id or last")
        }
        BuildError::Write { .. } => RunError::unexpected(
            error,
            "is there space for about three times the unpacked texts, and may the folder be written to?",
        ),
        BuildError::Unsound(_) => RunError::unexpected(error, "is the disk sound? Build it again"),
    }
}
