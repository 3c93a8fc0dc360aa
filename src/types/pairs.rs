//! Which variants are compared with each other.

use serde::{Deserialize, Serialize};

/// The pairs of variants that are compared: those of `contrasts`, else each variant with the `baseline`, else all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs {
    /// Name of the variant that all others are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Pairs by the names of their variants, each read as the second minus the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contrasts: Vec<[String; 2]>,
}

impl Pairs {
    /// Each variant with this one.
    pub fn with(baseline: impl Into<String>) -> Self {
        Self { baseline: Some(baseline.into()), ..Self::default() }
    }

    /// Adds a contrast, unless it is one already, in either direction; whether it was added.
    pub fn add(&mut self, [a, b]: [String; 2]) -> bool {
        let new = !self.contrasts.iter().any(|[x, y]| [x, y] == [&a, &b] || [y, x] == [&a, &b]);
        if new {
            self.contrasts.push([a, b]);
        }
        new
    }

    /// Whether contrasts are named, all of them between these variants: no other is compared then.
    pub fn all_among(&self, names: &[String]) -> bool {
        !self.contrasts.is_empty() && self.contrasts.iter().flatten().all(|name| names.contains(name))
    }

    /// Whether this pair is one of those that are named, in either direction.
    pub fn names(&self, a: &str, b: &str) -> bool {
        if self.contrasts.is_empty() {
            return self.baseline.as_ref().is_some_and(|baseline| baseline == a || baseline == b);
        }
        self.contrasts.iter().any(|[x, y]| (x == a && y == b) || (x == b && y == a))
    }

    /// Whether nothing is named, so that all pairs are compared.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// The pairs as positions in a list of names, in the order in which they are named. Names that are not in it are left
    /// out.
    pub fn positions(&self, names: &[&str]) -> Vec<(usize, usize)> {
        let at = |wanted: &String| names.iter().position(|name| name == wanted);
        if !self.contrasts.is_empty() {
            return self.contrasts.iter().filter_map(|[a, b]| Some((at(a)?, at(b)?))).collect();
        }
        let n = names.len();
        match self.baseline.as_ref().and_then(at) {
            Some(base) => (0..n).filter(|b| *b != base).map(|b| (base, b)).collect(),
            None => (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect(),
        }
    }
}
