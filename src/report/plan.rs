//! The tables of a plan: what the variants are, and what each will take.

use super::escape::visible_line;
use super::fitted::{RULED, WIDTH, fitted};
use super::sheet::Heading;
use super::table::{columns, dash, thousands};
use std::fmt::Write as _;

/// The variants by the settings in which they differ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cells {
    /// Names of the settings.
    pub settings: Vec<String>,
    /// The name of each variant, and its values of the settings; nothing where it has no use for one.
    pub rows: Vec<(String, Vec<Option<String>>)>,
    /// What all of them have in common, each with its value.
    pub same: Vec<(String, String)>,
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

/// A table of the variants, below it what they have in common; it ends in a line break.
pub fn cells(cells: &Cells) -> String {
    let header: Vec<Heading> =
        ["variant"].into_iter().chain(cells.settings.iter().map(String::as_str)).map(Heading::words).collect();
    let row = |(variant, values): &(String, Vec<Option<String>>)| {
        let values = values.iter().map(|value| value.as_deref().map_or_else(dash, word));
        [word(variant)].into_iter().chain(values).collect()
    };
    let rows: Vec<Vec<String>> = cells.rows.iter().map(row).collect();
    let mut text = format!("{}\n", fitted(RULED, &header, &rows, WIDTH));
    let same: Vec<String> = cells.same.iter().map(|(name, value)| format!("{name} {}", word(value))).collect();
    if !same.is_empty() {
        let _ = writeln!(text, "in all of them: {}", same.join(", "));
    }
    text
}

fn word(text: &str) -> String {
    visible_line(text, 100)
}

/// A table of what the variants take (`n` episodes), below a title, ending in a line break.
pub fn costs(title: &str, rows: &[Costs]) -> String {
    let mut figures = vec!["n", "calls", "at most", "tokens", "at most"];
    // Columns of dashes would only take the others' room.
    let priced = rows.iter().any(|row| row.usd.is_some());
    if priced {
        figures.extend(["US $", "at most"]);
    }
    let mut table = Vec::new();
    for Costs { variant, episodes, calls, tokens, usd } in rows {
        let counts = [*episodes, calls.expected, calls.most].map(thousands).into_iter();
        let counts = counts.chain([tokens.expected, tokens.most].map(short));
        let dollars = match usd {
            Some((expected, most)) => [format!("{expected:.4}"), format!("{most:.4}")],
            None => [dash(), dash()],
        };
        let dollars = dollars.into_iter().filter(|_| priced);
        table.push(std::iter::once(word(variant)).chain(counts).chain(dollars).collect());
    }
    let mut text = String::new();
    let header: Vec<Heading> = columns("variant", &figures).collect();
    let _ = writeln!(text, "{}\n{}", visible_line(title, 200), fitted(RULED, &header, &table, WIDTH));
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
    use super::{Bounded, Cells, Costs, cells, costs, short};

    #[test]
    fn counts_are_short() {
        let counts = [0, 9_999, 12_345, 999_999, 1_250_000, 2_000_000_000].map(short);
        assert_eq!(counts, ["0", "9,999", "12k", "999k", "1.2M", "2,000M"]);
    }

    #[test]
    fn a_plan_fits_the_narrowest_terminal_and_shows_no_price_that_is_not_known() {
        let values = |model: Option<&str>| vec![Some("react->cot-sc".to_owned()), model.map(str::to_owned)];
        let text = cells(&Cells {
            settings: vec!["method".to_owned(), "model".to_owned()],
            rows: vec![
                ("hotpotqa/react-paper/react->cot-sc".to_owned(), values(Some("openai:gpt-4o-mini\u{1b}[31m"))),
                ("plain".to_owned(), values(None)),
            ],
            same: vec![("prompt".to_owned(), "hotpotqa".to_owned())],
        });
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains(" hotpotqa/react-paper/react-> ") && text.contains('–'), "{text}");
        assert!(text.ends_with("\nin all of them: prompt hotpotqa\n"), "{text}");
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
