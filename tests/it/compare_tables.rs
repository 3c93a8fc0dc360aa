//! `compare --from-csv`: the same figures in every format, names that
//! try to break out of them, and every bad cell named.

use crate::compare_support::*;
use serde_json::{Value, json};
use std::path::Path;

/// Cells of the rows between a header's rule and the table's end, as Markdown has them, without its escapes.
fn markdown_rows(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    let cell = |cell: &str| {
        let text = cell.replace("&lt;", "<").replace("&gt;", ">").replace("&#58;", ":").replace("&amp;", "&");
        let mut kept = String::new();
        let mut characters = text.trim().chars();
        while let Some(c) = characters.next() {
            kept.extend(if c == '\\' { characters.next() } else { Some(c) });
        }
        kept
    };
    rows.map(|row| row.trim_matches('|').split(" | ").map(cell).collect()).collect()
}

/// The same of LaTeX.
fn latex_rows(text: &str) -> Vec<Vec<String>> {
    let cell = |cell: &str| {
        let text = cell.replace("{[}", "[").replace("{]}", "]").replace("{'}", "'").replace("\\textless{}", "<");
        let signs = [("$-$", "−"), ("--", "–"), ("\\%", "%"), ("\\_", "_"), ("\\ldots{}", "…"), ("$\\infty$", "∞")];
        signs.iter().fold(text, |text, (from, to)| text.replace(from, to)).trim().to_owned()
    };
    let rows = text.lines().filter_map(|line| line.strip_suffix(" \\\\"));
    rows.map(|row| row.split(" & ").map(cell).collect()).collect()
}

#[test]
fn every_format_carries_the_same_figures() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = run(dir.path(), "r", &["--method", "act,react,standard"]);
    let args = [&*run, "--metric", "em,f1,steps", "--by", "type", "--mde", "--flips"];
    let with = |format: &str| compare(&[&args[..], &["--format", format]].concat());
    let (markdown, latex, terminal) = (with("markdown"), with("latex"), with("table"));
    let rows = markdown_rows(&markdown);
    assert!(rows.len() > 40, "{markdown}");
    // The table of a paper has figures of the others.
    let (paper, others) = latex.split_once("\\end{tabular}").expect("a table");
    let differences = latex_rows(paper);
    assert!(differences.len() == 4 && differences[1][0] == "act", "{paper}");
    let of_latex = latex_rows(others);
    assert_eq!(rows.len(), of_latex.len());
    // Only LaTeX has minus signs in figures: what is pasted from the others must be read as a number.
    let hyphens = |row: &Vec<String>| row.iter().map(|cell| cell.replace('−', "-")).collect::<Vec<_>>();
    rows.iter().zip(&of_latex).for_each(|(row, other)| assert_eq!(hyphens(row), hyphens(other)));
    let signs = |rows: &[Vec<String>], sign: &str| {
        let cells = rows.iter().flatten().filter(|cell| cell.contains('[') && cell.contains(sign));
        cells.count()
    };
    assert!(signs(&rows, "-") > 10 && signs(&rows, "−") == 0, "{markdown}");
    assert_eq!((signs(&of_latex, "−"), signs(&of_latex, "-")), (signs(&rows, "-"), 0), "{latex}");
    let squeezed: Vec<String> = terminal.lines().map(|line| line.split_whitespace().collect()).collect();
    for row in rows.iter().filter(|row| row.iter().skip(1).all(|cell| cell.len() < 30)) {
        let wanted = [&row[0], &row[row.len() - 1]].map(|cell| cell.split_whitespace().collect::<String>());
        let found = |line: &String| line.starts_with(&wanted[0]) && line.ends_with(&wanted[1]);
        assert!(squeezed.iter().any(found) || terminal.contains(&row[1]), "{row:?}\n{terminal}");
    }
    let json: Value = serde_json::from_str(&with("json")).expect("JSON");
    let csv = with("csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let (mut count, mut seen) = (0, 0);
    for record in reader.records() {
        let record = record.expect("a row");
        let cell = |at: usize| record.get(at).expect("a cell").trim_start_matches('\'');
        count += 1;
        let metrics = json["metrics"].as_array().expect("metrics");
        let Some(metric) = metrics.iter().find(|metric| metric["metric"]["name"] == cell(1)) else { continue };
        let of = |list: &str, key: &str, name: &str| {
            metric[list].as_array().expect("a list").iter().find(|one| one[key] == name).cloned().expect("one")
        };
        let expected = match (cell(0), cell(5)) {
            ("means", name @ ("mean" | "se")) => of("means", "column", cell(3))[name].clone(),
            ("means", name @ ("low" | "high")) => of("means", "column", cell(3))["interval"][name].clone(),
            ("pairs", name) => {
                let pairs = metric["pairs"].as_array().expect("pairs").iter();
                let pair = pairs.clone().find(|pair| pair["a"] == cell(3) && pair["b"] == cell(4)).expect("the pair");
                match name {
                    "low" | "high" => pair["interval"][name].clone(),
                    "distribution_free_low" | "distribution_free_high" | "distribution_free_level" => {
                        pair["distribution_free"][&name["distribution_free_".len()..]].clone()
                    }
                    "p" => pair["p"]["value"].clone(),
                    "only_a" | "only_b" => pair["tests"]["mcnemar"][name].clone(),
                    name => pair[name].clone(),
                }
            }
            ("overall", "cochran_q") => metric["cochran_q"]["q"].clone(),
            ("overall", name) => metric["cochran_q"][name].clone(),
            _ => continue,
        };
        seen += 1;
        let value: f64 = cell(6).parse().expect("a number");
        assert_eq!(Some(value), expected.as_f64(), "{record:?}");
    }
    assert!(count > 100 && seen > 60, "{count} {seen}");
    assert_eq!(with("csv"), csv, "the same every time");
    // What is shown is the figure: EM of react in per cent.
    let em = json["metrics"][0]["means"][1]["mean"].as_f64().expect("EM");
    assert!(
        rows.iter().any(|row| row[0] == "react" && row[1].starts_with(&format!("{:.1} [", 100.0 * em))),
        "{rows:?}"
    );
}

