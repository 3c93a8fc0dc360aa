//! `report` and `run --report`: what the file holds. What it looks like in a browser is in `report_page`.

use crate::common::{WorkDir, repository};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Read as _;

/// What is between two texts, the first time.
fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let rest = text.split_once(from).unwrap_or_else(|| panic!("`{from}` is not there")).1;
    rest.split_once(to).expect("an end").0
}

pub(crate) fn unpacked(packed: &str) -> Value {
    let bytes = STANDARD.decode(packed).expect("base64");
    let mut text = String::new();
    GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("gzip");
    serde_json::from_str(&text).expect("JSON")
}

fn meta(page: &str) -> Value {
    serde_json::from_str(between(page, "id=\"wt-meta\">", "</script>")).expect("JSON")
}

fn table(page: &str) -> Value {
    unpacked(between(page, "id=\"wt-table\">", "</script>"))
}

fn chunks(page: &str) -> Vec<Value> {
    page.split("<script type=\"text/plain\" data-chunk=\"")
        .skip(1)
        .map(|rest| unpacked(between(rest, "\">", "</script>")))
        .collect()
}

/// Two methods on ten questions, and their page.
fn two(flags: &[&str]) -> (WorkDir, String) {
    let dir = WorkDir::new();
    dir.run(&["--method", "react,cot", "--limit", "10", "--out", "two"]);
    dir.wikitrail(&[&["report", "two", "--out", "two.html"], flags].concat()).ok();
    let page = dir.read("two.html");
    (dir, page)
}

#[test]
fn the_page_has_the_figures_of_compare_and_the_steps_of_show() {
    let (dir, page) = two(&[]);
    let compared = dir.wikitrail(&["compare", "two", "--json"]).ok().json();
    let pair = &compared["metrics"][0]["pairs"][0];
    let sentence = pair["verdict"]["sentence"].as_str().expect("a sentence").replace('<', "&lt;").replace(" -", " −");
    assert!(page.contains(&sentence), "{sentence}");
    let table = table(&page);
    assert_eq!(table["id"].as_array().expect("ids").len(), 10);
    for (variant, name) in ["react", "cot"].iter().enumerate() {
        let shown = dir.wikitrail(&["show", &format!("two@{name}"), "--json"]).ok().lines();
        for (at, item) in shown.iter().enumerate() {
            let column = &table["variants"][variant];
            assert_eq!(column["right"][at].as_u64() == Some(1), item["right"] == true, "{name} {at}");
            assert_eq!(column["answer"][at], item["answer"]);
            let class = column["class"][at].as_u64().and_then(|class| {
                meta(&page)["classes"].as_array()?.get(usize::try_from(class).ok()?)?.as_str().map(str::to_owned)
            });
            assert_eq!(class.as_deref(), item["failure"]["class"].as_str());
        }
    }
    let flips = dir.wikitrail(&["compare", "two", "--flips", "--json"]).ok().json();
    for (a, b, list) in [("react", "cot", "lost"), ("cot", "react", "gained")] {
        let count = flips["flips"][0][list].as_array().expect("a list").len();
        let button = format!("data-a=\"{a}\" data-b=\"{b}\">{count}<");
        assert_eq!(page.contains(&button), count > 0, "{button}");
    }
    let chunks = chunks(&page);
    let records = dir.records("two");
    let shown = &chunks[0]["0"]["episodes"][0][0];
    let record = records.iter().find(|record| record["key"] == shown["key"]).expect("its record");
    let steps = |of: &Value| of["steps"].as_array().expect("steps").len();
    assert_eq!(steps(shown), steps(record));
    let observation: String = shown["steps"][0]["observation"]
        .as_array()
        .expect("pieces")
        .iter()
        .map(|piece| piece[0].as_str().expect("text"))
        .collect();
    assert_eq!(observation, record["steps"][0]["observation"].as_str().expect("text").trim_end());
}

/// The text of the elements between two marks, without tags.
fn words(html: &str) -> String {
    let texts = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    texts.collect::<String>().replace("&lt;", "<")
}

