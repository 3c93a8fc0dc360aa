//! The tables of a plan: the variants, and what each is expected to cost.

use super::console::dash;
use super::sheet::{Columns, Heading};
use crate::base::text::{joined, thousands, visible_line};
use crate::runner::EstimateRow;
use crate::runner::experiment::Differing;

/// A table of the variants, and below it what they have in common, ending in a line break.
pub(crate) fn cells(cells: &Differing, width: usize) -> String {
    type Cells = (String, Vec<Option<String>>);
    let variants = Columns::of("variant", |(variant, _): &Cells| name(variant));
    let columns = cells.settings.iter().enumerate().fold(variants, |columns, (at, setting)| {
        columns.words(setting, move |(_, values)| values[at].as_deref().map_or_else(dash, name))
    });
    let mut text = columns.table(&cells.rows, width) + "\n";
    let same = cells.same.iter().map(|(setting, value)| format!("{setting} {}", name(value)));
    if let Some(same) = joined(same, ", ") {
        text = text + "in all of them: " + &same + "\n";
    }
    text
}

fn name(text: &str) -> String {
    visible_line(text, 100)
}

/// A table of the expected and the largest costs (`n` episodes) below a title; US dollars if at least one price is known.
pub(crate) fn costs(title: &str, rows: &[EstimateRow], width: usize) -> String {
    let usd = |row: &EstimateRow| row.expected.usd.zip(row.most.usd);
    let priced = rows.iter().any(|row| usd(row).is_some());
    let cost = |of: fn((f64, f64)) -> f64| {
        move |row: &EstimateRow| usd(row).map_or_else(dash, |both| format!("{:.4}", of(both)))
    };
    let table = Columns::of("variant", |row: &EstimateRow| name(&row.variant))
        .numbers("n", |row| thousands(row.due))
        .numbers("calls", |row| thousands(row.expected.load.calls))
        .numbers("at most", |row| thousands(row.most.load.calls))
        .numbers("tokens", |row| short(row.expected.load.usage.total()))
        .numbers("at most", |row| short(row.most.load.usage.total()))
        .only_if(priced, Heading::numbers("USD"), cost(|(expected, _)| expected))
        .only_if(priced, Heading::numbers("at most"), cost(|(_, most)| most))
        .table(rows, width);
    format!("{}\n{table}\n", visible_line(title, 200))
}

/// A large count with about three digits: an estimate is not more precise than that.
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
    use super::{cells, costs};
    use crate::base::{Paid, Usage};
    use crate::runner::experiment::Differing;
    use crate::runner::{EstimateRow, Expense};

    #[test]
    fn a_plan_fits_the_narrowest_terminal_and_shows_no_price_that_is_not_known() {
        let values = |model: Option<&str>| vec![Some("react->cot-sc".to_owned()), model.map(str::to_owned)];
        let variants = Differing {
            settings: vec!["method".to_owned(), "model".to_owned()],
            rows: vec![
                ("hotpotqa/react-paper/react->cot-sc".to_owned(), values(Some("openai:gpt-4o-mini\u{1b}[31m"))),
                ("plain".to_owned(), values(None)),
            ],
            same: vec![("prompt", "hotpotqa".to_owned())],
        };
        for width in [60, 80, 120] {
            let text = cells(&variants, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
        }
        let text = cells(&variants, 80);
        assert!(
            text.contains(" hotpotqa/react-paper/react->cot-sc  react->cot-sc  openai:") && text.contains('–'),
            "{text}"
        );
        assert!(text.ends_with("\nin all of them: prompt hotpotqa\n"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        let expense = |calls, prompt_tokens, usd| Expense {
            load: Paid { calls, uncounted: 0, usage: Usage { prompt_tokens, ..Usage::default() } },
            usd,
        };
        let row = |usd: Option<(f64, f64)>| EstimateRow {
            variant: "hotpotqa/react-paper/react->cot-sc".to_owned(),
            due: 7_405,
            expected: expense(29_620, 59_240_000, usd.map(|usd| usd.0)),
            most: expense(103_670, 1_200_000_000, usd.map(|usd| usd.1)),
        };
        for width in [60, 80, 120] {
            let text = costs("title", &[row(Some((12.5, 300.25))), row(None)], width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            assert!(width < 120 || text.contains(" hotpotqa/react-paper/react->cot-sc "), "{width}: {text}");
        }
        let priced = costs("title", &[row(Some((12.5, 300.25))), row(None)], 80);
        let figures = ["7,405", "59.2M", "1,200M", "300.2500"];
        assert!(figures.iter().all(|figure| priced.contains(figure)), "{priced}");
        assert!(priced.lines().all(|line| line.chars().count() <= 80), "{priced}");
        assert!(!costs("title", &[row(None)], 80).contains("USD"));
    }
}
