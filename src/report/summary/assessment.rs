//! The trajectory metrics of a run as tables: what was retrieved, how answers are grounded, why they are wrong.

use crate::report::layout::{headings, table};
use crate::report::number::{dash, percent};
use crate::report::sheet::Heading;
use crate::score::{RunAssessment, Share};
use crate::types::text::thousands;

/// The tables of these variants, each ending in a line break; the second only where an answer is wrong.
pub(super) fn tables(variants: &[(&str, &RunAssessment)], width: usize) -> String {
    format!("{}\n{}", shares(variants, width), failures(variants, width).map_or_else(String::new, |table| table + "\n"))
}

type Of = fn(&RunAssessment) -> Share;

/// Shares in per cent; a dash where there is nothing to take a share of.
fn shares(variants: &[(&str, &RunAssessment)], width: usize) -> String {
    let columns: [(&str, Of); 8] = [
        ("gold\npages", |of| of.gold_pages),
        ("all\nhops", |of| of.all_hops),
        ("facts\nseen", |of| of.sentences),
        ("missed\nsearch", |of| of.missed_searches),
        ("empty\nlookup", |of| of.empty_lookups),
        ("grounded", |of| of.grounded),
        ("lucky", |of| of.lucky),
        ("un-\ngrounded", |of| of.ungrounded),
    ];
    let header = headings("% of", &columns.map(|(heading, _)| heading));
    let row = |(name, of): &(&str, &RunAssessment)| {
        let shares = columns.map(|(_, share)| share(of).value().map_or_else(dash, percent));
        std::iter::once((*name).to_owned()).chain(shares).collect()
    };
    table(&header, &variants.iter().map(row).collect::<Vec<_>>(), width)
}

fn failures(variants: &[(&str, &RunAssessment)], width: usize) -> Option<String> {
    let row = |(name, of): &(&str, &RunAssessment)| {
        let classes = of.failures.iter().filter(|(_, count)| *count > 0);
        let classes = classes.map(|(class, count)| format!("{} {}", thousands(count), class.name()));
        vec![(*name).to_owned(), thousands(of.wrong), classes.collect::<Vec<_>>().join(", ")]
    };
    let rows: Vec<_> = variants.iter().filter(|(_, of)| of.wrong > 0).map(row).collect();
    let header = [Heading::words("variant"), Heading::numbers("wrong"), Heading::words("failure classes")];
    (!rows.is_empty()).then(|| table(&header, &rows, width))
}