#[test]
fn the_first_screen_has_the_figures_of_compare_and_what_differs() {
    let dir = WorkDir::new();
    let source = repository("prompts/hotpotqa.toml").replacen("react = \"\"\"\n", "react = \"\"\"\nNever guess.\n", 1);
    dir.write("mine.toml", source);
    dir.run(&["--method", "cot,react", "--out", "methods"]).ok();
    dir.run(&["--prompt", "prompts/hotpotqa.toml,mine.toml", "--limit", "6", "--out", "prompts2"]).ok();
    dir.wikitrail(&["report", "methods", "--out", "methods.html"]).ok();
    let page = dir.read("methods.html");
    assert!(page.contains("<title>methods – wikitrail</title>"));
    let scores = between(&page, "id=\"scores\"", "id=\"differences\"");
    let rows: Vec<&str> =
        scores.split("<th scope=\"row\">").skip(1).map(|row| row.split('<').next().unwrap_or("")).collect();
    assert_eq!(rows, ["react", "cot"], "the best first");
    let classes = between(&page, "id=\"why\"", "</thead>");
    assert!(!classes.contains(">declined<"), "no column without values");
    let pair = dir.wikitrail(&["compare", "methods", "--json"]).ok().json()["metrics"][0]["pairs"][0].clone();
    let number = |name: &str| pair[name].as_f64().unwrap_or_else(|| panic!("{name}"));
    let points = |share: f64| format!("{:.1}", 100.0 * share).replace('-', "−");
    assert_eq!(between(&page, "<h1>", "</h1>"), "react beats cot");
    assert_eq!(between(&page, "class=\"big\">", "<"), format!("+{} points EM", points(number("difference"))));
    let [low, high] = ["low", "high"].map(|end| pair["interval"][end].as_f64().expect("an end"));
    let facts = words(between(&page, "class=\"big\">", "<svg"));
    assert!(facts.contains(&format!("95 % interval {} to {}", points(low), points(high))), "{facts}");
    let trust = words(between(&page, "class=\"trust\">", "</ul>"));
    let counts = ["only_a", "only_b"].map(|name| pair["tests"]["mcnemar"][name].as_u64().expect("a count"));
    assert!(trust.starts_with(&format!("{} questions won by react, {} lost", counts[1], counts[0])), "{trust}");
    assert!(trust.contains(&format!("60 questions: {} points EM", points(number("mde")))), "{trust}");
    assert!(page.contains("<li class=\"ok\">smallest detectable difference"), "the difference was found");
    dir.wikitrail(&["report", "prompts2", "--out", "prompts2.html"]).ok();
    let page = dir.read("prompts2.html");
    assert!(between(&page, "<h1>", "</h1>").starts_with("No best variant: hotpotqa and mine are not distinguishable"));
    assert!(
        !page.contains("<li class=\"ok\">smallest detectable") && !page.contains("<li class=\"ok\">0 questions differ")
    );
    assert!(between(&page, "class=\"diff\"", "</pre>").contains("<ins>+ Never guess.</ins>"));
    let digest = dir.manifest("prompts2")["variants"][1]["prompt_sha256"].as_str().expect("a digest").to_owned();
    let whole = between(&page, &format!("<details id=\"prompt-{}\">", &digest[..12]), "</details>");
    assert!(whole.contains("Never guess.") && page.contains(&format!("href=\"#prompt-{}\"", &digest[..12])));
}

#[test]
fn what_was_not_measured_is_said_above_the_verdict() {
    let dir = WorkDir::new();
    let dead = ["--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1", "--model-attempts", "1"];
    dir.run(&[&dead[..], &["--give-up-after", "off", "--limit", "3", "--quiet", "--out", "dead"]].concat());
    dir.wikitrail(&["report", "dead", "--out", "dead.html"]).ok();
    let page = dir.read("dead.html");
    let (above, below) = page.split_once("<h1>").expect("a heading");
    assert!(above.contains("3 of 3 questions of main") && above.contains("data-show=\"unmeasured\""), "a warning");
    assert!(below.starts_with("Nothing was measured: "), "{}", &below[..200]);
    let overview = between(&page, "id=\"overview\"", "id=\"question\"");
    assert!(!overview.contains("<svg"), "no empty chart");
    let own = &table(&page)["variants"][0];
    assert_eq!((own["unmeasured"].to_string(), own["cut"].to_string()), ("[1,1,1]".to_owned(), "[0,0,0]".to_owned()));
}

