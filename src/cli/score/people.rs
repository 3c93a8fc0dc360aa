//! What people said of a run's episodes, compared with the rules and with each other.

use crate::analysis::annotations::{Annotations, Disagreement, Judged, Judgements, Table};
use crate::analysis::report::View;
use crate::analysis::report::agreement;
use crate::analysis::report::summary::LEVEL;
use crate::analysis::results::judgements_of;
use crate::base::Trajectory;
use crate::base::text::{counted, shell_word, visible_line};
use crate::cli::say::say;
use crate::runner::Summary;
use crate::runner::store::RunFolder;
use crate::scoring::ScoredEpisode;
use serde_json::{Value, json};
use std::path::Path;

/// Judgements on unknown episodes that are named.
const MAX_LISTED: usize = 3;

/// The judgements of people and the readings of models, if there are any. What cannot be read is said, and what models read.
pub(super) fn annotations(run: &Path) -> anyhow::Result<(Option<Annotations>, Vec<String>)> {
    let (annotations, readings) = judgements_of(&RunFolder::open(run)?)?;
    annotations.notes().chain(readings.notes()).for_each(say);
    let read = |(name, read, unreadable, usd): (String, usize, usize, Option<f64>)| {
        let name = visible_line(&name, 80);
        if read == 0 {
            return format!("{name} has read no failed episode yet");
        }
        let lost =
            if unreadable > 0 { format!(", {unreadable} of them unreadable, not measured") } else { String::new() };
        let usd = usd.map_or_else(|| "price unknown".to_owned(), |usd| format!("{usd:.4} USD"));
        format!("{name} read {}{lost}; {usd}", counted(read, "failed episode"))
    };
    let notes = readings.readers().map(read).collect();
    Ok((Some(annotations).filter(|annotations| !annotations.latest().is_empty()), notes))
}

/// What the rules say of an episode.
pub(super) fn judged(episode: &ScoredEpisode) -> Judged {
    let Trajectory { key, id, variant, repeat, .. } = &episode.trajectory;
    Judged {
        key: key.clone(),
        id: id.clone(),
        variant: variant.clone(),
        repeat: *repeat,
        class: episode.class(),
        right: episode.is_right(),
    }
}

/// Compares them with what the rules say.
pub(super) fn judgements(annotations: &Annotations, judged: &[Judged]) -> Judgements {
    let judgements = Judgements::of(annotations, judged, LEVEL);
    if let Some(first) = judgements.foreign.first() {
        let ids: Vec<String> =
            judgements.foreign.iter().take(MAX_LISTED).map(|foreign| visible_line(&foreign.id, 60)).collect();
        let more = if judgements.foreign.len() > MAX_LISTED { ", …" } else { "" };
        say(format_args!(
            "note: {} in annotations.jsonl on episodes that this run does not have ({}{more}; the first by {}); kept, not counted",
            counted(judgements.foreign.len(), "judgement"),
            ids.join(", "),
            visible_line(&first.by, 40)
        ));
    }
    judgements
}

pub(super) fn text(judgements: &Judgements, summary: &Summary) -> String {
    agreement::judgements(judgements, &|one| command(one, summary), View::of_stdout().width)
}

/// The command that prints an episode.
fn command(one: &Disagreement, summary: &Summary) -> String {
    let run = summary.run.display().to_string();
    let several = summary.variants.len() > 1;
    let run = if several { format!("{run}@{}", one.variant) } else { run };
    let repeat = if summary.manifest.repeats > 1 { format!(" --repeat {}", one.repeat) } else { String::new() };
    format!("wikitrail show {} {}{repeat}", shell_word(&run), shell_word(&one.id))
}

pub(super) fn to_json(judgements: &Judgements, summary: &Summary) -> Value {
    let table = |said: &Table| table(said, summary);
    let people = judgements.people.iter().map(|person| {
        json!({
            "by": person.by,
            "model": person.is_model(),
            "episodes": person.episodes,
            "blind": person.blind,
            "classes": table(&person.classes),
            "correct": table(&person.correct),
        })
    });
    let pairs = judgements
        .pairs
        .iter()
        .map(|two| json!({"people": two.people, "classes": table(&two.classes), "correct": table(&two.correct)}));
    json!({
        "level": LEVEL,
        "people": people.collect::<Vec<_>>(),
        "pairs": pairs.collect::<Vec<_>>(),
        "foreign": judgements.foreign,
    })
}

fn table(said: &Table, summary: &Summary) -> Value {
    let counts = &said.agreement.confusion;
    let words = said.words.iter().enumerate().map(|(at, word)| {
        json!({
            "word": word,
            "first": counts.first(at),
            "second": counts.second(at),
            "precision": counts.precision(at),
            "recall": counts.recall(at),
        })
    });
    let disagreements = said.disagreements.iter().map(|one| {
        let mut value = json!(one);
        value["command"] = json!(command(one, summary));
        value
    });
    json!({
        "n": said.agreement.n,
        "agreeing": said.agreement.agreeing,
        "share": said.agreement.share(),
        "kappa": said.agreement.kappa,
        "ac1": said.agreement.ac1,
        "words": words.collect::<Vec<_>>(),
        "confusion": counts,
        "disagreements": disagreements.collect::<Vec<_>>(),
    })
}
