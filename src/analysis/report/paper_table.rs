//! The table of a paper: one `tabular` that fits a column of a page with two.

use super::comparison::{
    STOPPED, change_cell, corrected_p, difference_to, level_of, mean_cell, mean_heading, reference,
};
use super::sheet::{Cell, latex_cell, latex_escaped};
use crate::analysis::compare::verdict::{p_value, percent};
use crate::analysis::compare::{Comparison, Pair, Unit, VariantMean, Word};
use crate::base::short_names::ShortNames;
use crate::base::text::visible_line;
use std::fmt::Write as _;

/// Width of a column of usual pages with two, in points.
const COLUMN: f64 = 241.0;
/// Between two columns of the table.
const GAP: f64 = 4.0;
/// An em of `\small`, `\footnotesize` and `\scriptsize` in documents of 10 points: digits are half as wide.
const SMALL: f64 = 9.25;
const FOOTNOTE: f64 = 8.4;
const SCRIPT: f64 = 7.97;

/// Variant, figure with interval, difference to one of them with interval, and p, of the figure that is compared first. Names
/// that are too wide are smaller, or become numbers.
pub(crate) fn paper_table(comparison: &Comparison, short: &ShortNames) -> Option<String> {
    let figure = comparison.figures.first()?;
    let reference = reference(figure, comparison)?;
    let unit = figure.figure.unit;
    let row = |mean: &VariantMean| {
        let pair = figure.pair(reference, &mean.variant);
        let (difference, interval) = pair.map_or((None, None), |pair| difference_to(reference, pair));
        let own = mean_cell(unit, "mean", mean.mean, None, mean.interval);
        [own, change_cell(unit, difference, None, interval), pair.map_or_else(Cell::nothing, short_p)]
    };
    let rows: Vec<[Cell; 3]> = figure.means.iter().map(row).collect();
    let level = percent(level_of(&figure.pairs));
    let heads = [mean_heading(&figure.figure, None), format!("Δ [{level} %]"), "p".to_owned()];
    let wide = |at: usize| {
        let cells = rows.iter().map(|row| points(&row[at].text.replace('-', "−"))).chain([points(&heads[at])]);
        cells.fold(0.0, f64::max)
    };
    let room = COLUMN - (0..3).map(|at| wide(at) + GAP).sum::<f64>();
    let names: Vec<String> = figure.means.iter().map(|mean| visible_line(short.of_name(&mean.variant), 200)).collect();
    let widest = names.iter().map(|name| points(name)).fold(0.0, f64::max);
    let (fits, is_smaller) = (widest * FOOTNOTE / SMALL <= room, widest > room);
    let numbered = |(at, name): (usize, &String)| if fits { name.clone() } else { format!("V{}", at + 1) };
    let shown: Vec<String> = names.iter().enumerate().map(numbered).collect();
    let mut text = String::new();
    let label = visible_line(figure.figure.label(), 40);
    let points = if unit == Unit::Share { " in points" } else { "" };
    let name = visible_line(short.of_name(reference), 200).replace('^', " ");
    let _ = writeln!(text, "% for a paper, in one column: {label}, and its difference to {name}{points}; p after Holm");
    for (name, number) in names.iter().zip(&shown).filter(|(name, number)| name != number) {
        // `^^M` would end a comment.
        let _ = writeln!(text, "% {number}: {}", name.replace('^', " "));
    }
    text += "{\\small\\setlength{\\tabcolsep}{2pt}%\n\\begin{tabular}{@{}lrrr@{}}\n\\toprule\n";
    let [own, _, _] = heads.map(|head| small_interval(&latex_escaped(&head)));
    let _ =
        writeln!(text, "variant & {own} & $\\Delta$\\,{{\\scriptsize {{[}}{level} \\%{{]}}}} & $p$ \\\\\n\\midrule");
    for (name, row) in shown.iter().zip(&rows) {
        let cells: Vec<String> = row.iter().map(|cell| small_interval(&latex_cell(cell))).collect();
        let name = latex_escaped(name);
        let name = if fits && is_smaller { format!("{{\\footnotesize {name}}}") } else { name };
        let _ = writeln!(text, "{name} & {} \\\\", cells.join(" & "));
    }
    text += "\\bottomrule\n";
    if rows.iter().any(|[.., p]| p.text.contains(OPEN)) {
        let why = "$\\dagger$ undecided: labels do not confirm it, or unmeasured questions could undo it";
        let _ = writeln!(text, "\\multicolumn{{4}}{{@{{}}l@{{}}}}{{\\scriptsize {why}}}\\\\");
    }
    if rows.iter().any(|[.., p]| p.text.ends_with(STOP_RULE)) {
        let why = "$\\ddagger$ of a run with a stop rule: p is too small; beside e, a confidence sequence";
        let _ = writeln!(text, "\\multicolumn{{4}}{{@{{}}l@{{}}}}{{\\scriptsize {why}}}\\\\");
    }
    Some(text + "\\end{tabular}}\n")
}

/// The mark of a lead with a small p that labels or unmeasured questions leave undecided.
const OPEN: char = '†';
/// Marks a p and an interval that are not valid at their level, because the run had a stop rule.
const STOP_RULE: char = '‡';

/// A p with the three digits that papers print.
fn short_p(pair: &Pair) -> Cell {
    let mut cell = corrected_p(pair);
    if let [("p" | "p_holm", p), ..] = cell.figures[..] {
        let shown = if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") };
        cell.text = cell.text.replacen(&p_value(p), &shown, 1);
    }
    if pair.verdict.distinguishable && pair.verdict.word == Word::Undecided {
        cell.text.push(OPEN);
    }
    if pair.stopping.is_some() || pair.stopped_by.is_some() {
        cell.text = cell.text.replace(STOPPED, "");
        cell.text.push(STOP_RULE);
    }
    cell
}

