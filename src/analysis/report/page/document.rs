//! The document of the page: its head and data, what the runs are, and their settings and notes.

use super::data::{Chunks, QuestionRow};
use super::html::{Attributes, Html, minus, short_path, short_word, without_folders};
use super::sections::{self, PageGroup, failures_section, flips_section};
use super::verdict;
use super::{Episodes, Limits, Live, Stopped, parts};
use crate::analysis::report::comparison::settings_grid;
use crate::analysis::report::sheet::Heading;
use crate::analysis::results::{Group, Origin, Results, folder_name};
use crate::base::Manifest;
use crate::base::text::{counted, cut, joined, shell_word, thousands};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

pub(super) const STYLE: &str = include_str!("page.css");

/// Questions that a page without JavaScript lists.
const LISTED: usize = 200;

/// The scripts, each after those that it imports.
const SCRIPTS: &[&str] = &[
    include_str!("storage.js"),
    include_str!("dom.js"),
    include_str!("decode.js"),
    include_str!("address.js"),
    include_str!("search.js"),
    include_str!("filter.js"),
    include_str!("columns.js"),
    include_str!("csv.js"),
    include_str!("theme.js"),
    include_str!("keys.js"),
    include_str!("help.js"),
    include_str!("judgements.js"),
    include_str!("judge_form.js"),
    include_str!("controls.js"),
    include_str!("rows.js"),
    include_str!("table.js"),
    include_str!("trail.js"),
    include_str!("queue.js"),
    include_str!("episodes.js"),
    include_str!("answers.js"),
    include_str!("markdown.js"),
    include_str!("question.js"),
    include_str!("age.js"),
    include_str!("morph.js"),
    include_str!("live.js"),
    include_str!("judging.js"),
    include_str!("print.js"),
    include_str!("main.js"),
];

pub(super) struct Content<'a> {
    pub(super) results: &'a Results,
    pub(super) rows: &'a [QuestionRow<'a>],
    pub(super) limits: &'a Limits,
    pub(super) live: Option<&'a Live>,
    pub(super) meta: &'a Value,
    pub(super) table: &'a str,
    pub(super) chunks: &'a Chunks,
}

/// The modules as one script: without `import` lines and comments, and nothing is exported.
pub(super) fn script(modules: &[&str]) -> String {
    let is_code = |line: &&str| {
        !line.starts_with("import ") && !["//", "/**", "*"].iter().any(|mark| line.trim_start().starts_with(mark))
    };
    let lines = modules.iter().flat_map(|module| module.lines()).filter(is_code);
    lines.map(|line| line.strip_prefix("export ").unwrap_or(line)).fold(String::new(), |text, line| text + line + "\n")
}

