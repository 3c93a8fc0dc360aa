//! What a corpus is, and how two corpora differ, for people.

use crate::analysis::report::console::{View, labelled, yellow};
use crate::base::text::{counted, joined, thousands, visible_line};
use crate::wikipedia::corpus::{Counts, Difference, Freeze, Manifest, NameCounts, Side};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;

/// Differences of each kind that are shown without --all.
pub(crate) const MAX_SHOWN: u64 = 20;

pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", thousands(bytes / 1_000_000), bytes % 1_000_000 / 100_000)
}

/// A row about a corpus: its name, empty where it goes on from the one above, and its text.
type Fact = (&'static str, String);

pub(crate) fn write_manifest(manifest: &Manifest, out: &mut impl Write) -> io::Result<()> {
    let Manifest { name, build, .. } = manifest;
    writeln!(out, "{}: {}", visible_line(name, 80), manifest.contents())?;
    let mut rows = vec![("id", visible_line(&manifest.id, 80))];
    let facts = [("language", &manifest.language), ("as of", &manifest.as_of)];
    rows.extend(facts.into_iter().filter_map(|(name, fact)| Some((name, visible_line(fact.as_deref()?, 80)))));
    rows.extend(terms(manifest));
    for source in &manifest.sources {
        let skipped = source.skipped;
        let counts = [
            (skipped.duplicate_title, "with the title of another"),
            (skipped.repeated, "repeated"),
            (skipped.empty, "empty"),
            (skipped.bad, "unreadable"),
        ];
        let format = visible_line(&source.format, 20);
        rows.push((
            "source",
            format!("{} ({format}), {}", visible_line(&source.file, 80), counted(source.rows, "row")),
        ));
        rows.extend(left_out_counts(&counts).map(|skipped| ("", skipped)));
    }
    rows.extend(names(manifest));
    let bytes = manifest.files.values().map(|file| file.bytes).sum();
    rows.push(("size", format!("{} for {} of text", megabytes(bytes), megabytes(manifest.text_bytes))));
    rows.push(("built by", format!("wikitrail {}", visible_line(&build.wikitrail, 20))));
    let width = View::of_stdout().width;
    rows.iter().try_for_each(|(name, value)| out.write_all(labelled(name, value, 9, width).as_bytes()))
}

fn names(manifest: &Manifest) -> Vec<Fact> {
    let pages = counted(manifest.disambiguations, "disambiguation page");
    let mut rows = vec![("names", format!("{}, {pages}", counted(manifest.redirects, "redirect")))];
    let NameCounts { redirect_is_title, redirect_twice, redirect_to_nothing, redirect_circle, collisions } =
        manifest.names;
    let dropped = [
        (redirect_is_title, "has the name of an article", "have the name of an article"),
        (redirect_twice, "has another target already", "have another target already"),
        (redirect_to_nothing, "has no target", "have no target"),
        (redirect_circle, "in a circle", "in a circle"),
    ]
    .map(|(count, one, several)| (count, number_form(count, one, several)));
    rows.extend(left_out_counts(&dropped).map(|dropped| ("", format!("redirects {dropped}"))));
    if collisions > 0 {
        let (names, differ) = (counted(collisions, "name"), number_form(collisions, "differs", "differ"));
        rows.push(("", format!("{names} {differ} from another only in case, accents or punctuation")));
    }
    rows
}

/// Under which terms the texts may be used, and where frozen ones are from.
fn terms(manifest: &Manifest) -> Vec<Fact> {
    let license = &manifest.license;
    let known = visible_line(&license.id, 80);
    let mut rows = vec![("license", if license.is_known() { known } else { yellow(&known) })];
    let texts = [("authors", &license.attribution), ("changes", &license.changes)];
    rows.extend(texts.into_iter().filter_map(|(name, text)| Some((name, visible_line(text.as_deref()?, 200)))));
    rows.extend(manifest.freeze.iter().flat_map(|freeze| frozen(freeze, manifest.articles)));
    rows
}

fn frozen(freeze: &Freeze, articles: u32) -> Vec<Fact> {
    let (fidelity, compat) = (visible_line(&freeze.fidelity, 120), freeze.compat.name());
    let marks = if freeze.footnotes { ", with footnote marks" } else { "" };
    let mut rows = vec![("frozen", format!("{fidelity}; read as in --compat {compat}{marks}"))];
    let gold = freeze.gold_pages;
    if gold > 0 {
        let only = if gold >= articles { ": an agent cannot go wrong here" } else { "" };
        let share = 100 * u64::from(gold) / u64::from(articles.max(1));
        rows.push(("gold", format!("{} of {} ({share} %){only}", thousands(gold), counted(articles, "article"))));
    }
    if freeze.searches > 0 {
        rows.push(("searches", format!("{} answered as the site did", thousands(freeze.searches))));
    }
    let counts: Vec<(u64, &str)> = freeze.left_out.iter().map(|(reason, count)| (*count, reason.name())).collect();
    rows.extend(left_out_counts(&counts).map(|titles| ("", format!("titles {titles}"))));
    rows
}

fn number_form<'a>(count: u64, one: &'a str, several: &'a str) -> &'a str {
    if count == 1 { one } else { several }
}

fn left_out_counts(counts: &[(u64, &str)]) -> Option<String> {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts = joined(counts.map(|(count, what)| format!("{} {what}", thousands(*count))), ", ");
    counts.map(|counts| format!("left out: {counts}"))
}

/// What a corpus is, as far as it says so.
pub(crate) fn describe_side(path: &Path, side: &Side) -> Value {
    let mut said = json!({ "path": path.display().to_string() });
    if let Some(manifest) = &side.manifest {
        said["name"] = json!(manifest.name);
        said["id"] = json!(manifest.id);
        said["as_of"] = json!(manifest.as_of);
        said["articles"] = json!(manifest.articles);
    }
    said
}

pub(crate) fn side_line(said: &Value) -> String {
    let facts = ["path", "name", "as_of", "id"].into_iter().filter_map(|fact| said[fact].as_str());
    let mut facts: Vec<String> = facts.map(|fact| visible_line(fact, 120)).collect();
    facts.dedup();
    facts.join(", ")
}

pub(crate) fn write_difference(difference: &Difference, out: &mut impl Write) -> io::Result<()> {
    let name = |title: &str| visible_line(title, 80);
    let number = |revid: &Option<u64>| revid.map_or_else(|| "unknown".to_owned(), |revid| revid.to_string());
    match difference {
        Difference::Added { title } => writeln!(out, "added             {}", name(title)),
        Difference::Gone { title } => writeln!(out, "removed           {}", name(title)),
        Difference::Changed { title, excerpt: None, .. } => {
            writeln!(out, "changed           {}: the words are the same", name(title))
        }
        Difference::Changed { title, excerpt: Some([old, new]), .. } => {
            let [old, new] = [old, new].map(|text| visible_line(text, 200));
            writeln!(out, "changed           {}\n                  - {old}\n                  + {new}", name(title))
        }
        Difference::Revision { title, revid, pageid } => {
            let what = match (revid, pageid) {
                ([old, new], _) if old != new => format!("{} -> {}", number(old), number(new)),
                (_, [old, new]) if old != new => format!("page {} -> {}", number(old), number(new)),
                _ => "of another time".to_owned(),
            };
            writeln!(out, "revision          {}: {what}, with the same text", name(title))
        }
        Difference::RedirectAdded { title, to } => {
            writeln!(out, "redirect added    {} -> {}", name(title), name(to))
        }
        Difference::RedirectGone { title, to } => writeln!(out, "redirect removed  {} -> {}", name(title), name(to)),
    }
}

pub(crate) fn write_counts(counts: &Counts, shown: u64, out: &mut impl Write) -> io::Result<()> {
    if counts.equal() {
        return writeln!(out, "the same {}, with the same redirects", counted(counts.same, "article"));
    }
    let Counts { added, gone, changed, revision, redirect_added, redirect_gone, same } = *counts;
    let all = added + gone + changed + revision + redirect_added + redirect_gone;
    let [added, gone, changed, revision, redirect_added, redirect_gone, same] =
        [added, gone, changed, revision, redirect_added, redirect_gone, same].map(thousands);
    writeln!(
        out,
        "articles: {added} added, {gone} removed, {changed} changed, {revision} with another revision or number of the same text, {same} the same\n\
         redirects: {redirect_added} added, {redirect_gone} removed"
    )?;
    if shown < all {
        writeln!(
            out,
            "shown are the first {MAX_SHOWN} of each kind, {} of {}; --all shows all of them",
            thousands(shown),
            thousands(all)
        )?;
    }
    Ok(())
}