/// The escaped text with its interval in smaller letters.
fn small_interval(text: &str) -> String {
    match text.split_once(" {[}") {
        Some((figure, interval)) => format!("{figure}\\,{{\\scriptsize {{[}}{interval}}}"),
        None => text.to_owned(),
    }
}

/// The width of a text in points, in Computer Modern; letters are taken for wider than they are.
fn points(text: &str) -> f64 {
    let (figure, interval) = text.split_once(" [").map_or((text, None), |(figure, rest)| (figure, Some(rest)));
    let ems = |text: &str| text.chars().map(em).sum::<f64>();
    SMALL * ems(figure) + interval.map_or(0.0, |rest| 1.5 + SCRIPT * (em('[') + ems(rest)))
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '!' | '[' | ']' | '|' | '\'' => 0.28,
        ' ' | '(' | ')' | 'f' | 'r' | 's' | 't' | '-' => 0.40,
        '0'..='9' | 'a'..='e' | 'g' | 'o' | 'z' | 'v' | 'y' | '/' => 0.51,
        'h' | 'k' | 'n' | 'p' | 'q' | 'u' | 'x' => 0.56,
        'm' | 'w' | '+' | '−' | '=' | '<' | '>' | '%' => 0.84,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::{COLUMN, FOOTNOTE, GAP, SMALL, paper_table, points};
    use crate::analysis::compare::{Comparison, Item, NamedFigure, Settings, Variant, Word, compare};
    use crate::base::short_names::ShortNames;

    fn compared(names: &[&str]) -> Comparison {
        let variant = |(at, name): (usize, &&str)| {
            let mut variant = Variant::new(*name, vec!["em".to_owned()], Vec::new());
            let right = |n: usize| f64::from(u8::from(!(n + at).is_multiple_of(2 + at)));
            variant.items = (0..60)
                .map(|n| Item { id: n.to_string(), measured: true, values: vec![Some(right(n))], ..Default::default() })
                .collect();
            variant
        };
        let variants: Vec<Variant> = names.iter().enumerate().map(variant).collect();
        let figures = vec![NamedFigure::new("em")];
        compare(&variants, &Settings { figures, resamples: 100, ..Settings::default() }).expect("a comparison")
    }

    fn table(comparison: &Comparison) -> String {
        let names = comparison.variants.iter().map(|column| column.name.as_str());
        paper_table(comparison, &ShortNames::of(names)).expect("a table")
    }

    /// The width of the widest row, as TeX would set it with the widest cell of each column.
    fn width(table: &str) -> f64 {
        let plain = |cell: &str| {
            let cell = cell.replace("{\\scriptsize ", " ").replace("\\,", "").replace("$-$", "−").replace("$p$", "p");
            let cell = cell
                .replace("{\\footnotesize ", "")
                .replace("\\textless{}", "<")
                .replace("\\%", "%")
                .replace("\\_", "_")
                .replace("$\\Delta$", "Δ");
            cell.replace("{[}", "[").replace("{]}", "]").replace(['{', '}'], "").trim().to_owned()
        };
        let rows = table.lines().filter_map(|line| line.strip_suffix(" \\\\"));
        let rows: Vec<Vec<String>> = rows.map(|row| row.split(" & ").map(plain).collect()).collect();
        assert!(rows.len() > 2 && rows.iter().all(|row| row.len() == 4), "{table}");
        let smaller = if table.contains("\n{\\footnotesize ") { FOOTNOTE / SMALL } else { 1.0 };
        let of = |row: &Vec<String>, at: usize| points(&row[at]) * if at == 0 { smaller } else { 1.0 };
        let column = |at: usize| rows.iter().map(|row| of(row, at)).fold(0.0, f64::max);
        (0..4).map(column).sum::<f64>() + 3.0 * GAP
    }

    #[test]
    fn the_table_of_a_paper_fits_a_column() {
        let matrix: Vec<String> = ["v1", "v2", "v3"]
            .iter()
            .flat_map(|prompt| ["robust", "react"].map(|protocol| format!("{prompt}/{protocol}")))
            .flat_map(|name| ["0", "0.7"].map(|t| format!("{name}/temperature={t}")))
            .collect();
        let matrix: Vec<&str> = matrix.iter().map(String::as_str).collect();
        let text = table(&compared(&matrix));
        assert_eq!(text.matches("\\begin{tabular}").count(), 1);
        assert!(text.contains("\n{\\footnotesize v1/robust/t=0} & ") && text.contains("\\scriptsize"), "{text}");
        assert!(width(&text) <= COLUMN, "{}: {text}", width(&text));
        let long = ["a very long name of a prompt & one more", "another_name_that_does_not_fit_either"];
        let text = table(&compared(&long));
        assert!(text.contains("\nV1 & ") && text.contains("% V2: another_name"), "{text}");
        assert!(width(&text) <= COLUMN, "{}: {text}", width(&text));
        assert!(!text.contains("dagger"), "{text}");
        let mut open = compared(&["a", "b"]);
        let pair = &mut open.figures[0].pairs[0];
        (pair.verdict.distinguishable, pair.verdict.word) = (true, Word::Undecided);
        let text = table(&open);
        assert!(text.contains("$\\dagger$ \\\\\n\\bottomrule\n\\multicolumn{4}"), "{text}");
        let text = table(&compared(&["a&b_{1}", "c%^^M"]));
        assert!(text.contains("\na\\&b\\_\\{1\\} & ") && !text.contains("^^M"), "{text}");
    }
}
