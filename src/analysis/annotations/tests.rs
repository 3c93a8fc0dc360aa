use super::import::EpisodeIndex;
use super::{
    Annotation, AnnotationClass, Annotations, Answer, Judgements, append, bad_name, carry, class_keys, import,
    parse_answer,
};
use crate::runner::store::RunFolder;
use crate::scoring::FailureClass;
use std::collections::HashSet;
use std::io::Write as _;

const LEVEL: f64 = 0.95;

fn said(key: &str, by: &str, at: &str, class: &str) -> Annotation {
    let class = AnnotationClass::parse(class);
    Annotation {
        v: 1,
        key: key.to_owned(),
        id: format!("id-{key}"),
        variant: "main".to_owned(),
        repeat: 0,
        by: by.to_owned(),
        at: format!("2026-01-01T00:00:{at}Z"),
        correct: class.map(|_| false),
        class,
        step: None,
        note: None,
        blind: true,
        page_sha256: None,
        started_at: None,
    }
}

fn folder() -> (tempfile::TempDir, RunFolder) {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::at(dir.path());
    (dir, folder)
}

fn shelf() -> EpisodeIndex {
    let mut shelf = EpisodeIndex::default();
    for (key, id) in [("k1", "q1"), ("k2", "q2")] {
        let (key, id, variant) = (key.to_owned(), id.to_owned(), "main".to_owned());
        let started_at = Some("2026-01-01T00:00:00Z".to_owned());
        shelf.add(Annotation { key, id, variant, started_at, ..Annotation::default() });
    }
    shelf
}

#[test]
fn bad_lines_are_named_and_the_rest_is_read() {
    let (_dir, folder) = folder();
    assert!(Annotations::read(&folder).expect("none is fine").latest().is_empty());
    append(&folder, &[said("k1", "anna", "01", "search")]).expect("appended");
    let mut file = std::fs::File::options().append(true).open(folder.annotations()).expect("there");
    let good = serde_json::to_string(&said("k2", "ben", "02", "loop")).expect("JSON");
    let lines = [
        "not JSON".to_owned(),
        good.replace("\"loop\"", "\"lop\""),
        good.replace("\"v\":1", "\"v\":2"),
        good.replace("\"ben\"", "\"a|b\""),
        good.replace("2026-01-01T", "yesterday "),
        good.replace("\"step\":null", "\"step\":0"),
        String::new(),
        good.clone(),
        good[..good.len() / 2].to_owned(),
    ];
    file.write_all(lines.join("\n").as_bytes()).expect("written");
    let read = Annotations::read(&folder).expect("read");
    assert_eq!(read.latest().iter().map(|one| &*one.by).collect::<Vec<_>>(), ["anna", "ben"]);
    let notes: Vec<String> = read.notes().collect();
    let parts = [
        "not valid JSON",
        "unknown class `lop`",
        "format version 2",
        "not a name",
        "not a time",
        "from 1",
        "incomplete",
    ];
    let numbers = [2, 3, 4, 5, 6, 7, 10];
    assert_eq!(notes.len(), parts.len(), "{notes:#?}");
    for ((note, part), number) in notes.iter().zip(parts).zip(numbers) {
        assert!(note.contains(&format!("annotations.jsonl:{number}: ")) && note.contains(part), "{note}");
    }
    // Appending removes the incomplete line and nothing else.
    append(&folder, &[said("k1", "cleo", "03", "label")]).expect("appended");
    let read = Annotations::read(&folder).expect("read");
    assert_eq!((read.latest().len(), read.skipped.len()), (3, 6));
}

#[test]
fn the_latest_of_each_person_counts_whatever_the_order_of_lines() {
    let (_dir, folder) = folder();
    let lines = [
        said("k1", "anna", "09", "search"),
        said("k1", "anna", "05", "loop"),
        said("k1", "ben", "01", "label"),
        said("k2", "ben", "01", "label"),
        said("k2", "ben", "02", "nothing: withdrawn"),
        said("k1", "ben", "01", "cut"),
    ];
    append(&folder, &lines).expect("appended");
    let read = Annotations::read(&folder).expect("read");
    let latest: Vec<_> = read.latest().into_iter().map(|one| (&*one.key, &*one.by, one.class)).collect();
    let class = |name| AnnotationClass::parse(name);
    assert_eq!(latest, [("k1", "anna", class("search")), ("k1", "ben", class("cut"))]);
    assert_eq!(read.by_key()["k1"].len(), 2);
}

