//! What experiment files mean, and every way in which they can be wrong.

use super::file::PublishedFigure;
use super::{Assignment, Draft, ExperimentFile, Kind, value_text};

fn read(text: &str) -> Result<ExperimentFile, String> {
    ExperimentFile::recorded("x.toml", text, &[]).map_err(|problems| format!("{problems}\nhint: {}", problems.hint()))
}

const HEAD: &str = "name = \"x\"\ndataset = \"d.jsonl\"\n";

fn variants(rest: &str) -> ExperimentFile {
    read(&format!("{HEAD}{rest}")).unwrap_or_else(|problems| panic!("{rest}\n{problems}"))
}

fn names(experiment: &ExperimentFile) -> Vec<&str> {
    experiment.variants.iter().map(|cell| cell.name.as_str()).collect()
}

fn words(draft: &Draft) -> String {
    draft.settings.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A setting as its flag.
fn word(Assignment { setting, value, .. }: &Assignment) -> String {
    if setting.kind == Kind::Switch { setting.flag() } else { format!("{}={}", setting.flag(), value_text(value)) }
}

#[test]
fn every_combination_is_a_cell_named_after_the_file_s_dimensions() {
    let experiment = variants(
        "repeats = 3\n[settings]\nmax_steps = 5\n[matrix]\nprompt = [\"prompts/a.toml\", \"p.json#key\"]\nmethod = [\"react\", \"act\"]\ntemperature = [0, 0.7]\n",
    );
    assert_eq!(experiment.repeats, 3);
    let cells = ["a/react", "a/act", "key/react", "key/act"];
    let expected = cells.map(|cell| ["0", "0.7"].map(|warm| format!("{cell}/temperature={warm}")));
    assert_eq!(names(&experiment), expected.concat());
    assert_eq!(words(&experiment.variants[5]), "--max-steps=5 --prompt=p.json#key --method=react --temperature=0.7");
    // A dimension that grows later leaves the names of what was there.
    let one = variants("[matrix]\nprotocol = [\"robust\"]\nmethod = [\"react\"]");
    assert_eq!(names(&one), ["robust/react"]);
    assert_eq!(names(&variants("")), ["main"]);
}

#[test]
fn a_direct_method_stands_once_whatever_the_protocols() {
    let experiment = variants(
        "[settings]\nmax_steps = 5\nsamples = 3\n[matrix]\nprotocol = [\"react-paper\", \"robust\"]\nmethod = [\"react\", \"cot\", \"cot-sc\"]\n",
    );
    assert_eq!(names(&experiment), ["react-paper/react", "cot", "cot-sc", "robust/react"]);
    assert_eq!((experiment.merged, experiment.excluded), (2, 0));
    // Nothing of the protocol is left, so that another order of protocols changes nothing.
    assert_eq!(words(&experiment.variants[1]), "--method=cot");
    assert_eq!(words(&experiment.variants[2]), "--samples=3 --method=cot-sc");
    let wikis = variants("[matrix]\nmethod = [\"cot\", \"react\"]\nwiki = [\"corpus:a/b\", \"api\"]\n");
    assert_eq!(names(&wikis), ["cot", "react/b", "react/api"]);
    assert_eq!(words(&wikis.variants[0]), "--method=cot --wiki=corpus:a/b");
}

#[test]
fn what_a_model_has_no_use_for_is_left_out_of_its_cell() {
    let experiment = variants(
        "[settings]\nbase_url = \"http://127.0.0.1:1/v1\"\n[matrix]\nmodel = [\"baseline\", \"openai:org/m\", { name = \"text\", model = \"openai:org/m\", completions = true }]\n",
    );
    assert_eq!(names(&experiment), ["baseline", "m", "text"]);
    assert_eq!(words(&experiment.variants[0]), "--model=baseline");
    assert_eq!(words(&experiment.variants[2]), "--base-url=http://127.0.0.1:1/v1 --model=openai:org/m --completions");
}

#[test]
fn options_go_to_their_protocols() {
    let experiment = variants(
        "[settings]\noption = { lagent = { labels = \"v0.1\" }, llama-index.variant = \"workflow\" }\n[matrix]\nprotocol = [\"robust\", \"lagent\", \"llama-index\"]\n[[include]]\nname = \"json\"\nprotocol = \"lagent\"\noption = { variant = \"json\" }\n",
    );
    let words: Vec<String> = experiment.variants.iter().map(words).collect();
    assert_eq!(
        words,
        [
            "--protocol=robust",
            "--option=labels=v0.1 --protocol=lagent",
            "--option=variant=workflow --protocol=llama-index",
            "--protocol=lagent --option=variant=json",
        ]
    );
}

#[test]
fn cells_are_included_and_excluded() {
    let experiment = variants(
        "baseline = \"plain\"\n[settings]\nmax_steps = 7\n[matrix]\nprotocol = [\"react-paper\", \"robust\", \"lagent\"]\nmethod = [\"react\", \"act\"]\n[[exclude]]\nprotocol = \"lagent\"\nmethod = [\"act\", \"cot\"]\n[[exclude]]\nprotocol = [\"robust\"]\n[[include]]\nname = \"plain\"\nprotocol = \"go-blog\"\nmax_steps = 3\n",
    );
    assert_eq!(names(&experiment), ["react-paper/react", "react-paper/act", "lagent/react", "plain"]);
    assert_eq!((experiment.excluded, experiment.pairs.baseline.as_deref()), (3, Some("plain")));
    assert_eq!(words(&experiment.variants[3]), "--protocol=go-blog --max-steps=3");
    assert_eq!(names(&variants("[[include]]\nname = \"only\"\n")), ["only"]);
    // A short name, and a number however it is written.
    let short = variants(
        "[matrix]\nmodel = [{ name = \"s\", model = \"openai:small\" }, \"openai:large\"]\ntemperature = [0.0, 1]\n[[exclude]]\nmodel = \"s\"\ntemperature = 1.0\n[[exclude]]\nmodel = \"openai:large\"\ntemperature = 0\n",
    );
    assert_eq!(names(&short), ["s/temperature=0", "large/temperature=1"]);
}

#[test]
fn names_follow_a_template() {
    let experiment = variants(
        "names = \"{prompt}: {protocol}-{method}!\"\n[matrix]\nmethod = [\"react\", \"cot\"]\nprotocol = [\"robust\"]\nprompt = [{ name = \"ours\", prompt = \"a.toml\" }]\n",
    );
    assert_eq!(names(&experiment), ["ours: robust-react!", "ours-cot!"]);
}

#[test]
fn datasets_are_named_after_their_files() {
    let experiment = read(
        "name = \"x\"\nsettings.method = \"cot\"\n[[dataset]]\npath = \"a/dev v1.json.gz\"\nlimit = 5\ntypes = [\"bridge\"]\nskip_bad = true\n[[dataset]]\nname = \"mine\"\npath = \"b.csv\"\n",
    )
    .expect("sound");
    let datasets = experiment.datasets.iter().map(|dataset| {
        let words: Vec<String> = dataset.settings.iter().map(word).collect();
        format!("{} = {} {}", dataset.name, dataset.path, words.join(" "))
    });
    let expected = ["dev_v1 = a/dev v1.json.gz --limit=5 --types=bridge --skip-bad", "mine = b.csv "];
    assert_eq!(datasets.collect::<Vec<_>>(), expected);
    let several = read("name = \"x\"\ndataset = [\"a.jsonl\", { path = \"b.jsonl\" }]").expect("sound");
    assert_eq!(several.datasets.len(), 2);
}

#[test]
fn a_dataset_has_settings_of_its_own_for_the_cells() {
    let experiment = read(
        "name = \"x\"\n[settings]\nmax_steps = 7\nwiki = \"api\"\ncontact = \"a@b\"\n[matrix]\nmethod = [\"react\", \"cot\"]\n[[include]]\nname = \"short\"\nmax_steps = 2\n[[dataset]]\npath = \"a.jsonl\"\n[[dataset]]\npath = \"b.jsonl\"\nlimit = 9\n[dataset.settings]\nmax_steps = 5\nprompt = \"p.toml\"\nwiki = \"corpus:c\"\n",
    )
    .expect("sound");
    let on = |dataset: usize| -> Vec<String> {
        let dataset = &experiment.datasets[dataset];
        experiment.variants_on(dataset, &super::Overrides::default()).iter().map(words).collect()
    };
    assert_eq!(
        on(0),
        [
            "--max-steps=7 --wiki=api --contact=a@b --method=react",
            "--wiki=api --contact=a@b --method=cot",
            "--wiki=api --contact=a@b --max-steps=2",
        ]
    );
    // What an inclusion says stays; a site's contact is of no use to a corpus.
    assert_eq!(
        on(1),
        [
            "--method=react --max-steps=5 --prompt=p.toml --wiki=corpus:c",
            "--method=cot --prompt=p.toml --wiki=corpus:c",
            "--max-steps=2 --prompt=p.toml --wiki=corpus:c",
        ]
    );
}

#[test]
fn published_figures_belong_to_a_dataset_a_metric_and_a_cell() {
    let experiment = variants(
        "[matrix]\nmethod = [\"act\", \"cot-sc->react\"]\n[[published]]\nname = \"M\"\nsource = \"a paper\"\n[published.figures.d.em]\nact = 27\n\"cot-sc->react\" = 34.2\n[published.figures.d.f1]\nact = 40.5\n[[published]]\nname = \"N\"\nsource = \"another\"\nfigures = {}\n",
    );
    let [one, other] = experiment.published.as_slice() else { panic!("{:?}", experiment.published) };
    assert_eq!((one.name.as_str(), one.source.as_str(), other.figures.len()), ("M", "a paper", 0));
    let shown = |figure: &PublishedFigure| {
        format!("{} {} {} {}", figure.dataset, figure.metric.name(), figure.variant, figure.percent)
    };
    let figures: Vec<String> = one.figures.iter().map(shown).collect();
    assert_eq!(figures, ["d em act 27", "d em cot-sc->react 34.2", "d f1 act 40.5"]);
}

/// What stands below the head of a file, and what is said of it.
const MISTAKES: &[(&str, &str)] = &[
    ("[settings]\nprotocl = \"robust\"", "x.toml:4: unknown key `settings.protocl`\nhint: did you mean `protocol`?"),
    ("protocol = \"robust\"", "x.toml:3: unknown key `protocol`\nhint: it belongs in [settings] or [matrix]"),
    ("[settings]\nlimit = 3", "x.toml:4: unknown key `settings.limit`\nhint: it belongs in a [[dataset]]"),
    ("[matrix]\nrepeats = [1]", "x.toml:4: unknown key `matrix.repeats`\nhint: it belongs in the top of the file"),
    ("[matrix]\nmethods = [\"cot\"]", "x.toml:4: unknown key `matrix.methods`\nhint: did you mean `method`?"),
    ("[[include]]\nname = \"a\"\nshot = 3", "x.toml:5: unknown key `include[1].shot`\nhint: did you mean `shots`?"),
    ("[[exclude]]\nmetod = \"cot\"", "x.toml:4: unknown key `exclude[1].metod`\nhint: did you mean `method`?"),
    ("mtrix = 1", "x.toml:3: unknown key `mtrix`\nhint: did you mean `matrix`?"),
    ("xyzzy = 1", "x.toml:3: unknown key `xyzzy`\nhint: `wikitrail docs experiments` explains"),
    (
        "[settings]\nmethod = \"raect\"",
        "x.toml:4: unknown method `raect` in `settings.method`\nhint: did you mean `react`?",
    ),
    (
        "[matrix]\nprotocol = [\"foo\"]",
        "x.toml:4: unknown protocol `foo` in `matrix.protocol[1]`\nhint: use one of: react-paper",
    ),
    (
        "[settings]\nexemplar_order = \"revers\"",
        "unknown order `revers` in `settings.exemplar_order`\nhint: did you mean `reversed`?",
    ),
    (
        "[settings]\noption = { lagnt = { a = \"b\" } }",
        "unknown protocol `lagnt` in `settings.option.lagnt`\nhint: did you mean `lagent`?",
    ),
    ("[settings]\noption = { a = 3 }", "x.toml:4: `settings.option.a` must be a string, but is 3"),
    ("[settings]\noption = \"a=b\"", "x.toml:4: `settings.option` must be a table, but is a string"),
    (
        "[settings]\noption = { lagent = { labels = \"v0.1\" } }",
        "is for protocol `lagent`, but the variant names no protocol",
    ),
    (
        "[settings]\nmax_steps = \"5\"",
        "x.toml:4: `settings.max_steps` must be a whole number from 1 to 100, but is a string",
    ),
    ("[settings]\nmax_steps = -5", "x.toml:4: `settings.max_steps` must be a whole number from 1 to 100, but is -5"),
    ("[settings]\ntemperature = true", "x.toml:4: `settings.temperature` must be a number from 0 to 2, but is true"),
    ("[settings]\ncompletions = 1", "`settings.completions` must be true or false, but is 1"),
    ("[settings]\nmodel = \" \"", "x.toml:4: `settings.model` is empty"),
    ("[settings]\nmodel = \"openai:m\"\nbase_url = []", "x.toml:5: `settings.base_url` is empty"),
    ("[settings]\nmodel = [\"a\"]", "`settings.model` must be a string, but is an array"),
    ("settings = 3", "x.toml:3: `settings` must be a table, but is 3"),
    ("[matrix]\nmethod = \"cot\"", "x.toml:4: `matrix.method` must be a list of values, but is a string"),
    ("[matrix]\nmethod = []", "x.toml:4: `matrix.method` is empty"),
    ("[matrix]\nmodel = [{ name = \"a\" }]", "x.toml:4: missing key `matrix.model[1].model`"),
    ("[matrix]\nmodel = [{ model = \"baseline\" }]", "x.toml:4: missing key `matrix.model[1].name`"),
    (
        "[matrix]\nmodel = [\"openai:a/m\", \"openai:a/m\"]",
        "two values of `matrix.model` have the short name `m`\nhint: name one of them: { name = \"short\", model = … }",
    ),
    ("[settings]\nmethod = \"cot\"\n[matrix]\nmethod = [\"cot\"]", "x.toml:6: `method` is set here and in [settings]"),
    (
        "[matrix]\ntemperature = [0]\nmodel = [{ name = \"a\", model = \"openai:m\", temperature = 1 }]",
        "x.toml:5: `temperature` is set here and in `matrix.temperature`",
    ),
    ("[settings]\nsamples = 3", "x.toml:4: no variant uses `settings.samples`"),
    ("[matrix]\nmethod = [\"cot\"]\nprotocol = [\"robust\"]", "x.toml:5: no variant uses `matrix.protocol`"),
    ("[[include]]\nname = \"a\"\nbase_url = \"http://h\"", "x.toml:5: no variant uses `include[1].base_url`"),
    ("[[include]]\nmethod = \"cot\"", "x.toml:3: missing key `include[1].name`"),
    ("[[include]]\nname = \"a\"\n[[include]]\nname = \"a\"", "x.toml:5: two variants are named `a`"),
    ("[[include]]\nname = \"a\\u001b\"", "x.toml:4: `include[1].name` is `a\\u{1b}`, which is not a valid name"),
    (
        "names = \"{protocl}\"\n[matrix]\nprotocol = [\"robust\"]",
        "x.toml:3: unknown placeholder `protocl` in `names`\nhint: did you mean `{protocol}`?",
    ),
    ("names = \"{method\"\n[matrix]\nmethod = [\"cot\"]", "x.toml:3: unmatched brace in `names`"),
    (
        "names = \"{method}\"\n[matrix]\nmethod = [\"act\"]\nprotocol = [\"robust\", \"react-paper\"]",
        "two variants are named `act`",
    ),
    ("[matrix]\nmethod = [\"cot\"]\n[[exclude]]\nmethod = \"act\"", "x.toml:5: `exclude[1]` matches no variant"),
    ("[matrix]\nmethod = [\"cot\"]\n[[exclude]]\nmethod = \"cot\"", "every variant is excluded"),
    ("[matrix]\nmethod = [\"cot\"]\n[[exclude]]", "x.toml:5: `exclude[1]` has no conditions"),
    ("exclude = 3", "`exclude` must be a list of tables, but is 3"),
    (
        "baseline = \"robst/react\"\n[matrix]\nprotocol = [\"robust\", \"lagent\"]\nmethod = [\"react\"]",
        "x.toml:3: unknown variant `robst/react` in `baseline`\nhint: did you mean `robust/react`?",
    ),
    ("baseline = \"1234\"", "unknown variant `1234` in `baseline`\nhint: use one of: main"),
    (
        "contrasts = [[\"robust\", \"lagnet\"]]\n[matrix]\nprotocol = [\"robust\", \"lagent\"]",
        "x.toml:3: unknown variant `lagnet` in `contrasts[1]`\nhint: did you mean `lagent`?",
    ),
    ("contrasts = [[\"main\"]]", "x.toml:3: `contrasts[1]` must be two names of variants, but is an array"),
    ("contrasts = [[\"main\", \"main\"]]", "x.toml:3: `contrasts[1]` compares a variant with itself"),
    ("contrasts = [1]", "x.toml:3: `contrasts[1]` must be two names of variants, but is 1"),
    ("contrasts = []", "x.toml:3: `contrasts` is empty"),
    (
        "contrasts = [[\"robust\", \"lagent\"], [\"lagent\", \"robust\"]]\n[matrix]\nprotocol = [\"robust\", \"lagent\"]",
        "x.toml:3: `contrasts[2]` compares a variant with itself, or repeats a pair",
    ),
    ("contrasts = \"main\"", "x.toml:3: `contrasts` must be a list of pairs of variants"),
    ("repeats = 0", "x.toml:3: `repeats` must be a whole number from 1 to 1000, but is 0"),
    ("repeats = 1.5", "x.toml:3: `repeats` must be a whole number from 1 to 1000, but is 1.5"),
    (
        "[settings]\nmodel = \"openai:m\"\nbase_url = \"http://u:p@h/v1\"",
        "x.toml:5: `settings.base_url` has a user name or a query",
    ),
    (
        "[settings]\nwiki = \"api\"\nwiki_url = \"http://h/?key=1\"",
        "x.toml:5: `settings.wiki_url` has a user name or a query",
    ),
    (
        "[[published]]\nname = \"p\"\nsource = \"s\"\n[published.figures.e.em]\nmain = 3",
        "unknown dataset `e` in `published[1].figures`\nhint: use one of: d",
    ),
    (
        "[[published]]\nname = \"p\"\nsource = \"s\"\n[published.figures.d.eM]\nmain = 3",
        "unknown metric `eM` in `published[1].figures.d`\nhint: did you mean `em`?",
    ),
    (
        "[[published]]\nname = \"p\"\nsource = \"s\"\n[published.figures.d.em]\nmian = 3",
        "x.toml:7: unknown variant `mian` in `published[1].figures.d.em`\nhint: did you mean `main`?",
    ),
    (
        "[[published]]\nname = \"p\"\nsource = \"s\"\n[published.figures.d.em]\nmain = 127.4",
        "x.toml:7: `published[1].figures.d.em.main` must be a number from 0 to 100, but is 127.4",
    ),
    (
        "[[published]]\nname = \"p\"\nsource = \"s\"\n[published.figures.d.em]\nmain = \"3\"",
        "`published[1].figures.d.em.main` must be a number from 0 to 100, but is a string",
    ),
    ("[[published]]\nname = \"p\"\nfigures = {}", "x.toml:3: missing key `published[1].source`"),
    (
        "[[published]]\nname = \"p\"\nsource = \"s\"\nfigures = {}\nfigure = {}",
        "x.toml:7: unknown key `published[1].figure`\nhint: did you mean `figures`?",
    ),
    ("[settings", "x.toml:3: not valid TOML"),
    ("name = \"y\"", "x.toml:3: not valid TOML: duplicate key"),
];

#[test]
fn every_mistake_is_named_with_line_and_advice() {
    for (rest, message) in MISTAKES {
        let said = read(&format!("{HEAD}{rest}\n")).expect_err(rest);
        assert!(said.contains(message) && said.contains("\nhint: "), "{rest}\n{said}");
    }
}

#[test]
fn the_head_of_a_file_is_checked_too() {
    for (text, message) in [
        ("", "missing key `name`"),
        ("name = \"x\"", "missing key `dataset`"),
        ("task = \"qa\"\n[instruction]\nreact = \"x\"", "this is a prompt, not an experiment"),
        ("name = \"a b\"\ndataset = \"d\"", "x.toml:1: `name` is `a b`, which is not a valid name"),
        ("name = \".x\"\ndataset = \"d\"", "use letters, digits"),
        ("name = \"x\"\ndataset = 3", "`dataset` must be a table, but is 3"),
        ("name = \"x\"\ndataset = []", "x.toml:2: `dataset` is empty"),
        ("name = \"x\"\n[[dataset]]\nlimit = 3", "x.toml:2: missing key `dataset[1].path`"),
        (
            "name = \"x\"\n[[dataset]]\npath = \"a\"\nlimt = 3",
            "unknown key `dataset[1].limt`\nhint: did you mean `limit`?",
        ),
        (
            "name = \"x\"\n[[dataset]]\npath = \"a\"\n[dataset.settings]\nmax_stepz = 3",
            "x.toml:5: unknown key `dataset[1].settings.max_stepz`\nhint: did you mean `max_steps`?",
        ),
        (
            "name = \"x\"\n[[dataset]]\npath = \"a\"\n[dataset.settings]\nmethod = \"cot\"",
            "x.toml:5: `dataset[1].settings.method` cannot differ between datasets",
        ),
        (
            "name = \"x\"\nsettings.method = \"cot\"\n[[dataset]]\npath = \"a\"\n[dataset.settings]\nmax_steps = 3",
            "x.toml:6: no variant uses `dataset[1].settings.max_steps`",
        ),
        (
            "name = \"x\"\nmatrix.seed = [1, 2]\n[[dataset]]\npath = \"a\"\nsettings.seed = 3",
            "x.toml:5: no variant uses `dataset[1].settings.seed`",
        ),
        ("name = \"x\"\n[[dataset]]\npath = \"a\"\nsettings = 3", "`dataset[1].settings` must be a table, but is 3"),
        ("name = \"x\"\ndataset = [\"a/d.csv\", \"b/d.csv\"]", "two datasets are named `d`; the first is on line 2"),
        ("name = \"x\"\ndataset = \"/\"", "missing key `dataset.name`"),
    ] {
        let said = read(text).expect_err(text);
        assert!(said.contains(message), "{text}\n{said}");
    }
    let numbers: Vec<u32> = (0..40).collect();
    let prompts: Vec<String> = numbers.iter().map(|n| format!("{n}.toml")).collect();
    let said = read(&format!("{HEAD}[matrix]\nprompt = {prompts:?}\nseed = {numbers:?}")).expect_err("too many");
    assert!(said.contains("the experiment has 1600 variants; the maximum is 1000"), "{said}");
}

#[test]
fn all_mistakes_are_listed_at_once() {
    let said = read("name = \"x\"\nfoo = 1\n[settings]\nprotocl = 1\nmethod = \"x\"").expect_err("wrong");
    assert!(said.starts_with("4 problems\n") && said.contains("x.toml:2:") && said.contains("x.toml:5:"), "{said}");
}

#[test]
fn a_method_is_read_by_either_name_and_variants_keep_that_of_records() {
    for typed in ["cot-sc->react", "cot-sc-react"] {
        let experiment = variants(&format!("[matrix]\nmethod = [\"act\", \"{typed}\"]\n"));
        assert_eq!(names(&experiment), ["act", "cot-sc->react"]);
        assert_eq!(words(&experiment.variants[1]), "--method=cot-sc->react");
    }
}
