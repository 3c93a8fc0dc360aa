//! What the site is, which modules it has, and who asks: the anonymous user, who may read.

use super::{Call, MAX_PAGES};
use crate::base::text::printable;
use serde_json::{Map, Value, json};

/// The version of the Action API whose answers these are. Clients read it from the generator's name, which has to begin so.
const GENERATOR: &str = concat!("MediaWiki 1.43.0 (wikitrail ", env!("CARGO_PKG_VERSION"), ")");
/// What a site may say of itself besides, and this one has nothing of.
const EMPTY_LISTS: [&str; 10] = [
    "extensiontags",
    "fileextensions",
    "functionhooks",
    "interwikimap",
    "libraries",
    "magicwords",
    "namespacealiases",
    "skins",
    "specialpagealiases",
    "variables",
];
const SITE: [&str; 7] =
    ["extensions", "general", "languages", "namespaces", "restrictions", "rightsinfo", "statistics"];
/// The anonymous user's token for everything.
const TOKEN: &str = "+\\";
const TOKENS: [&str; 7] = ["createaccount", "csrf", "login", "patrol", "rollback", "userrights", "watch"];
const USER: [&str; 7] = ["blockinfo", "groups", "hasmsg", "implicitgroups", "options", "ratelimits", "rights"];

pub(super) fn site_info(call: &Call<'_>, query: &mut Map<String, Value>) {
    let known: Vec<&str> = SITE.into_iter().chain(EMPTY_LISTS).collect();
    for part in call.known("siteinfo", "siprop", call.params.list_or("siprop", &["general"]), &known) {
        query.insert(part.to_owned(), site_part(call, part));
    }
}

fn site_part(call: &Call<'_>, part: &str) -> Value {
    let Call { service, base, .. } = call;
    let language = service.language();
    match part {
        "general" => json!({
            "mainpage": "Main Page", "base": format!("{base}/wiki/Main_Page"), "sitename": service.name(),
            "generator": GENERATOR, "case": "first-letter", "lang": language,
            "server": base, "servername": base.trim_start_matches("http://"), "articlepath": "/wiki/$1",
            "scriptpath": "/w", "script": "/w/index.php", "wikiid": service.corpus.id(), "rtl": false, "readonly": true,
            "writeapi": false, "maxarticlesize": 2 << 20, "timezone": "UTC", "timeoffset": 0, "legaltitlechars": LEGAL,
            "linktrail": "/^([a-z]+)(.*)$/sD", "uploadsenabled": false, "thumblimits": {}, "imagelimits": {}, "magiclinks": {},
        }),
        "namespaces" => {
            json!({ "0": { "id": 0, "case": "first-letter", "name": "", "subpages": false, "content": true, "nonincludable": false } })
        }
        // Clients ask for what an extension adds only if they find it here.
        "extensions" => {
            ["CirrusSearch", "Disambiguator", "TextExtracts"].map(|name| json!({ "type": "api", "name": name })).into()
        }
        "statistics" => json!({ "pages": service.corpus.count(), "articles": service.corpus.count() }),
        "languages" => json!([{ "code": language, "name": language }]),
        "restrictions" => json!({ "types": [], "levels": [], "cascadinglevels": [], "semiprotectedlevels": [] }),
        "rightsinfo" => {
            let license = service.corpus.manifest().map_or("", |manifest| manifest.license.id.as_str());
            json!({ "url": "", "text": license })
        }
        _ => json!([]),
    }
}

/// Characters that titles may have, as a class of a regular expression.
const LEGAL: &str = r#" %!"$&'()*,\-.\/0-9:;=?@A-Z\\^_`a-z~\x80-\xFF+"#;

pub(super) fn tokens(call: &Call<'_>, query: &mut Map<String, Value>) {
    let types = call.known("tokens", "type", call.params.list_or("type", &["csrf"]), &TOKENS);
    let tokens = types.into_iter().map(|kind| (format!("{kind}token"), Value::from(TOKEN))).collect();
    query.insert("tokens".to_owned(), Value::Object(tokens));
}

pub(super) fn user_info(call: &Call<'_>, query: &mut Map<String, Value>) {
    let mut user = json!({ "id": 0, "name": "127.0.0.1", "anon": true });
    for part in call.known("userinfo", "uiprop", call.params.list("uiprop"), &USER) {
        user[part] = match part {
            "groups" | "implicitgroups" => json!(["*"]),
            "rights" => json!(["read"]),
            "hasmsg" => json!(false),
            // Only those who are blocked have one.
            "blockinfo" => continue,
            _ => json!({}),
        };
    }
    query.insert("userinfo".to_owned(), user);
}

/// `action=paraminfo`: which modules there are and what they take, as far as clients ask before they send a request.
pub(super) fn parameter_info(call: &Call<'_>) -> Value {
    let mut described = Vec::new();
    for path in call.params.list("modules") {
        match module(path) {
            Some(module) => described.push(module),
            None => call.warn("paraminfo", format!("The module \"{}\" does not exist.", printable(path, 60))),
        }
    }
    json!({ "paraminfo": { "helpformat": "none", "modules": described } })
}

