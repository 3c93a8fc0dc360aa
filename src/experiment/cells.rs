//! From matrix, inclusions and exclusions to the cells that are run.

use super::matrix::{Dimension, Naming, cell_key, cell_key_names, combinations, dimensions, settings};
use super::problem::ProblemKind;
use super::reader::{Entry, Notes, Table};
use super::setting::{Kind, Setting, Value, value_of};
use super::{Cell, MAX_CELLS};
use crate::prompt::quoted;
use std::collections::HashSet;

/// The cells, and what became of combinations that are none.
#[derive(Default)]
pub(super) struct Cells {
    pub(super) kept: Vec<Cell>,
    pub(super) merged: usize,
    pub(super) excluded: usize,
}

/// Settings by which combinations are left out: each with the values that it may have.
struct Exclusion {
    name: String,
    line: usize,
    conditions: Vec<Vec<Setting>>,
    used: bool,
}

/// A combination of the matrix.
struct Combination<'m> {
    /// Everything that is set, whether it is of use or not.
    settings: Vec<Setting>,
    /// The short name in each dimension.
    named: Vec<(&'m Dimension, &'m str)>,
}

/// Reads `settings`, `matrix`, `include`, `exclude` and `names`.
pub(super) fn read(notes: &mut Notes<'_>, entries: &[Entry<'_>]) -> Cells {
    let find = |key: &str| entries.iter().copied().find(|entry| entry.key == key);
    let mut table = |key: &str| {
        let entry = find(key)?;
        notes.table(key.to_owned(), entry.value)
    };
    let (base, matrix) = (table("settings"), table("matrix"));
    let base = base.map(|table| settings(notes, &table, &[])).unwrap_or_default();
    let dimensions = matrix.as_ref().map(|table| dimensions(notes, table)).unwrap_or_default();
    for dimension in &dimensions {
        if base.iter().any(|setting| setting.key.name == dimension.key.name) {
            let other = "[settings]".to_owned();
            notes.note(dimension.line, ProblemKind::SetTwice { key: dimension.key.name, other });
        }
    }
    let naming = find("names").and_then(|entry| {
        let template = notes.name("names", entry.value, false)?;
        Some(Naming::read(notes, entry.line, &template, &dimensions))
    });
    let included = find("include").map(|entry| included(notes, entry)).unwrap_or_default();
    let mut exclusions = find("exclude").map(|entry| exclusions(notes, entry)).unwrap_or_default();
    // Half a matrix would only make more problems of the same kind.
    if !notes.is_clean() {
        return Cells::default();
    }
    let line = matrix.as_ref().map_or(1, Table::line);
    let size = dimensions.iter().map(|dimension| dimension.choices.len()).fold(1, usize::saturating_mul);
    if size > MAX_CELLS {
        notes.note(line, ProblemKind::TooManyCells(size));
        return Cells::default();
    }
    let naming = naming.unwrap_or(Naming::Joined);
    let mut cells = Cells::default();
    if matrix.is_some() || included.is_empty() {
        cells = from_matrix(notes, line, &base, &dimensions, &naming, &mut exclusions);
    }
    for exclusion in exclusions.iter().filter(|exclusion| !exclusion.used) {
        notes.note(exclusion.line, ProblemKind::ExcludesNothing(exclusion.name.clone()));
    }
    for (name, line, own) in &included {
        let settings = of_use(notes, &over(&base, own));
        let own = own.iter().map(|setting| setting.key.name).collect();
        cells.kept.push(Cell { name: name.clone(), line: *line, settings, own });
    }
    check(notes, line, &base, &dimensions, &included, &cells);
    cells
}

type Included = (String, usize, Vec<Setting>);

fn included(notes: &mut Notes<'_>, entry: Entry<'_>) -> Vec<Included> {
    let mut found = Vec::new();
    for table in notes.tables("include", entry.value) {
        let own = settings(notes, &table, &["name"]);
        match notes.entries(&table).iter().find(|entry| entry.key == "name") {
            None => notes.note(table.line(), ProblemKind::MissingKey(table.path("name"))),
            Some(entry) => {
                let name = notes.name(&table.path("name"), entry.value, false);
                found.extend(name.map(|name| (name, table.line(), own)));
            }
        }
    }
    found
}

