//! The values of one setting, all other settings held equal: variants that differ in it alone are matched, and those of one value
//! become one variant.

use super::comparison::{Combination, Comparison, Pair, ValueSpread, Within};
use super::compute::compare;
use super::pairing::Pairing;
use super::pairs::Sample;
use super::{Item, Settings, StoppedRun, Variant};
use crate::base::Pairs;
use crate::base::stats::Between;
use crate::base::text::{joined, visible_line};
use crate::runner::RunError;
use crate::scoring::float;
use std::collections::HashSet;

/// A setting with its value in each variant, in the order of the variants; absent where a variant does not use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingValues {
    pub name: String,
    pub values: Vec<Option<String>>,
}

/// Which variants are matched: those that differ in one setting alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Matching {
    setting: String,
    /// Settings that take another value with it, such as the limit of tokens with the protocol.
    with_it: Vec<String>,
    /// The values that are compared, in the order of the variants.
    values: Vec<String>,
    blocks: Vec<Block>,
    /// Positions of variants without a counterpart.
    unmatched: Vec<usize>,
}

/// Variants that differ in the setting alone.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    /// The other settings, as far as they differ between blocks.
    others: Vec<(String, Option<String>)>,
    /// The position of the variant with each value.
    variants: Vec<Option<usize>>,
}

const LIST: &str =
    "compare prints the settings that differ without --within; a matrix over them has variants that match";

/// Settings that make a variant what it is: two that differ in one of them are never matched.
const IDENTITY: [&str; 4] = ["prompt", "protocol", "method", "model"];

/// Whether a setting has one value for each value of another, as defaults have.
fn goes_with(setting: &SettingValues, other: &SettingValues) -> bool {
    let pairs = || other.values.iter().zip(&setting.values);
    let is_fixed = |(value, of_it)| pairs().all(|(other, also)| other != value || also == of_it);
    !IDENTITY.contains(&setting.name.as_str()) && pairs().all(is_fixed)
}

impl Matching {
    pub(crate) fn of(setting: &str, settings: &[SettingValues], names: &[String]) -> Result<Self, RunError> {
        let refused = |why: String, hint| RunError::usage(visible_line(&why, 500), hint);
        let differing = |settings: &mut dyn Iterator<Item = &SettingValues>| {
            joined(settings.map(|other| &other.name), ", ").unwrap_or_else(|| "no setting".to_owned())
        };
        let typed = setting.trim().replace('-', "_");
        let Some(of) = settings.iter().find(|other| other.name.eq_ignore_ascii_case(&typed)) else {
            let differing = differing(&mut settings.iter());
            return Err(refused(format!("the variants do not differ in `{typed}`; they differ in {differing}"), LIST));
        };
        let others = settings.iter().filter(|other| other.name != of.name);
        let (with_it, others): (Vec<_>, Vec<_>) = others.partition(|other| goes_with(other, of));
        let mut known = HashSet::new();
        let values: Vec<String> = of.values.iter().flatten().filter(|value| known.insert(*value)).cloned().collect();
        let mut blocks: Vec<Block> = Vec::new();
        for (variant, name) in names.iter().enumerate() {
            let Some(value) = values.iter().position(|value| of.values[variant].as_ref() == Some(value)) else {
                continue;
            };
            let others: Vec<_> =
                others.iter().map(|other| (other.name.clone(), other.values[variant].clone())).collect();
            let at = blocks.iter().position(|block| block.others == others).unwrap_or_else(|| {
                blocks.push(Block { others, variants: vec![None; values.len()] });
                blocks.len() - 1
            });
            if let Some(first) = blocks[at].variants[value].replace(variant) {
                let why = format!("`{}` and `{name}` have the same settings", names[first]);
                return Err(refused(why, "name only one of them"));
            }
        }
        blocks.retain(|block| block.variants.iter().flatten().count() > 1);
        if blocks.is_empty() {
            let differing = differing(&mut others.into_iter());
            let why = format!("no two variants differ in `{}` alone; they differ in {differing} too", of.name);
            return Err(refused(why, LIST));
        }
        let is_matched = |variant: &usize| blocks.iter().any(|block| block.variants.contains(&Some(*variant)));
        let unmatched = (0..names.len()).filter(|variant| !is_matched(variant)).collect();
        let with_it = with_it.into_iter().map(|other| other.name.clone()).collect();
        let mut matching = Self { setting: of.name.clone(), with_it, values, blocks, unmatched };
        matching.keep_compared_values();
        matching.keep_differing_settings();
        Ok(matching)
    }

