//! Holds the code to the table of layers in `src/lib.rs`: imports point downwards only, modules of one folder form no circles, and each
//! outside crate has its one home. The table is read from the documentation, so the two cannot drift apart.

use crate::common::{read, repository};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::Visit;

/// Where each outside crate may be named; paths are prefixes below `src/`.
const HOMES: &[(&str, &[&str])] = &[
    ("anyhow", &["cli/"]),
    ("axum", &["net/server/", "wikipedia/handlers/", "analysis/live_view", "runner/agent/program/host"]),
    ("base64", &["net/", "analysis/report/page/"]),
    ("bzip2", &["wikipedia/corpus/import"]),
    ("clap", &["cli/"]),
    ("clap_complete", &["cli/"]),
    ("clap_mangen", &["cli/"]),
    ("comfy_table", &["analysis/report/sheet", "analysis/report/episodes"]),
    ("csv", &["dataset/", "analysis/export/", "analysis/annotations/import"]),
    ("flate2", &["dataset/", "analysis/export/mod", "net/client/tests", "analysis/report/page/", "wikipedia/corpus"]),
    ("getrandom", &["analysis/live_view", "runner/agent/program/host"]),
    ("governor", &["net/limit", "net/server/guard"]),
    ("hyper", &["net/server/"]),
    ("hyper_util", &["net/server/"]),
    ("indicatif", &["analysis/report/progress"]),
    ("libc", &["net/recording/own_file"]),
    ("lru", &["wikipedia/"]),
    ("lzma_rust2", &["wikipedia/corpus/import"]),
    ("md5", &["base/digest"]),
    ("parquet", &["analysis/export/parquet", "wikipedia/corpus/import/parquet"]),
    ("percent_encoding", &["wikipedia/", "net/", "analysis/live_view", "analysis/report/page"]),
    ("redb", &["net/recording/"]),
    ("reqwest", &["net/"]),
    ("rmcp", &["wikipedia/handlers/mcp"]),
    ("rustls", &["net/"]),
    ("rustyline", &["cli/"]),
    ("ego_tree", &["wikipedia/html/tree"]),
    ("html5ever", &["wikipedia/html/"]),
    ("scraper", &["wikipedia/html/"]),
    ("similar", &["base/line_diff", "analysis/report/page/", "cli/"]),
    ("secrecy", &["models/", "net/", "runner/"]),
    ("sha2", &["base/", "dataset/", "net/recording/", "analysis/report/page/"]),
    ("statrs", &["base/stats/"]),
    ("tantivy", &["wikipedia/corpus"]),
    ("tantivy_fst", &["wikipedia/corpus"]),
    ("tar", &["wikipedia/corpus/import/"]),
    ("textwrap", &["analysis/report/console", "analysis/report/trajectory"]),
    ("toml", &["runner/experiment/", "analysis/judges", "models/prices", "prompting/", "wikipedia/corpus/"]),
    ("unicode_general_category", &["scoring/", "base/python"]),
    ("unicode_normalization", &["scoring/", "wikipedia/"]),
    ("zip", &["runner/import/inspect/log_file"]),
    ("zstd", &["wikipedia/corpus"]),
];

/// The layers that a layer may use, from its row in the table; `None` stands for all.
fn listed_layers(list: &str) -> Option<BTreeSet<String>> {
    match list {
        "everything" => None,
        "nothing" => Some(BTreeSet::new()),
        list => Some(list.split(", ").map(str::to_owned).collect()),
    }
}

