//! The page of `report` in a browser. `WIKITRAIL_PICTURES=FOLDER` keeps pictures of what the tests look at.

mod forked;
mod judged;
mod listed;
#[cfg(feature = "serve")]
mod live;
mod odd;

use crate::browser::Browser;
use crate::common::WorkDir;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A run of the sample under some flags, and its page.
fn page_of(flags: &[&str]) -> (WorkDir, PathBuf) {
    let dir = WorkDir::new();
    dir.run(&[&["--quiet", "--out", "run"], flags].concat()).ok();
    dir.wikitrail(&["report", "run", "--out", "page.html"]).ok();
    let page = dir.path("page.html");
    (dir, page)
}

const TWO: &[&str] = &["--method", "react,cot"];
const SIX: &[&str] = &["--protocol", "robust,qwen-agent,llama-index,go-blog,lagent,react-zh"];

/// `14 of 60 questions` as a number.
fn shown(browser: &mut Browser) -> usize {
    let count = browser.text(".count");
    count.split(' ').next().and_then(|n| n.replace(',', "").parse().ok()).unwrap_or_else(|| panic!("{count}"))
}

/// The questions of the run that `show` finds, by their ids.
fn ids_of(dir: &WorkDir, filter: &[&str]) -> Vec<String> {
    let lines = dir.wikitrail(&[&["show", "run", "--json"], filter].concat()).ok().lines();
    lines.iter().map(|line| line["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn every_section_is_there_and_the_filters_find_what_show_finds() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(TWO);
    browser.page(&page, "");
    for section in ["scores", "differences", "flips", "why", "questions", "settings"] {
        assert!(browser.text(&format!("#{section} h2")).len() > 3, "{section}");
    }
    assert!(browser.count("#overview svg[aria-label]") >= 4, "charts");
    assert!(browser.text(".verdict").contains("react"), "a verdict");
    assert_eq!(browser.text(".count"), "60 of 60 questions");

    // A number of the matrix lists its questions.
    let flipped: Option<usize> =
        browser.text("#flips button.cell").split_whitespace().next().and_then(|n| n.parse().ok());
    browser.click("#flips button.cell");
    browser.until("location.hash.includes('show=flip')");
    assert_eq!(Some(shown(&mut browser)), flipped);
    let class = browser.eval(
        "(() => { const cell = [...document.querySelectorAll('#why button.cell')].find((own) => own.dataset.class);
           cell.click(); return [`${parseInt(cell.innerText)}`, cell.dataset.variant, cell.dataset.class]; })()",
    );
    browser.until("location.hash.includes('class=')");
    let [number, variant, class] = [0, 1, 2].map(|at| class[at].as_str().expect("a text").to_owned());
    let known = ids_of(&dir, &["--variant", &variant, "--class", &class]);
    assert_eq!((shown(&mut browser), number.parse().ok()), (known.len(), Some(known.len())));

    // The controls.
    browser.page(&page, "#/");
    browser.choose("show", "wrong");
    browser.choose("variant", "cot");
    assert_eq!(shown(&mut browser), ids_of(&dir, &["--variant", "cot", "--wrong"]).len());
    browser.choose("variant", "");
    browser.choose("show", "differ");
    let differing = shown(&mut browser);
    let column = |variant: &str| ids_of(&dir, &["--variant", variant, "--wrong"]);
    let (react, cot) = (column("react"), column("cot"));
    let either =
        react.iter().filter(|id| !cot.contains(id)).count() + cot.iter().filter(|id| !react.contains(id)).count();
    assert_eq!(differing, either);
    assert!(
        browser.eval("location.hash").as_str().is_some_and(|hash| hash == "#/?show=differ"),
        "the address has the filter"
    );
    browser.eval("document.querySelector('#search').focus()");
    browser.keys("aida THEATRE");
    browser.until("document.querySelector('.count').innerText.startsWith('1 of 60')");
    browser.until("location.hash.includes('q=aida')");
    browser.keys("zzz");
    assert!(browser.text(".rows").contains("No question matches"), "an empty list says so");
    browser.is_clean();
}