    fn keep_compared_values(&mut self) {
        let has = |at: &usize| self.blocks.iter().any(|block| block.variants[*at].is_some());
        let compared: Vec<usize> = (0..self.values.len()).filter(has).collect();
        self.values = compared.iter().map(|at| self.values[*at].clone()).collect();
        for block in &mut self.blocks {
            block.variants = compared.iter().map(|at| block.variants[*at]).collect();
        }
    }

    /// Forgets other settings that are not needed to distinguish the blocks.
    fn keep_differing_settings(&mut self) {
        let mut kept: Vec<usize> = Vec::new();
        for at in 0..self.blocks[0].others.len() {
            let same = |a: &Block, b: &Block| kept.iter().all(|kept| a.others[*kept] == b.others[*kept]);
            let differs = |a: &Block| self.blocks.iter().any(|b| same(a, b) && a.others[at] != b.others[at]);
            if self.blocks.iter().any(differs) {
                kept.push(at);
            }
        }
        for block in &mut self.blocks {
            block.others = kept.iter().map(|at| block.others[*at].clone()).collect();
        }
    }

    /// Names of the merged variants, such as `prompt=v2`.
    pub(crate) fn names(&self) -> Vec<String> {
        self.values.iter().map(|value| format!("{}={value}", self.setting)).collect()
    }

    /// The merged variants by name, each with the position of its variant in each combination of the other settings.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (String, Vec<Option<usize>>)> {
        let variants = |value| self.blocks.iter().map(|block: &Block| block.variants[value]).collect();
        self.names().into_iter().enumerate().map(move |(value, name)| (name, variants(value)))
    }

    /// The merged variants of two variants that differ in the setting alone.
    pub(crate) fn names_of_pair(&self, one: usize, other: usize) -> Option<[String; 2]> {
        self.blocks.iter().find_map(|block| {
            let value = |at: usize| block.variants.iter().position(|variant| *variant == Some(at));
            let (one, other) = (value(one)?, value(other)?);
            Some([one, other].map(|value| self.names().swap_remove(value)))
        })
    }

    /// The pairs with the names of merged variants, where values alone were named.
    pub(crate) fn named(&self, pairs: Pairs) -> Pairs {
        let name = |typed: String| {
            let at = self.values.iter().position(|value| *value == typed);
            at.map_or(typed, |at| self.names().swap_remove(at))
        };
        Pairs {
            baseline: pairs.baseline.map(name),
            contrasts: pairs.contrasts.into_iter().map(|pair| pair.map(name)).collect(),
        }
    }

    /// One variant for each value, with the rows of all variants that have it.
    pub(crate) fn merged(&self, variants: &[Variant]) -> Vec<Variant> {
        let merge = |(value, name): (usize, String)| {
            let mut merged = Variant { name, ..Variant::default() };
            for (block, at) in (0..).zip(&self.blocks) {
                let Some(variant) = at.variants[value].map(|at| &variants[at]) else { continue };
                merged.figures.clone_from(&variant.figures);
                merged.groupings.clone_from(&variant.groupings);
                merged.resume = merged.resume.or_else(|| variant.resume.clone());
                let items = variant.items.iter().cloned();
                merged.items.extend(items.map(|item| Item { block, ..item }));
            }
            merged
        };
        self.names().into_iter().enumerate().map(merge).collect()
    }

    /// The rules of runs, which concern every merged variant with a variant of the run, and no pair of them.
    pub(crate) fn stopped(&self, runs: Vec<StoppedRun>, names: &[String]) -> Vec<StoppedRun> {
        let of_run = |run: StoppedRun| {
            let has = |value: usize| {
                let mut variants = self.blocks.iter().filter_map(|block| block.variants[value]);
                variants.any(|at| run.variants.contains(&names[at]))
            };
            let variants = self.names().into_iter().enumerate();
            let variants = variants.filter(|(value, _)| has(*value)).map(|(_, name)| name).collect();
            StoppedRun { variants, pair: None, ..run }
        };
        runs.into_iter().map(of_run).filter(|run| !run.variants.is_empty()).collect()
    }

    /// Each combination of the other settings by itself, beside the comparison of the merged variants.
    pub(crate) fn combinations(
        &self,
        variants: &[Variant],
        names: &[String],
        comparison: &Comparison,
    ) -> Result<Within, RunError> {
        let combination = |block: &Block| {
            let present = self.names().into_iter().zip(&block.variants).filter_map(|(name, at)| Some((name, (*at)?)));
            let columns: Vec<Variant> = present.map(|(name, at)| Variant { name, ..variants[at].clone() }).collect();
            let has = |name: &str| columns.iter().any(|column| column.name == name);
            // Pairs are those of the comparison: a value that is absent here is in none.
            let pairs = comparison.figures.iter().flat_map(|figure| &figure.pairs);
            let mut contrasts = Pairs::default();
            pairs.filter(|pair| has(&pair.a) && has(&pair.b)).for_each(|pair| {
                contrasts.add([pair.a.clone(), pair.b.clone()]);
            });
            let settings = Settings { pairs: contrasts, breakdowns: Vec::new(), ..comparison.settings.clone() };
            let figures = if settings.pairs.is_all() { Vec::new() } else { compare(&columns, &settings)?.figures };
            Ok(Combination { name: block.name(), figures })
        };
        let spreads =
            if comparison.settings.stopped.is_empty() { self.spreads(variants, comparison)? } else { Vec::new() };
        Ok(Within {
            spreads,
            setting: self.setting.clone(),
            with_it: self.with_it.clone(),
            combinations: self.blocks.iter().map(combination).collect::<Result<_, RunError>>()?,
            unmatched: self.unmatched.iter().map(|at| names[*at].clone()).collect(),
        })
    }

    /// How far three values or more are apart in each figure; two have one difference.
    fn spreads(&self, variants: &[Variant], comparison: &Comparison) -> Result<Vec<ValueSpread>, RunError> {
        let (merged, level) = (self.merged(variants), comparison.settings.level);
        let pairing = Pairing::of(&merged)?;
        let mut spreads = Vec::new();
        for figure in comparison.figures.iter().map(|of| &of.figure).filter(|_| merged.len() > 2) {
            let common = pairing.values(figure)?.common();
            let clusters = common.clusters.as_deref();
            let Some(between) = Between::of(&common.variants, clusters, level) else { continue };
            let mean = |at: usize| common.variants.iter().map(|values| values[at]).sum::<f64>() / float(merged.len());
            let means: Vec<f64> = (0..common.questions.len()).map(mean).collect();
            let sample = Sample { values: &means, clusters };
            spreads.extend(sample.mean().map(|of_all| ValueSpread {
                figure: figure.name.clone(),
                values: merged.len(),
                n: means.len(),
                mean: of_all.mean,
                interval: sample.mean_interval(false, figure.range, level),
                between,
            }));
        }
        Ok(spreads)
    }
}