fn exclusions(notes: &mut Notes<'_>, entry: Entry<'_>) -> Vec<Exclusion> {
    let mut found = Vec::new();
    for table in notes.tables("exclude", entry.value) {
        let mut conditions = Vec::new();
        let entries = notes.entries(&table);
        for entry in &entries {
            let Some(key) = cell_key(entry.key) else {
                notes.unknown_key(&table, *entry, &cell_key_names());
                continue;
            };
            let path = table.path(key.name);
            let values = match entry.value.get_ref().as_array() {
                Some(items) => items.iter().map(|item| condition(notes, &path, key, item)).collect(),
                None => vec![condition(notes, &path, key, entry.value)],
            };
            conditions.push(values.into_iter().flatten().collect());
        }
        if entries.is_empty() {
            notes.note(table.line(), ProblemKind::ExcludesAll(table.name().to_owned()));
        }
        found.push(Exclusion { name: table.name().to_owned(), line: table.line(), conditions, used: false });
    }
    found
}

/// A value to be matched: one of the setting's own type, or the short name of one.
fn condition(
    notes: &mut Notes<'_>,
    path: &str,
    key: &'static super::Key,
    value: &toml::Spanned<toml::de::DeValue<'_>>,
) -> Option<Setting> {
    match value.get_ref().as_str() {
        Some(text) => Some(Setting { key, value: Value::One(text.to_owned()), line: notes.line_of(value) }),
        None if key.kind == Kind::Options => {
            notes.wrong_type(path, value, "the short name of a value");
            None
        }
        None => notes.setting(path, key, value),
    }
}

impl Exclusion {
    fn matches(&self, combination: &Combination<'_>) -> bool {
        self.conditions.iter().all(|values| {
            values.iter().any(|wanted| {
                let named = combination
                    .named
                    .iter()
                    .any(|(dimension, name)| dimension.key.name == wanted.key.name && *name == wanted.shown());
                let is = |setting: &&Setting| setting.key.name == wanted.key.name;
                named || combination.settings.iter().find(is).is_some_and(|set| set.shown() == wanted.shown())
            })
        })
    }
}

/// `own` on top of `base`.
fn over(base: &[Setting], own: &[Setting]) -> Vec<Setting> {
    let kept = base.iter().filter(|setting| own.iter().all(|other| other.key.name != setting.key.name));
    kept.chain(own).cloned().collect()
}

/// The settings that are of use, with the options of the cell's own protocol.
fn of_use(notes: &mut Notes<'_>, settings: &[Setting]) -> Vec<Setting> {
    let protocol = value_of(settings, "protocol");
    let mut kept: Vec<Setting> = settings.iter().filter(|setting| setting.key.of_use(settings)).cloned().collect();
    for Setting { key, value, line } in &mut kept {
        let (Kind::Options, Value::Many(options)) = (key.kind, value) else { continue };
        let mut own = Vec::new();
        for option in options.iter() {
            match option.split_once('=').and_then(|(name, _)| name.split_once('.')) {
                None => own.push(option.clone()),
                Some((id, _)) if protocol == Some(id) => own.push(option[id.len() + 1..].to_owned()),
                Some((id, _)) if protocol.is_none() => {
                    let (key, protocol) = (key.name.to_owned(), id.to_owned());
                    notes.note(*line, ProblemKind::WhoseOption { key, protocol });
                }
                Some(_) => {}
            }
        }
        *options = own;
    }
    kept.retain(|setting| setting.value != Value::Many(Vec::new()));
    kept
}

