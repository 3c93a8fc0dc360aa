//! How judgements agree: people with the rules, people with the metric, and each pair of people.

use super::{Annotation, AnnotationClass, Annotations, is_model};
use crate::base::stats::Agreement;
use std::collections::{BTreeMap, HashMap};

#[derive(Debug)]
pub(crate) struct Judgements {
    pub people: Vec<Person>,
    /// Each pair of people, in the order of their names.
    pub pairs: Vec<PersonPair>,
    /// Judgements on episodes that the run does not have.
    pub foreign: Vec<Annotation>,
}

#[derive(Debug)]
pub(crate) struct Person {
    pub by: String,
    pub episodes: usize,
    /// Those of them that were judged without sight of the rules' verdict.
    pub blind: usize,
    /// Class by the rules, and by the person.
    pub classes: Table,
    /// Right or wrong by the metric, and by the person.
    pub correct: Table,
}

#[derive(Debug)]
pub(crate) struct PersonPair {
    pub people: [String; 2],
    pub classes: Table,
    pub correct: Table,
}

/// What two said of the same episodes.
#[derive(Debug)]
pub(crate) struct Table {
    /// The words that either used, in the order of the table.
    pub words: Vec<&'static str>,
    pub agreement: Agreement,
    pub disagreements: Vec<Disagreement>,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Disagreement {
    pub id: String,
    pub variant: String,
    pub repeat: u32,
    pub first: &'static str,
    pub second: &'static str,
}

impl Judgements {
    /// Compares the latest judgements with those of the rules, one of each episode.
    pub(crate) fn of(annotations: &Annotations, by_rules: &[Annotation], level: f64) -> Self {
        let by_rules: HashMap<&str, &Annotation> = by_rules.iter().map(|rules| (rules.key.as_str(), rules)).collect();
        let mut foreign = Vec::new();
        let mut people: BTreeMap<&str, Vec<(&Annotation, &Annotation)>> = BTreeMap::new();
        for annotation in annotations.latest() {
            match by_rules.get(annotation.key.as_str()) {
                Some(rules) => people.entry(&annotation.by).or_default().push((rules, annotation)),
                None => foreign.push(annotation.clone()),
            }
        }
        for judged in people.values_mut() {
            judged.sort_by_key(|(rules, _)| (&rules.variant, rules.repeat, &rules.id));
        }
        let names: Vec<&str> = people.keys().copied().collect();
        let pairs = names.iter().enumerate().flat_map(|(at, a)| names[at + 1..].iter().map(move |b| [*a, *b]));
        let pairs = pairs.map(|[a, b]| {
            let second: HashMap<&str, &Annotation> =
                people[b].iter().map(|(rules, own)| (rules.key.as_str(), *own)).collect();
            let both = people[a].iter().filter_map(|(rules, own)| Some([*rules, *own, *second.get(&*rules.key)?]));
            let [classes, correct] = Table::of_both(&both.collect::<Vec<_>>(), level);
            PersonPair { people: [a.to_owned(), b.to_owned()], classes, correct }
        });
        let person = |(by, judged): (&&str, &Vec<(&Annotation, &Annotation)>)| {
            let triples: Vec<_> = judged.iter().map(|(rules, own)| [*rules, *rules, *own]).collect();
            let [classes, correct] = Table::of_both(&triples, level);
            let blind = judged.iter().filter(|(_, own)| own.blind).count();
            Person { by: (*by).to_owned(), episodes: judged.len(), blind, classes, correct }
        };
        Self { pairs: pairs.collect(), people: people.iter().map(person).collect(), foreign }
    }

    /// How the classes of a model agree with those of each person who classified episodes that it read.
    pub(crate) fn of_model_and_people<'a>(&'a self, model: &'a str) -> impl Iterator<Item = (&'a str, &'a Agreement)> {
        self.pairs.iter().filter_map(move |two| {
            let other = match &two.people {
                [a, b] if b == model => a,
                [a, b] if a == model => b,
                _ => return None,
            };
            let agreement = &two.classes.agreement;
            (!is_model(other) && agreement.n > 0).then_some((other.as_str(), agreement))
        })
    }
}

impl Table {
    /// Of classes, and of right or wrong, from an episode as the rules judge it and what two say of it.
    fn of_both(triples: &[[&Annotation; 3]], level: f64) -> [Self; 2] {
        let word = |right: bool| if right { "right" } else { "wrong" };
        let classes = triples.iter().filter_map(|[of, a, b]| Some((*of, a.class?.name(), b.class?.name())));
        let correct = triples.iter().filter_map(|[of, a, b]| Some((*of, word(a.correct?), word(b.correct?))));
        [Self::of(&classes.collect::<Vec<_>>(), level), Self::of(&correct.collect::<Vec<_>>(), level)]
    }

    fn of(pairs: &[(&Annotation, &'static str, &'static str)], level: f64) -> Self {
        let known = ["right", "wrong"].into_iter().chain(AnnotationClass::all().map(AnnotationClass::name));
        let used = |word: &&'static str| pairs.iter().any(|(_, a, b)| a == word || b == word);
        let words: Vec<&'static str> = known.filter(used).collect();
        let number = |word: &str| words.iter().position(|known| *known == word).unwrap_or_default();
        let clusters = Clusters::of_all(pairs.iter().map(|(episode, ..)| episode.id.as_str()));
        let numbered: Vec<(usize, usize)> = pairs.iter().map(|(_, a, b)| (number(a), number(b))).collect();
        let disagreements = pairs.iter().filter(|(_, a, b)| a != b).map(|(episode, first, second)| Disagreement {
            id: episode.id.clone(),
            variant: episode.variant.clone(),
            repeat: episode.repeat,
            first,
            second,
        });
        Self {
            agreement: Agreement::of(&numbered, &clusters, words.len(), level),
            disagreements: disagreements.collect(),
            words,
        }
    }
}

/// Numbers of questions, by their ids.
#[derive(Default)]
pub(crate) struct Clusters(HashMap<String, usize>);

impl Clusters {
    pub(crate) fn of(&mut self, id: &str) -> usize {
        let next = self.0.len();
        *self.0.entry(id.to_owned()).or_insert(next)
    }

    pub(crate) fn of_all<'a>(ids: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
        let mut clusters = Self::default();
        ids.into_iter().map(|id| clusters.of(id)).collect()
    }
}
