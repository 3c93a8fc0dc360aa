//! The head of the page, the settings, and what a reader should know.

use super::html::{Heading, Html};
use super::sections::Part;
use super::{Episodes, Limits};
use crate::graded::{Group, Origin, Results, Setting};
use crate::types::Manifest;
use crate::types::text::{counted, shell_word, thousands};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Characters of a digest that are shown.
const DIGEST: usize = 12;

fn origins(results: &Results) -> impl Iterator<Item = &Origin> {
    results.variants().filter_map(|(source, _)| source.origin.as_ref())
}

/// Each run's manifest once, with its folder.
fn manifests(results: &Results) -> Vec<(String, &Rc<Manifest>)> {
    let mut found: Vec<(String, &Rc<Manifest>)> = Vec::new();
    for (source, _) in results.variants() {
        let path = source.run.path.display().to_string();
        if let Some(origin) = source.origin.as_ref().filter(|_| found.iter().all(|(known, _)| *known != path)) {
            found.push((path, &origin.manifest));
        }
    }
    found
}

/// What the page is called.
pub(super) fn page_title(results: &Results) -> String {
    let runs = manifests(results);
    match &runs[..] {
        [(path, _)] => path.clone(),
        _ => counted(runs.len(), "run"),
    }
}

/// One line of what was run.
pub(super) fn runs_table(html: &mut Html, results: &Results, questions: usize) {
    let variants = results.variants().count();
    let what = format!("{}, {}", counted(variants, "variant"), counted(questions, "question"));
    html.leaf("h1", &[], &format!("{}: {what}", page_title(results)));
    let each = |of: &dyn Fn(&Origin) -> String| {
        let values: BTreeSet<String> = origins(results).map(of).collect();
        values.into_iter().filter(|value| !value.is_empty()).collect::<Vec<_>>().join(", ")
    };
    let dataset = |origin: &Origin| {
        let dataset = &origin.manifest.dataset;
        let digest: String = dataset.sha256.chars().take(DIGEST).collect();
        format!("{} ({digest})", dataset.name)
    };
    let facts = [
        ("dataset", each(&dataset)),
        ("model", each(&|origin| origin.variant.model.clone())),
        ("Wikipedia", each(&|origin| origin.variant.wiki.clone())),
        ("begun", each(&|origin| origin.manifest.started_at.chars().take(10).collect())),
        ("wikitrail", each(&|origin| origin.manifest.wikitrail.clone())),
    ];
    let facts: Vec<String> = facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
    html.leaf("p", &[("class", "facts")], &facts.join(" · "));
    for (path, manifest) in manifests(results) {
        let recorded: usize = results
            .variants()
            .filter(|(source, _)| source.run.path.display().to_string() == path)
            .map(|(source, _)| source.episodes.len())
            .sum();
        let planned = manifest.planned_in_all();
        if recorded < planned && !is_decided(results, &path) {
            let said = format!("{path}: {} of {} episodes are recorded", thousands(recorded), thousands(planned));
            html.leaf("p", &[("class", "notice")], &said);
        }
    }
}

/// Whether a rule stopped the run: what was not run is not missing.
fn is_decided(results: &Results, path: &str) -> bool {
    let of_run = |group: &Group, names: &[String]| {
        let mut members = group.sources.iter().zip(&group.names);
        members.any(|(source, name)| source.run.path.display().to_string() == path && names.contains(name))
    };
    results.groups.iter().any(|group| {
        let mut decided = group.stopped.iter().filter(|run| run.found.as_ref().is_some_and(|found| found.decided));
        decided.any(|run| of_run(group, &run.variants))
    })
}

/// What a reader should know, the comparison's own notes and what the page lacks included.
pub(super) fn notes_section(html: &mut Html, results: &Results, limits: &Limits, left_out: usize) {
    let mut lines: Vec<String> = results.notes.iter().map(|note| sentence(note)).collect();
    for group in &results.groups {
        match &group.comparison {
            Ok(comparison) => lines.extend(comparison.notes.iter().map(|note| sentence(note))),
            Err(reason) => lines.push(sentence(&format!("no comparison: {reason}"))),
        }
    }
    if left_out > 0 {
        let rule = match limits.episodes {
            Episodes::All => {
                "the file has room for; questions on which variants differ come first, then wrong ones, then right ones drawn by the digest of their id"
            }
            Episodes::Wrong => "were asked for: those of questions that some variant does not get right",
            Episodes::Flips => "were asked for: those of questions on which variants differ",
            Episodes::None => "were asked for: none",
        };
        lines.push(format!(
            "The steps of {} are not in this file, which has the episodes that {rule}. `wikitrail show RUN ID` prints \
             each. The scores are those of all questions.",
            counted(left_out, "question")
        ));
    }
    lines.dedup();
    if lines.is_empty() {
        return;
    }
    html.section("notes", "Notes", |html| {
        html.element("ul", &[("class", "notes")], |html| {
            for line in &lines {
                html.leaf("li", &[], line);
            }
        });
    });
}

/// A note without the word before it, as a sentence.
fn sentence(note: &str) -> String {
    let note = note.strip_prefix("note: ").or_else(|| note.strip_prefix("warning: ")).unwrap_or(note);
    let mut letters = note.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if note.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// Settings that differ, then those of each variant, then the commands.
pub(super) fn settings_section(html: &mut Html, results: &Results, parts: &[Part<'_>]) {
    html.section("settings", "Settings", |html| {
        for part in parts.iter().filter(|part| !part.group.settings.is_empty()) {
            differing(html, &part.group.settings, &part.group.names);
        }
        html.element("details", &[], |html| {
            html.leaf("summary", &[], "All settings");
            for (source, name) in results.variants() {
                let Some(origin) = &source.origin else { continue };
                html.leaf("h3", &[], name);
                let text = serde_json::to_string_pretty(&origin.variant).unwrap_or_default();
                html.leaf("pre", &[("tabindex", "0")], &text);
            }
        });
        for (path, manifest) in manifests(results) {
            html.element("p", &[("class", "facts")], |html| {
                let words: Vec<String> = manifest.command_line.iter().map(|word| shell_word(word)).collect();
                html.text(&format!("{path}: "));
                html.leaf("code", &[], &words.join(" "));
                html.text(&format!(" · dataset SHA-256 {}", manifest.dataset.sha256));
            });
        }
    });
}

fn differing(html: &mut Html, settings: &[Setting], names: &[String]) {
    let mut headings = vec![Heading::Words("variant")];
    headings.extend(settings.iter().map(|setting| Heading::Words(&setting.name)));
    html.table("Settings that differ", &headings, |html| {
        for (at, name) in names.iter().enumerate() {
            html.row(name, |html| {
                for setting in settings {
                    html.leaf("td", &[], setting.values.get(at).map_or("–", String::as_str));
                }
            });
        }
    });
}
