//! Questions that turned over between two columns.

use super::super::sheet::{Block, Cell, Grid, Heading, Key, Row};
use super::count;
use crate::report::counted;
use crate::score::{Divergence, FailureClass};
use serde::Serialize;

/// Characters of a question that are listed.
const QUESTION: usize = 60;

/// Questions that one column has right and the other wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlipList {
    /// The first column.
    pub a: String,
    /// The second column.
    pub b: String,
    /// Questions that both measured.
    pub n: usize,
    /// Right in `b` only.
    pub gained: Vec<FlippedQuestion>,
    /// Right in `a` only.
    pub lost: Vec<FlippedQuestion>,
}

/// One question that turned over.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlippedQuestion {
    /// Its id.
    pub id: String,
    /// Its text.
    pub question: String,
    /// Why the wrong answer is wrong, where that is known.
    pub class: Option<FailureClass>,
    /// Where the two episodes part; absent for tables of figures.
    pub parted: Option<Divergence>,
    /// What to type to see both.
    pub command: Option<String>,
}

/// A table of the questions, the classes in words, and the commands.
pub(super) fn blocks(turned: &FlipList) -> Vec<Block> {
    let title = format!("right in one only, {} against {}", turned.b, turned.a);
    if turned.gained.is_empty() && turned.lost.is_empty() {
        return vec![Block::Lines { title, lines: vec![format!("none of {}", counted(turned.n, "question"))] }];
    }
    let header = vec![
        Heading::words("id"),
        Heading::words("right in"),
        Heading::words("the other is wrong by"),
        Heading::words("they part at"),
        Heading::words("question"),
    ];
    let row = |(right, flip): (&String, &FlippedQuestion)| Row {
        key: Key { metric: "em".to_owned(), group: flip.id.clone(), a: turned.a.clone(), b: turned.b.clone() },
        cells: vec![
            Cell::text(&flip.id),
            Cell::text(right),
            Cell::text(flip.class.map_or("–", FailureClass::name)),
            parting(flip.parted),
            Cell::text(cut(&flip.question)),
        ],
    };
    let gained = turned.gained.iter().map(|flip| (&turned.b, flip));
    let lost = turned.lost.iter().map(|flip| (&turned.a, flip));
    let rows = gained.chain(lost).map(row).collect();
    let mut blocks = vec![Block::Table(Grid { id: "flips", title, header, rows })];
    let mut lines = vec![
        format!("right in {} only: {}", turned.b, by_class(&turned.gained, &turned.a)),
        format!("right in {} only: {}", turned.a, by_class(&turned.lost, &turned.b)),
    ];
    lines.extend(turned.gained.iter().chain(&turned.lost).filter_map(|flip| flip.command.clone()));
    blocks.push(Block::Lines { title: "failure classes, and what to type to see a question".to_owned(), lines });
    blocks
}

fn parting(parted: Option<Divergence>) -> Cell {
    let Some(parted) = parted else { return Cell::nothing() };
    Cell::figure("parted_at_step", count(parted.step), format!("step {}, {}", parted.step, parted.part.name()))
}

fn cut(question: &str) -> String {
    let mut characters = question.chars();
    let cut: String = characters.by_ref().take(QUESTION).collect();
    if characters.next().is_some() { cut + "…" } else { cut }
}

/// `12, where act fails by 9 search, 3 reasoning`
fn by_class(flips: &[FlippedQuestion], wrong: &str) -> String {
    let counts = FailureClass::ALL.map(|class| (class, flips.iter().filter(|flip| flip.class == Some(class)).count()));
    let parts: Vec<String> =
        counts.iter().filter(|(_, n)| *n > 0).map(|(class, n)| format!("{n} {}", class.name())).collect();
    if parts.is_empty() {
        flips.len().to_string()
    } else {
        format!("{}, where {wrong} fails by {}", flips.len(), parts.join(", "))
    }
}
