//! The document: head, sections, data and script in one file that asks for nothing else.

use super::data::Chunks;
use super::html::{Attributes, Heading, Html};
use super::rows::QuestionRow;
use super::sections::{self, Part};
use super::wrong;
use super::{Limits, facts, parts};
use crate::graded::Results;
use crate::types::text::{counted, cut};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub(super) const STYLE: &str = include_str!("page.css");

/// Questions that a page without JavaScript lists.
const LISTED: usize = 200;

/// The scripts, each after those that it imports.
const SCRIPTS: &[&str] = &[
    include_str!("storage.js"),
    include_str!("dom.js"),
    include_str!("decode.js"),
    include_str!("address.js"),
    include_str!("filter.js"),
    include_str!("theme.js"),
    include_str!("keys.js"),
    include_str!("help.js"),
    include_str!("judgements.js"),
    include_str!("judge_form.js"),
    include_str!("controls.js"),
    include_str!("rows.js"),
    include_str!("table.js"),
    include_str!("trail.js"),
    include_str!("question.js"),
    include_str!("live.js"),
    include_str!("print.js"),
    include_str!("main.js"),
];

/// What the document is made of.
pub(super) struct Content<'a> {
    pub(super) results: &'a Results,
    pub(super) rows: &'a [QuestionRow<'a>],
    pub(super) limits: &'a Limits,
    pub(super) meta: &'a Value,
    pub(super) table: &'a str,
    pub(super) chunks: &'a Chunks,
}

/// The modules as one script: without `import` lines and comments, and nothing is exported.
fn script() -> String {
    let is_code = |line: &&str| {
        !line.starts_with("import ") && !["//", "/**", "*"].iter().any(|mark| line.trim_start().starts_with(mark))
    };
    let lines = SCRIPTS.iter().flat_map(|module| module.lines()).filter(is_code);
    lines.map(|line| line.strip_prefix("export ").unwrap_or(line)).fold(String::new(), |text, line| text + line + "\n")
}

/// The digest by which a content security policy knows a text.
pub(super) fn digest(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

impl Content<'_> {
    pub(super) fn document(&self, live: bool) -> String {
        let script = script();
        let parts = parts(self.results, self.rows);
        let mut html = Html { text: "<!doctype html>\n<html lang=\"en\">".to_owned() };
        self.head(&mut html, &script, live);
        html.element("body", &[], |html| {
            html.leaf("a", &[("class", "skip"), ("href", "#questions")], "Skip to the questions");
            bar(html, &parts);
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

    fn head(&self, html: &mut Html, script: &str, live: bool) {
        let connect = if live { "; connect-src 'self'" } else { "" };
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'{connect}",
            digest(script),
            digest(STYLE)
        );
        html.element("head", &[], |html| {
            for attributes in [
                &[("charset", "utf-8")] as Attributes<'_>,
                &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")],
                &[("name", "color-scheme"), ("content", "light dark")],
                &[("http-equiv", "Content-Security-Policy"), ("content", &policy)],
                &[("name", "referrer"), ("content", "no-referrer")],
            ] {
                html.open("meta", attributes);
            }
            html.leaf("title", &[], &format!("{} – wikitrail", facts::page_title(self.results)));
            html.element("style", &[], |html| html.text.push_str(STYLE));
        });
    }

    fn overview(&self, html: &mut Html, parts: &[Part<'_>]) {
        facts::runs_table(html, self.results, self.rows.len());
        for part in parts {
            sections::verdict_section(html, part);
        }
        for part in parts {
            sections::scores_section(html, part);
            sections::differences_section(html, part);
            wrong::flips_section(html, part);
            wrong::failures_section(html, part);
        }
        html.section("questions", "Questions", |html| {
            html.element("noscript", &[], |html| self.without_script(html));
            html.element("div", &[("id", "list")], |_| {});
        });
        facts::notes_section(html, self.results, self.limits, self.chunks.left_out());
        facts::settings_section(html, self.results, parts);
        html.leaf("p", &[("class", "facts")], "This page makes no request: everything is in this file.");
    }

    /// The first questions as a table, for readers whose browser runs no script.
    fn without_script(&self, html: &mut Html) {
        let names: Vec<&String> = self.results.variants().map(|(_, name)| name).collect();
        let all = counted(self.rows.len(), "question");
        let caption = match self.rows.len() {
            n if n > LISTED => format!("The first {LISTED} of {all}; with JavaScript all of them, and every step"),
            _ => format!("{all}; with JavaScript every step of them"),
        };
        let mut headings = vec![Heading::Words("id"), Heading::Words("question"), Heading::Words("gold")];
        headings.extend(names.iter().map(|name| Heading::Words(name)));
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
    format!("{verdict} {}", answer.unwrap_or_else(|| first.outcome.map_or("", crate::types::Outcome::name).to_owned()))
}

/// The bar at the top.
fn bar(html: &mut Html, parts: &[Part<'_>]) {
    let several = parts.iter().any(|part| part.group.sources.len() > 1);
    html.element("header", &[("class", "top")], |html| {
        html.leaf("strong", &[], "wikitrail");
        html.element("nav", &[("aria-label", "Sections")], |html| {
            for (id, name) in [
                ("scores", "Scores"),
                ("differences", "Differences"),
                ("flips", "Flipped answers"),
                ("why", "Why wrong"),
                ("questions", "Questions"),
                ("settings", "Settings"),
            ] {
                if several || !["differences", "flips"].contains(&id) {
                    html.leaf("a", &[("href", &format!("#{id}"))], name);
                }
            }
        });
        html.leaf("button", &[("id", "help-button"), ("type", "button")], "Help");
        html.leaf("button", &[("id", "theme"), ("type", "button")], "Light / dark");
    });
}
