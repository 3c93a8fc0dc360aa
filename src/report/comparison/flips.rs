//! Flipped answers: questions that one of two variants gets right and the other wrong.

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
    /// Right in `b` only.
    pub gained: Vec<FlippedQuestion>,
    /// Right in `a` only.
    pub lost: Vec<FlippedQuestion>,
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
}

/// A table of the questions, counts by failure class, and commands.
pub(super) fn blocks(flips: &FlipList) -> Vec<Block> {
    let title = format!("flipped answers, {} vs {}", flips.b, flips.a);
    if flips.gained.is_empty() && flips.lost.is_empty() {
        return vec![Block::Lines { title, lines: vec![format!("none of {}", counted(flips.n, "question"))] }];
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
    let rows = gained.chain(lost).map(row).collect();
    let mut blocks = vec![Block::Table(Grid { id: "flips", title, header, rows })];
    let mut lines = vec![
        format!("right in {} only: {}", flips.b, by_class(&flips.gained, &flips.a)),
        format!("right in {} only: {}", flips.a, by_class(&flips.lost, &flips.b)),
    ];
    lines.extend(flips.gained.iter().chain(&flips.lost).filter_map(|flip| flip.command.clone()));
    blocks.push(Block::Lines {
        title: "flipped answers by failure class, and commands that show both episodes".to_owned(),
        lines,
    });
    blocks
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