/// F1 is empty where EM is not, and the other way round.
#[test]
fn a_value_that_is_empty_in_one_figure_is_not_measured_in_that_figure() {
    let dir = tempfile::tempdir().expect("a folder");
    let row = |at: usize| {
        let f1 = if at < 12 { String::new() } else { format!("0.{}", at % 4 + 1) };
        let (em, steps) = (if at == 39 { "" } else { "0" }, if at == 38 { "" } else { "4" });
        format!("a,q{at},0,0.{},3\nb,q{at},{em},{f1},{steps}\n", at % 4)
    };
    let rows: Vec<String> = (0..40).map(row).collect();
    let text = format!("variant,id,em,f1,steps\n{}", rows.concat());
    let file = write(dir.path(), "t.csv", &text);
    let args = ["--from-csv", &file, "--metric", "em,f1,steps"];
    let found = compare_json(&args);
    let [em, f1, steps] = [0, 1, 2].map(|at| &found["metrics"][at]);
    let facts =
        |figure: &Value| json!([figure["n"], figure["means"][0]["not_measured"], figure["means"][1]["not_measured"]]);
    assert_eq!([facts(em), facts(f1), facts(steps)], [json!([39, 0, 1]), json!([28, 0, 12]), json!([39, 0, 1])]);
    assert_eq!(found["columns"][1]["not_measured"], json!(0), "each row has some value");
    assert_eq!((&steps["means"][1]["bounds"], &em["means"][1]["bounds"]["unmeasured"]), (&Value::Null, &json!(1)));
    let pair = &f1["pairs"][0];
    close(&pair["bounds"]["low"], (28.0 * 0.1 - 1.8) / 40.0);
    close(&pair["bounds"]["high"], (28.0 * 0.1 + 12.0 - 1.8) / 40.0);
    assert_eq!((&pair["verdict"]["word"], &pair["verdict"]["winner"]), (&json!("undecided"), &Value::Null));
    let with = |format: &str| compare(&[&args[..], &["--format", format]].concat());
    for (format, cell) in [("table", "+2.5 to +32.5"), ("markdown", "| +2.5 to +32.5 |"), ("latex", "& +2.5 to +32.5 ")]
    {
        let text = with(format);
        assert!(text.contains(cell) && text.contains("questions that were tried, if every"), "{format}: {text}");
    }
    let csv = with("csv");
    assert!(csv.contains("pairs,f1,,a,b,lowest,0.025") && csv.contains("pairs,f1,,a,b,bounds_n,40\r\n"), "{csv}");
    let gate = ["--fail-if", "missing(b) > 0 or missing(f1, b) != 12 or missing(em, b) != 1"];
    assert_eq!(wikitrail(&[&["compare"], &args[..], &gate].concat()).code, Some(0));
    wikitrail(&["compare", "--from-csv", &file, "--fail-if", "missing(em, a, b) > 0"])
        .refused(2, &["`missing` takes a variant"]);
}