#[test]
fn the_policy_allows_this_script_and_this_style_and_nothing_else() {
    let (_dir, page) = two(&[]);
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\">").replace("&#39;", "'");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("connect-src"), "{policy}");
    for (open, close) in [("<script type=\"module\">", "</script>"), ("<style>", "</style>")] {
        use sha2::{Digest as _, Sha256};
        let digest = STANDARD.encode(Sha256::digest(between(&page, open, close)));
        assert!(policy.contains(&format!("'sha256-{digest}'")), "{open}");
    }
    for address in ["src=", "href=\"http", "url(", "@import", " style=", " onclick"] {
        let (markup, _) = page.split_once("<script").expect("scripts");
        assert!(!markup.contains(address), "{address}");
    }
}

/// The modules are joined into one script, so no two of them may have a name in common.
#[test]
fn no_two_scripts_share_a_name_and_none_writes_markup() {
    let document = repository("src/analysis/report/page/document.rs");
    // The list of runs has a script of its own.
    let (mut names, mut count) = (BTreeSet::new(), 1);
    for module in document.split("include_str!(\"").skip(1).filter_map(|rest| rest.split_once(".js\")")) {
        let text = repository(&format!("src/analysis/report/page/{}.js", module.0));
        count += 1;
        for banned in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "setAttribute(\"on",
        ] {
            assert!(!text.contains(banned), "{}: {banned}", module.0);
        }
        for line in text.lines() {
            let line = line.strip_prefix("export ").unwrap_or(line).trim_start_matches("async ");
            let name = ["function ", "const ", "let ", "class "].iter().find_map(|word| line.strip_prefix(word));
            let Some(name) = name else { continue };
            let name: String = name.chars().take_while(|c| c.is_alphanumeric() || "_$".contains(*c)).collect();
            assert!(names.insert(name.clone()), "{} and another module: {name}", module.0);
        }
    }
    let files = std::fs::read_dir(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/analysis/report/page"))
        .expect("a folder");
    let scripts =
        files.filter(|file| file.as_ref().is_ok_and(|file| file.path().extension().is_some_and(|end| end == "js")));
    assert_eq!(count, scripts.count(), "every module is part of the page");
}

#[test]
fn variants_are_called_by_what_differs_on_the_page_and_in_the_plan() {
    let dir = WorkDir::new();
    let settings = "protocol = [\"robust\"]\ntemperature = [0, 0.7]\nmax_steps = [3, 4]\n";
    let baseline = "robust/temperature=0/max_steps=3";
    let head = format!("name = \"x\"\nbaseline = \"{baseline}\"\ndataset = \"datasets/sample.jsonl\"\n");
    dir.write("x.toml", format!("{head}[matrix]\n{settings}"));
    let plan = dir.run(&["x.toml", "--dry-run", "--limit", "4"]).ok().stdout;
    assert!(plan.matches(" t=0.7/steps=4 ").count() == 2 && !plan.contains("robust/"), "{plan}");
    dir.run(&["x.toml", "--limit", "4", "--quiet", "--out", "x"]).ok();
    dir.wikitrail(&["report", "x", "--out", "x.html"]).ok();
    let page = dir.read("x.html");
    let variant = &meta(&page)["variants"][0];
    assert_eq!((&variant["name"], &variant["variant"]), (&"t=0/steps=3".into(), &baseline.into()));
    assert_eq!(variant["target"], format!("x@{baseline}"));
    let scores = between(&page, "id=\"scores\"", "<div class=\"buttons\"");
    assert!(scores.contains(&format!("<th scope=\"row\" title=\"{baseline}\">t=0/<wbr>steps=3</th>")), "{scores}");
    let shown = page.split("<script").next().expect("markup");
    let whole = shown.match_indices(baseline).map(|(at, _)| shown[..at].chars().next_back());
    // The pointer shows it, the settings have it in brackets, and their JSON as it is.
    assert!(
        whole.clone().all(|before| [Some('"'), Some('('), Some(';')].contains(&before)),
        "{:?}",
        whole.collect::<Vec<_>>()
    );
    assert_eq!(between(&page, "All 3 pairs", "</table>").matches("− t=0/<wbr>steps=3<").count(), 3, "the baseline");
}

