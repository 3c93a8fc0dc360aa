//! The list of runs that `view` serves: a leaderboard for each dataset, with a link to the page of each variant.

use super::Stopped;
use super::charts;
use super::document::{STYLE, begun, digest, script, stopped_notice};
use super::html::Html;
use crate::analysis::compare::Unit;
use crate::analysis::compare::verdict::value;
use crate::analysis::report::console::dash;
use crate::analysis::report::leaderboard::Entry;
use crate::base::text::{counted, thousands};
use std::collections::BTreeSet;

/// The scripts of the list, each after those that it imports.
const SCRIPTS: &[&str] = &[
    include_str!("storage.js"),
    include_str!("dom.js"),
    include_str!("theme.js"),
    include_str!("age.js"),
    include_str!("index.js"),
];

/// Stopped runs that are named above the list; others are in its rows.
const NAMED: usize = 3;

#[derive(Debug)]
pub(crate) struct Listing {
    /// The variants of each group that shares questions, the best first.
    pub(crate) groups: Vec<Vec<Entry>>,
    pub(crate) notes: Vec<String>,
    pub(crate) title: String,
    /// Paths of the runs that a process is at work on.
    pub(crate) going: BTreeSet<String>,
    pub(crate) stopped: Vec<Stopped>,
}

/// The list as a page. `link` gives the address of the page of a variant, relative to this one.
pub(crate) fn index(listing: &Listing, link: impl Fn(&Entry) -> String) -> String {
    let script = script(SCRIPTS);
    let policy = format!("script-src {}; style-src {}", digest(&script), digest(STYLE));
    let policy = format!("default-src 'none'; {policy}; base-uri 'none'; form-action 'none'");
    let mut html = begun(&listing.title, &policy, &[&[("name", "referrer"), ("content", "no-referrer")]]);
    html.element("body", &[], |html| {
        html.element("header", &[("class", "top")], |html| {
            html.leaf("strong", &[], "wikitrail");
            html.element("nav", &[], |_| {});
            html.leaf("button", &[("id", "theme"), ("type", "button")], "Light / dark");
        });
        html.element("main", &[], |html| {
            let variants = listing.groups.iter().map(Vec::len).sum::<usize>();
            html.leaf("h1", &[], &format!("{}: {}", listing.title, counted(variants, "variant")));
            stopped_runs(html, &listing.stopped);
            html.element("div", &[("id", "tools"), ("class", "controls")], |_| {});
            leaderboard(html, listing, &link);
            notes(html, &listing.notes);
        });
        html.element("script", &[("type", "module")], |html| html.text.push_str(&script));
    });
    html.close("html");
    html.text
}

/// What is shown at an address that is not valid. It says nothing of the runs.
pub(crate) fn unknown_address() -> String {
    let policy = format!("default-src 'none'; style-src {}; base-uri 'none'; form-action 'none'", digest(STYLE));
    let mut html = begun("Unknown address", &policy, &[]);
    html.element("body", &[], |html| {
        html.element("main", &[], |html| {
            html.leaf("h1", &[], "This address is not valid");
            html.element("p", &[], |html| {
                html.leaf("code", &[], "wikitrail view");
                html.text(" answers at the address that it printed when it was started. Open that one: its random word keeps ");
                html.text("other users of this machine from your runs.");
            });
            html.element("p", &[], |html| {
                html.text("With a port of your choice the address stays the same from one start to the next: ");
                html.leaf("code", &[], "wikitrail view results --port 8765");
            });
        });
    });
    html.close("html");
    html.text
}

fn stopped_runs(html: &mut Html, stopped: &[Stopped]) {
    let notices = |html: &mut Html, from: usize, runs: &[Stopped]| {
        for (at, run) in runs.iter().enumerate() {
            stopped_notice(html, run, &format!("resume-{}", from + at));
        }
    };
    let (named, others) = stopped.split_at(stopped.len().min(NAMED));
    notices(html, 0, named);
    if !others.is_empty() {
        let summary = format!("{} stopped", counted(others.len(), "more run"));
        html.folded(&summary, |html| notices(html, NAMED, others));
    }
}

fn notes(html: &mut Html, notes: &[String]) {
    // What has stopped is above, and what is going is in its row.
    let notes = || notes.iter().map(String::as_str).filter(|note| !note.contains("` is not finished: "));
    if notes().next().is_some() {
        html.folded(&counted(notes().count(), "note"), |html| html.notes(notes()));
    }
}

