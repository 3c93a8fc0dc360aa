//! The episodes of a run as a list, one a line.

use super::trajectory::verdict;
use super::view::View;
use crate::score::{AnswerScore, FailureClass};
use crate::types::Outcome;
use crate::types::text::visible_line;
use comfy_table::ColumnConstraint::{Absolute, ContentWidth, LowerBoundary};
use comfy_table::{ContentArrangement, Row, Table, Width, presets};

/// The largest width of an id; a longer one is cut, and `--json` has it whole.
const ID: u16 = 40;

/// The largest width of a variant's name.
const VARIANT: u16 = 24;

/// The least width of a question.
const QUESTION: u16 = 20;

/// More characters than any terminal has columns.
const MAX_CHARS: usize = 400;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EpisodeRow {
    pub id: String,
    pub variant: String,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    pub outcome: Outcome,
    /// The score of its answer; absent if it was not measured or the gold answer is hidden.
    pub score: Option<AnswerScore>,
    pub class: Option<FailureClass>,
    pub question: String,
}

/// The list under a header, each episode on one line. Questions are cut to fit the terminal.
pub(crate) fn render(rows: &[EpisodeRow], view: &View) -> String {
    let repeats = rows.iter().any(|row| row.repeat > 0);
    let header = ["id", "variant", "repeat", "outcome", "verdict", "class", "question"];
    let header: Vec<&str> = header.into_iter().filter(|name| repeats || *name != "repeat").collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_truncation_indicator("…").set_width(u16::try_from(view.width + 2).unwrap_or(u16::MAX));
    table.set_header(&header);
    for row in rows {
        table.add_row(Row::from(cells(row, repeats)).max_height(1).clone());
    }
    let widths = table.column_max_content_widths();
    for ((column, name), width) in table.column_iter_mut().zip(header).zip(widths) {
        column.set_padding((0, 2)).set_constraint(match name {
            "id" => Absolute(Width::Fixed(width.min(ID) + 2)),
            "variant" => Absolute(Width::Fixed(width.min(VARIANT) + 2)),
            "question" => LowerBoundary(Width::Fixed(QUESTION + 2)),
            _ => ContentWidth,
        });
    }
    table.trim_fmt() + "\n"
}

fn cells(row: &EpisodeRow, repeats: bool) -> Vec<String> {
    let mut cells = vec![visible_line(&row.id, MAX_CHARS), visible_line(&row.variant, MAX_CHARS)];
    cells.extend(repeats.then(|| row.repeat.to_string()));
    cells.push(row.outcome.name().to_owned());
    cells.push(verdict::word(row.outcome, row.score).to_owned());
    cells.push(row.class.map_or("–", FailureClass::name).to_owned());
    cells.push(visible_line(&row.question, MAX_CHARS));
    cells
}

#[cfg(test)]
mod tests {
    use super::{EpisodeRow, render};
    use crate::report::View;
    use crate::score::AnswerScore;
    use crate::types::Outcome;
    use unicode_width::UnicodeWidthStr as _;

    fn row(id: &str, score: Option<AnswerScore>) -> EpisodeRow {
        EpisodeRow {
            id: id.into(),
            variant: "main".into(),
            repeat: 0,
            outcome: Outcome::Finished,
            score,
            class: None,
            question: "Who built the first 东京东京东京 bridge over the river, and when was that?".into(),
        }
    }

    #[test]
    fn hostile_names_stay_on_their_line() {
        let mut hostile = row("a\nb\u{1b}[2J", None);
        (hostile.variant, hostile.repeat) = ("\u{202e}v".into(), 1);
        let text = render(&[hostile], &View { width: 120, colour: false });
        assert!(text.contains("a b\\u{1b}[2J") && text.contains("\\u{202e}v") && text.contains("repeat"), "{text}");
        assert_eq!(text.lines().count(), 2);
        let rows = [row("q-1", Some(AnswerScore::right(true))), row("x", None)];
        for width in [0, 60, 100, 200] {
            let text = render(&rows, &View { width, colour: false });
            assert!(text.lines().all(|line| line.width() <= width.max(70)), "{width}: {text}");
        }
        let mut long = row(&"x".repeat(100), None);
        long.variant = "y".repeat(24);
        let text = render(&[long], &View { width: 80, colour: false });
        let start = format!("\n{}…  {}  finished", "x".repeat(39), "y".repeat(24));
        assert!(text.contains(&start), "{text}");
    }
}