#[cfg(unix)]
#[test]
fn a_link_is_not_written_through() {
    let (dir, folder) = folder();
    let elsewhere = dir.path().join("elsewhere");
    std::fs::write(&elsewhere, "keep").expect("written");
    std::os::unix::fs::symlink(&elsewhere, folder.annotations()).expect("a link");
    assert!(append(&folder, &[said("k1", "anna", "01", "search")]).is_err());
    assert_eq!(std::fs::read(elsewhere).expect("there"), b"keep");
}

#[test]
fn several_folders_give_each_line_once() {
    let ((_a, one), (_b, two), (_c, new)) = (folder(), folder(), folder());
    let (first, second) = (said("k1", "anna", "01", "search"), said("k1", "ben", "01", "loop"));
    append(&one, std::slice::from_ref(&first)).expect("appended");
    append(&two, &[first, second]).expect("appended");
    let mut file = std::fs::File::options().append(true).open(two.annotations()).expect("there");
    file.write_all(b"{\"v\": 9}\n{\"v\":").expect("written");
    let dropped = HashSet::from([("k2".to_owned(), "2026".to_owned())]);
    let on_dropped = Annotation { started_at: Some("2026".to_owned()), ..said("k2", "ben", "01", "loop") };
    append(&one, &[on_dropped]).expect("appended");
    let notes = carry(&[&one, &two], &new, &dropped).expect("carried");
    // What is no judgement may be a line of any file.
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes[0].ends_with(":2: it judges a record that is not kept; left out"), "{notes:?}");
    assert!(notes[1].contains(":3: not a judgement: ") && notes[1].ends_with("; left out"), "{notes:?}");
    assert!(notes[2].contains(":4: the last line is incomplete"), "{notes:?}");
    let read = Annotations::read(&new).expect("read");
    assert_eq!((read.latest().len(), read.skipped.len()), (2, 0));
    let (_d, none) = folder();
    carry(&[&none], &none, &HashSet::new()).expect("nothing to carry");
    assert!(!none.annotations().exists());
}

#[test]
fn rows_are_taken_by_key_or_name_and_others_are_refused_with_a_reason() {
    let known = Annotations::default();
    let own = serde_json::to_string(&said("k1", "anna", "01", "search")).expect("JSON");
    let text = [
        own.clone(),
        own.replace("k1", "k9"),
        r#"{"id": "q2", "class": "loop"}"#.to_owned(),
        r#"{"id": "q2", "variant": "other", "correct": true}"#.to_owned(),
        r#"{"id": "q2"}"#.to_owned(),
        r#"{"class": "loop"}"#.to_owned(),
        r#"{"id": "q2", "class": "lop"}"#.to_owned(),
        "[]".to_owned(),
    ]
    .join("\n");
    let imported = import(&text, &shelf(), &known, Some("ben"), "2026-01-02T00:00:00Z");
    let taken: Vec<_> = imported.taken.iter().map(|one| (&*one.key, &*one.id, &*one.by, one.blind)).collect();
    assert_eq!(taken, [("k1", "q1", "anna", true), ("k2", "q2", "ben", false)]);
    let whys = [
        "is not in this run",
        "no episode of question `q2`, variant `other`",
        "neither `correct`",
        "nor `id`",
        "`lop`",
        "",
    ];
    let lines: Vec<usize> = imported.refused.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 4, 5, 6, 7, 8]);
    for ((_, why), part) in imported.refused.iter().zip(whys) {
        assert!(why.contains(part), "{why}");
    }
    // A page over two runs with the same settings has both episodes, with one key.
    let judged = |at: &str| own.replace("\"v\":1", &format!("\"v\":1,\"started_at\":\"{at}\""));
    let both = [judged("2026-01-01T00:00:00Z"), judged("2026-01-03T00:00:00Z")].join("\n");
    let imported = import(&both, &shelf(), &known, None, "2026-01-02T00:00:00Z");
    assert_eq!((imported.taken.len(), imported.refused[0].0), (1, 2));
    assert_eq!(imported.taken[0].started_at.as_deref(), Some("2026-01-01T00:00:00Z"));
    assert!(imported.refused[0].1.contains("another run with the same settings"), "{imported:?}");
    let nobody = import(r#"{"id": "q2", "class": "loop"}"#, &shelf(), &known, None, "2026-01-02T00:00:00Z");
    assert!(nobody.taken.is_empty() && nobody.refused[0].1.contains("who judged"), "{nobody:?}");
}