/// Each layer with the layers that it may use.
fn table() -> BTreeMap<String, Option<BTreeSet<String>>> {
    let lib = repository("src/lib.rs");
    let mut rows = BTreeMap::new();
    for line in lib.lines().filter_map(|line| line.strip_prefix("//! | ")) {
        let cells: Vec<&str> = line.trim_end_matches(" |").split(" | ").collect();
        let [layer, _, uses] = cells[..] else { continue };
        if layer == "layer" {
            continue;
        }
        let layer = layer.trim_matches(['[', ']', '`']).to_owned();
        let uses = listed_layers(uses);
        for used in uses.iter().flatten() {
            assert!(rows.contains_key(used), "`{layer}` uses `{used}`, which is not above it in the table");
        }
        assert!(rows.insert(layer.clone(), uses).is_none(), "`{layer}` has two rows");
    }
    rows
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

/// The paths that a file names: those inside the crate from its root on, and the first segments of all others.
struct Names {
    /// Module path of the code being read, such as `["wikipedia", "html", "tests"]`.
    module: Vec<String>,
    /// Whether tests count.
    tests: bool,
    inside: BTreeSet<Vec<String>>,
    outside: BTreeSet<String>,
    /// What a `use` makes visible in a module: module, name, and path from the crate's root or as written.
    visible: Vec<(Vec<String>, String, Vec<String>)>,
}

impl Names {
    fn of(module: Vec<String>, code: &str, tests: bool) -> Self {
        let mut names = Self { module, tests, inside: BTreeSet::new(), outside: BTreeSet::new(), visible: Vec::new() };
        names.visit_file(&syn::parse_file(code).expect("a source file parses"));
        names
    }

    /// The path from the crate's root, or `None` if it begins elsewhere.
    fn absolute(&self, segments: &[String]) -> Option<Vec<String>> {
        let mut at: Option<usize> = None;
        for (i, segment) in segments.iter().enumerate() {
            match segment.as_str() {
                "crate" => at = Some(0),
                "self" if i == 0 => at = Some(self.module.len()),
                "super" => at = Some(at.unwrap_or(self.module.len()).saturating_sub(1)),
                _ => return at.map(|at| [&self.module[..at], &segments[i..]].concat()),
            }
        }
        None
    }

    fn path(&mut self, segments: &[String]) {
        match self.absolute(segments) {
            Some(path) => drop(self.inside.insert(path)),
            None => drop(segments.iter().find(|it| !is_keyword(it)).map(|first| self.outside.insert(first.clone()))),
        }
    }

    fn tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.tree(&path.tree, &with(&path.ident)),
            syn::UseTree::Name(name) if name.ident == "self" => {
                self.used(before, &before.last().cloned().unwrap_or_default());
            }
            syn::UseTree::Name(name) => self.used(&with(&name.ident), &name.ident.to_string()),
            syn::UseTree::Rename(name) => self.used(&with(&name.ident), &name.rename.to_string()),
            syn::UseTree::Glob(_) => self.path(before),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(item, before)),
        }
    }

    fn used(&mut self, path: &[String], name: &str) {
        self.path(path);
        let target = self.absolute(path).unwrap_or_else(|| path.to_vec());
        self.visible.push((self.module.clone(), name.to_owned(), target));
    }
}

fn is_keyword(segment: &str) -> bool {
    matches!(segment, "crate" | "self" | "super")
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let is_test = module.attrs.iter().any(|attribute| attribute.path().is_ident("cfg") && names_test(attribute));
        if is_test && !self.tests {
            return;
        }
        self.module.push(module.ident.to_string());
        syn::visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if self.tests || !item.attrs.iter().any(names_test) {
            self.tree(&item.tree, &[]);
        }
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
            let path: String = text[at..].chars().take_while(|c| c.is_alphanumeric() || "_: ".contains(*c)).collect();
            let segments: Vec<String> = path.split("::").map(|segment| segment.trim().to_owned()).collect();
            self.path(&segments);
        }
        syn::visit::visit_macro(self, mac);
    }
}