#[test]
fn keys_and_addresses_keep_the_filter() {
    let Some(mut browser) = Browser::open() else { return };
    let (_dir, page) = page_of(TWO);
    browser.page(&page, "#/?show=differ");
    let listed = shown(&mut browser);
    browser.keys("jj");
    browser.key("Enter", "\r");
    browser.until("document.querySelector('#question h1') !== null");
    assert_eq!(browser.text(".walk .where"), format!("2 of {listed}"));
    assert_eq!(browser.eval("document.activeElement.tagName"), "H1", "the heading has the focus");
    browser.keys("j");
    browser.until(&format!("document.querySelector('.walk .where').innerText === '3 of {listed}'"));
    browser.keys("k");
    browser.until(&format!("document.querySelector('.walk .where').innerText === '2 of {listed}'"));
    let second = browser.eval("location.hash").as_str().expect("an address").to_owned();
    assert!(second.starts_with("#/q/") && second.ends_with("?show=differ"), "{second}");
    browser.keys("u");
    browser.until("!document.querySelector('#overview').hidden");
    assert_eq!((shown(&mut browser), browser.eval("location.hash")), (listed, json!("#/?show=differ")));
    let row = "document.activeElement.closest('tr')?.dataset.place";
    assert_eq!(browser.eval(row), "1", "the row that was open has the focus");
    browser.keys("/");
    assert_eq!(browser.eval("document.activeElement.id"), "search");
    browser.keys("u?");
    assert_eq!(browser.eval("document.activeElement.value"), "u?", "fields take their keys themselves");

    // The help, and the switch.
    browser.eval("document.activeElement.blur()");
    browser.keys("?");
    assert_eq!(browser.eval("document.querySelector('#help').open"), true);
    browser.is_accessible();
    browser.click("#keys-on");
    browser.click("#help button");
    browser.keys("?");
    assert_eq!(browser.eval("document.querySelector('#help').open"), false, "switched off");

    // A link opens cold, and the history goes both ways.
    browser.page(&page, &second);
    assert_eq!(browser.text(".walk .where"), format!("2 of {listed}"));
    browser.click(".walk .next");
    browser.until(&format!("document.querySelector('.walk .where').innerText === '3 of {listed}'"));
    browser.eval("history.back()");
    browser.until(&format!("document.querySelector('.walk .where').innerText === '2 of {listed}'"));
    browser.eval("history.forward()");
    browser.until(&format!("document.querySelector('.walk .where').innerText === '3 of {listed}'"));
    browser.page(&page, "#/q/no%2Fsuch?show=differ");
    assert!(browser.text("#question h1").contains("no/such"));
    browser.page(&page, "#/?variant=nobody");
    assert!(browser.text("#list .notice").contains("nobody"));
    browser.is_clean();
}

