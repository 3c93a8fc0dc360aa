//! Repair rates: how many answers a branch made right, by the failure class of what it branches off, against the control.

use crate::cli::output_file::json_line;
use crate::graded::GradedRun;
use crate::report::console::stdout;
use crate::report::repair::{RepairRow, table};
use crate::run::branch::{CONTROL, EDITED};
use crate::types::text::shell_word;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

/// EM of the repeats of one question: of the control, and of the edited branch.
type Arms = [Vec<f64>; 2];

/// Prints a line for each class, and one for all.
pub(super) fn print(out: &Path, classes: &BTreeMap<String, &'static str>, as_json: bool) -> anyhow::Result<()> {
    let rows = rows(out, classes)?;
    let mut page = stdout();
    if as_json {
        json_line(&mut page, &json!({"run": out.display().to_string(), "repair": rows}))?;
        return Ok(());
    }
    let folder = shell_word(&out.display().to_string());
    writeln!(page, "{}", table(&rows))?;
    writeln!(page, "next:\n  wikitrail compare {folder} --baseline {CONTROL} --flips\n  wikitrail show {folder}")?;
    Ok(())
}

fn rows(out: &Path, classes: &BTreeMap<String, &'static str>) -> anyhow::Result<Vec<RepairRow>> {
    let mut questions: BTreeMap<String, Arms> = BTreeMap::new();
    for graded in GradedRun::open(out)?.episodes() {
        let graded = graded?;
        let (id, variant) = (graded.trajectory.id, graded.trajectory.variant);
        let Some(score) = graded.score else { continue };
        let arm = [CONTROL, EDITED].iter().position(|arm| *arm == variant);
        if let Some(arm) = arm {
            questions.entry(id).or_default()[arm].push(score.em);
        }
    }
    let mut by_class: BTreeMap<&str, Vec<[f64; 2]>> = BTreeMap::new();
    for (id, arms) in &questions {
        let [Some(control), Some(edited)] = arms.each_ref().map(|arm| mean(arm)) else { continue };
        let class = classes.get(id).copied().unwrap_or("not scored");
        for class in [class, "all"] {
            by_class.entry(class).or_default().push([control, edited]);
        }
    }
    let mut rows: Vec<RepairRow> = by_class.iter().filter_map(|(class, pairs)| RepairRow::of(class, pairs)).collect();
    rows.sort_by_key(|row| row.class == "all");
    Ok(rows)
}

fn mean(values: &[f64]) -> Option<f64> {
    crate::stats::Mean::of(values).map(|mean| mean.mean)
}
