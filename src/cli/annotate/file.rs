//! Judgements from a file.

use super::Args;
use super::session::now;
use crate::analysis::annotations::{Annotations, EpisodeIndex, Imported, append, import as read};
use crate::analysis::report::console::stdout;
use crate::analysis::report::thousands;
use crate::base::bounded::text_at_most;
use crate::base::text::{counted, shell_word, visible_line};
use crate::cli::failure::{self, Failure};
use crate::cli::output_file::json_line;
use crate::cli::say::say;
use crate::runner::store::RunFolder;
use serde_json::json;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// Largest file that is read, in bytes.
const MOST_BYTES: u64 = 256 << 20;
/// Rows that are named one by one.
const NAMED: usize = 20;

pub(super) fn import_file(args: &Args, folder: &RunFolder, path: &Path) -> anyhow::Result<u8> {
    let text = File::open(path)
        .and_then(|file| text_at_most(file, MOST_BYTES))
        .map_err(|error| Failure::bad_input(format!("cannot read `{}`: {error}", path.display()), "check the path"))?;
    let known = Annotations::read(folder)?;
    known.notes().for_each(say);
    let shelf = EpisodeIndex::of(&folder.records()?)?;
    let imported = read(&text, &shelf, &known, args.by.as_deref(), &now());
    if !imported.taken.is_empty() {
        append(folder, &imported.taken)?;
    }
    let Imported { taken, known, refused, unused } = &imported;
    if args.json {
        let refused: Vec<_> = refused.iter().map(|(line, why)| json!({"line": line, "why": why})).collect();
        json_line(&mut stdout(), &json!({"taken": taken.len(), "known": known, "refused": refused, "unused": unused}))?;
    } else {
        report_imported(&imported, folder, path)?;
    }
    // A file of which nothing can be used is not the file that was meant.
    let nothing = taken.is_empty() && *known == 0 && !refused.is_empty();
    Ok(if nothing { failure::BAD_INPUT } else { failure::OK })
}

fn report_imported(imported: &Imported, folder: &RunFolder, path: &Path) -> anyhow::Result<()> {
    let Imported { taken, known, refused, unused } = imported;
    if !unused.is_empty() {
        let names: Vec<String> =
            unused.iter().take(NAMED).map(|name| format!("`{}`", visible_line(name, 60))).collect();
        say(format_args!(
            "note: not used: {} {}",
            if names.len() == 1 { "column" } else { "columns" },
            names.join(", ")
        ));
    }
    for (line, why) in refused.iter().take(NAMED) {
        say(format_args!("warning: {}:{line}: {}; not taken", path.display(), visible_line(why, 400)));
    }
    if refused.len() > NAMED {
        say(format_args!("warning: {} more are not taken; --json names all", thousands(refused.len() - NAMED)));
    }
    if !refused.is_empty() && taken.is_empty() && *known == 0 {
        say(
            "hint: a row needs `key`, or `id` with `variant`, and `by` with `correct` or `class`; see `wikitrail docs annotation`",
        );
    }
    let run = folder.path().display().to_string();
    let mut out = stdout();
    let mut parts = vec![format!("{} taken", counted(taken.len(), "judgement"))];
    parts.extend((*known > 0).then(|| format!("{} there already", thousands(*known))));
    parts.extend((!refused.is_empty()).then(|| format!("{} not taken", thousands(refused.len()))));
    writeln!(out, "{run}: {}", parts.join(", "))?;
    if !taken.is_empty() {
        writeln!(out, "next:\n  wikitrail score {}", shell_word(&run))?;
    }
    Ok(())
}
