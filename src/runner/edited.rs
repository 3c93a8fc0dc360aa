//! What a run that is resumed with other settings is told: which they are, what changed in a prompt, and how to go on.

use super::error::RunError;
use super::job::Job;
use super::store::RunFolder;
use crate::base::line_diff::line_diff;
use crate::base::text::{shell_word, visible_line};
use crate::base::{Manifest, Variant};
use std::path::Path;

/// Lines of a prompt's difference that are shown.
const MAX_LINES: usize = 40;

/// A prompt that a resumed run would send otherwise, although all its settings are the same.
struct Edited<'a> {
    prompt: &'a str,
    was: &'a str,
    now: &'a str,
    /// Variants whose prompt it is.
    variants: Vec<&'a str>,
}

/// Refuses other settings than those in the folder, of which there is at least one.
pub(super) fn refusal(folder: &RunFolder, recorded: &Manifest, job: &Job, differing: &[String]) -> RunError {
    let path = folder.path().display();
    let is_of_prompts =
        |line: &String| line.starts_with("prompt_sha256: ") || line.starts_with("direct_prompt_sha256: ");
    let edited = if differing.iter().all(is_of_prompts) { edited_prompts(recorded, &job.manifest) } else { Vec::new() };
    let diffs: Vec<String> = edited.iter().filter_map(|edited| prompt_diff(folder, job, edited)).collect();
    let cache = "start another folder with --out; requests that both have are paid once if both name one --cache DIR";
    let dataset = &job.manifest.dataset;
    if let Some(first) = edited.first().filter(|_| diffs.len() == edited.len()) {
        let typed = Path::new(first.prompt);
        let copy = typed.with_file_name(format!(
            "{}-2.{}",
            typed.file_stem().unwrap_or_default().to_string_lossy(),
            typed.extension().unwrap_or_default().to_string_lossy()
        ));
        let copy = shell_word(&visible_line(&copy.display().to_string(), 200));
        let prompt = shell_word(&visible_line(first.prompt, 200));
        return RunError::input(
            format!("a prompt of `{path}` was edited since the run was started:\n{}", diffs.concat().trim_end()),
            format!(
                "to measure both, keep the new text as {copy}, restore {prompt}, and name both as prompts of an experiment file; or {cache}"
            ),
        );
    }
    let is_edited = recorded.dataset.path == dataset.path && recorded.dataset.sha256 != dataset.sha256;
    let hint = if is_edited && differing.len() == 1 {
        format!("restore {}, or {cache}", shell_word(&visible_line(&dataset.path, 200)))
    } else {
        "use the settings that the run was started with, or another --out".to_owned()
    };
    RunError::input(format!("`{path}` holds a run with other settings:\n  {}", differing.join("\n  ")), hint)
}

fn edited_prompts<'a>(recorded: &'a Manifest, planned: &'a Manifest) -> Vec<Edited<'a>> {
    let mut found: Vec<Edited<'a>> = Vec::new();
    for now in &planned.variants {
        let Some(was) = recorded.known_variants().find(|was| was.name == now.name) else { continue };
        let direct = |variant: &'a Variant| variant.direct_prompt_sha256.as_deref().unwrap_or_default();
        let pairs = [(&*was.prompt_sha256, &*now.prompt_sha256), (direct(was), direct(now))];
        for (was, new) in pairs.into_iter().filter(|(was, now)| was != now) {
            match found.iter_mut().find(|known| known.prompt == now.prompt) {
                // One difference says what was edited; other protocols and methods show it in their own form.
                Some(known) if known.variants.contains(&&*now.name) => {}
                Some(known) => known.variants.push(&now.name),
                None => found.push(Edited { prompt: &now.prompt, was, now: new, variants: vec![&now.name] }),
            }
        }
    }
    found
}

/// The prompt with the lines that differ; nothing if the folder does not hold the old text.
fn prompt_diff(folder: &RunFolder, job: &Job, edited: &Edited<'_>) -> Option<String> {
    let was = folder.prompt(edited.was).ok()?;
    let now = &job.prompts.iter().find(|prompt| prompt.sha256 == edited.now)?.text;
    let (prompt, variants) = (visible_line(edited.prompt, 200), visible_line(&edited.variants.join(", "), 300));
    let header = [format!("{prompt} as it was sent"), format!("{prompt} now")];
    let text = line_diff(&was, now).unified_diff().context_radius(1).header(&header[0], &header[1]).to_string();
    let lines: Vec<&str> = text.lines().collect();
    let mut out = format!("  {prompt} ({variants})\n");
    for line in lines.iter().take(MAX_LINES) {
        out = out + "    " + &visible_line(line, 200) + "\n";
    }
    if lines.len() > MAX_LINES {
        out.push_str("    …\n");
    }
    Some(out)
}