#[test]
fn a_table_is_read_and_what_is_there_already_is_not_taken_again() {
    let (_dir, folder) = folder();
    let text = "\u{feff}ID,Correct,class,step,by,my column\nq1,0,search,3,anna,x\nq2,yes,,,ben,\nq2,maybe,,,ben,\nq1,,loop,-1,ben,\n";
    let read = |folder: &RunFolder| {
        import(text, &shelf(), &Annotations::read(folder).expect("read"), None, "2026-01-02T00:00:00Z")
    };
    let imported = read(&folder);
    assert_eq!(imported.unused, ["my column"]);
    assert_eq!(imported.refused.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [4, 5]);
    let taken: Vec<_> = imported.taken.iter().map(|one| (&*one.id, one.correct, one.step)).collect();
    assert_eq!(taken, [("q1", Some(false), Some(3)), ("q2", Some(true), None)]);
    append(&folder, &imported.taken).expect("appended");
    let again = read(&folder);
    assert_eq!((again.taken.len(), again.known), (0, 2));
    let other = import("a table\n1\n", &shelf(), &Annotations::default(), None, "2026-01-02T00:00:00Z");
    assert!(other.refused[0].1.contains("`id` or `key`"), "{other:?}");
}

#[test]
fn an_id_that_an_export_guarded_is_found_after_one_that_is_so_written() {
    let mut shelf = EpisodeIndex::default();
    for (key, id) in [("=k1", "-a"), ("k2", "+b"), ("k3", "'+b")] {
        let (key, id, variant) = (key.to_owned(), id.to_owned(), "main".to_owned());
        shelf.add(Annotation { key, id, variant, ..Annotation::default() });
    }
    let read = |text: &str| {
        let imported = import(text, &shelf, &Annotations::default(), Some("ben"), "2026-01-02T00:00:00Z");
        imported.taken.into_iter().map(|one| one.id).collect::<Vec<_>>()
    };
    assert_eq!(read("id,correct\n'-a,1\n'+b,1\n+b,1\n"), ["-a", "'+b", "+b"]);
    assert_eq!(read("key,correct\n'=k1,1\n"), ["-a"]);
}

#[test]
fn a_quote_that_is_not_closed_is_named_where_it_begins_and_truth_has_several_words() {
    let read = |text: &str| import(text, &shelf(), &Annotations::default(), Some("ben"), "2026-01-02T00:00:00Z");
    let imported = read("id,correct,note\nq1,1,\"a \"\"b\"\"\"\nq2,0,\"not closed\nq1,1,x\nq2,1,y\n");
    assert_eq!(imported.taken.len(), 1);
    let [(line, why)] = &imported.refused[..] else { panic!("{imported:?}") };
    assert!(*line == 3 && why.starts_with("a quoted cell that begins here is not closed"), "{line}: {why}");
    let imported = read("id,correct,note\n\"q1\",1,3\" wide\n");
    assert_eq!(imported.taken.first().and_then(|one| one.note.as_deref()), Some("3\" wide"), "a quote within a cell");
    // Line ends of Windows and blank lines count once.
    let imported = read("\r\nid,correct,note\r\nq1,1,\"a\r\nb\"\r\n\r\nq9,1,\r\nq2,maybe,\r\nq2,1,\"open\r\n");
    assert_eq!(imported.refused.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [6, 7, 8], "{imported:?}");

    for (word, truth) in [("true", true), ("1", true), ("\"yes\"", true), ("0", false), ("\"No\"", false)] {
        let imported = read(&format!("{{\"id\": \"q1\", \"correct\": {word}}}"));
        assert_eq!(imported.taken.first().and_then(|one| one.correct), Some(truth), "{word}: {imported:?}");
    }
    let refused = read("{\"id\": \"q1\", \"correct\": 2}").refused;
    assert!(refused[0].1.contains("is neither right nor wrong; use true"), "{refused:?}");
}