#[test]
fn hostile_names_stay_names() {
    let dir = tempfile::tempdir().expect("a folder");
    let names = ["=a|b\\end{tabular}&%$#_{}^~\"[x]", "\u{1b}[2J\u{202e}<script>`*c* -- 东京😀"];
    let id = "q\u{1b}]0;x\u{7}|\\input{/etc/passwd}";
    let files: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let text = format!("id,em\n\"{id}\",{at}\nb,1\nc,{at}\n");
            write(dir.path(), &format!("{name}.csv"), &text)
        })
        .collect();
    let with =
        |format: &str| compare(&["--from-csv", &files[0], &files[1], "--metric", "em", "--flips", "--format", format]);
    for format in ["table", "markdown", "latex"] {
        let text = with(format);
        assert!(text.chars().all(|c| c == '\n' || (!c.is_control() && c != '\u{202e}')), "{format}: {text:?}");
    }
    let markdown = with("markdown");
    assert!(!markdown.contains("<script>"), "{markdown}");
    let bars = |row: &str| row.replace("\\\\", "").replace("\\|", "").matches('|').count();
    for rows in markdown.split("\n\n").filter(|part| part.starts_with("| ")) {
        let rows: Vec<usize> = rows.lines().filter(|line| line.starts_with('|')).map(bars).collect();
        assert!(rows.windows(2).all(|pair| pair[0] == pair[1]), "{markdown}");
    }
    let latex = with("latex");
    let code: Vec<&str> = latex.lines().filter(|line| !line.starts_with('%')).collect();
    let code = code.join("\n");
    assert_eq!(code.matches("\\begin{tabular}").count(), code.matches("\\end{tabular}").count());
    assert!(!code.contains("\\input") && code.contains("\\textbackslash{}end\\{tabular\\}"), "{code}");
    let csv = with("csv");
    assert!(csv.contains("'=a|b"), "a name is no formula: {csv}");
    let compared: Value = serde_json::from_str(&with("json")).expect("JSON");
    assert_eq!(compared["columns"][0]["name"], names[0], "JSON has it as it is");
    let flip = &compared["flips"][0]["gained"][0];
    assert_eq!((&flip["id"], &flip["command"], &flip["parted"]), (&json!(id), &Value::Null, &Value::Null));
    compile(&latex, dir.path());
}

/// Compiles the tables, where a TeX is installed.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn compile(tables: &str, dir: &Path) {
    let works = |program: &str| std::process::Command::new(program).arg("--version").output().is_ok();
    let Some(program) = ["xelatex", "lualatex"].into_iter().find(|program| works(program)) else {
        eprintln!("skipped: no TeX is installed, the tables are not compiled");
        return;
    };
    let compiled = |body: &str| {
        let document =
            format!("\\documentclass{{article}}\\usepackage{{booktabs}}\\begin{{document}}\n{body}\\end{{document}}\n");
        write(dir, "tables.tex", &document);
        let mut tex = std::process::Command::new(program);
        tex.args(["-interaction=nonstopmode", "-halt-on-error", "tables.tex"]).current_dir(dir);
        let output = tex.output().expect("TeX runs");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (is_complete, said) = compiled("Text.\n");
    if !is_complete {
        let why = said.lines().find(|line| line.starts_with('!')).unwrap_or("it does not say why");
        eprintln!("skipped: {program} cannot use booktabs, the tables are not compiled: {why}");
        return;
    }
    let (is_whole, said) = compiled(tables);
    assert!(is_whole, "{said}");
}

/// A table of two variants: `a` has these values, `b` so much more.
fn graded(metric: &str, more: impl Iterator<Item = f64>) -> String {
    let rows: Vec<String> =
        more.enumerate().map(|(at, more)| format!("a,q{at},0.5\nb,q{at},{:.4}\n", 0.5 + more)).collect();
    format!("variant,id,{metric}\n{}", rows.concat())
}