impl Within {
    /// What a reader should know of the means and of the single combinations, a sentence each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let Self { setting, with_it, combinations, unmatched, .. } = self;
        let own = joined(with_it, ", ");
        let own = own.map(|names| format!("each {setting} has its own {names}: a difference may come from either"));
        let mut notes: Vec<String> = own.into_iter().collect();
        if combinations.len() > 1 {
            notes.push(format!(
                "differences in {setting} are means over {} combinations of the other settings, which weigh the same within a question; such a \
                 mean is neither right nor wrong, so McNemar's test and Cochran's Q are left out",
                combinations.len()
            ));
            notes.push("single combinations are not corrected for their number: they suggest where to look".to_owned());
        }
        let alone = "without a counterpart that differs in";
        notes.extend(joined(unmatched, ", ").map(|names| format!("{alone} {setting} alone, and so left out: {names}")));
        notes
    }

    /// The pairs of a figure, combination by combination, each with the combination's name.
    pub(crate) fn pairs_of<'w>(&'w self, figure: &str) -> impl Iterator<Item = (&'w str, &'w Pair)> {
        self.combinations.iter().flat_map(move |combination| {
            let of_figure = combination.figures.iter().find(|of| of.figure.name == figure);
            let pairs = of_figure.map_or(&[][..], |of| &of.pairs);
            pairs.iter().map(|pair| (combination.name.as_str(), pair))
        })
    }
}

impl Block {
    fn name(&self) -> String {
        let setting = |(name, value): &(String, Option<String>)| format!("{name}={}", value.as_deref().unwrap_or("–"));
        joined(self.others.iter().map(setting), ", ").unwrap_or_else(|| "all other settings are equal".to_owned())
    }
}
