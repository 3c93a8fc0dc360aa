//! Sums by cluster.

use super::Interval;

/// Sums of values by cluster, in the order in which the clusters first appear.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sums {
    sums: Vec<f64>,
    sizes: Vec<f64>,
}

impl Sums {
    /// Sums values by cluster; `clusters[i]` is the cluster of `values[i]`, any number.
    pub fn of(values: &[f64], clusters: &[usize]) -> Self {
        let mut found = Self::default();
        let mut rows = std::collections::HashMap::new();
        for (value, cluster) in values.iter().zip(clusters) {
            let row = *rows.entry(cluster).or_insert(found.sums.len());
            if row == found.sums.len() {
                found.sums.push(0.0);
                found.sizes.push(0.0);
            }
            found.sums[row] += value;
            found.sizes[row] += 1.0;
        }
        found
    }

    /// Every value by itself.
    pub fn alone(values: &[f64]) -> Self {
        Self { sums: values.to_vec(), sizes: vec![1.0; values.len()] }
    }

    /// From minus the largest mean of a cluster, whatever its sign, to plus that.
    pub fn widest(&self) -> Interval {
        let largest = self.iter().map(|(sum, size)| (sum / size).abs()).fold(0.0, f64::max);
        Interval { low: -largest, high: largest }
    }

    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// Sum and size of each cluster.
    pub fn iter(&self) -> impl Iterator<Item = (f64, f64)> {
        self.sums.iter().copied().zip(self.sizes.iter().copied())
    }
}
