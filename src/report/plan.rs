//! The tables of a plan: what the variants are, and what each will take.

use super::escape::visible_line;
use super::table::{dash, empty, right_aligned, thousands, variant_cell};
use std::fmt::Write as _;

/// What a variant is, in short words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Its name.
    pub variant: String,
    /// Its prompt.
    pub prompt: String,
    /// Its protocol.
    pub protocol: String,
    /// Its method.
    pub method: String,
    /// Its model.
    pub model: String,
}

/// What is expected, and what it is at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounded {
    /// What is expected.
    pub expected: u64,
    /// The bound.
    pub most: u64,
}

/// What a variant will take.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    /// Its name.
    pub variant: String,
    /// Episodes that are to be run.
    pub episodes: u64,
    /// Model calls.
    pub calls: Bounded,
    /// Tokens, in and out.
    pub tokens: Bounded,
    /// US dollars, expected and at most, where the price is known.
    pub usd: Option<(f64, f64)>,
}

/// A table of the variants for an 80-column terminal, ending in a line break.
pub fn cells(rows: &[Cell]) -> String {
    let mut table = empty(&["variant", "prompt", "protocol", "method", "model"]);
    for row in rows {
        let word = |text: &str| visible_line(text, 60);
        table.add_row(vec![
            variant_cell(&row.variant),
            word(&row.prompt),
            word(&row.protocol),
            word(&row.method),
            word(&row.model),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

/// A table of what the variants take (`n` episodes), below a title, ending in a line break.
pub fn costs(title: &str, rows: &[Costs]) -> String {
    let mut header = vec!["variant", "n", "calls", "at most", "tokens", "at most"];
    // Columns of dashes would only take the others' room.
    let priced = rows.iter().any(|row| row.usd.is_some());
    if priced {
        header.extend(["US $", "at most"]);
    }
    let mut table = empty(&header);
    for Costs { variant, episodes, calls, tokens, usd } in rows {
        let counts = [*episodes, calls.expected, calls.most].map(thousands).into_iter();
        let counts = counts.chain([tokens.expected, tokens.most].map(short));
        let dollars = match usd {
            Some((expected, most)) => [format!("{expected:.4}"), format!("{most:.4}")],
            None => [dash(), dash()],
        };
        let dollars = dollars.into_iter().filter(|_| priced);
        table.add_row(std::iter::once(variant_cell(variant)).chain(counts).chain(dollars));
    }
    let mut text = String::new();
    let _ = writeln!(text, "{}\n{}", visible_line(title, 200), right_aligned(table, 1..header.len()).trim_fmt());
    text
}

/// A large count with three digits or so: an estimate has no more.
fn short(n: u64) -> String {
    match n {
        0..10_000 => thousands(n),
        10_000..1_000_000 => format!("{}k", n / 1_000),
        1_000_000..1_000_000_000 => format!("{}.{}M", n / 1_000_000, n / 100_000 % 10),
        _ => format!("{}M", thousands(n / 1_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounded, Cell, Costs, cells, costs, short};

    #[test]
    fn counts_are_short() {
        let counts = [0, 9_999, 12_345, 999_999, 1_250_000, 2_000_000_000].map(short);
        assert_eq!(counts, ["0", "9,999", "12k", "999k", "1.2M", "2,000M"]);
    }

    #[test]
    fn a_plan_fits_the_narrowest_terminal_and_shows_no_price_that_is_not_known() {
        let cell = |variant: &str| Cell {
            variant: variant.to_owned(),
            prompt: "hotpotqa".to_owned(),
            protocol: "react-paper".to_owned(),
            method: "react->cot-sc".to_owned(),
            model: "openai:gpt-4o-mini\u{1b}[31m".to_owned(),
        };
        let text = cells(&[cell("hotpotqa/react-paper/react->cot-sc"), cell("plain")]);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("react-paper/\n") || text.contains(" react-paper/ "), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        let row = |usd| Costs {
            variant: "hotpotqa/react-paper/react->cot-sc".to_owned(),
            episodes: 7_405,
            calls: Bounded { expected: 29_620, most: 103_670 },
            tokens: Bounded { expected: 59_240_000, most: 1_200_000_000 },
            usd,
        };
        let priced = costs("title", &[row(Some((12.5, 300.25))), row(None)]);
        assert!(priced.starts_with("title\n") && priced.contains("300.2500"), "{priced}");
        assert!(priced.lines().all(|line| line.chars().count() <= 80), "{priced}");
        assert!(!costs("title", &[row(None)]).contains("US $"));
    }
}