/// Longer answers lose a little on half of the questions and gain much on few: 20 questions show neither.
#[test]
fn a_lead_that_rare_questions_could_undo_is_named_so() {
    let dir = tempfile::tempdir().expect("a folder");
    let losing = |metric: &str| graded(metric, (0..20).map(|at| if at % 2 == 0 { -0.05 } else { 0.0 }));
    let file = write(dir.path(), "t.csv", &losing("f1"));
    let found = compare_json(&["--from-csv", &file, "--metric", "f1"]);
    let pair = &found["metrics"][0]["pairs"][0];
    assert_eq!(
        (&pair["verdict"]["word"], &pair["verdict"]["winner"], &pair["verdict"]["distinguishable"]),
        (&json!("is ahead of"), &json!("a"), &json!(true))
    );
    let free = &pair["distribution_free"];
    assert_eq!((&free["method"], &free["level"]), (&json!("betting"), &json!(0.95)));
    let [low, high] = ["low", "high"].map(|end| free[end].as_f64().expect("an end"));
    assert!(low < -0.025 && high > 0.0, "{free}");
    let sentence = pair["verdict"]["sentence"].as_str().expect("text");
    assert!(sentence.starts_with("a is ahead of b by 2.5 points F1, 95 % interval "), "{sentence}");
    assert!(
        sentence.contains("unless rare questions differ much more than these: without that assumption -"),
        "{sentence}"
    );
    let csv = compare(&["--from-csv", &file, "--metric", "f1", "--format", "csv"]);
    assert!(csv.contains(&format!("pairs,f1,,a,b,distribution_free_high,{high}")), "{csv}");
    // The order of the rows is none of the sample's.
    let (head, rows) =
        losing("f1").split_once('\n').map(|(head, rows)| (head.to_owned(), rows.to_owned())).expect("rows");
    let reversed: Vec<&str> = rows.lines().rev().collect();
    let other = write(dir.path(), "r.csv", &format!("{head}\n{}\n", reversed.join("\n")));
    let other = compare_json(&["--from-csv", &other, "--metric", "f1", "--contrast", "a", "b"]);
    assert_eq!(&other["metrics"][0]["pairs"][0]["distribution_free"], free);

    // A metric of one's own has bounds where its values lie between 0 and 1, else those that are given.
    let own = write(dir.path(), "o.csv", &losing("grade"));
    let range = |args: &[&str]| {
        let found = compare_json(&[&["--from-csv", &own, "--metric", "grade"], args].concat());
        let figure = &found["metrics"][0];
        (figure["metric"]["range"].clone(), figure["pairs"][0]["distribution_free"]["low"].as_f64())
    };
    let (bounds, narrow) = range(&[]);
    assert_eq!(bounds, json!({"low": 0.0, "high": 1.0}));
    let (bounds, wide) = range(&["--bounds", "grade=-1..2"]);
    assert!(bounds == json!({"low": -1.0, "high": 2.0}) && wide < narrow, "{wide:?} {narrow:?}");
    let refused = |args: &[&str]| wikitrail(&[&["compare", "--from-csv", &own, "--metric", "grade"], args].concat());
    refused(&["--bounds", "grade=0..0.49"])
        .refused(3, &["`grade` of question `q0` in `a` is 0.5, outside of its bounds 0..0.49"]);
    refused(&["--bounds", "f1=0..1"]).refused(2, &["--bounds names `f1`, which is not compared"]);

    // Nothing bounds tokens: the sentence says what could be missing.
    let tokens = write(dir.path(), "k.csv", &graded("tokens", (0..20).map(|at| f64::from(at % 3 + 1))));
    let found = compare_json(&["--from-csv", &tokens, "--metric", "tokens"]);
    let verdict = &found["metrics"][0]["pairs"][0]["verdict"];
    assert_eq!(verdict["word"], json!("is ahead of"));
    let end = "; a kind of question that makes up 14 % could be missing from these 20";
    assert!(verdict["sentence"].as_str().is_some_and(|sentence| sentence.ends_with(end)), "{verdict}");
}

/// Many questions of which half gain next to nothing.
#[test]
fn an_interval_has_a_width_and_a_difference_is_not_named_0() {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, more) in [
        ("equal", vec![0.0; 30]),
        ("constant", vec![0.2; 30]),
        ("one", [vec![0.3], vec![0.0; 9]].concat()),
        ("tiny", (0..200).map(|at| f64::from(at % 2) * 0.0001).collect()),
    ] {
        let file = write(dir.path(), "w.csv", &graded("f1", more.into_iter()));
        let found = compare_json(&["--from-csv", &file, "--metric", "f1"]);
        let pair = &found["metrics"][0]["pairs"][0];
        let [low, high] = ["low", "high"].map(|end| pair["interval"][end].as_f64().expect("an end"));
        assert!(high - low > 0.001, "{name}: {low} {high}");
        let p = pair["p"]["value"].as_f64().expect("a p");
        assert_eq!(low <= 0.0 && high >= 0.0, p >= 0.05, "{name}: {low} {high} {p}");
        let sentence = pair["verdict"]["sentence"].as_str().expect("text");
        assert!(!sentence.contains("by 0.0 points") && !sentence.contains("unbounded"), "{name}: {sentence}");
        assert_eq!(sentence.contains("is ahead of a by less than 0.1 points F1"), name == "tiny", "{sentence}");
    }
}
