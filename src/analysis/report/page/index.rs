//! The list of runs that `view` serves: what `list` prints, with a link to the page of each run.

use super::document::{STYLE, begun, digest};
use super::html::Html;
use crate::analysis::report::leaderboard::Entry;
use crate::analysis::report::sheet::{Heading, headings};
use crate::base::text::counted;

/// The list as a page. `link` gives the address of the page of a run, relative to this one.
pub(crate) fn index(groups: &[Vec<Entry>], notes: &[String], title: &str, link: impl Fn(&Entry) -> String) -> String {
    let policy = format!("default-src 'none'; style-src {}; base-uri 'none'; form-action 'none'", digest(STYLE));
    let mut html = begun(title, &policy, &[]);
    html.element("body", &[], |html| {
        html.element("header", &[("class", "top")], |html| html.leaf("strong", &[], "wikitrail"));
        html.element("main", &[], |html| {
            let variants = groups.iter().map(Vec::len).sum::<usize>();
            html.leaf("h1", &[], &format!("{title}: {}", counted(variants, "variant")));
            for entries in groups.iter().filter(|entries| !entries.is_empty()) {
                index_table(html, entries, &link);
            }
            html.element("ul", &[("class", "notes")], |html| {
                for note in notes {
                    html.leaf("li", &[], note);
                }
            });
        });
    });
    html.close("html");
    html.text
}

fn index_table(html: &mut Html, entries: &[Entry], link: &impl Fn(&Entry) -> String) {
    let caption = "EM of each one's own questions; rank: 1 + the number of variants that are distinguishably better";
    html.leaf("h2", &[], &entries[0].dataset);
    let mut headings = headings("run", &["EM %", "95 %", "rank"]);
    headings.extend(["begun", "model"].map(Heading::words));
    headings.push(Heading::numbers("episodes"));
    headings.extend(["tags", "note"].map(Heading::words));
    html.table(caption, &headings, |html| {
        for entry in entries {
            html.element("tr", &[], |html| {
                html.element("th", &[("scope", "row")], |html| {
                    html.leaf("a", &[("href", &link(entry))], &entry.run);
                });
                html.number(&entry.em.map_or_else(|| "–".to_owned(), |em| format!("{:.1}", 100.0 * em)));
                let ends = entry.em_interval.map(|[low, high]| format!("{:.1} to {:.1}", 100.0 * low, 100.0 * high));
                html.number(&ends.unwrap_or_else(|| "–".to_owned()));
                html.number(&entry.rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string()));
                html.leaf("td", &[], &entry.started_at.chars().take(10).collect::<String>());
                html.leaf("td", &[], &entry.model);
                html.number(&format!("{} of {}", entry.episodes, entry.planned));
                html.leaf("td", &[], &entry.tags.join(", "));
                html.leaf("td", &[], &entry.note);
            });
        }
    });
}