/// A heading, its class, and how the column is sorted first: `up`, `down` or not at all.
const COLUMNS: [(&str, &str, &str); 8] = [
    ("run", "", "up"),
    ("score and 95 % interval", "", ""),
    ("%", "n", "down"),
    ("95 %", "n", ""),
    ("rank", "n", "up"),
    ("begun (UTC)", "", "down"),
    ("model", "", "up"),
    ("episodes", "n", "down"),
];
const COST: (&str, &str, &str) = ("USD", "n", "up");
const NOTED: (&str, &str, &str) = ("tags and note", "", "up");

/// One table, so that columns line up; a body for each group, with an axis of its own.
fn leaderboard(html: &mut Html, listing: &Listing, link: &impl Fn(&Entry) -> String) {
    let caption =
        "Each variant's score on its own questions. Rank: 1 + the number of variants that are distinguishably better";
    html.scroll("Variants", |html| {
        html.element("table", &[("class", "leaderboard")], |html| {
            html.leaf("caption", &[], caption);
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    let more = [(COST, has_costs(listing)), (NOTED, has_notes(listing))];
                    let more = more.into_iter().filter_map(|(column, shown)| shown.then_some(column));
                    for (name, class, order) in COLUMNS.into_iter().chain(more) {
                        html.leaf("th", &[("scope", "col"), ("class", class), ("data-order", order)], name);
                    }
                });
            });
            for entries in listing.groups.iter().filter(|entries| !entries.is_empty()) {
                html.element("tbody", &[], |html| group_rows(html, listing, entries, link));
            }
        });
    });
}

fn group_rows(html: &mut Html, listing: &Listing, entries: &[Entry], link: &impl Fn(&Entry) -> String) {
    let scale = charts::score_scale(entries.iter().filter_map(|entry| entry.own.as_ref()));
    let (costs, noted) = (has_costs(listing), has_notes(listing));
    let columns = COLUMNS.len() - 3 + usize::from(costs) + usize::from(noted);
    let label = &entries[0].label;
    html.element("tr", &[("class", "group")], |html| {
        html.leaf("th", &[("scope", "rowgroup")], &entries[0].dataset);
        html.leaf("th", &[("scope", "col")], &charts::ends_of(scale));
        html.leaf("th", &[("scope", "col"), ("class", "n")], label);
        html.leaf("td", &[("colspan", &columns.to_string())], "");
    });
    for entry in entries {
        html.element("tr", &[("data-run", &entry.run)], |html| {
            html.element("th", &[("scope", "row"), ("data-sort", &entry.run)], |html| {
                html.leaf("a", &[("href", &link(entry))], &entry.run);
            });
            html.element("td", &[], |html| entry.own.iter().for_each(|own| charts::score(html, own, scale, label)));
            sorted(html, entry.em, &entry.em.map_or_else(dash, |em| value(Unit::Share, em)));
            let ends = entry.em_interval.map(|[low, high]| [low, high].map(|end| value(Unit::Share, end)).join(" to "));
            html.number(&ends.unwrap_or_else(dash));
            sorted(html, entry.rank, &entry.rank.map_or_else(dash, |rank| rank.to_string()));
            // Such as `2026-11-24 13:02`.
            let begun = entry.started_at.chars().take(16).collect::<String>().replace('T', " ");
            html.leaf("td", &[("data-sort", &entry.started_at)], &begun);
            html.leaf("td", &[("data-sort", &entry.model)], &entry.model);
            sorted(html, Some(entry.episodes), &episodes(listing, entry));
            if costs {
                sorted(html, entry.cost_usd, &entry.cost_usd.map_or_else(dash, |cost| format!("{cost:.4}")));
            }
            if noted {
                let words: Vec<&str> = entry.tags.iter().chain([&entry.note]).map(String::as_str).collect();
                let words = words.join(" · ");
                html.leaf("td", &[("data-sort", &words)], words.trim_end_matches(" · "));
            }
        });
    }
}

fn has_costs(listing: &Listing) -> bool {
    listing.groups.iter().flatten().any(|entry| entry.cost_usd.is_some())
}

fn has_notes(listing: &Listing) -> bool {
    listing.groups.iter().flatten().any(|entry| !entry.tags.is_empty() || !entry.note.is_empty())
}

/// A number with the value that it is sorted by.
fn sorted(html: &mut Html, key: Option<impl ToString>, text: &str) {
    let key = key.map(|key| key.to_string()).unwrap_or_default();
    html.leaf("td", &[("class", "n"), ("data-sort", &key)], text);
}

fn episodes(listing: &Listing, entry: &Entry) -> String {
    let Entry { episodes, planned, path, .. } = entry;
    let state = if listing.going.contains(path) {
        ", running"
    } else if listing.stopped.iter().any(|run| run.path == *path) && episodes < planned {
        ", stopped"
    } else {
        ""
    };
    if episodes < planned {
        format!("{} of {}{state}", thousands(*episodes), thousands(*planned))
    } else {
        thousands(*episodes) + state
    }
}
