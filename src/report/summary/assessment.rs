//! The trajectory metrics of a run as tables: what was retrieved, how answers are grounded, why they are wrong.

use crate::report::layout::{headings, table};
use crate::report::number::{dash, percent};
use crate::report::sheet::Heading;
use crate::score::{PaperCounts, RunAssessment, Share};
use crate::types::text::thousands;

/// The tables of these variants, each ending in a line break; the second only where an answer is wrong.
pub(super) fn assessment_tables(variants: &[(&str, &RunAssessment)], width: usize) -> String {
    let failures = failures(variants, width);
    let why = failures.map_or_else(String::new, |table| format!("{table}\n{}\n", paper(variants, width)));
    format!("{}\n{why}", shares(variants, width))
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

type Count = fn(&PaperCounts) -> u64;

/// The rows of Table 2 of the `ReAct` paper as columns: shares of the right answers that have a text, and of the wrong.
fn paper(variants: &[(&str, &RunAssessment)], width: usize) -> String {
    let columns: [(&str, Count); 7] = [
        ("true\npositive", |of| of.true_positive),
        ("false\npositive", |of| of.false_positive),
        ("reason-\ning", |of| of.reasoning_error),
        ("search\nresult", |of| of.search_result_error),
        ("halluci-\nnation", |of| of.hallucination),
        ("label\nambig.", |of| of.label_ambiguity),
        ("other\nfailure", |of| of.other),
    ];
    let header = headings("% as in\nReAct, Table 2", &columns.map(|(heading, _)| heading));
    let row = |(name, assessment): &(&str, &RunAssessment)| {
        let of = &assessment.paper;
        let [right, wrong] = [of.true_positive + of.false_positive, assessment.wrong];
        let totals = std::iter::repeat_n(right, 2).chain(std::iter::repeat(wrong));
        let shares =
            columns.iter().zip(totals).map(|((_, count), total)| Share { count: count(of), of: total }.value());
        std::iter::once((*name).to_owned()).chain(shares.map(|share| share.map_or_else(dash, percent))).collect()
    };
    table(&header, &variants.iter().map(row).collect::<Vec<_>>(), width)
}

fn failures(variants: &[(&str, &RunAssessment)], width: usize) -> Option<String> {
    let row = |(name, of): &(&str, &RunAssessment)| {
        let classes = of.failures.iter().filter(|(_, count)| *count > 0);
        let classes = classes.map(|(class, count)| format!("{} {}", thousands(count), class.name()));
        let classes = classes.collect::<Vec<_>>().join(", ");
        let ended = match of.step_limit {
            0 => String::new(),
            count => format!("; {} ended at the step limit", thousands(count)),
        };
        vec![(*name).to_owned(), thousands(of.wrong), classes + &ended]
    };
    let rows: Vec<_> = variants.iter().filter(|(_, of)| of.wrong > 0).map(row).collect();
    let header = [Heading::words("variant"), Heading::numbers("wrong"), Heading::words("failure classes")];
    (!rows.is_empty()).then(|| table(&header, &rows, width))
}
