//! Flipped answers: questions that one of two variants gets right and the other wrong.

use crate::compare::GoldState;
use crate::report::sheet::{Block, Cell, Grid, Heading, Key, Row, float};
use crate::score::{Divergence, FailureClass};
use crate::types::text::{counted, cut};
use serde::Serialize;

/// Characters of a question that are listed.
const QUESTION: usize = 60;

/// Flipped answers between two variants.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FlipList {
    pub a: String,
    pub b: String,
    /// Questions that both measured.
    pub n: usize,
    /// How many are printed; JSON has all.
    #[serde(skip)]
    pub most: usize,
    /// Right in `b` only.
    pub gained: Vec<FlippedQuestion>,
    /// Right in `a` only.
    pub lost: Vec<FlippedQuestion>,
    /// The older and the newer corpus, if gold was looked for in them, and why nothing can be told, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editions: Option<([Edition; 2], Option<String>)>,
}

/// The corpus of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Edition {
    pub variant: String,
    /// As it was named for the run; absent for tables of figures.
    pub wiki: Option<String>,
    /// Its date, where that is known.
    pub as_of: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FlippedQuestion {
    pub id: String,
    pub question: String,
    /// Failure class of the wrong answer, if known.
    pub class: Option<FailureClass>,
    /// Where the two episodes diverge; absent for tables of figures.
    pub parted: Option<Divergence>,
    pub command: Option<String>,
    /// Whether the gold pages of both corpora have the gold answer, if that was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gold: Option<GoldState>,
}

/// A table of the questions, counts by failure class, and commands.
pub(super) fn flip_blocks(flips: &FlipList) -> Vec<Block> {
    let title = format!("flipped answers, {} vs {}", flips.b, flips.a);
    if flips.gained.is_empty() && flips.lost.is_empty() {
        let mut lines = vec![format!("none of {}", counted(flips.n, "question"))];
        lines.extend(flips.editions.as_ref().map(|_| "stale gold: no flipped answers to check".to_owned()));
        return vec![Block::Lines { title, lines }];
    }
    let header = ["id", "right in", "failure class", "divergence", "question"].map(Heading::words).to_vec();
    let row = |(right, flip): (&String, &FlippedQuestion)| Row {
        key: Key { metric: "em".to_owned(), group: flip.id.clone(), a: flips.a.clone(), b: flips.b.clone() },
        cells: vec![
            Cell::text(&flip.id),
            Cell::text(right),
            Cell::text(flip.class.map_or("–", FailureClass::name)),
            divergence(flip.parted),
            Cell::text(cut(&flip.question, QUESTION)),
        ],
    };
    let gained = flips.gained.iter().map(|flip| (&flips.b, flip));
    let lost = flips.lost.iter().map(|flip| (&flips.a, flip));
    let rows = gained.chain(lost).take(flips.most).map(row).collect();
    let mut blocks = vec![Block::Table(Grid { id: "flips", title, header, rows })];
    let mut lines = vec![
        format!("right in {} only: {}", flips.b, by_class(&flips.gained, &flips.a)),
        format!("right in {} only: {}", flips.a, by_class(&flips.lost, &flips.b)),
    ];
    let all = flips.gained.len() + flips.lost.len();
    if all > flips.most {
        lines.push(format!("{} of {} are listed; --flips=all lists all", flips.most, counted(all, "flipped answer")));
    }
    let listed = flips.gained.iter().chain(&flips.lost).take(flips.most);
    lines.extend(listed.filter_map(|flip| flip.command.clone()));
    blocks.push(Block::Lines {
        title: "flipped answers by failure class, and commands that show both episodes".to_owned(),
        lines,
    });
    blocks.extend(flips.editions.as_ref().map(|editions| stale(flips, editions)));
    blocks
}

/// Which flipped answers have stale gold, and for how many that cannot be told.
fn stale(flips: &FlipList, (editions, fault): &([Edition; 2], Option<String>)) -> Block {
    let title = format!("stale gold, {} vs {}", flips.b, flips.a);
    let [older, newer] = editions.each_ref().map(|edition| {
        let facts = [&edition.wiki, &edition.as_of].into_iter().flatten().map(String::as_str);
        format!("{} ({})", edition.variant, facts.collect::<Vec<_>>().join(", "))
    });
    if let Some(fault) = fault {
        return Block::Lines { title, lines: vec![format!("cannot be told: {fault}")] };
    }
    let all = || flips.gained.iter().chain(&flips.lost).filter_map(|flip| Some((flip, flip.gold.as_ref()?)));
    let pages: Vec<String> = all()
        .filter_map(|(flip, gold)| match gold {
            GoldState::Stale { page } => Some(format!("{}: {page}", flip.id)),
            GoldState::Still | GoldState::Undecidable { .. } => None,
        })
        .collect();
    let mut lines = vec![
        format!("older {older}, newer {newer}"),
        format!(
            "{} of {}: the answer was in this gold page, and is in no gold page of the newer corpus",
            pages.len(),
            counted(all().count(), "flipped answer")
        ),
    ];
    lines.extend(pages);
    lines.push(format!(
        "{} with the answer in a gold page of both",
        all().filter(|(_, gold)| **gold == GoldState::Still).count()
    ));
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for (_, gold) in all() {
        let GoldState::Undecidable { reason } = gold else { continue };
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    lines.extend(reasons.iter().map(|(reason, count)| format!("{count} cannot be told: {reason}")));
    Block::Lines { title, lines }
}

fn divergence(parted: Option<Divergence>) -> Cell {
    let Some(parted) = parted else { return Cell::nothing() };
    Cell::figure("parted_at_step", float(parted.step as u64), format!("step {}, {}", parted.step, parted.part.name()))
}

/// `12 (act: 9 search, 3 reasoning)`
fn by_class(flips: &[FlippedQuestion], wrong: &str) -> String {
    let counts = FailureClass::ALL.map(|class| (class, flips.iter().filter(|flip| flip.class == Some(class)).count()));
    let parts: Vec<String> =
        counts.iter().filter(|(_, n)| *n > 0).map(|(class, n)| format!("{n} {}", class.name())).collect();
    if parts.is_empty() { flips.len().to_string() } else { format!("{} ({wrong}: {})", flips.len(), parts.join(", ")) }
}
