//! Sums by cluster.

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

    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// Sum and size of each cluster.
    pub fn iter(&self) -> impl Iterator<Item = (f64, f64)> {
        self.sums.iter().copied().zip(self.sizes.iter().copied())
    }
}