/// The digest by which a content security policy knows a text.
pub(super) fn digest(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// A document with its head: `more` are meta elements behind those of each page.
pub(super) fn begun(title: &str, policy: &str, more: &[Attributes<'_>]) -> Html {
    let mut html = Html { text: "<!doctype html>\n<html lang=\"en\">".to_owned() };
    let common: [Attributes<'_>; 4] = [
        &[("charset", "utf-8")],
        &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")],
        &[("name", "color-scheme"), ("content", "light dark")],
        &[("http-equiv", "Content-Security-Policy"), ("content", policy)],
    ];
    html.element("head", &[], |html| {
        common.iter().chain(more).for_each(|attributes| html.open("meta", attributes));
        html.leaf("title", &[], &format!("{title} – wikitrail"));
        html.element("style", &[], |html| html.text.push_str(STYLE));
    });
    html
}

impl Content<'_> {
    pub(super) fn document(&self) -> String {
        let script = script(SCRIPTS);
        let parts = parts(self.results, self.rows);
        let connect = if self.live.is_some() { "; connect-src 'self'" } else { "" };
        let policy = format!("script-src {}; style-src {}; img-src data:", digest(&script), digest(STYLE));
        let policy = format!("default-src 'none'; {policy}; base-uri 'none'; form-action 'none'{connect}");
        let referrer: Attributes<'_> = &[("name", "referrer"), ("content", "no-referrer")];
        let mut html = begun(&self.title(), &policy, &[referrer]);
        html.element("body", &[], |html| {
            html.leaf("a", &[("class", "skip"), ("href", "#questions")], "Skip to the questions");
            bar(html, &parts, self.live.is_some());
            html.element("main", &[], |html| {
                html.element("div", &[("id", "overview")], |html| self.overview(html, &parts));
                html.element("div", &[("id", "question"), ("hidden", "")], |_| {});
            });
            html.element("dialog", &[("id", "help"), ("aria-label", "Help")], |_| {});
            self.data(html);
            html.element("script", &[("type", "module")], |html| html.text.push_str(&script));
        });
        html.close("html");
        html.text.push('\n');
        html.text
    }

    /// The name of the run; one without episodes is not among the results.
    fn title(&self) -> String {
        let named = self.live.filter(|_| self.results.groups.is_empty());
        named.map_or_else(|| page_title(self.results), |live| format!("{}: no episode is recorded yet", live.name))
    }

    fn overview(&self, html: &mut Html, parts: &[PageGroup<'_>]) {
        runs_table(html, self.results, self.rows.len());
        match self.live {
            Some(Live { stopped: Some(stopped), .. }) => stopped_notice(html, stopped, "resume"),
            // What follows the run says how far it is.
            Some(live) if !live.events.is_empty() => {}
            _ => unfinished_notices(html, self.results),
        }
        for part in parts {
            verdict::warnings(html, part);
        }
        if let [part] = parts {
            html.leaf("h1", &[], &minus(&verdict::headline(part)));
            verdict::verdict_section(html, part);
        } else {
            html.leaf("h1", &[], &self.title());
            for part in parts {
                html.leaf("h2", &[], &minus(&format!("{}: {}", part.name(), verdict::headline(part))));
                verdict::verdict_section(html, part);
            }
        }
        for part in parts {
            sections::branches_sections(html, self.results, part);
            sections::scores_section(html, part);
            sections::differences_section(html, part);
            flips_section(html, part);
            failures_section(html, part);
        }
        html.section("questions", "Questions", |html| {
            html.element("noscript", &[], |html| self.without_script(html));
            html.element("div", &[("id", "list")], |_| {});
        });
        notes_section(html, self.results, self.limits, self.chunks.left_out());
        settings_section(html, self.results, parts);
        if self.live.is_none() {
            html.facts("This page makes no request: everything is in this file.");
        }
    }

    /// The first questions as a table, for readers whose browser runs no script.
    fn without_script(&self, html: &mut Html) {
        let names: Vec<&String> = self.results.variants().map(|(_, name)| name).collect();
        let all = counted(self.rows.len(), "question");
        let caption = match self.rows.len() {
            n if n > LISTED => format!("The first {LISTED} of {all}; with JavaScript all of them, and every step"),
            _ => format!("{all}; with JavaScript every step of them"),
        };
        let mut headings = ["id", "question", "gold"].map(Heading::words).to_vec();
        headings.extend(names.iter().copied().map(Heading::words));
        html.table(&caption, &headings, |html| {
            for row in self.rows.iter().take(LISTED) {
                html.row(row.id, |html| {
                    html.leaf("td", &[], &cut(row.question, 300));
                    html.leaf("td", &[], &cut(row.gold.unwrap_or("–"), 100));
                    for at in 0..names.len() {
                        html.leaf("td", &[], &answered(row, at));
                    }
                });
            }
        });
    }

    fn data(&self, html: &mut Html) {
        let meta = self.meta.to_string().replace('<', "\\u003c");
        html.element("script", &[("type", "application/json"), ("id", "wt-meta")], |html| html.text.push_str(&meta));
        html.element("script", &[("type", "text/plain"), ("id", "wt-table")], |html| html.text.push_str(self.table));
        for (number, text) in self.chunks.texts.iter().enumerate() {
            let number = number.to_string();
            html.element("script", &[("type", "text/plain"), ("data-chunk", &number)], |html| {
                html.text.push_str(text);
            });
        }
    }
}

/// Whether a variant is right, in a word, with its answer.
fn answered(row: &QuestionRow<'_>, variant: usize) -> String {
    let Some(first) = row.first(variant) else { return "not asked".to_owned() };
    let verdict = match row.right(variant) {
        Some(true) => "✓",
        Some(false) => "✗",
        None => "–",
    };
    let answer = first.answer.as_deref().map(|answer| cut(answer, 80).into_owned());
    format!("{verdict} {}", answer.unwrap_or_else(|| first.outcome.map_or("", crate::base::Outcome::name).to_owned()))
}

fn bar(html: &mut Html, parts: &[PageGroup<'_>], served: bool) {
    let several = parts.iter().any(|part| part.group.sources.len() > 1);
    let measured = parts.iter().any(PageGroup::is_measured);
    let forked = parts.first().is_some_and(|part| !sections::folders(part).is_empty());
    let sections = [
        ("branches", "Repairs", forked),
        ("scores", "Scores", true),
        ("differences", "Differences", several),
        ("flips", "Flipped answers", several),
        ("why", "Why wrong", measured),
        ("questions", "Questions", true),
        ("settings", "Settings", true),
    ];
    html.element("header", &[("class", "top")], |html| {
        html.leaf("strong", &[], "wikitrail");
        html.element("nav", &[("aria-label", "Sections")], |html| {
            if served {
                html.leaf("a", &[("href", "../")], "All runs");
            }
            for (id, name, _) in sections.into_iter().filter(|(.., is_there)| *is_there) {
                html.leaf("a", &[("href", &format!("#{id}"))], name);
            }
        });
        html.leaf("button", &[("id", "help-button"), ("type", "button")], "Help");
        html.leaf("button", &[("id", "theme"), ("type", "button")], "Light / dark");
    });
}

const DIGEST: usize = 12;
/// Models, datasets and the like that are named at the top.
const VALUES: usize = 3;

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

pub(super) fn page_title(results: &Results) -> String {
    let runs = manifests(results);
    match &runs[..] {
        [(path, _)] => folder_name(Path::new(path)),
        _ => counted(runs.len(), "run"),
    }
}

fn runs_table(html: &mut Html, results: &Results, questions: usize) {
    let variants = results.variants().count();
    let what = format!("{}, {}", counted(variants, "variant"), counted(questions, "question"));
    let each = |of: &dyn Fn(&Origin) -> String| {
        let values: BTreeSet<String> = origins(results).map(of).collect();
        let values: Vec<String> = values.into_iter().filter(|value| !value.is_empty()).collect();
        let more = if values.len() > VALUES { format!(" and {} more", values.len() - VALUES) } else { String::new() };
        values[..values.len().min(VALUES)].join(", ") + &more
    };
    let dataset = |origin: &Origin| {
        let dataset = &origin.manifest.dataset;
        let digest: String = dataset.sha256.chars().take(DIGEST).collect();
        format!("{} ({digest})", dataset.name)
    };
    let facts = [
        ("dataset", each(&dataset)),
        ("model", each(&|origin| short_path(&origin.variant.model))),
        ("Wikipedia", each(&|origin| short_path(&origin.variant.wiki))),
        ("begun", each(&|origin| origin.manifest.started_at.chars().take(10).collect())),
        ("wikitrail", each(&|origin| origin.manifest.wikitrail.clone())),
    ];
    let known = facts.iter().filter(|(_, value)| !value.is_empty());
    let facts = known.map(|(name, value)| format!("{name} {value}"));
    html.facts(&joined([page_title(results), what].into_iter().chain(facts), " · ").unwrap_or_default());
}

/// Of each run that has episodes missing, how many are recorded.
fn unfinished_notices(html: &mut Html, results: &Results) {
    for (path, manifest) in manifests(results) {
        let recorded: usize = results
            .variants()
            .filter(|(source, _)| source.run.path.display().to_string() == path)
            .map(|(source, _)| source.episodes.len())
            .sum();
        let planned = manifest.planned_in_all();
        if recorded < planned && !is_decided(results, &path) {
            let name = folder_name(Path::new(&path));
            let said = format!("{name}: {} of {} episodes are recorded", thousands(recorded), thousands(planned));
            html.leaf("p", &[("class", "notice")], &said);
        }
    }
}

/// When a run stopped, at how many episodes, and the command that goes on with it, which a button of the element `id` copies.
pub(super) fn stopped_notice(html: &mut Html, stopped: &Stopped, id: &str) {
    let Stopped { path, done, total, at, resume } = stopped;
    html.element("p", &[("class", "notice")], |html| {
        html.text(&format!("{path} stopped "));
        if let Some(at) = at {
            let (exact, words) = (at.strftime("%Y-%m-%dT%H:%M:%SZ"), at.strftime("on %Y-%m-%d at %H:%M UTC"));
            html.leaf("time", &[("datetime", &exact.to_string())], &words.to_string());
        }
        html.text(&format!(" at {} of {} episodes", thousands(*done), thousands(*total)));
        let Some(command) = resume else { return };
        html.text("; resume with: ");
        html.leaf("code", &[("id", id)], command);
        html.text(" ");
        html.leaf("button", &[("type", "button"), ("data-copy", id)], "Copy");
    });
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
fn notes_section(html: &mut Html, results: &Results, limits: &Limits, left_out: usize) {
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
    let lines: Vec<String> = lines.iter().map(|line| without_folders(line)).collect();
    html.section("notes", "Notes", |html| html.notes(lines.iter().map(String::as_str)));
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
fn settings_section(html: &mut Html, results: &Results, parts: &[PageGroup<'_>]) {
    html.section("settings", "Settings", |html| {
        for part in parts {
            differing(html, part);
        }
        html.folded("All settings", |html| {
            for (source, name) in results.variants() {
                let Some(origin) = &source.origin else { continue };
                let whole = sections::whole_name(source, name).map_or_else(String::new, |whole| format!(" ({whole})"));
                html.leaf("h3", &[], &(name.clone() + &whole));
                let text = serde_json::to_string_pretty(&origin.variant).unwrap_or_default();
                html.leaf("pre", &[("tabindex", "0")], &without_folders(&text));
            }
        });
        verdict::whole_texts(html, results);
        for (path, manifest) in manifests(results) {
            html.element("p", &[("class", "facts")], |html| {
                let words = joined(manifest.command_line.iter().map(|word| shell_word(&short_word(word))), " ");
                html.text(&format!("{}: ", folder_name(Path::new(&path))));
                html.leaf("code", &[], &words.unwrap_or_default());
                html.text(&format!(" · dataset SHA-256 {}", manifest.dataset.sha256));
            });
        }
    });
}

fn differing(html: &mut Html, part: &PageGroup<'_>) {
    let Group { settings, names, .. } = part.group;
    let Some(grid) = settings_grid(names, settings) else { return };
    html.table("Settings that differ", &grid.header, |html| {
        for (at, row) in grid.rows.iter().enumerate() {
            html.row_of(&names[at], part.whole(at), |html| {
                row.cells[1..].iter().for_each(|cell| html.leaf("td", &[], &short_word(&cell.text)));
            });
        }
    });
}