/// Runs whose every file is named by its whole path, in a folder with a blank in its name; one run cannot replay the other.
fn runs_by_whole_paths(dir: &WorkDir, home: &str) {
    for name in ["datasets/sample.jsonl", "datasets/sample-wiki/articles.jsonl", "prompts/hotpotqa.toml"] {
        dir.write(&format!("{home}/{name}"), repository(name));
    }
    let source = repository("prompts/hotpotqa.toml").replacen("react = \"\"\"\n", "react = \"\"\"\nNever guess.\n", 1);
    dir.write(&format!("{home}/prompts/mine.toml"), source);
    dir.write(&format!("{home}/ids.txt"), "sample-001\nsample-002\nsample-003\n");
    dir.write(&format!("{home}/page.txt"), "George de Hevesy won it in 1943.");
    let path = |name: &str| dir.path(&format!("{home}/{name}")).display().to_string();
    let run = |flags: &[&str]| {
        let prompts = format!("--prompt={},{}", path("prompts/hotpotqa.toml"), path("prompts/mine.toml"));
        let (wiki, ids, data) =
            (format!("corpus:{}", path("datasets/sample-wiki")), path("ids.txt"), path("datasets/sample.jsonl"));
        dir.run(&[&[&*data, &prompts, "--ids", &ids, "--wiki", &wiki, "--quiet"][..], flags].concat())
    };
    run(&["--protocol", "robust,react-paper", "--record", &path("tape"), "--out", &path("one/run")]).ok();
    assert_eq!(
        run(&["--protocol", "react-paper", "--max-steps", "9", "--replay", &path("tape"), "--out", &path("two/run")])
            .code,
        Some(4)
    );
    let target = format!("{}@hotpotqa/react-paper:sample-001", path("one/run"));
    let edit = ["--at", "2", "--observation-file", &path("page.txt"), "--prompt", &path("prompts/mine.toml")];
    dir.wikitrail(&[&["branch", &target, "--quiet", "--out", &path("one/branch")], &edit[..]].concat()).ok();
}

#[test]
fn no_path_of_the_author_s_disk_is_in_the_file() {
    let (dir, home) = (WorkDir::new(), "Ada Lovelace/results");
    runs_by_whole_paths(&dir, home);
    let whole = dir.path(home).display().to_string();
    dir.wikitrail(&["report", &whole, "--out", "page.html", "--figures", "charts"]).ok();
    let page = dir.read("page.html");
    let charts = std::fs::read_dir(dir.path("charts")).expect("charts");
    let charts = charts.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("a chart"));
    let packed = [meta(&page), table(&page)].into_iter().chain(chunks(&page)).map(|data| data.to_string());
    for text in std::iter::once(page.clone()).chain(packed).chain(charts) {
        for (folder, end) in [(&*dir.root().display().to_string(), 300), ("Ada Lovelace", 300)] {
            let found =
                text.find(folder).map(|at| text[at.saturating_sub(100)..].chars().take(end).collect::<String>());
            assert_eq!(found, None, "{folder}");
        }
    }
    // What the paths lead to is named.
    assert!(page.contains("--prompt=hotpotqa.toml,mine.toml") && page.contains("corpus:sample-wiki"));
    let variants = meta(&page)["variants"].clone();
    let of = |name: &str| {
        let found = variants.as_array().expect("variants").iter().find(|variant| variant["name"] == name);
        found.unwrap_or_else(|| panic!("{variants}"))["target"].clone()
    };
    assert_eq!(of("mine/robust"), "run@mine/robust");
    assert!(page.contains("the recording `tape` has no such model request"), "the reason");
}