#[test]
fn a_question_has_the_steps_of_show_from_the_first_that_differs() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(SIX);
    browser.page(&page, "#/q/sample-003?left=robust&right=lagent");
    let sides = ["robust", "lagent"].map(|name| {
        let shown = dir.wikitrail(&["show", &format!("run@{name}"), "sample-003", "--json"]).ok().lines();
        shown[0]["steps"].as_array().expect("steps").clone()
    });
    let said = browser.text(".divergence");
    let first = said.split("step ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    let first = first.unwrap_or_else(|| panic!("{said}"));
    assert!(first > 1, "{said}");
    assert_eq!(browser.count(".shared .step"), first - 1);
    assert!(browser.text(".shared summary").ends_with("the same"));
    for (at, steps) in sides.iter().enumerate() {
        let column = format!(".columns > section:nth-child({}) .step", at + 1);
        assert_eq!(browser.count(&column), steps.len() - (first - 1));
        assert_eq!(browser.count(&format!("{column}.divergent")), 1);
    }
    let tops = browser.eval("[...document.querySelectorAll('.columns .step.divergent')].map((own) => own.offsetTop)");
    assert_eq!(tops[0], tops[1], "side by side");
    // What was read, as it is recorded, with gold sentences and answers marked.
    let thought = sides[0][0]["thought"].as_str().expect("a thought").trim();
    assert_eq!(browser.eval("document.querySelector('.step .thought').textContent"), thought);
    let observation = sides[0][0]["observation"].as_str().expect("a text").trim_end();
    assert_eq!(browser.eval("document.querySelector('.step .observation').textContent"), observation);
    assert!(browser.count(".observation mark.sentence") > 0 && browser.count(".observation mark.answer") > 0);
    assert!(browser.count(".step .badge") > 0, "a gold page");
    let odd = "/false|null|undefined|object|NaN/.exec(document.querySelector('#question').innerText)?.[0] ?? ''";
    assert_eq!(browser.eval(odd), "", "values that are no texts");
    // As Markdown for an issue or a paper: no words for screen readers, both sides with all their steps.
    let copied = "(async () => { let text = ''; navigator.clipboard.writeText = async (own) => { text = own; };
        document.querySelector('.line .copy').click(); return text; })()";
    let copied = browser.eval(copied);
    let copied = copied.as_str().expect("a text");
    assert!(
        copied.starts_with("# In what year was the theatre")
            && copied.contains("| robust | right | 1971 | 1 | 1.00 | 7 |"),
        "{copied}"
    );
    assert!(copied.contains(&format!("robust and lagent differ from step {first} on")), "{copied}");
    assert_eq!(copied.matches("### Step ").count(), sides[0].len() + sides[1].len());
    assert!(!copied.contains('✓') && copied.contains(observation), "{copied}");
    // The command prints the same two.
    let command = browser.text(".command code");
    assert_eq!(command, "wikitrail show run@robust:sample-003 run@lagent:sample-003");
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    assert!(dir.wikitrail(&args).ok().stdout.contains("robust"));
    // Every variant is in the table, equal ones together.
    let names =
        browser.eval("[...document.querySelectorAll('.answers th[scope=row]')].map((own) => own.innerText).join(', ')");
    let mut names: Vec<&str> = names.as_str().expect("names").split(", ").collect();
    names.sort_unstable();
    assert_eq!(names, ["go-blog", "lagent", "llama-index", "qwen-agent", "react-zh", "robust"]);
    // The shown ones come first and are marked; a click on another row shows it on the right, a button on the left.
    let shown = "[...document.querySelectorAll('.answers tr.shown th')].map((own) => own.innerText).join()";
    assert_eq!(browser.eval(shown), "robust,lagent");
    browser.eval("[...document.querySelectorAll('.answers th')].find((own) => own.innerText === 'react-zh').click()");
    browser.until("location.hash.includes('right=react-zh')");
    browser.until(&format!("({shown}) === 'robust,react-zh'"));
    let left = "document.querySelector('.answers tr:nth-child(2) input[name=left]')";
    browser.eval(&format!("{left}.focus(); {left}.click()"));
    browser.until(&format!("({shown}) === 'react-zh,robust'"));
    browser.until("document.activeElement.name === 'left'");
    browser.is_clean();
}

#[test]
fn the_first_step_that_differs_is_on_the_first_screen_and_keys_walk_the_steps() {
    let Some(mut browser) = Browser::open() else { return };
    for flags in [TWO, SIX] {
        let (_dir, page) = page_of(flags);
        for (width, height) in [(1280, 720), (390, 844)] {
            browser.size(width, height);
            for id in ["sample-003", "sample-004"] {
                browser.page(&page, &format!("#/q/{id}"));
                let top = browser.eval("document.querySelector('.step.divergent').getBoundingClientRect().top");
                assert!(top.as_f64().is_some_and(|top| top < f64::from(height) - 100.0), "{id} at {width}: {top}");
                let lines = browser.eval("document.querySelector('.question-head').offsetHeight");
                assert!(lines.as_u64().is_some_and(|lines| lines < 80), "two lines: {lines}");
                let broken = "[...document.querySelectorAll('.answers .wrong')].some((own) => own.getBoundingClientRect().height > 30)";
                assert_eq!(browser.eval(broken), false, "a broken word: {id} at {width}");
            }
        }
        browser.size(1280, 720);
        browser.page(&page, "#/q/sample-004");
        let step =
            "[document.activeElement.className, document.activeElement.querySelector('h3')?.firstChild.textContent]";
        browser.keys("d");
        let first = browser.eval(step);
        assert_eq!(first[0], "step divergent");
        browser.keys("n");
        assert_ne!(browser.eval(step), first);
        browser.keys("np");
        let top = "document.querySelector('.question-head').getBoundingClientRect().top";
        assert_eq!(browser.eval(top), 0, "the head stays");
        browser.keys("p");
        assert_eq!(browser.eval(step), first);
        browser.click(".question-head .all");
        let whole = "(() => { const own = document.querySelector('#question h1'); return own.scrollWidth <= own.clientWidth; })()";
        assert_eq!(browser.eval(whole), true, "the whole question");
        browser.is_clean();
        browser.is_accessible();
    }
}

