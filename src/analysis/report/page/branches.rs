//! Branches on the overview: what their edit repairs, and what was edited in each question.

use super::data::{QuestionRow, without_its_folders};
use super::html::{Html, encoded, minus};
use super::paths::{short_path, without_folders};
use super::sections::Part;
use crate::analysis::repair::{Branches, Classes, Repair};
use crate::analysis::report::sheet::Heading;
use crate::analysis::report::trajectory::{branch_edit, edited_parts};
use crate::analysis::results::{Results, folder_name};
use crate::base::Branch;
use crate::base::text::{counted, cut};
use crate::runner::branch::{CONTROL, EDITED, PLACEBO};
use std::collections::BTreeSet;
use std::path::Path;

/// Questions whose edits are listed.
const LISTED: usize = 200;
const EDIT_CHARS: usize = 200;

/// The folders of branches among these variants.
pub(super) fn folders<'a>(part: &Part<'a>) -> BTreeSet<&'a Path> {
    let sources = part.group.sources.iter();
    let is_branch = |source: &&crate::analysis::results::Source| {
        source.origin.as_ref().is_some_and(|origin| origin.manifest.is_branch())
    };
    sources.filter(is_branch).map(|source| &*source.run.path).collect()
}

pub(super) fn branches_sections(html: &mut Html, results: &Results, part: &Part<'_>) {
    let named: Vec<&Path> = results.variants().map(|(source, _)| &*source.run.path).collect();
    let folders = folders(part);
    for (number, folder) in folders.iter().enumerate() {
        let id = if number == 0 { "branches".to_owned() } else { format!("branches-of-{number}") };
        let which = if folders.len() > 1 { format!(": {}", folder_name(folder)) } else { String::new() };
        html.section(
            &part.id(&id),
            &part.heading(&format!("What the edit repairs{which}")),
            |html| match Branches::read(folder, &named) {
                Ok(branches) => Arms::of(part, folder).branches(html, &branches),
                Err(error) => {
                    let reason = format!("Repair rates are left out: {error}.");
                    html.leaf("p", &[("class", "notice")], &without_folders(&reason));
                }
            },
        );
    }
}

/// The arms of a folder of branches, by their places in the group.
struct Arms<'a> {
    part: &'a Part<'a>,
    control: Option<usize>,
    placebo: Option<usize>,
    edited: Option<usize>,
}

impl<'a> Arms<'a> {
    fn of(part: &'a Part<'a>, folder: &Path) -> Self {
        let place = |arm: &str| {
            let mut sources = part.group.sources.iter();
            sources.position(|source| source.run.path == folder && source.run.variant.as_deref() == Some(arm))
        };
        Self { part, control: place(CONTROL), placebo: place(PLACEBO), edited: place(EDITED) }
    }

