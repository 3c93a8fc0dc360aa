//! What judges said of a run, beside exact match and beside each other.

use super::number::{dash, percent};
use super::wrapped;
use crate::graded::{JudgeFigures, TwoJudges};
use crate::judge::{Chosen, Verdict};
use crate::report::intervals::LEVEL;
use crate::stats::{Agreement, Coefficient, wilson};
use crate::types::text::{counted, thousands, visible_line};

/// Longest name of a judge that is shown.
const NAME: usize = 60;

/// The lines, ending in a line break; `labels` says that people judged too.
pub(crate) fn render(judges: &[JudgeFigures], pairs: &[TwoJudges], labels: bool, width: usize) -> String {
    let mut text = String::new();
    for judge in judges {
        of_judge(&mut text, judge, width);
    }
    for two in pairs {
        let [a, b] = two.judges.each_ref().map(|name| visible_line(name, NAME));
        text.push('\n');
        text.push_str(&wrapped(&format!("{a} against {b}: {}", agreement(&two.agreement)), width, ""));
    }
    let corrected = if labels {
        "corrected: PPI++ by labels that were drawn at random from right and wrong answers; `wikitrail docs judge`"
    } else {
        "uncorrected: the judge's own errors are in these shares; labels by people correct them, `wikitrail docs judge`"
    };
    text + &wrapped(corrected, width, "")
}

fn of_judge(text: &mut String, judge: &JudgeFigures, width: usize) {
    let rule = judge.known.rule;
    let total: usize = judge.verdicts.iter().sum();
    let said = said(&judge.verdicts.map(|count| count as u64));
    let name = visible_line(&judge.name, NAME);
    let usd = judge.cost_usd.map_or_else(|| "price unknown".to_owned(), |usd| format!("{usd:.4} USD"));
    text.push('\n');
    text.push_str(&wrapped(&format!("{name}: {} ({said}), {usd}", counted(total, "verdict")), width, ""));
    let mut line = |line: String| text.push_str(&wrapped(&line, width, "  "));
    let chosen = match rule.judged {
        Chosen::All => "every answer".to_owned(),
        Chosen::WrongByEm => {
            format!("answers that exact match calls wrong, and {} of the others (seed {})", rule.audit, rule.seed)
        }
    };
    line(format!("judged: {chosen}"));
    for (row, name) in ["wrong", "right"].iter().enumerate() {
        let counts = &judge.em[row];
        let of = if row == 1 { format!(" of {}", thousands(judge.right)) } else { String::new() };
        let judged: u64 = counts.iter().sum();
        line(format!("{name} by exact match: {}{of} judged: {}", thousands(judged), self::said(counts)));
    }
    let [correct, incorrect, not_attempted, _] = judge.em[1];
    let readable = correct + incorrect + not_attempted;
    if readable > 0 {
        let errors = incorrect + not_attempted;
        let interval = wilson(errors, readable, LEVEL);
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        let share = errors as f64 / readable as f64;
        line(format!(
            "of the answers right by exact match, wrong by the judge: {} % [{}, {}]",
            percent(share),
            percent(interval.low),
            percent(interval.high)
        ));
    }
    let sample = if readable < judge.right { ", in which right answers are a sample" } else { "" };
    line(format!("exact match against the judge, of the judged answers{sample}: {}", agreement(&judge.agreement)));
}

/// `12 correct, 3 incorrect`.
fn said(counts: &[u64; 4]) -> String {
    let parts = Verdict::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
    let parts: Vec<String> =
        parts.map(|(verdict, count)| format!("{} {}", thousands(*count), verdict.name().replace('_', " "))).collect();
    if parts.is_empty() { dash() } else { parts.join(", ") }
}

/// `agree on 50 of 60 (83.3 %), κ 0.79 [0.66, 0.90], AC1 0.81 [0.69, 0.91]`.
pub(super) fn agreement(of: &Agreement) -> String {
    let share = of.share().map_or_else(dash, percent);
    let (kappa, ac1) = (coefficient(of.kappa), coefficient(of.ac1));
    format!("agree on {} of {} ({share} %), κ {kappa}, AC1 {ac1}", thousands(of.agreeing), thousands(of.n))
}

fn coefficient(coefficient: Option<Coefficient>) -> String {
    let Some(Coefficient { value, interval, .. }) = coefficient else { return dash() };
    let interval = interval.map(|ends| format!(" [{:.2}, {:.2}]", ends.low, ends.high));
    format!("{value:.2}{}", interval.unwrap_or_default())
}