#[test]
fn repairs_read_no_run_that_a_stranger_s_folder_names() {
    let dir = WorkDir::new();
    dir.run(&["--limit", "6", "--quiet", "--out", "mine/r"]).ok();
    let edit = ["--wrong", "--at", "2", "--with", "gold-page", "--quiet", "--out", "theirs/b"];
    dir.wikitrail(&[&["branch", "mine/r"], &edit[..]].concat()).ok();
    let section = |args: &[&str]| {
        dir.wikitrail(&[&["report"], args, &["--out", "p.html", "--force"]].concat()).ok();
        between(&dir.read("p.html"), "<section id=\"branches\">", "</section>").to_owned()
    };
    let whole = section(&["theirs/b"]);
    assert!(words(&whole).contains("The edit: action edited by rule gold-page, at step 2, in "), "{whole}");
    assert!(whole.contains("<td>search</td>") && whole.contains("?left=control&amp;right=edited\">sample-"), "{whole}");
    // The same run outside of the folder that the person works in.
    let elsewhere = WorkDir::new();
    elsewhere.run(&["--limit", "6", "--quiet", "--out", "r"]).ok();
    let outside = elsewhere.path("r").display().to_string();
    let records =
        dir.read("theirs/b/trajectories.jsonl").replace("\"run\":\"mine/r\"", &format!("\"run\":\"{outside}\""));
    dir.write("theirs/b/trajectories.jsonl", records);
    let alone = section(&["theirs/b"]);
    assert!(words(&alone).contains("Name both: wikitrail report r b") && !alone.contains("<td>search</td>"), "{alone}");
    assert!(!alone.contains(&outside));
    assert!(section(&["theirs/b", &outside]).contains("<td>search</td>"), "it was named");
}

#[test]
fn what_is_left_out_is_said() {
    let (dir, page) = two(&["--episodes", "none"]);
    assert_eq!((chunks(&page).len(), meta(&page)["left_out"].as_u64()), (0, Some(10)));
    assert!(page.contains("The steps of 10 questions are not in this file"));
    dir.wikitrail(&["report", "two", "--episodes", "flips", "--out", "flips.html"]).ok();
    let flips = dir.read("flips.html");
    let differing = table(&flips)["chunk"].as_array().expect("chunks").iter().filter(|chunk| !chunk.is_null()).count();
    assert_eq!(
        chunks(&flips).iter().map(|chunk| chunk.as_object().expect("questions").len()).sum::<usize>(),
        differing
    );
    assert!(differing > 0 && differing < 10, "{differing}");
    let said = dir.wikitrail(&["report", "two", "--max-size", "1kB", "--out", "small.html"]).ok();
    assert!(said.stderr.contains("without the steps of 10 questions"), "{}", said.stderr);
    let refused = dir.wikitrail(&["report", "two", "--max-size", "big"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("kB, MB or GB"), "{}", refused.stderr);
}

#[test]
fn hostile_texts_stay_texts() {
    let dir = WorkDir::new();
    let evil = "</script><img src=x onerror=alert(1)><!--\u{202e}";
    let line = serde_json::json!({"id": evil, "question": format!("Who? {evil}"), "answers": [evil], "type": evil});
    dir.write("evil.jsonl", format!("{line}\n"));
    dir.run(&["evil.jsonl", "--method", "react,cot", "--out", "evil"]);
    dir.wikitrail(&["report", "evil", "--out", "evil.html"]).ok();
    let page = dir.read("evil.html");
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));
    assert_eq!(page.matches("</script>").count(), page.matches("<script").count());
    assert_eq!(table(&page)["id"][0], evil, "the id is whole, for the address");
}

#[test]
fn a_run_writes_its_page_and_several_datasets_have_sections_of_their_own() {
    let dir = WorkDir::new();
    let said = dir.wikitrail(&["run", "--limit", "3", "--out", "results/a", "--report", "a.html"]).ok();
    assert!(said.stderr.contains("3 questions written to a.html"), "{}", said.stderr);
    let page = dir.read("a.html");
    assert!(!page.contains("id=\"differences\"") && page.contains("id=\"scores\""), "one variant");
    dir.run(&["datasets/sample-claims.jsonl", "--limit", "3", "--out", "results/b"]);
    dir.wikitrail(&["report", "results", "--out", "both.html", "--figures", "charts"]).ok();
    let page = dir.read("both.html");
    assert!(page.contains("id=\"scores-1\""), "the second dataset");
    assert_eq!(meta(&page)["datasets"].as_array().expect("datasets").len(), 2);
    assert!(dir.read("charts/scores-1.svg").starts_with("<svg ") && dir.path("charts/scores-2.svg").exists());
    assert!(!dir.path("charts/cost-1.svg").exists(), "no chart of one point");
    dir.wikitrail(&["report", "nothing"]).refused(3, &["nothing", "hint:"]);
}