fn names_test(attribute: &syn::Attribute) -> bool {
    matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
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
    assert!(table.len() >= 10, "the table of src/lib.rs was not understood: {table:?}");
    let (mut faults, mut seen) = (Vec::new(), BTreeSet::new());
    for (path, text) in sources() {
        let shown = path.display().to_string();
        let module = module_of(&path);
        let layer = module[0].clone();
        if matches!(layer.as_str(), "lib" | "main" | "tests") {
            continue;
        }
        seen.insert(layer.clone());
        let Some(uses) = table.get(&layer) else {
            faults.push(format!("{shown}: layer `{layer}` has no row in src/lib.rs"));
            continue;
        };
        let names = Names::of(module, &text, true);
        let layers_used: BTreeSet<&String> = names.inside.iter().filter_map(|path| path.first()).collect();
        for used in layers_used.into_iter().filter(|used| **used != layer && table.contains_key(*used)) {
            if uses.as_ref().is_some_and(|uses| !uses.contains(used)) {
                faults.push(format!("{shown}: `{layer}` may not use `{used}`"));
            }
        }
        for (name, homes) in HOMES {
            if names.outside.contains(*name) && !homes.iter().any(|home| shown.starts_with(home)) {
                faults.push(format!("{shown}: `{name}` lives in {homes:?} only"));
            }
        }
    }
    for layer in table.keys() {
        assert!(seen.contains(layer), "`{layer}` has a row in src/lib.rs but no code");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// All modules with the paths that they name outside of tests.
struct House {
    modules: BTreeSet<Vec<String>>,
    named: Vec<(Vec<String>, BTreeSet<Vec<String>>)>,
    visible: BTreeMap<(Vec<String>, String), Vec<String>>,
}

impl House {
    fn read(sources: &[(PathBuf, String)]) -> Self {
        let modules: BTreeSet<Vec<String>> = sources.iter().map(|(path, _)| module_of(path)).collect();
        let mut house = Self { modules, named: Vec::new(), visible: BTreeMap::new() };
        for (path, text) in sources {
            let module = module_of(path);
            if module.iter().any(|part| part.ends_with("tests") || part == "testing" || part == "lib") {
                continue;
            }
            let names = Names::of(module.clone(), text, false);
            for (place, name, target) in names.visible {
                let below = [place.as_slice(), &target].concat();
                let target = if self::prefix(&house.modules, &below).len() > place.len() { below } else { target };
                house.visible.insert((place, name), target);
            }
            house.named.push((module, names.inside));
        }
        house
    }

    /// The module that holds what a path names, through what modules above it re-export.
    fn home(&self, path: &[String]) -> Vec<String> {
        let mut path = path.to_vec();
        for _ in 0..8 {
            let module = prefix(&self.modules, &path);
            let Some(name) = path.get(module.len()) else { return module };
            match self.visible.get(&(module.clone(), name.clone())) {
                Some(target) if *target != path => path = [target.as_slice(), &path[module.len() + 1..]].concat(),
                _ => return module,
            }
        }
        path
    }

    /// For each folder, which of its modules use which others of it.
    fn arrows(&self) -> BTreeMap<Vec<String>, BTreeMap<String, BTreeSet<String>>> {
        let mut folders: BTreeMap<Vec<String>, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (module, paths) in &self.named {
            for home in paths.iter().map(|path| self.home(path)) {
                let common = module.iter().zip(&home).take_while(|(a, b)| a == b).count();
                let (Some(from), Some(to)) = (module.get(common), home.get(common)) else { continue };
                let folder = folders.entry(module[..common].to_vec()).or_default();
                folder.entry(from.clone()).or_default().insert(to.clone());
            }
        }
        folders
    }
}

/// The longest beginning of a path that is a module.
fn prefix(modules: &BTreeSet<Vec<String>>, path: &[String]) -> Vec<String> {
    let longest = (0..=path.len()).rev().find(|&length| modules.contains(&path[..length]));
    path[..longest.unwrap_or(0)].to_vec()
}

/// The nodes that lie on a circle, which are those that reach themselves.
fn on_circles(arrows: &BTreeMap<String, BTreeSet<String>>) -> Vec<&String> {
    let reaches_itself = |start: &&String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![*start]);
        while let Some(node) = open.pop() {
            for next in arrows.get(node).into_iter().flatten() {
                if next == *start {
                    return true;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    };
    arrows.keys().filter(reaches_itself).collect()
}

#[test]
fn modules_of_one_folder_form_no_circles() {
    let house = House::read(&sources());
    let arrows = house.arrows();
    let circle = |(folder, arrows): (&Vec<String>, &_)| {
        let nodes = on_circles(arrows);
        (!nodes.is_empty()).then(|| format!("modules of src/{} use each other: {nodes:?}", folder.join("/")))
    };
    let circles: Vec<String> = arrows.iter().filter_map(circle).collect();
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

/// The checker itself: it finds a circle through what a folder re-exports, and none in a chain or in tests.
#[test]
fn the_checker_finds_circles() {
    let circles = |files: &[(&str, &str)]| {
        let files: Vec<(PathBuf, String)> =
            files.iter().map(|(path, code)| (path.into(), (*code).to_owned())).collect();
        let arrows = House::read(&files).arrows();
        arrows.values().flat_map(on_circles).cloned().collect::<Vec<String>>()
    };
    let layer = ("room/mod.rs", "mod a; mod b; pub use a::A; pub use b::B;");
    let a = ("room/a.rs", "use crate::room::B; pub struct A(B);");
    assert_eq!(circles(&[layer, a, ("room/b.rs", "pub struct B(super::A);")]), ["a", "b"]);
    assert!(
        circles(&[layer, a, ("room/b.rs", "pub struct B; #[cfg(test)] mod tests { use super::super::A; }")]).is_empty()
    );
}

/// The checker itself: it sees every way of naming a layer.
#[test]
fn the_checker_sees_every_way_of_naming_a_layer() {
    let code = "
        use crate::{base::A, runner};
        use super::super::scoring::B;
        use serde as s;
        fn f() { crate::net::g(); println!(\"{}\", crate::models::h()); let _: super::Other; }
        mod tests { use super::super::Near; fn t() { super::super::super::cli::x(); } }
    ";
    let names = Names::of(vec!["wikipedia".into(), "html".into()], code, true);
    let layers: BTreeSet<&str> = names.inside.iter().map(|path| path[0].as_str()).collect();
    assert_eq!(layers, ["base", "cli", "models", "net", "runner", "scoring", "wikipedia"].into());
    assert!(names.outside.contains("serde"));
}
