//! Figures that others have published for the same variants, to be shown beside ours.

use super::expand::{DatasetDraft, Draft};
use super::reader::{Entry, Notes, Table};
use super::setting::Kind;

/// Figures of one model, or of one paper.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// What they are called in a table, such as a model's name.
    pub name: String,
    /// Where they were published.
    pub source: String,
    pub figures: Vec<PublishedFigure>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PublishedFigure {
    pub dataset: String,
    pub metric: PublishedMetric,
    pub variant: String,
    /// The figure in percent, 0 to 100, as it was published.
    pub percent: f64,
}

/// What a published figure measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishedMetric {
    /// Exact match; of labels, their accuracy.
    Em,
    F1,
}

impl PublishedMetric {
    pub const ALL: [Self; 2] = [Self::Em, Self::F1];

    /// Its key in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Em => "em",
            Self::F1 => "f1",
        }
    }
}

/// Reads `[[published]]`.
pub(super) fn read_published(
    notes: &mut Notes<'_>,
    entry: Entry<'_>,
    datasets: &[DatasetDraft],
    variants: &[Draft],
) -> Vec<Published> {
    // Variants with a problem are missing here, which must not count as a mistake of the figures.
    let sound = notes.is_clean();
    let mut found = Vec::new();
    for table in notes.tables("published", entry.value) {
        let (mut name, mut source, mut figures) = (None, None, Vec::new());
        let entries = notes.entries(&table);
        for needed in ["name", "source", "figures"] {
            if !entries.iter().any(|entry| entry.key == needed) {
                notes.missing(&table, needed);
            }
        }
        for entry in entries {
            let path = table.path(entry.key);
            match entry.key {
                "name" => name = notes.name(&path, entry.value, false),
                "source" => source = notes.text(&path, entry.value),
                "figures" if sound => {
                    if let Some(table) = notes.table(path, entry.value) {
                        figures = by_dataset(notes, &table, datasets, variants);
                    }
                }
                "figures" => {}
                _ => notes.unknown_key(&table, entry, &["name", "source", "figures"]),
            }
        }
        if let (Some(name), Some(source)) = (name, source) {
            found.push(Published { name, source, figures });
        }
    }
    found
}

/// `figures.DATASET.METRIC.VARIANT = percent`.
fn by_dataset(
    notes: &mut Notes<'_>,
    table: &Table<'_>,
    datasets: &[DatasetDraft],
    variants: &[Draft],
) -> Vec<PublishedFigure> {
    let dataset_names: Vec<&str> = datasets.iter().map(|dataset| dataset.name.as_str()).collect();
    let cell_names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    let metric_names = PublishedMetric::ALL.map(PublishedMetric::name);
    let mut figures = Vec::new();
    for (dataset, metrics) in tables_of(notes, table, "dataset", &dataset_names) {
        for (metric, values) in tables_of(notes, &metrics, "metric", &metric_names) {
            let metric = if metric == "f1" { PublishedMetric::F1 } else { PublishedMetric::Em };
            for entry in notes.entries(&values) {
                if notes.known(values.name(), entry.line, entry.key, "variant", &cell_names).is_none() {
                    continue;
                }
                let percent = notes.scalar(&values.path(entry.key), entry.value, Kind::Number(0.0, 100.0));
                let percent = percent.and_then(|percent| percent.as_f64());
                let (dataset, variant) = (dataset.to_owned(), entry.key.to_owned());
                figures.extend(percent.map(|percent| PublishedFigure { dataset, metric, variant, percent }));
            }
        }
    }
    figures
}

/// The tables of a table, each under a known name.
fn tables_of<'t>(
    notes: &mut Notes<'_>,
    table: &Table<'t>,
    what: &'static str,
    known: &[&str],
) -> Vec<(&'t str, Table<'t>)> {
    let mut found = Vec::new();
    for entry in notes.entries(table) {
        if notes.known(table.name(), entry.line, entry.key, what, known).is_some() {
            found.extend(notes.table(table.path(entry.key), entry.value).map(|table| (entry.key, table)));
        }
    }
    found
}
