//! Which variant is best, in a sentence or a few.

use crate::analysis::results::{Group, Standing};
use crate::base::text::{counted, visible_line};

/// Pairs of which each has its sentence.
const MAX_SENTENCES: usize = 2;

/// Variants that are named in one sentence.
const MAX_NAMED: usize = 3;

/// What the variants of a group show in the figure that is compared first: the verdict of each pair that was planned, if these
/// are few, and else which variants nobody beats.
pub(crate) fn headline(group: &Group) -> Vec<String> {
    let figure = group.comparison.as_ref().ok().and_then(|comparison| comparison.figures.first());
    let pairs = figure.map_or(&[][..], |figure| &figure.pairs);
    match pairs {
        [] => Vec::new(),
        few if few.len() <= MAX_SENTENCES => few.iter().map(|pair| pair.verdict.sentence.clone()).collect(),
        _ => vec![best(&group.names, &group.standings)],
    }
}

/// The variants that no other is distinguishably better than. Of two such variants neither beats the other, so that they are tied.
fn best(names: &[String], standings: &[Standing]) -> String {
    let first: Vec<(&str, &Standing)> = names
        .iter()
        .zip(standings)
        .filter(|(_, standing)| standing.rank == Some(1))
        .map(|(name, standing)| (name.as_str(), standing))
        .collect();
    let behind = names.len() - first.len();
    let tests = format!("p < 0.05 after Holm over {}", counted(names.len() * (names.len() - 1) / 2, "pair"));
    match first.as_slice() {
        [] => "no two variants can be compared".to_owned(),
        _ if behind == 0 => format!("no two of the {} variants are distinguishable in EM ({tests})", names.len()),
        [(best, standing)] => match (visible_line(best, 60), standing.tied_with.len()) {
            (best, 0) => format!("best in EM: {best}, distinguishably better than {} ({tests})", others(behind)),
            (best, tied) => {
                format!("best in EM: {best}; not distinguishable from it: {tied} of {} ({tests})", others(behind))
            }
        },
        tied => {
            let is = if behind == 1 { "is" } else { "are" };
            let tied = listed(&tied.iter().map(|(name, _)| visible_line(name, 60)).collect::<Vec<_>>());
            let others = others(behind);
            format!(
                "no single best variant in EM: {tied} are tied; {others} {is} behind at least one of them ({tests})"
            )
        }
    }
}

fn others(count: usize) -> String {
    if count == 1 { "the other one".to_owned() } else { format!("the {count} others") }
}

/// `a, b and c`, or `a, b and 7 more`
fn listed(names: &[String]) -> String {
    let shown = if names.len() > MAX_NAMED { MAX_NAMED - 1 } else { names.len() - 1 };
    let more = format!("{} more", names.len() - shown);
    let last = if names.len() > MAX_NAMED { &more } else { &names[shown] };
    format!("{} and {last}", names[..shown].join(", "))
}

#[cfg(test)]
mod tests {
    use super::{Standing, best};

    /// The sentence for variants a, b, … of these ranks and numbers of ties.
    fn sentence(variants: &[(usize, usize)]) -> String {
        let names: Vec<String> = ('a'..).take(variants.len()).map(String::from).collect();
        let standing = |(rank, tied): &(usize, usize)| Standing {
            rank: Some(*rank),
            tied_with: names[..*tied].to_vec(),
            ..Standing::default()
        };
        let standings: Vec<Standing> = variants.iter().map(standing).collect();
        best(&names, &standings)
    }

    #[test]
    fn the_sentence_names_the_best_variant_or_those_that_are_tied() {
        for (variants, expected) in [
            (&[(1, 0), (2, 1), (2, 1)][..], "best in EM: a, distinguishably better than the 2 others ("),
            (&[(1, 1), (2, 1), (2, 1)], "best in EM: a; not distinguishable from it: 1 of the 2 others ("),
            (&[(1, 1), (1, 1), (3, 0)], "no single best variant in EM: a and b are tied; the other one is behind "),
            (&[(2, 1), (1, 1), (1, 1), (3, 0)], "EM: b and c are tied; the 2 others are behind at least one of them ("),
            (&[(1, 2), (1, 2), (1, 2)], "no two of the 3 variants are distinguishable in EM ("),
            (&[(1, 3), (1, 3), (1, 3), (1, 3), (5, 0)], "a, b and 2 more are tied; "),
        ] {
            let found = sentence(variants);
            assert!(found.contains(expected), "{found}");
        }
        assert!(sentence(&[(1, 0), (2, 0), (2, 0)]).ends_with(" (p < 0.05 after Holm over 3 pairs)"));
    }
}
