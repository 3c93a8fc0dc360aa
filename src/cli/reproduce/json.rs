//! The table as JSON, in full precision.

use super::figures::{Reproduction, Table};
use crate::report::reproduction::{Ours, Place, share};
use crate::report::summary::LEVEL;
use serde_json::{Value, json};

/// The whole table: shares are 0 to 1, published figures are so too.
pub(super) fn reproduction_json(reproduction: &Reproduction) -> Value {
    let experiment = &reproduction.experiment;
    let sources = experiment.published.iter().map(|from| json!({"name": from.name, "source": from.source}));
    let tables: Vec<Value> = reproduction.tables().iter().map(table).collect();
    json!({
        "run": reproduction.folder.display().to_string(),
        "experiment": experiment.name,
        "models": reproduction.models(),
        "level": LEVEL,
        "published": sources.collect::<Vec<_>>(),
        "tables": tables,
        "notes": reproduction.notes(),
    })
}

fn table(table: &Table<'_>) -> Value {
    let Table { summary, beside } = table;
    let manifest = &summary.manifest;
    json!({
        "dataset": beside.dataset,
        "path": manifest.dataset.path,
        "sha256": manifest.dataset.sha256,
        "selected": manifest.dataset.selected,
        "metric": beside.metric,
        "missing": summary.missing(),
        "rows": beside.rows.iter().map(|ours| row(ours, &beside.sources)).collect::<Vec<_>>(),
    })
}

fn row(ours: &Ours, sources: &[String]) -> Value {
    let published = sources.iter().enumerate().filter_map(|(at, name)| {
        let percent = ours.published.get(at).copied().flatten()?;
        let place = ours.place(at);
        Some(json!({
            "name": name,
            "value": share(percent),
            "inside": place.map(|place| place == Place::Inside),
            "place": place.map(Place::name),
        }))
    });
    json!({
        "cell": ours.cell,
        "mean": ours.mean,
        "interval": ours.interval.map(|interval| [interval.low, interval.high]),
        "n": ours.n,
        "not_measured": ours.not_measured,
        "published": published.collect::<Vec<_>>(),
    })
}
