//! The difference between two texts, line by line: for `prompt diff`, the page, and a resumed run.

use similar::TextDiff;
use std::time::Duration;

/// Equal lines around each change.
pub(crate) const AROUND: usize = 3;
/// A longer search for the smallest difference ends with a larger one.
const LONGEST: Duration = Duration::from_secs(2);

pub(crate) type LineDiff<'t> = TextDiff<'t, 't, 't, str>;

pub(crate) fn line_diff<'t>(a: &'t str, b: &'t str) -> LineDiff<'t> {
    TextDiff::configure().timeout(LONGEST).diff_lines(a, b)
}