fn from_matrix(
    notes: &mut Notes<'_>,
    line: usize,
    base: &[Setting],
    dimensions: &[Dimension],
    naming: &Naming,
    exclusions: &mut [Exclusion],
) -> Cells {
    let mut cells = Cells::default();
    let mut seen: HashSet<(String, Vec<String>)> = HashSet::new();
    for numbers in combinations(dimensions) {
        let chosen = || dimensions.iter().zip(&numbers).map(|(dimension, at)| (dimension, &dimension.choices[*at]));
        let own: Vec<Setting> = chosen().flat_map(|(_, choice)| choice.settings.iter().cloned()).collect();
        let named = chosen().map(|(dimension, choice)| (dimension, choice.name.as_str())).collect();
        let combination = Combination { settings: over(base, &own), named };
        let mut excluded = false;
        for exclusion in exclusions.iter_mut().filter(|exclusion| exclusion.matches(&combination)) {
            (exclusion.used, excluded) = (true, true);
        }
        if excluded {
            cells.excluded += 1;
            continue;
        }
        let name = combination.name(naming);
        let settings = of_use(notes, &combination.settings);
        let mattering = settings.iter().filter(|setting| !setting.key.idle(&settings));
        let mut words: Vec<String> = mattering.flat_map(Setting::words).collect();
        words.sort();
        if seen.insert((name.clone(), words)) {
            let own = own.iter().map(|setting| setting.key.name).collect();
            cells.kept.push(Cell { name, line, settings, own });
        } else {
            cells.merged += 1;
        }
    }
    if cells.kept.is_empty() && notes.is_clean() {
        notes.note(line, ProblemKind::NoCells);
    }
    cells
}

impl Combination<'_> {
    /// The name of its cell: dimensions that make no difference to it are left out.
    fn name(&self, naming: &Naming) -> String {
        let matters = |dimension: &Dimension| dimension.sets().any(|key| !key.idle(&self.settings));
        let mattering = self.named.iter().filter(|(dimension, _)| matters(dimension));
        let named: Vec<(&'static str, &str)> = mattering.map(|(dimension, name)| (dimension.key.name, *name)).collect();
        match naming.name(&named) {
            name if !name.trim().is_empty() => name,
            _ => value_of(&self.settings, "method").unwrap_or("main").to_owned(),
        }
    }
}

/// What can be wrong with all cells together.
fn check(
    notes: &mut Notes<'_>,
    line: usize,
    base: &[Setting],
    dimensions: &[Dimension],
    included: &[Included],
    cells: &Cells,
) {
    let mut names = HashSet::new();
    for cell in &cells.kept {
        if !names.insert(&cell.name) {
            notes.note(cell.line, ProblemKind::CellTwice(quoted(&cell.name)));
        }
    }
    let used: HashSet<(usize, &str)> =
        cells.kept.iter().flat_map(|cell| &cell.settings).map(|setting| (setting.line, setting.key.name)).collect();
    let is_used = |setting: &Setting| used.contains(&(setting.line, setting.key.name));
    if !notes.is_clean() {
        return;
    }
    for setting in base.iter().filter(|setting| !is_used(setting)) {
        notes.note(setting.line, ProblemKind::Useless(format!("settings.{}", setting.key.name)));
    }
    for dimension in dimensions {
        let own = |choice: &super::matrix::Choice| {
            choice.settings.iter().any(|s| s.key.name == dimension.key.name && is_used(s))
        };
        if cells.excluded == 0 && !dimension.choices.iter().any(own) {
            notes.note(dimension.line, ProblemKind::Useless(format!("matrix.{}", dimension.key.name)));
        }
    }
    for (i, (_, _, own)) in included.iter().enumerate() {
        for setting in own.iter().filter(|setting| !is_used(setting)) {
            let name = format!("include[{}].{}", i + 1, setting.key.name);
            notes.note(setting.line, ProblemKind::Useless(name));
        }
    }
    if cells.kept.len() > MAX_CELLS {
        notes.note(line, ProblemKind::TooManyCells(cells.kept.len()));
    }
}

/// The baseline must be a cell.
pub(super) fn check_baseline(notes: &mut Notes<'_>, line: usize, name: &str, cells: &[Cell]) {
    let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
    notes.known("baseline", line, name, "variant", &names);
}