    fn branches(&self, html: &mut Html, Branches { edits, repaired }: &Branches) {
        let edits: Vec<(&QuestionRow<'_>, &Branch)> =
            self.part.own_rows().filter_map(|row| Some((row, edits.get(row.id)?))).collect();
        let Some((_, first)) = edits.first() else { return };
        html.leaf("p", &[], &summary(&edits));
        if let Some((_, repair)) = repaired {
            rates(html, repair);
        } else {
            let command = format!("wikitrail report {} {}", short_path(&first.run), self.folder());
            html.element("p", &[("class", "notice")], |html| {
                html.text("Repair rates need the run that was branched off. Name both: ");
                html.leaf("code", &[], &command);
            });
        }
        let summary = format!("The edit in each of {}", counted(edits.len(), "question"));
        html.folded(&summary, |html| self.edits(html, &edits, repaired.as_ref().map(|(classes, _)| classes)));
    }

    fn folder(&self) -> String {
        let at = self.edited.or(self.control).unwrap_or_default();
        folder_name(&self.part.group.sources[at].run.path)
    }

    /// The step and the edit of each question, with what the arms make of it.
    fn edits(&self, html: &mut Html, edits: &[(&QuestionRow<'_>, &Branch)], classes: Option<&Classes>) {
        let arms: Vec<(&str, usize)> = [(CONTROL, self.control), (PLACEBO, self.placebo), (EDITED, self.edited)]
            .into_iter()
            .filter_map(|(name, at)| Some((name, at?)))
            .collect();
        let mut headings = vec![Heading::words("question")];
        headings.extend(classes.map(|_| Heading::words("class")));
        headings.extend([Heading::numbers("step"), Heading::words("edit")]);
        headings.extend(arms.iter().map(|(name, _)| Heading::words(*name)));
        let caption = match edits.len() {
            n if n > LISTED => format!("The first {LISTED} questions; a link opens both branches side by side"),
            _ => "A link opens both branches side by side".to_owned(),
        };
        html.table(&caption, &headings, |html| {
            for (row, branch) in edits.iter().take(LISTED) {
                html.element("tr", &[], |html| {
                    html.element("th", &[("scope", "row")], |html| {
                        html.leaf("a", &[("href", &self.address(row))], row.id);
                    });
                    if let Some(classes) = classes {
                        html.leaf("td", &[], classes.get(row.id).copied().unwrap_or("–"));
                    }
                    html.number(&branch.at.to_string());
                    let edit = branch_edit(&without_its_folders(branch)).unwrap_or_default();
                    html.leaf("td", &[("class", "edit"), ("dir", "auto")], &cut(&edit, EDIT_CHARS));
                    for (_, at) in &arms {
                        html.leaf("td", &[], &verdict(row.em(self.part.first + at)));
                    }
                });
            }
        });
    }

    fn address(&self, row: &QuestionRow<'_>) -> String {
        let name = |at: Option<usize>| at.map_or_else(String::new, |at| encoded(&self.part.group.names[at]));
        format!("#/q/{}?left={}&right={}", encoded(row.id), name(self.control), name(self.edited))
    }
}

/// `The edit: action edited by rule gold-page, at step 2, in 22 questions of r@main.`
fn summary(edits: &[(&QuestionRow<'_>, &Branch)]) -> String {
    let each =
        |of: &dyn Fn(&Branch) -> String| -> BTreeSet<String> { edits.iter().map(|(_, branch)| of(branch)).collect() };
    let parts = each(&|branch| edited_parts(branch).unwrap_or_default());
    let rules = each(&|branch| if branch.by == "hand" { String::new() } else { format!(" by rule {}", branch.by) });
    let runs = each(&|branch| format!("{}@{}", short_path(&branch.run), branch.variant));
    let listed = |values: BTreeSet<String>, word: &str| values.into_iter().collect::<Vec<_>>().join(word);
    let steps = || edits.iter().map(|(_, branch)| branch.at);
    let steps = match (steps().min().unwrap_or_default(), steps().max().unwrap_or_default()) {
        (least, most) if least == most => format!("step {least}"),
        (least, most) => format!("steps {least} to {most}"),
    };
    let (parts, rules, runs) = (listed(parts, " or "), listed(rules, " or"), listed(runs, ", "));
    let questions = counted(edits.len(), "question");
    format!("The edit: {parts}{rules}, at {steps}, in {questions} of {}.", cut(&runs, 200))
}

fn rates(html: &mut Html, repair: &Repair) {
    let (headings, rows) = repair.table();
    html.table("EM % by the class of the recorded episode, and what the edit adds in points", &headings, |html| {
        for row in rows {
            let Some((class, cells)) = row.split_first() else { continue };
            html.row(class, |html| cells.iter().for_each(|cell| html.number(&minus(cell))));
        }
    });
    for note in repair.notes() {
        html.facts(&format!("{note}."));
    }
}

/// Whether an arm is right, of several repeats the share.
fn verdict(em: Option<f64>) -> String {
    match em {
        None => "–".to_owned(),
        Some(em) if em <= 0.0 => "✗ wrong".to_owned(),
        Some(em) if em >= 1.0 => "✓ right".to_owned(),
        Some(em) => format!("{:.0} % right", 100.0 * em),
    }
}