#[test]
fn an_unfinished_run_says_so() {
    let dir = WorkDir::new();
    dir.run(&["--limit", "4", "--out", "cut"]);
    let path = dir.path("cut/trajectories.jsonl");
    let text = std::fs::read_to_string(&path).expect("records");
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&path, format!("{}\n{}\n{}", lines[0], lines[1], &lines[2][..50])).expect("written");
    let said = dir.wikitrail(&["report", "cut", "--out", "cut.html"]).ok();
    assert!(said.stderr.contains("left out"), "{}", said.stderr);
    assert!(dir.read("cut.html").contains("2 of 4 episodes are recorded"));
}

#[test]
fn no_output_takes_the_place_of_a_run_s_file() {
    let dir = WorkDir::new();
    dir.run(&["--limit", "2", "--out", "one"]);
    let before = dir.read("one/trajectories.jsonl");
    for name in ["trajectories.jsonl", "manifest.json", "annotations.jsonl"] {
        let out = format!("one/{name}");
        dir.wikitrail(&["report", "one", "--out", &out]).refused(2, &["does not end in .html"]);
        let export = ["export", "one", "--out", &out, "--force"];
        dir.wikitrail(&export).refused(2, &["a file of a run"]);
    }
    assert_eq!(dir.read("one/trajectories.jsonl"), before);
    dir.wikitrail(&["report", "one", "--out", "one/page.html"]).ok();
    let text = dir.read("one/manifest.json");
    let digest = dir.manifest("one")["variants"][0]["prompt_sha256"].as_str().expect("a digest").to_owned();
    dir.write("secret.txt", "TOP SECRET");
    dir.write("one/manifest.json", text.replace(&digest, "../../secret"));
    let shown = dir.wikitrail(&["show", "one", "sample-001", "--prompt", "--step", "1"]);
    assert!(!shown.stdout.contains("SECRET") && shown.code != Some(0), "{}", shown.stdout);
}

#[test]
fn what_answers_alone_do_not_say_is_left_out() {
    let dir = WorkDir::new();
    for (file, word) in [("d.jsonl", "like"), ("e.jsonl", "unlike")] {
        let row = |n: usize| {
            format!(
                "{}\n",
                json!({"id": format!("q{n}"), "question": format!("{word} {n}?"), "answers": ["yes"], "cluster": (n / 2).to_string()})
            )
        };
        dir.write(file, (0..4).map(row).collect::<Vec<_>>().concat());
    }
    for (dataset, run) in [("d.jsonl", "one"), ("e.jsonl", "other")] {
        dir.run(&[dataset, "--method", "standard", "--quiet", "--out", run]).ok();
    }
    for (run, answers) in [("a", ["yes", "no"]), ("b", ["no", "yes"])] {
        dir.write("a.csv", format!("id,answer\nq0,{}\nq1,{}\nq2,yes\nq3,no\n", answers[0], answers[1]));
        let import = ["import", "answers", "a.csv", "--like", "one", "--variant", run, "--model", "m", "--out", run];
        dir.wikitrail(&import).ok();
    }
    dir.wikitrail(&["report", "a", "b", "--out", "p.html"]).ok();
    let page = dir.read("p.html");
    assert!(page.contains("Read the clearest flip") && !page.contains("they differ from step"));
    assert!(!page.contains("begun  ·") && page.contains(" · wikitrail "));
    // Two files with the same ids are named, both.
    let list = dir.wikitrail(&["list", "one", "other"]).ok();
    assert!(list.stdout.contains("d and e, EM over each variant's own questions"), "{}", list.stdout);
    let score = dir.wikitrail(&["score", "a"]).ok().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(score.contains("4 questions are in 2 clusters: intervals here ignore that"), "{score}");
}