fn module(path: &str) -> Option<Value> {
    let (name, parameters) = match path.strip_prefix("query+") {
        Some(name) => (name, submodule(name)?),
        None => (path, action(path)?),
    };
    let group = if path == name { "action" } else { MODULES.into_iter().find(|(_, own, _)| *own == name)?.0 };
    let mut module =
        json!({ "name": name, "path": path, "group": group, "prefix": prefix(name), "parameters": parameters });
    if group == "list" {
        module["generator"] = json!(true);
    }
    Some(module)
}

/// The modules of `action=query`: the parameter that they are named in, and how their own parameters begin. Lists are the
/// generators, too. Of the properties behind `revisions` no page of a corpus has any.
const MODULES: [(&str, &str, &str); 23] = [
    ("prop", "extracts", "ex"),
    ("prop", "info", "in"),
    ("prop", "links", "pl"),
    ("prop", "pageprops", "pp"),
    ("prop", "revisions", "rv"),
    ("prop", "categoryinfo", "ci"),
    ("prop", "imageinfo", "ii"),
    ("prop", "categories", "cl"),
    ("prop", "coordinates", "co"),
    ("prop", "description", "desc"),
    ("prop", "extlinks", "el"),
    ("prop", "images", "im"),
    ("prop", "langlinks", "ll"),
    ("prop", "pageimages", "pi"),
    ("prop", "pageterms", "wbpt"),
    ("prop", "templates", "tl"),
    ("meta", "siteinfo", "si"),
    ("meta", "tokens", ""),
    ("meta", "userinfo", "ui"),
    ("list", "allpages", "ap"),
    ("list", "prefixsearch", "ps"),
    ("list", "random", "rn"),
    ("list", "search", "sr"),
];

/// The modules that a parameter of `action=query` may name.
pub(super) fn members(parameter: &str) -> Vec<&'static str> {
    let parameter = if parameter == "generator" { "list" } else { parameter };
    MODULES.into_iter().filter(|(of, ..)| *of == parameter).map(|(_, name, _)| name).collect()
}

/// How the parameters of a module begin.
pub(super) fn prefix(module: &str) -> &'static str {
    MODULES.into_iter().find(|(_, name, _)| *name == module).map_or("", |(.., prefix)| prefix)
}

fn action(name: &str) -> Option<Value> {
    let one_of = |name: &str, values: &[&str]| json!({ "name": name, "type": values });
    Some(match name {
        "main" => {
            let actions = ["opensearch", "paraminfo", "parse", "query"];
            let submodules: Map<String, Value> =
                actions.map(|action| (action.to_owned(), json!(action))).into_iter().collect();
            json!([{ "name": "action", "type": actions, "submodules": submodules }, one_of("format", &["json", "none"])])
        }
        "query" => {
            let of_modules = |parameter: &str| {
                let members = members(parameter);
                let submodules: Map<String, Value> =
                    members.iter().map(|name| ((*name).to_owned(), json!(format!("query+{name}")))).collect();
                let mut described =
                    json!({ "name": parameter, "type": members, "submodules": submodules, "limit": MAX_PAGES });
                if parameter != "generator" {
                    described["multi"] = json!(true);
                }
                described
            };
            let pages = ["titles", "pageids"].map(|name| json!({ "name": name, "multi": true, "limit": MAX_PAGES }));
            ["prop", "list", "meta", "generator"].map(of_modules).into_iter().chain(pages).collect()
        }
        "opensearch" => {
            json!([{ "name": "search", "type": "string" }, { "name": "limit", "type": "limit", "max": MAX_PAGES }])
        }
        "parse" => json!([{ "name": "page", "type": "string" }, { "name": "pageid", "type": "integer" }]),
        "paraminfo" => json!([{ "name": "modules", "type": "string", "multi": true, "limit": MAX_PAGES }]),
        _ => return None,
    })
}

/// The parameters of a module of `action=query`.
fn submodule(name: &str) -> Option<Value> {
    let limit =
        json!({ "name": "limit", "type": "limit", "default": 10, "min": 1, "max": MAX_PAGES, "highmax": MAX_PAGES });
    let several = |name: &str| json!({ "name": name, "type": "string", "multi": true, "limit": MAX_PAGES });
    Some(match name {
        "search" => {
            json!([{ "name": "search", "type": "string" }, several("namespace"), several("prop"), limit, { "name": "offset", "type": "integer" }])
        }
        "prefixsearch" => json!([{ "name": "search", "type": "string" }, several("namespace"), limit]),
        "allpages" | "random" => {
            let texts = ["from", "to", "prefix", "continue"].map(|name| json!({ "name": name, "type": "string" }));
            let named = texts.into_iter().filter(|text| name == "allpages" || text["name"] == "continue");
            named.chain([several("namespace"), limit]).collect()
        }
        "revisions" => json!([several("prop"), several("slots")]),
        "tokens" => json!([{ "name": "type", "type": TOKENS, "multi": true, "limit": MAX_PAGES }]),
        _ if MODULES.iter().any(|(_, own, _)| *own == name) => json!([several("prop")]),
        _ => return None,
    })
}
