//! Holds the code to the table of floors in `src/lib.rs`: imports point downwards only, and each outside
//! crate has its one home. The table is read from the documentation, so the two cannot drift apart.

use crate::common::{read, repository};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::Visit;

/// Where each outside crate may be named; paths are prefixes below `src/`.
const HOMES: &[(&str, &[&str])] = &[
    ("anyhow", &["cli/"]),
    ("axum", &["serve/"]),
    ("base64", &["net/", "report/page/"]),
    ("bzip2", &["wiki/corpus/import"]),
    ("clap", &["cli/"]),
    ("clap_complete", &["cli/"]),
    ("clap_mangen", &["cli/"]),
    ("comfy_table", &["report/sheet", "report/episodes"]),
    ("csv", &["dataset/", "export/", "label/import"]),
    ("flate2", &["dataset/", "export/gzip", "net/client/tests", "report/page/", "wiki/corpus"]),
    ("getrandom", &["serve/view"]),
    ("governor", &["net/limit", "serve/guard"]),
    ("hyper", &["serve/"]),
    ("hyper_util", &["serve/"]),
    ("indicatif", &["report/progress"]),
    ("libc", &["tape/own_file"]),
    ("lru", &["wiki/"]),
    ("lzma_rust2", &["wiki/corpus/import/zim"]),
    ("md5", &["types/digest"]),
    ("parquet", &["export/parquet", "wiki/corpus/import/parquet"]),
    ("percent_encoding", &["wiki/", "net/", "serve/"]),
    ("redb", &["tape/"]),
    ("reqwest", &["net/"]),
    ("rmcp", &["serve/mcp"]),
    ("rustls", &["net/"]),
    ("rustyline", &["cli/"]),
    ("ego_tree", &["wiki/html/tree"]),
    ("html5ever", &["wiki/html/python_parser", "wiki/html/tree"]),
    ("scraper", &["wiki/html/"]),
    ("secrecy", &["llm/", "net/", "run/"]),
    ("sha2", &["types/", "dataset/", "tape/", "report/page/"]),
    ("statrs", &["stats/"]),
    ("tantivy", &["wiki/corpus"]),
    ("tantivy_fst", &["wiki/corpus"]),
    ("tar", &["wiki/corpus/import/"]),
    ("textwrap", &["report/console", "report/trajectory"]),
    (
        "toml",
        &[
            "experiment/",
            "judge/prompt",
            "llm/prices",
            "prompt/",
            "wiki/corpus/pack",
            "wiki/corpus/manifest",
            "wiki/corpus/build",
        ],
    ),
    ("unicode_general_category", &["score/", "types/python"]),
    ("unicode_normalization", &["score/", "wiki/"]),
    ("zip", &["run/import"]),
    ("zstd", &["wiki/corpus"]),
];

fn floors(list: &str) -> Option<BTreeSet<String>> {
    match list {
        "everything" => None,
        "nothing" => Some(BTreeSet::new()),
        list => Some(list.split(", ").map(str::to_owned).collect()),
    }
}

/// Floor → floors it may use. `None` means all (the command line, which is the roof).
fn table() -> BTreeMap<String, Option<BTreeSet<String>>> {
    let lib = repository("src/lib.rs");
    let mut rows = BTreeMap::new();
    for line in lib.lines().filter_map(|line| line.strip_prefix("//! | ")) {
        let cells: Vec<&str> = line.trim_end_matches(" |").split(" | ").collect();
        let [floor, _, uses] = cells[..] else { continue };
        if floor == "floor" {
            continue;
        }
        let floor = floor.trim_matches(['[', ']', '`']).to_owned();
        let uses = floors(uses);
        for used in uses.iter().flatten() {
            assert!(rows.contains_key(used), "`{floor}` uses `{used}`, which does not stand above it in the table");
        }
        assert!(rows.insert(floor.clone(), uses).is_none(), "`{floor}` has two rows");
    }
    rows
}

#[test]
fn the_picture_of_the_architecture_is_the_table() {
    let page = repository("docs/architecture.md");
    let picture = page.split("```floors\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the picture");
    let floor = |line: &str| {
        let (floor, uses) = line.split_once("->").expect("an arrow");
        (floor.trim().to_owned(), floors(uses.trim()))
    };
    assert_eq!(picture.lines().map(floor).collect::<BTreeMap<_, _>>(), table());
}

/// Every file that the page names exists.
#[test]
fn the_files_of_the_architecture_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = repository("docs/architecture.md");
    let named =
        page.split('`').skip(1).step_by(2).filter(|text| text.starts_with("src/") || text.starts_with("tests/"));
    for path in named.filter(|path| !path.contains("NAME")) {
        assert!(root.join(path).exists(), "docs/architecture.md names `{path}`");
    }
}

