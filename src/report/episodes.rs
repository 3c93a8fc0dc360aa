//! The episodes of a run as a list, one a line.

use super::escape::visible_line;
use super::trajectory::{View, verdict};
use crate::score::{AnswerScore, FailureClass};
use crate::types::Outcome;
use comfy_table::{ContentArrangement, Table, presets};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns that an id may take; a longer one is cut, and `--json` has it whole.
const ID: usize = 40;

/// Columns that a variant's name may take.
const VARIANT: usize = 24;

/// Columns that a question gets in any case.
const QUESTION: usize = 20;

/// One episode of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeRow {
    /// Id of the question.
    pub id: String,
    /// Name of the variant.
    pub variant: String,
    /// Which repeat, from 0.
    pub repeat: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// What its answer is worth; absent where it was not measured or the gold is hidden.
    pub score: Option<AnswerScore>,
    /// Why it is wrong, where it is.
    pub class: Option<FailureClass>,
    /// The question's text.
    pub question: String,
}

/// The list under a header, each episode on one line of the terminal's width; questions are cut to what room there is.
pub fn render(rows: &[EpisodeRow], view: &View) -> String {
    let repeats = rows.iter().any(|row| row.repeat > 0);
    let mut cells: Vec<Vec<String>> = vec![header(repeats)];
    cells.extend(rows.iter().map(|row| line(row, repeats)));
    let taken: usize = (0..cells[0].len())
        .map(|column| cells.iter().map(|line| line[column].width()).max().unwrap_or_default() + 2)
        .sum();
    let room = view.width.saturating_sub(taken).max(QUESTION);
    let questions = std::iter::once("question").chain(rows.iter().map(|row| row.question.as_str()));
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    for (mut line, question) in cells.into_iter().zip(questions) {
        line.push(fitted(question, room));
        table.add_row(line);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    format!("{}\n", table.trim_fmt())
}

fn header(repeats: bool) -> Vec<String> {
    let names = ["id", "variant", "repeat", "outcome", "verdict", "class"];
    names.iter().filter(|name| repeats || **name != "repeat").map(ToString::to_string).collect()
}

fn line(row: &EpisodeRow, repeats: bool) -> Vec<String> {
    let mut cells = vec![fitted(&row.id, ID), fitted(&row.variant, VARIANT)];
    if repeats {
        cells.push(row.repeat.to_string());
    }
    cells.push(row.outcome.name().to_owned());
    cells.push(verdict::word(row.outcome, row.score).to_owned());
    cells.push(row.class.map_or("–", FailureClass::name).to_owned());
    cells
}

/// The text on one line of at most that many columns.
pub(super) fn fitted(text: &str, columns: usize) -> String {
    let line = visible_line(text, columns.saturating_mul(2));
    if line.width() <= columns {
        return line;
    }
    let mut width = 1;
    let cut: String = line
        .chars()
        .take_while(|c| {
            width += c.width().unwrap_or(0);
            width <= columns
        })
        .collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{EpisodeRow, fitted, render};
    use crate::report::View;
    use crate::score::{AnswerScore, FailureClass};
    use crate::types::Outcome;
    use unicode_width::UnicodeWidthStr as _;

    fn row(id: &str, score: Option<AnswerScore>) -> EpisodeRow {
        EpisodeRow {
            id: id.into(),
            variant: "main".into(),
            repeat: 0,
            outcome: Outcome::Finished,
            score,
            class: score.filter(|score| score.em < 1.0).map(|_| FailureClass::Search),
            question: "Who built the first 东京东京东京 bridge over the river, and when was that?".into(),
        }
    }

    #[test]
    fn one_line_an_episode() {
        let rows = [row("q-1", Some(AnswerScore::right(true))), row("q-22", Some(AnswerScore::ZERO)), row("x", None)];
        let text = render(&rows, &View { width: 80, colour: false });
        let expected = "\
id    variant  outcome   verdict  class   question
q-1   main     finished  right    –       Who built the first 东京东京东京 brid…
q-22  main     finished  wrong    search  Who built the first 东京东京东京 brid…
x     main     finished  hidden   –       Who built the first 东京东京东京 brid…
";
        assert_eq!(text, expected);
        for width in [0, 60, 100, 200] {
            let text = render(&rows, &View { width, colour: false });
            assert_eq!(text.lines().count(), 4, "{text}");
            assert!(text.lines().all(|line| line.width() <= width.max(70)), "{width}: {text}");
        }
    }

    #[test]
    fn hostile_names_stay_on_their_line() {
        let mut hostile = row("a\nb\u{1b}[2J", None);
        (hostile.variant, hostile.repeat) = ("\u{202e}v".into(), 1);
        let text = render(&[hostile], &View { width: 120, colour: false });
        assert!(text.contains("a b\\u{1b}[2J") && text.contains("\\u{202e}v") && text.contains("repeat"), "{text}");
        assert_eq!(text.lines().count(), 2);
        assert_eq!(fitted(&"x".repeat(100), 5), "xxxx…");
        assert_eq!(fitted("abcde", 5), "abcde");
    }
}
