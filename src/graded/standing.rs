//! The place of a variant among others: its own score, and who is distinguishably better. Each two variants are compared
//! on the questions that both have, so that a run of few questions takes nothing from the others.

use crate::compare::{NamedFigure, Settings, StoppedRun, Variant, VariantMean, means_and_pairs};
use crate::stats::holm;

/// Resamples where an exact test does not apply: `compare` has the figures of each pair.
const RESAMPLES: usize = 1000;

#[derive(Debug, Clone, Default)]
pub(crate) struct Standing {
    /// EM over its own questions, and their number.
    pub(crate) own: Option<VariantMean>,
    pub(crate) n: usize,
    /// 1 + the number of variants that are distinguishably better; absent if it was compared with none.
    pub(crate) rank: Option<usize>,
    /// Variants that are not distinguishable from it.
    pub(crate) tied_with: Vec<String>,
}

/// The standings of these variants, in their order. Holm's correction covers all pairs.
pub(super) fn standings(variants: &[Variant], stopped: &[StoppedRun]) -> Vec<Standing> {
    let figures = vec![NamedFigure::new("em")];
    let settings = Settings { figures, resamples: RESAMPLES, stopped: stopped.to_vec(), ..Settings::default() };
    let em = |of: &[Variant]| means_and_pairs(of, &settings).ok().and_then(|mut found| found.figures.pop());
    let mut standings: Vec<Standing> = variants
        .iter()
        .map(|variant| {
            let own = em(std::slice::from_ref(variant)).filter(|em| em.n > 0);
            let n = own.as_ref().map_or(0, |em| em.n);
            Standing { own: own.and_then(|mut em| em.means.pop()), n, ..Standing::default() }
        })
        .collect();
    let mut pairs = Vec::new();
    for a in 0..variants.len() {
        for b in a + 1..variants.len() {
            let found = em(&[variants[a].clone(), variants[b].clone()]).and_then(|mut em| em.pairs.pop());
            pairs.extend(found.and_then(|pair| {
                // A rule has decided, or it has not.
                let ruled = pair.stopping.as_ref().map(|found| if found.decided { 0.0 } else { 1.0 });
                Some((a, b, ruled.or(pair.p.map(|p| p.value))?, pair))
            }));
        }
    }
    let corrected = holm(&pairs.iter().map(|(_, _, p, _)| *p).collect::<Vec<_>>());
    for ((a, b, _, pair), p) in pairs.iter().zip(corrected) {
        for at in [*a, *b] {
            standings[at].rank.get_or_insert(1);
        }
        let better = pair.verdict.winner.as_ref().filter(|_| p < settings.alpha);
        if let Some(winner) = better {
            let beaten = if *winner == variants[*a].name { *b } else { *a };
            standings[beaten].rank = standings[beaten].rank.map(|rank| rank + 1);
        } else {
            standings[*a].tied_with.push(variants[*b].name.clone());
            standings[*b].tied_with.push(variants[*a].name.clone());
        }
    }
    standings
}