#[test]
fn a_button_opens_the_head_of_a_question_only_if_it_is_cut() {
    let Some(mut browser) = Browser::open() else { return };
    let (_dir, page) = page_of(&["--limit", "2"]);
    for (width, cut) in [(1280, false), (320, true)] {
        browser.size(width, 720);
        browser.page(&page, "#/q/sample-002");
        browser.until("document.querySelector('#question h1') !== null");
        // The first look at the layout comes after a frame.
        browser.until(&format!("document.querySelector('.question-head .all').hidden !== {cut}"));
    }
    browser.click(".question-head .all");
    browser.until("document.querySelector('.question-head .all').getAttribute('aria-expanded') === 'true'");
    assert_eq!(browser.eval("document.querySelector('.question-head .all').hidden"), false, "it folds the head again");
}

#[test]
fn the_answers_of_all_repeats_are_there_and_a_click_chooses_one() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(&["--method", "react,cot", "--repeats", "3"]);
    browser.page(&page, "#/q/sample-004");
    let rows = "[...document.querySelectorAll('[aria-label=\"Answers of all repeats\"] tbody tr')]";
    assert_eq!(browser.eval(&format!("{rows}.length")), 3);
    let records = dir.records("run");
    for record in records.iter().filter(|record| record["id"] == "sample-004") {
        let (repeat, answer) = (&record["repeat"], record["answer"].as_str().expect("an answer"));
        let column = if record["variant"] == "react" { 1 } else { 2 };
        let cell = browser.eval(&format!("{rows}[{repeat}].cells[{column}].innerText"));
        let steps = record["steps"].as_array().map_or(0, Vec::len);
        let cell = cell.as_str().expect("a text");
        assert!(cell.contains(answer) && cell.contains(&format!("{steps} step")), "{cell}");
    }
    assert_eq!(browser.eval(&format!("{rows}.findIndex((own) => own.ariaCurrent)")), 0);
    browser.eval(&format!("{rows}[2].querySelector('button').focus()"));
    browser.key("Enter", "\r");
    browser.until("location.hash.includes('repeat=2')");
    browser.until(&format!("{rows}.findIndex((own) => own.ariaCurrent) === 2"));
    browser.until("document.activeElement.dataset.choice === 'repeat 2'");
    browser.is_clean();
    browser.is_accessible();
}

#[test]
fn it_fits_every_window_in_light_and_dark_and_is_accessible() {
    let Some(mut browser) = Browser::open() else { return };
    for (name, flags) in [("two", TWO), ("six", SIX)] {
        let (_dir, page) = page_of(flags);
        for (width, height) in [(1280, 900), (390, 844)] {
            for scheme in ["light", "dark"] {
                browser.size(width, height);
                browser.media("", scheme);
                for (view, hash) in [("overview", ""), ("question", "#/q/sample-003")] {
                    browser.page(&page, hash);
                    browser.is_clean();
                    browser.is_accessible();
                    if view == "overview" {
                        let read = "document.querySelector('.rows td.question').clientWidth > 300";
                        assert_eq!(browser.eval(read), true, "room for the questions");
                    }
                    let ground = browser.eval("getComputedStyle(document.body).backgroundColor");
                    assert_eq!(ground == "rgb(255, 255, 255)", scheme == "light", "{ground}");
                    browser.picture(&format!("{name}-{view}-{width}-{scheme}"));
                }
            }
        }
        browser.click("#theme");
        assert_eq!(
            browser.eval("getComputedStyle(document.body).backgroundColor"),
            "rgb(255, 255, 255)",
            "by the button"
        );
        browser.page(&page, "");
        assert_eq!(browser.eval("document.documentElement.dataset.theme"), "light", "the choice is kept");
        browser.eval("localStorage.clear()");
    }
}

