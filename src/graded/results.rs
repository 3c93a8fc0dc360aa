//! Several runs together: the variants that answered the same questions, compared.

use super::{Field, RunRef, Setting, Source, Wanted, differences, load, names, planned};
use crate::compare::{Comparison, NamedFigure, Settings, means_and_pairs};
use crate::run::RunError;
use crate::score::{Figure, figure};
use std::collections::HashSet;

/// Figures that are compared, and after them those of which only the means are shown.
const FIGURES: [&Figure; 8] = [
    &figure::EM,
    &figure::F1,
    &figure::STEPS,
    &figure::CALLS,
    &figure::TOKENS,
    &figure::COST_USD,
    &figure::WALL_MS,
    &figure::ALL_HOPS,
];

/// How many of these are compared.
const COMPARED: usize = 2;

/// The variants of several runs.
#[derive(Debug)]
pub(crate) struct Results {
    /// Variants that share questions, in the order in which their runs were named.
    pub(crate) groups: Vec<Group>,
    /// What a reader should know of them, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// Variants that share questions.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) sources: Vec<Source>,
    /// Their names, unique among all variants of the results.
    pub(crate) names: Vec<String>,
    /// Their comparison, or why they cannot be compared.
    pub(crate) comparison: Result<Comparison, String>,
    /// Settings in which they differ.
    pub(crate) settings: Vec<Setting>,
}

/// A variant and its name.
type Member = (Source, String);

impl Results {
    /// Reads and compares all variants of these runs: as the experiments plan it, or by these settings.
    pub(crate) fn of(runs: &[RunRef], settings: Option<&Settings>) -> Result<Self, RunError> {
        let wanted = Wanted {
            figures: &FIGURES,
            joined: &[],
            cluster: Some(&Field::Cluster),
            by: &[Field::Type, Field::Level],
            gold_pages: true,
        };
        let (sources, mut notes) = load(runs, &wanted)?;
        let (sources, begun): (Vec<Source>, Vec<Source>) =
            sources.into_iter().partition(|source| !source.episodes.is_empty());
        notes.extend(begun.iter().map(|source| format!("note: `{}` has no finished episode yet", source.run.typed())));
        let names = names(&sources);
        let mut groups: Vec<(HashSet<String>, Vec<Member>)> = Vec::new();
        for (source, name) in sources.into_iter().zip(names) {
            let ids = source.episodes.iter().map(|episode| episode.id.clone()).collect::<HashSet<_>>();
            match groups.iter_mut().find(|(known, _)| !known.is_disjoint(&ids)) {
                Some((known, members)) => {
                    known.extend(ids);
                    members.push((source, name));
                }
                None => groups.push((ids, vec![(source, name)])),
            }
        }
        let groups = groups.into_iter().map(|(_, members)| Group::of(members, settings, &mut notes)).collect();
        Ok(Self { groups, notes })
    }

    /// All variants, in order.
    pub(crate) fn variants(&self) -> impl Iterator<Item = (&Source, &String)> {
        self.groups.iter().flat_map(|group| group.sources.iter().zip(&group.names))
    }
}

impl Group {
    fn of(members: Vec<Member>, settings: Option<&Settings>, notes: &mut Vec<String>) -> Self {
        let (sources, names): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        let (pairs, absent) = planned(&sources, &names);
        notes.extend(differences::warnings(&sources, &names).iter().map(|warning| format!("warning: {warning}")));
        let settings = settings.cloned().unwrap_or_else(|| {
            notes.extend(absent.map(|absent| format!("warning: {absent}")));
            let figures = FIGURES[..COMPARED].iter().map(|figure| NamedFigure::new(figure.name)).collect();
            Settings { pairs, figures, ..Settings::default() }
        });
        let figures: Vec<String> = FIGURES[..COMPARED].iter().map(|figure| figure.name.to_owned()).collect();
        let columns: Vec<_> =
            sources.iter().zip(&names).map(|(source, name)| source.column(name, &figures, &[])).collect();
        let comparison = means_and_pairs(&columns, &settings).map_err(|error| error.to_string());
        Self { settings: differences::of(&sources), comparison, sources, names }
    }

    /// The dataset's name.
    pub(crate) fn dataset(&self) -> &str {
        let first = self.sources.first().and_then(|source| source.origin.as_ref());
        first.map_or("", |origin| &origin.manifest.dataset.name)
    }
}

impl Source {
    /// The values of a figure in the episodes that have one; none if it was not read.
    pub(crate) fn values(&self, figure: &Figure) -> impl Iterator<Item = f64> + Clone {
        let at = FIGURES.iter().position(|known| known.name == figure.name);
        self.episodes.iter().filter_map(move |episode| episode.values.get(at?).copied().flatten())
    }

    /// Their mean.
    pub(crate) fn mean(&self, figure: &Figure) -> Option<f64> {
        let (sum, n) = self.values(figure).fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
        (n > 0.0).then(|| sum / n)
    }
}
