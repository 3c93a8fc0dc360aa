//! docs/protocols.md and docs/methods.md against the program: options, limits, stops, and what parsers make of
//! replies.

use crate::base::Question;
use crate::prompting::protocol::{Frame, IDS, Kind, Layout, OptionError, Options, Protocol, Turn, find};
use crate::tests::{repository, setup, table_rows as rows};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Documented values that are kinds of values: one of the kind, and one that is refused, if any is.
const KINDS: [(&str, &str, Option<&str>); 3] =
    [("TEXT", "a text", Some("")), ("[TEXT]", "", None), ("NUMBER", "7", Some("0"))];

fn kind(value: &str) -> Option<(&'static str, Option<&'static str>)> {
    KINDS.iter().find(|(name, ..)| *name == value).map(|(_, one, refused)| (*one, *refused))
}

/// What stands between backticks, with `\n` read as a line break.
fn code(cell: &str) -> Vec<String> {
    let pieces: Vec<&str> = cell.split('`').collect();
    assert!(pieces.len() % 2 == 1, "backticks do not match: {cell}");
    pieces.into_iter().skip(1).step_by(2).map(|text| text.replace("\\n", "\n")).collect()
}

fn only(cell: &str) -> String {
    let mut all = code(cell);
    assert_eq!(all.len(), 1, "one piece of code: {cell}");
    all.remove(0)
}

fn options<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Options {
    Options(pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

fn made(id: &str, pairs: &[(&str, &str)]) -> Result<Arc<dyn Protocol>, OptionError> {
    find(id, &options(pairs.iter().copied())).expect("a protocol of that id")
}

/// Documented options: protocol, name, values.
fn documented() -> Vec<(String, String, Vec<String>)> {
    let page = repository("docs/protocols.md");
    let rows = rows(&page, &["protocol", "option", "values", "meaning"]);
    let values = |cell: &str| if kind(cell).is_some() { vec![cell.to_owned()] } else { code(cell) };
    rows.iter().map(|(_, row)| (only(&row[0]), only(&row[1]), values(&row[2]))).collect()
}

#[test]
fn documented_values_are_taken_and_others_refused() {
    let documented = documented();
    assert!(documented.len() > 10, "{documented:?}");
    for (id, name, values) in &documented {
        let plain = format!("{:?}", made(id, &[]).expect("no options"));
        for (at, value) in values.iter().enumerate() {
            let given = kind(value).map_or(value.as_str(), |(one, _)| one);
            let protocol = made(id, &[(name, given)]).unwrap_or_else(|error| panic!("{id} {name}={given}: {error}"));
            // The first is the default; every other value makes another protocol.
            let is_default = at == 0 && kind(value).is_none();
            assert_eq!(format!("{protocol:?}") == plain, is_default, "{id} {name}={value}");
        }
        let Some(wrong) = kind(&values[0]).map_or(Some("no such value"), |(_, refused)| refused) else { continue };
        let error = made(id, &[(name, wrong)]).expect_err("a value that is not documented");
        assert!(matches!(&error, OptionError::Value { name: named, .. } if named == name), "{error:?}");
        for value in values.iter().filter(|value| kind(value).is_none()) {
            assert!(error.hint().contains(value.as_str()), "{id} {name}: {}", error.hint());
        }
    }
}

#[test]
fn the_hint_of_an_unknown_option_names_exactly_the_documented_ones() {
    let mut expected: BTreeMap<String, BTreeSet<String>> = IDS.iter().map(|id| ((*id).to_owned(), [].into())).collect();
    for (id, name, values) in documented() {
        let named = expected.get_mut(&id).expect("a known protocol");
        assert!(named.insert(format!("{name}={}", values.join("|"))), "{id} {name} stands there twice");
    }
    for (id, expected) in expected {
        let error = made(&id, &[("no such option", "x")]).expect_err("no such option");
        let hint = error.hint();
        let hinted: BTreeSet<String> = match hint.strip_prefix("it has ") {
            Some(list) => list.split(", ").map(str::to_owned).collect(),
            None => BTreeSet::new(),
        };
        assert_eq!(hinted, expected, "{id}");
    }
}

/// The stops of the first request, as the page writes them.
fn stops(protocol: &dyn Protocol) -> Vec<String> {
    let turn = protocol.dialogue(&setup(Frame::default(), 9)).begin(&Question::new("q", "Why?", Vec::new()));
    let Turn::Ask(request) = turn else { panic!("{}: no request", protocol.id()) };
    request.stop.iter().map(|stop| stop.replace(" 1:", " n:").replace(" 2:", " n+1:")).collect()
}

#[test]
fn limits_layouts_and_stops_are_those_of_the_code() {
    let page = repository("docs/protocols.md");
    let mut seen = Vec::new();
    for (_, row) in rows(&page, &["protocol", "with", "request", "method `act`"]) {
        let (id, with) = (only(&row[0]), code(&row[1]));
        let pairs: Vec<(&str, &str)> = with.iter().filter_map(|option| option.split_once('=')).collect();
        let protocol = made(&id, &pairs).expect("documented options");
        let request = if protocol.layout() == Layout::Text { "one text" } else { "messages" };
        let act = if protocol.profile().acts_without_thoughts { "yes" } else { "no" };
        let numbers = [protocol.profile().max_steps.to_string(), protocol.profile().max_tokens.to_string()];
        assert_eq!([&row[2], &row[3], &row[4], &row[5]], [request, act, &numbers[0], &numbers[1]], "{id} {with:?}");
        assert_eq!(code(&row[6]), stops(protocol.as_ref()), "{id} {with:?}");
        if pairs.is_empty() {
            seen.push(id);
        }
    }
    assert_eq!(seen.iter().map(String::as_str).collect::<BTreeSet<_>>(), IDS.into_iter().collect());
}

#[test]
fn replies_are_read_as_documented() {
    let page = repository("docs/protocols.md");
    let mut seen = BTreeMap::new();
    for (headings, row) in rows(&page, &["reply", "kind", "read"]) {
        let id = only(&headings[0]);
        let with: Vec<String> = headings.get(1).map(|heading| code(heading)).unwrap_or_default();
        let pairs: Vec<(&str, &str)> = with.iter().filter_map(|option| option.split_once('=')).collect();
        let parsed = made(&id, &pairs).expect("documented options").parse(&only(&row[0]), 1);
        let read = match parsed.kind {
            Kind::Act => [parsed.tool, parsed.input],
            // An answer without text is shown as nothing.
            Kind::Finish => [parsed.answer.filter(|answer| !answer.is_empty()), None],
            Kind::Invalid => [parsed.error, None],
        };
        let kind = match parsed.kind {
            Kind::Act => "act",
            Kind::Finish => "finish",
            Kind::Invalid => "invalid",
        };
        let read: Vec<String> = read.into_iter().flatten().collect();
        assert_eq!((row[1].as_str(), code(&row[2])), (kind, read), "{id} {with:?}: {}", row[0]);
        *seen.entry(id).or_insert(0) += 1;
    }
    assert!(IDS.iter().all(|id| seen.get(*id).is_some_and(|count| *count >= 5)), "{seen:?}");
}