#[test]
fn it_prints_whole_and_light() {
    let Some(mut browser) = Browser::open() else { return };
    let (_dir, page) = page_of(TWO);
    browser.page(&page, "#/?show=differ");
    let listed = shown(&mut browser);
    browser.media("print", "dark");
    browser.eval("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.eval("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
    assert_eq!(browser.count(".rows tr[data-place]"), listed);
    assert!(browser.text(".on-paper").contains(&format!("{listed} of 60 questions match")));
    let cut = "[...document.querySelectorAll('main *')].filter((own) => own.checkVisibility() && own.scrollHeight > own.clientHeight + 1
        && getComputedStyle(own).overflowY !== 'visible' && own.clientHeight > 1).map((own) => own.className)";
    assert_eq!(browser.eval(cut), json!([]), "nothing is cut");
    assert_eq!(browser.eval("document.querySelector('header.top').checkVisibility()"), false);
    browser.picture("print-overview");
    browser.eval("dispatchEvent(new Event('afterprint'))");
    assert!(browser.pdf().starts_with(b"%PDF"));
    browser.media("", "light");
    let (_dir, page) = page_of(SIX);
    browser.page(&page, "#/q/sample-003?left=robust&right=lagent");
    browser.media("print", "light");
    browser.eval("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.eval("document.querySelector('#overview').checkVisibility()"), false, "the open question only");
    assert!(browser.count(".shared .step") > 0 && browser.count("details:not([open], .judge)") == 0, "folds are open");
    browser.picture("print-question");
}

#[test]
fn without_scripts_the_figures_are_there() {
    let Some(mut browser) = Browser::open() else { return };
    let (_dir, page) = page_of(SIX);
    browser.without_scripts();
    browser.go(&crate::browser::address(&page, ""));
    browser.is_clean();
    assert!(browser.count("svg[aria-label]") > 10 && browser.count("table") >= 5);
    let text = browser.text("#questions");
    assert!(text.contains("sample-003") && text.contains("1971"), "{text}");
    browser.picture("six-without-scripts-1280");
}

/// How long a large page takes; measured, not judged.
#[test]
fn a_large_page_opens() {
    let Some(mut browser) = Browser::open() else { return };
    let (dir, page) = page_of(SIX);
    let copies = std::env::var("WIKITRAIL_COPIES").ok().and_then(|n| n.parse().ok()).unwrap_or(10);
    dir.write("large.html", odd::repeated(&std::fs::read_to_string(page).expect("a page"), copies));
    let begun = std::time::Instant::now();
    browser.page(&dir.path("large.html"), "");
    let ready = begun.elapsed();
    let all = 60 * copies;
    assert_eq!(shown(&mut browser), all);
    let timed = |browser: &mut Browser, script: &str| -> Value {
        browser.eval(&format!("(async () => {{ const begun = performance.now(); {script}; return Math.round(performance.now() - begun); }})()"))
    };
    let typed = timed(
        &mut browser,
        "const field = document.querySelector('#search'); field.value = 'theatre aida'; field.dispatchEvent(new Event('input')); document.body.offsetHeight",
    );
    let wait = "await new Promise((done) => { const look = () => document.querySelector('#question h1')?.innerText && document.title !== before ? done() : setTimeout(look, 1); look(); })";
    let opened = timed(
        &mut browser,
        &format!(
            "const before = document.title; document.querySelector('.rows td a').click(); {wait}; document.body.offsetHeight"
        ),
    );
    let next = timed(
        &mut browser,
        "const before = location.hash; document.querySelector('.walk .next').click(); await new Promise((done) => setTimeout(done, 0)); document.body.offsetHeight",
    );
    browser.eval("document.querySelector('.walk .up').click()");
    browser.until("!document.querySelector('#overview').hidden");
    assert!(browser.count(".rows tr[data-place]") < 100, "only the rows in sight are there");
    let size = std::fs::metadata(dir.path("large.html")).expect("a file").len();
    println!(
        "{all} questions, {} kB: ready in {ready:?}, filter {typed} ms, a question {opened} ms, the next {next} ms",
        size / 1000
    );
    browser.is_clean();
}
