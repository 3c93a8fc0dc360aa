//! Tables of names: as wide as a terminal usually is where that goes without breaking inside a word, else wider.

use super::table::{WIDTH, empty, right_aligned};
use comfy_table::{ContentArrangement, Table};
use std::ops::Range;
use unicode_width::UnicodeWidthStr as _;

/// Columns of the terminal that stand between two columns of a table: padding, rule, padding.
const BETWEEN: usize = 3;

/// A table of these rows, the columns of numbers (`right`) aligned right.
pub(super) fn fitted(header: &[&str], rows: &[Vec<String>], right: Range<usize>) -> Table {
    let texts = |at: usize| rows.iter().filter_map(move |row| row.get(at)).map(String::as_str).chain([header[at]]);
    let widest = |at: usize, part: fn(&str) -> usize| texts(at).map(part).max().unwrap_or_default();
    let least: Vec<usize> = (0..header.len()).map(|at| widest(at, longest_word)).collect();
    let mut widths: Vec<usize> = (0..header.len()).map(|at| widest(at, str::width)).collect();
    while widths.iter().sum::<usize>() + BETWEEN * widths.len() > usize::from(WIDTH) + 1 {
        // The widest of those that can still give way.
        let yielding = (0..widths.len()).filter(|at| widths[*at] > least[*at]).max_by_key(|at| widths[*at]);
        let Some(at) = yielding else { break };
        widths[at] -= 1;
    }
    let mut table = empty(header);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().zip(&widths).map(|(text, width)| wrapped(text, *width)));
    for row in rows {
        table.add_row(row.iter().zip(&widths).map(|(text, width)| wrapped(text, *width)));
    }
    right_aligned(table, right)
}

/// The text in parts that stay whole: after each but the last a line may end.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let ends = |(at, c): (usize, char)| {
            let after = rest[at + c.len_utf8()..].chars().next();
            // An arrow, as in `react->cot-sc`, is no place for it.
            let hyphen = c == '-' && after.is_some_and(char::is_alphanumeric);
            (matches!(c, ' ' | ',' | '/' | '>') || hyphen).then_some(at + c.len_utf8())
        };
        let end = rest.char_indices().find_map(ends).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

fn longest_word(text: &str) -> usize {
    words(text).map(|word| word.trim_end().width()).max().unwrap_or_default()
}

/// The text in lines of that width, or of a word's where that is more.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.width() + word.trim_end().width() <= width => line.push_str(word),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{fitted, words, wrapped};
    use unicode_width::UnicodeWidthStr as _;

    fn text(header: &[&str], rows: &[&[&str]]) -> String {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        fitted(header, &rows, 1..1).trim_fmt()
    }

    #[test]
    fn a_line_ends_between_words() {
        let parts: Vec<&str> = words("hotpotqa/react->cot-sc, sample_one").collect();
        assert_eq!(parts, ["hotpotqa/", "react->", "cot-", "sc,", " ", "sample_one"]);
        assert_eq!(wrapped("hotpotqa/react->cot-sc", 12), "hotpotqa/\nreact->cot-\nsc");
        assert_eq!(wrapped("exceptionally/long", 4), "exceptionally/\nlong");
        assert_eq!(wrapped("", 4), "");
    }

    #[test]
    fn a_table_is_as_wide_as_a_terminal_or_as_its_words() {
        let short = text(&["name", "n"], &[&["one/two", "1"]]);
        assert!(short.contains(" one/two "), "{short}");
        let name = "prompts-by-protocol/react-paper/temperature=0.7/react->cot-sc";
        let long = text(&["variant", "max_steps", "model"], &[&[name, "7", "openai:gpt-4o-mini-2024-07-18"]]);
        assert!(long.lines().all(|line| line.width() <= 80), "{long}");
        for word in ["prompts-", "protocol/", "paper/", "temperature=0.7/", "max_steps", "openai:gpt-"] {
            assert!(long.contains(word), "{word}\n{long}");
        }
        let unbroken = "x".repeat(90);
        assert!(text(&["variant", "n"], &[&[&unbroken, "1"]]).contains(&unbroken));
    }
}
