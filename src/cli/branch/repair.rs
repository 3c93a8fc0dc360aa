//! Repair rates: how many answers a branch made right, by the failure class of what it branches off.

use super::Args;
use super::path::Paths;
use crate::cli::output_file::json_line;
use crate::compare::Variant;
use crate::graded::{self, Field, RunRef, Wanted};
use crate::report::console::stdout;
use crate::report::repair::{Arms, Repair};
use crate::run::branch::{CONTROL, EDITED, PLACEBO};
use crate::score::figure;
use crate::types::text::shell_word;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

/// Prints a line for each class, and one for all.
pub(super) fn print_repair(args: &Args, run: &RunRef, classes: &BTreeMap<String, &'static str>) -> anyhow::Result<()> {
    let (arms, paths) = (arms_of(args)?, Paths::of(&args.out, run)?);
    let of_class = |class: Option<&str>| {
        let is_of = |id: &str| class.is_none_or(|class| classes.get(id).copied().unwrap_or("not scored") == class);
        (arms.of(is_of), paths.placebos(is_of))
    };
    let mut repair = Repair::new(paths.controls());
    for class in classes.values().collect::<BTreeSet<_>>() {
        let (arms, left) = of_class(Some(class));
        repair.add(class, &arms, left);
    }
    let (all, left) = of_class(None);
    repair.add_all(&all, left);
    let mut page = stdout();
    if args.json {
        let mut value = json!(repair);
        value["run"] = json!(args.out.display().to_string());
        json_line(&mut page, &value)?;
        return Ok(());
    }
    let folder = shell_word(&args.out.display().to_string());
    writeln!(page, "{repair}")?;
    let pair = if all.placebo.is_some() { PLACEBO } else { CONTROL };
    writeln!(
        page,
        "next:\n  wikitrail compare {folder} --contrast {pair} {EDITED} --flips\n  wikitrail show {folder}"
    )?;
    Ok(())
}

/// The EM of each arm, as `compare` reads it.
fn arms_of(args: &Args) -> anyhow::Result<Arms> {
    let run = RunRef { path: args.out.clone(), variant: None };
    let wanted = Wanted { figures: &[&figure::EM], cluster: Some(&Field::Cluster), ..Wanted::default() };
    let (sources, _) = graded::load(&[run], &wanted)?;
    let arm = |name: &str| {
        let source = sources.iter().find(|source| source.run.variant.as_deref() == Some(name))?;
        Some(source.column(name, &[figure::EM.name.to_owned()], &[]))
    };
    let placebo = arm(PLACEBO).filter(|_| args.placebo > 0);
    let arm =
        |name: &str| arm(name).unwrap_or_else(|| Variant::new(name, vec![figure::EM.name.to_owned()], Vec::new()));
    Ok(Arms { control: arm(CONTROL), edited: arm(EDITED), placebo, repeats: args.repeats })
}
