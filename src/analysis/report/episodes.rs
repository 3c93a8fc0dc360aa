//! The episodes of a run as a list, one a line.

use super::console::{View, dash};
use super::trajectory::verdict_word;
use crate::base::Outcome;
use crate::base::text::visible_line;
use crate::scoring::{AnswerScore, FailureClass, Share};
use anstyle::{AnsiColor, Style};
use comfy_table::ColumnConstraint::{Absolute, ContentWidth, LowerBoundary};
use comfy_table::{ContentArrangement, Row, Table, Width, presets};
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The largest widths of an id and of a variant's name, as parts of the list's; a longer one is cut.
const ID: (usize, u16) = (2, 40);
const VARIANT: (usize, u16) = (6, 24);

const ANSWER: usize = 12;

/// The same of a terminal in which nothing else finds room, with the space behind it.
const LEAST: u16 = 10;

const QUESTION: usize = 20;

/// More characters than any terminal has columns.
const MAX_CHARS: usize = 400;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EpisodeRow {
    pub id: String,
    pub variant: String,
    pub repeat: u32,
    pub outcome: Outcome,
    /// The score of its answer; absent if it was not measured or the gold answer is hidden.
    pub score: Option<AnswerScore>,
    /// The right answers among the repeats of its question; absent where no question was repeated.
    pub right: Option<Share>,
    pub class: Option<FailureClass>,
    pub steps: Option<usize>,
    pub answer: Option<String>,
    pub gold: Option<String>,
    pub question: String,
}