/// Every source file by its path below `src`, with its text.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&root, &mut found);
    let below = |path: &PathBuf| path.strip_prefix(&root).expect("below src").to_owned();
    found.iter().map(|path| (below(path), read(path))).collect()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a source folder is readable") {
        let path = entry.expect("an entry is readable").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Collects the absolute module paths and outside crates that a file names.
struct Names {
    /// Module path of the code being read, such as `["wiki", "html", "tests"]`.
    module: Vec<String>,
    /// First segments below the crate's root.
    floors: BTreeSet<String>,
    /// First segments of paths that begin outside.
    outside: BTreeSet<String>,
}

impl Names {
    fn path(&mut self, segments: &[String]) {
        let mut at: Option<usize> = None;
        for (i, segment) in segments.iter().enumerate() {
            match segment.as_str() {
                "crate" => at = Some(0),
                "self" if i == 0 => at = Some(self.module.len()),
                "super" => at = Some(at.unwrap_or(self.module.len()).saturating_sub(1)),
                name => {
                    match at {
                        Some(0) => drop(self.floors.insert(name.to_owned())),
                        Some(_) => {}
                        None => drop(self.outside.insert(name.to_owned())),
                    }
                    return;
                }
            }
        }
    }

    fn tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.tree(&path.tree, &with(&path.ident)),
            syn::UseTree::Name(name) => self.path(&with(&name.ident)),
            syn::UseTree::Rename(name) => self.path(&with(&name.ident)),
            syn::UseTree::Glob(_) => self.path(before),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(item, before)),
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.module.push(module.ident.to_string());
        syn::visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.path(&segments);
        }
        syn::visit::visit_path(self, path);
    }

    /// A macro's arguments are not parsed; its tokens still spell out the paths.
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let text = mac.tokens.to_string();
        for (at, _) in text.match_indices("crate ::") {
            let rest = text[at + "crate ::".len()..].trim_start();
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            self.floors.insert(name);
        }
        syn::visit::visit_macro(self, mac);
    }
}

fn module_of(relative: &Path) -> Vec<String> {
    let mut module: Vec<String> =
        relative.with_extension("").components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

#[test]
fn imports_point_downwards_and_crates_stay_at_home() {
    let table = table();
    assert!(table.len() >= 15, "the table of src/lib.rs was not understood: {table:?}");
    let (mut faults, mut seen) = (Vec::new(), BTreeSet::new());
    for (path, text) in sources() {
        let shown = path.display().to_string();
        let module = module_of(&path);
        let floor = module[0].clone();
        if matches!(floor.as_str(), "lib" | "main") {
            continue;
        }
        seen.insert(floor.clone());
        let Some(uses) = table.get(&floor) else {
            faults.push(format!("{shown}: floor `{floor}` has no row in src/lib.rs"));
            continue;
        };
        let parsed = syn::parse_file(&text).expect("a source file parses");
        let mut names = Names { module, floors: BTreeSet::new(), outside: BTreeSet::new() };
        names.visit_file(&parsed);
        for used in names.floors.iter().filter(|used| **used != floor) {
            if uses.as_ref().is_some_and(|uses| !uses.contains(used)) {
                faults.push(format!("{shown}: `{floor}` may not use `{used}`"));
            }
        }
        for (name, homes) in HOMES {
            if names.outside.contains(*name) && !homes.iter().any(|home| shown.starts_with(home)) {
                faults.push(format!("{shown}: `{name}` lives in {homes:?} only"));
            }
        }
    }
    for floor in table.keys() {
        assert!(seen.contains(floor), "`{floor}` has a row in src/lib.rs but no code");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The checker itself: it sees every way of naming a floor.
#[test]
fn the_checker_sees_every_way_of_naming_a_floor() {
    let code = "
        use crate::{types::A, store};
        use super::super::score::B;
        use serde as s;
        fn f() { crate::net::g(); println!(\"{}\", crate::run::h()); let _: super::Other; }
        mod tests { use super::super::Near; fn t() { super::super::super::cli::x(); } }
    ";
    let mut names =
        Names { module: vec!["wiki".into(), "html".into()], floors: BTreeSet::new(), outside: BTreeSet::new() };
    names.visit_file(&syn::parse_file(code).expect("the sample parses"));
    let floors: Vec<&str> = names.floors.iter().map(String::as_str).collect();
    assert_eq!(floors, ["cli", "net", "run", "score", "store", "types"]);
    assert!(names.outside.contains("serde"));
}