#[test]
fn people_are_compared_with_the_rules_and_with_each_other() {
    let (_dir, folder) = folder();
    let lines = [
        said("k1", "anna", "01", "search"),
        said("k2", "anna", "01", "loop"),
        said("k3", "anna", "01", "gold-wrong"),
        said("k1", "ben", "01", "search"),
        said("k2", "ben", "01", "search"),
        said("k9", "ben", "01", "search"),
    ];
    append(&folder, &lines).expect("appended");
    let episode = |key: &str, class: Option<FailureClass>, right| Annotation {
        key: key.to_owned(),
        id: format!("id-{key}"),
        variant: "main".to_owned(),
        class: class.map(AnnotationClass::Failure),
        correct: Some(right),
        ..Annotation::default()
    };
    let episodes = [
        episode("k1", Some(FailureClass::Search), false),
        episode("k2", Some(FailureClass::Limit), false),
        // Right by the metric, so that the rules give no class.
        episode("k3", None, true),
        episode("k4", Some(FailureClass::Loop), false),
    ];
    let all = Judgements::of(&Annotations::read(&folder).expect("read"), &episodes, LEVEL);
    assert_eq!(all.foreign.iter().map(|foreign| &*foreign.key).collect::<Vec<_>>(), ["k9"]);
    let [anna, ben] = &all.people[..] else { panic!("{all:?}") };
    assert_eq!((&*anna.by, anna.episodes, anna.blind, ben.episodes), ("anna", 3, 3, 2));
    assert_eq!(anna.classes.words, ["search", "loop", "limit"]);
    assert_eq!((anna.classes.agreement.n, anna.classes.agreement.agreeing), (2, 1));
    assert_eq!((anna.correct.agreement.n, anna.correct.agreement.agreeing), (3, 2));
    assert_eq!(anna.classes.disagreements[0].id, "id-k2");
    assert_eq!((anna.correct.disagreements[0].first, anna.correct.disagreements[0].second), ("right", "wrong"));
    let [two] = &all.pairs[..] else { panic!("{all:?}") };
    assert_eq!((two.classes.agreement.n, two.classes.agreement.agreeing), (2, 1));
    assert_eq!((two.classes.disagreements[0].first, two.classes.disagreements[0].second), ("loop", "search"));
}

#[test]
fn a_name_is_short_and_plain() {
    assert!(["anna", "Ana María", "山田"].iter().all(|name| bad_name(name).is_none()));
    for name in ["", "  ", " anna", "a|b", "a\nb", "a\u{1b}[2J", "a\u{202e}b", &"x".repeat(101)] {
        assert!(bad_name(name).is_some(), "{name:?}");
    }
}

#[test]
fn a_key_may_have_a_step_and_a_note_behind_it() {
    let judged = |line: &str| match parse_answer(line) {
        Ok(Answer::Judged(judged)) => {
            (judged.correct, judged.class.map(AnnotationClass::name), judged.step, judged.note)
        }
        other => panic!("{line}: {other:?}"),
    };
    assert_eq!(judged("y"), (Some(true), None, None, None));
    assert_eq!(judged(" wrong "), (Some(false), None, None, None));
    assert_eq!(judged("k 3"), (Some(false), Some("lookup"), Some(3), None));
    let note = Some("3rd page, never opened".to_owned());
    assert_eq!(judged("search 3rd page, never opened"), (Some(false), Some("search"), None, note));
    assert_eq!(judged("l 2 a nickname"), (Some(true), Some("label"), Some(2), Some("a nickname".to_owned())));
    assert_eq!(judged("gold-wrong"), (None, Some("gold-wrong"), None, None));
    for line in ["x", "k 0", "skip 3", "yes\u{1b}[2J"] {
        assert!(parse_answer(line).is_err_and(|why| !why.contains('\u{1b}')), "{line}");
    }
    assert_eq!(
        [parse_answer(""), parse_answer("-"), parse_answer("b")],
        [Ok(Answer::Nothing), Ok(Answer::Skip), Ok(Answer::Back)]
    );
}

#[test]
fn every_class_has_a_line_of_help_whose_key_gives_it() {
    let named: Vec<AnnotationClass> = class_keys().filter_map(|(_, judgement, _)| judgement.class).collect();
    assert_eq!(named, AnnotationClass::all().collect::<Vec<_>>());
    let keys: Vec<&str> = class_keys().map(|(key, ..)| key).collect();
    assert_eq!(keys.concat(), "skrlhofcdmpga");
}