/// A name, which columns go first where a terminal is narrow (those with the highest number), and the cell of an episode.
type Column = (&'static str, u8, fn(&EpisodeRow) -> String);

const COLUMNS: [Column; 11] = [
    ("id", 0, |row| cell_text(&row.id)),
    ("variant", 0, |row| cell_text(&row.variant)),
    ("repeat", 0, |row| row.repeat.to_string()),
    ("verdict", 0, |row| verdict_word(row.outcome, row.score).to_owned()),
    ("right", 0, |row| row.right.map_or_else(dash, |right| right.to_string())),
    ("class", 2, |row| row.class.map_or("–", FailureClass::name).to_owned()),
    ("outcome", 5, |row| row.outcome.name().to_owned()),
    ("steps", 4, |row| row.steps.map_or_else(dash, |steps| steps.to_string())),
    ("answer", 0, |row| row.answer.as_deref().map_or_else(dash, cell_text)),
    ("gold", 1, |row| row.gold.as_deref().map_or_else(dash, cell_text)),
    ("question", 3, |row| cell_text(&row.question)),
];

fn cell_text(text: &str) -> String {
    visible_line(text, MAX_CHARS)
}

/// The list under a header, each episode on one line. Columns that find no room, or say the same of all, are left out.
pub(crate) fn render(rows: &[EpisodeRow], view: &View) -> String {
    let needed = |name: &str| match name {
        "variant" => rows.iter().any(|row| row.variant != rows[0].variant),
        "repeat" => rows.iter().any(|row| row.repeat > 0),
        "outcome" => rows.iter().any(|row| row.outcome != Outcome::Finished),
        "right" => rows.iter().any(|row| row.right.is_some()),
        "class" => rows.iter().any(|row| row.class.is_some()),
        "gold" => rows.iter().any(|row| row.gold.is_some()),
        _ => true,
    };
    let mut shown: Vec<(usize, Column)> =
        COLUMNS.into_iter().enumerate().filter(|(_, (name, ..))| needed(name)).collect();
    let cells: Vec<[String; 11]> = rows.iter().map(|row| COLUMNS.map(|(.., cell)| cell(row))).collect();
    let most = |(share, most): (usize, u16)| usize::from(most).min((view.width / share).max(8));
    let width = |(at, (name, ..)): &(usize, Column)| {
        let widest = cells.iter().map(|row| row[*at].width()).fold(name.len(), usize::max);
        match *name {
            "id" => widest.min(most(ID)),
            "variant" => widest.min(most(VARIANT)),
            "answer" | "gold" => widest.min(ANSWER),
            "question" => widest.min(QUESTION),
            _ => widest,
        }
    };
    while shown.iter().map(|column| width(column) + 2).sum::<usize>() > view.width + 2 {
        let Some(last) = shown.iter().map(|(_, (_, order, _))| *order).max().filter(|order| *order > 0) else { break };
        shown.retain(|(_, (_, order, _))| *order != last);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_truncation_indicator("…").set_width(u16::try_from(view.width + 2).unwrap_or(u16::MAX));
    table.set_header(shown.iter().map(|(_, (name, ..))| *name));
    for row in &cells {
        let row = shown.iter().map(|(at, _)| row[*at].as_str());
        table.add_row(Row::from(row.collect::<Vec<_>>()).max_height(1).clone());
    }
    for (column, of) in table.column_iter_mut().zip(&shown) {
        let fixed = Width::Fixed(u16::try_from(width(of) + 2).unwrap_or(u16::MAX));
        column.set_padding((0, 2)).set_constraint(match of.1.0 {
            "id" | "variant" => Absolute(fixed),
            "answer" | "gold" | "question" => LowerBoundary(Width::Fixed(LEAST)),
            _ => ContentWidth,
        });
    }
    let text = table.trim_fmt() + "\n";
    if !view.colour {
        return text;
    }
    let before = shown.iter().take_while(|(_, (name, ..))| *name != "verdict").map(|column| width(column) + 2).sum();
    coloured(&text, rows, before)
}

/// The list with its verdicts in colour; they begin behind so many columns.
fn coloured(text: &str, rows: &[EpisodeRow], before: usize) -> String {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let mut page = format!("{header}\n");
    for (line, row) in lines.zip(rows) {
        let word = verdict_word(row.outcome, row.score);
        let style = match word {
            "right" => AnsiColor::Green.on_default(),
            "wrong" => AnsiColor::Red.on_default(),
            _ => Style::new().dimmed(),
        };
        let mut columns = 0;
        let at = line.char_indices().find(|(_, c)| {
            let found = columns >= before;
            columns += c.width().unwrap_or_default();
            found
        });
        match at.map(|(at, _)| line.split_at(at)) {
            Some((left, right)) if right.starts_with(word) => {
                // Writing to a String cannot fail.
                let _ = writeln!(page, "{left}{style}{word}{style:#}{}", &right[word.len()..]);
            }
            _ => page = page + line + "\n",
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::{EpisodeRow, render};
    use crate::analysis::report::View;
    use crate::base::Outcome;
    use crate::scoring::{AnswerScore, FailureClass};
    use unicode_width::UnicodeWidthStr as _;

    fn row(id: &str, score: Option<AnswerScore>) -> EpisodeRow {
        EpisodeRow {
            id: id.into(),
            variant: "main".into(),
            repeat: 0,
            outcome: Outcome::Finished,
            score,
            right: None,
            class: score.filter(|score| score.em < 1.0).map(|_| FailureClass::Hallucination),
            steps: Some(7),
            answer: Some("the 东京 bridge".into()),
            gold: Some("the old bridge over the river".into()),
            question: "Who built the first 东京东京东京 bridge over the river, and when was that?".into(),
        }
    }

    #[test]
    fn hostile_names_stay_on_their_line() {
        let mut hostile = row("a\nb\u{1b}[2J", None);
        (hostile.variant, hostile.repeat) = ("\u{202e}v".into(), 1);
        (hostile.answer, hostile.gold) = (Some("x\n\u{1b}[31my".into()), None);
        let text = render(&[hostile, row("b", None)], &View { width: 160, colour: false });
        assert!(text.contains("a b\\u{1b}[2J") && text.contains("\\u{202e}v") && text.contains("repeat"), "{text}");
        assert!(text.contains("x \\u{1b}[31my"), "{text}");
        assert_eq!(text.lines().count(), 3);
    }

    /// Ids of `HotpotQA`, two variants, every outcome: nothing is wider than the terminal, and verdict and answer stay.
    #[test]
    fn the_list_fits_the_terminal() {
        let mut other = row("5a8b57f25542995d1e6f1371", None);
        (other.variant, other.outcome) = ("react->cot-sc".into(), Outcome::NotMeasured);
        let rows = [row("5a8b57f25542995d1e6f1372", Some(AnswerScore::right(false))), other];
        for width in [60, 80, 120, 200] {
            let text = render(&rows, &View { width, colour: false });
            assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
            for word in ["5a8b57f25542995d1e6f1371", "verdict", "not measured", "answer", "the 东"] {
                assert!(text.contains(word), "{word} at {width}:\n{text}");
            }
            assert_eq!(text.contains("hallucination"), width >= 120, "{width}:\n{text}");
            assert_eq!(text.contains("Who built"), width >= 120, "{width}:\n{text}");
        }
    }

    #[test]
    fn right_and_wrong_are_coloured_where_colours_are_wanted() {
        let rows = [row("东京-right", Some(AnswerScore::right(true))), row("x", Some(AnswerScore::right(false)))];
        let view = View { width: 120, colour: true };
        let text = render(&rows, &view);
        assert!(text.contains("东京-right  \u{1b}[32mright\u{1b}[0m"), "{text:?}");
        assert!(text.contains("  \u{1b}[31mwrong\u{1b}[0m"), "{text:?}");
        let plain = text.replace("\u{1b}[32m", "").replace("\u{1b}[31m", "").replace("\u{1b}[0m", "");
        assert_eq!(plain, render(&rows, &View { colour: false, ..view }));
    }
}
