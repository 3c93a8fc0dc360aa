//! The rules that could stop runs, for a comparison of their variants.

use super::Source;
use crate::compare::StoppedRun;
use crate::run::RunError;
use std::path::Path;

/// The runs among these variants that a rule could stop, and what it found. `names` are the variants' names in the comparison.
pub(crate) fn stopped(sources: &[Source], names: &[String]) -> Result<Vec<StoppedRun>, RunError> {
    let (mut read, mut runs): (Vec<&Path>, Vec<StoppedRun>) = (Vec::new(), Vec::new());
    for source in sources {
        let (path, Some(origin)) = (source.run.path.as_path(), &source.origin) else { continue };
        let Some(rule) = origin.manifest.stop_when.clone().filter(|_| !read.contains(&path)) else { continue };
        read.push(path);
        let of_run = || sources.iter().zip(names).filter(|(other, _)| other.run.path == path);
        let name_of = |variant: &str| {
            of_run().find(|(other, _)| other.run.variant.as_deref() == Some(variant)).map(|(_, name)| name.clone())
        };
        runs.push(StoppedRun {
            variants: of_run().map(|(_, name)| name.clone()).collect(),
            pair: name_of(&rule.a).zip(name_of(&rule.b)).map(|(a, b)| [a, b]),
            found: origin.graded.stopping()?,
            rule,
        });
    }
    Ok(runs)
}
