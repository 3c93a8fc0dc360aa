//! Files that are made here, and those of the format's own authors.

use super::{Archive, Facts, MAGIC, facts, open, zim_parts};
use crate::base::digest::md5_hex;
use crate::tests::shared;
use crate::wikipedia::corpus::build::{BuildSettings, build};
use crate::wikipedia::corpus::import::{Format, ImportError, Imported};
use crate::wikipedia::corpus::manifest::{Extent, Manifest, Skipped};
use crate::wikipedia::corpus::record::{Article, Dropped, Record};
use crate::wikipedia::html::{self, ArticleOptions};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const PLAIN: u8 = 1;
const XZ: u8 = 4;
const ZSTD: u8 = 5;
/// A cluster with places of eight bytes.
const LONG: u8 = 0x10;

/// `<p>Ada wrote programs.</p>` as the one blob of a cluster, packed with xz.
const PACKED: &str = "fd377a585a0000016922de36020021010c0000008f98419c01002108000000220000003c703e4164612077726f746520\
70726f6772616d732e3c2f703e0000004103dd6900013622ba65fa7c9042990d010000000001595a";

enum Content<'a> {
    Page(&'a str),
    /// A picture; its bytes are nobody's business.
    Picture,
    Text(&'a [u8]),
    To(u32),
    /// An entry with the number of a media type that is not there.
    Unknown,
}
use Content::{Page, Picture, Text, To, Unknown};

type Made<'a> = (u8, &'a str, &'a str, Content<'a>);

fn long(number: usize) -> [u8; 8] {
    (number as u64).to_le_bytes()
}

fn short(number: usize) -> [u8; 4] {
    u32::try_from(number).expect("small").to_le_bytes()
}

/// With the MD5 of what it has.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let digest = md5_hex(bytes.as_slice()).expect("memory");
    let digits = (0..16).map(|at| u8::from_str_radix(&digest[2 * at..2 * at + 2], 16).expect("a digit"));
    bytes.extend(digits.collect::<Vec<_>>());
    bytes
}

fn cluster(kind: u8, blobs: &[&[u8]]) -> Vec<u8> {
    let width = if kind & LONG == 0 { 4 } else { 8 };
    let mut at = width * (blobs.len() + 1);
    let mut bytes = long(at)[..width].to_vec();
    for blob in blobs {
        at += blob.len();
        bytes.extend(&long(at)[..width]);
    }
    bytes.extend(blobs.concat());
    let packed = match kind & 0x0f {
        PLAIN => bytes,
        ZSTD => zstd::encode_all(bytes.as_slice(), 3).expect("memory"),
        kind => panic!("{kind}"),
    };
    [&[kind][..], &packed].concat()
}

/// A file with two clusters, the second of which comes first in it.
fn zim(version: (u16, u16), kind: u8, entries: &[Made<'_>]) -> Vec<u8> {
    let blob = |entry: &Made<'_>| match entry.3 {
        Page(text) => text.as_bytes().to_vec(),
        Text(bytes) => bytes.to_vec(),
        _ => b"x".to_vec(),
    };
    let blobs: Vec<Vec<u8>> = entries.iter().map(blob).collect();
    let (even, odd): (Vec<usize>, Vec<usize>) = (0..entries.len()).partition(|at| at % 2 == 0);
    let packed = |of: &[usize]| cluster(kind, &of.iter().map(|at| blobs[*at].as_slice()).collect::<Vec<_>>());
    file(version, entries, &[packed(&even), packed(&odd)])
}

fn file(version: (u16, u16), entries: &[Made<'_>], clusters: &[Vec<u8>; 2]) -> Vec<u8> {
    let types = b"image/png\0text/html; charset=utf-8\0text/plain\0\0";
    let (entries_at, count) = (80 + types.len(), entries.len());
    let clusters_at = entries_at + 8 * count;
    let (mut places, mut names) = (Vec::new(), Vec::new());
    for (at, (namespace, url, title, content)) in entries.iter().enumerate() {
        places.extend(long(clusters_at + 16 + names.len()));
        let kind: u16 = match content {
            Picture => 0,
            Page(_) => 1,
            Text(_) => 2,
            To(_) => 0xffff,
            Unknown => 77,
        };
        names.extend([&kind.to_le_bytes()[..], &[0, *namespace, 0, 0, 0, 0]].concat());
        match content {
            To(to) => names.extend(to.to_le_bytes()),
            _ => names.extend([short(at % 2), short(at / 2)].concat()),
        }
        names.extend([url.as_bytes(), &[0], title.as_bytes(), &[0]].concat());
    }
    let second = clusters_at + 16 + names.len();
    let first = second + clusters[1].len();
    let end = first + clusters[0].len();
    let mut bytes = MAGIC.to_vec();
    bytes.extend([version.0.to_le_bytes(), version.1.to_le_bytes()].concat());
    bytes.extend([[7; 8]; 2].concat());
    bytes.extend([short(count), short(2)].concat());
    bytes.extend([long(entries_at), long(0), long(clusters_at), long(80)].concat());
    bytes.extend([[0xff; 4], [0xff; 4]].concat());
    bytes.extend(long(end));
    bytes.extend([types.as_slice(), &places, &long(first), &long(second), &names, &clusters[1], &clusters[0]].concat());
    sealed(bytes)
}

/// What is in a file: articles and redirects by title, what was left out, and why the rest cannot be read.
#[derive(Default)]
struct Contents {
    articles: BTreeMap<String, Article>,
    redirects: BTreeMap<String, String>,
    dropped: Vec<Dropped>,
    bad: Vec<String>,
    broken: Option<String>,
}

fn read(path: &Path) -> Contents {
    let mut contents = Contents::default();
    let records = match open(path) {
        Ok(records) => records,
        Err(ImportError::Broken { reason }) => return Contents { broken: Some(reason), ..contents },
        Err(error) => panic!("{error:?}"),
    };
    for record in records {
        match record {
            Ok(Imported { record: Record::Article(article), .. }) => {
                contents.articles.insert(article.title.clone(), article);
            }
            Ok(Imported { record: Record::Redirect { title, to }, .. }) => drop(contents.redirects.insert(title, to)),
            Ok(Imported { record: Record::Dropped(dropped), .. }) => contents.dropped.push(dropped),
            Ok(found) => panic!("{found:?}"),
            Err(ImportError::Record { place, reason }) => contents.bad.push(format!("{place}: {reason}")),
            Err(error) => contents.broken = Some(error.reason()),
        }
    }
    contents.bad.sort();
    contents
}

fn written(dir: &tempfile::TempDir, bytes: &[u8]) -> PathBuf {
    let path = dir.path().join("made.zim");
    fs::write(&path, bytes).expect("written");
    path
}

fn blocks(article: &Article) -> Vec<String> {
    article.blocks.iter().map(|block| block.text().into_owned()).collect()
}

const ADA: &str = "<html><body><h1>Ada</h1><p>Ada wrote programs.<sup class=\"reference\">[1]</sup></p><ul><li>one</li>\
<li>two</li></ul></body></html>";
const MANY: &str =
    "<p>Mercury may refer to:</p><ul><li><a href=x title=\"Mercury (planet)\">one</a>, a planet</li></ul>";

fn entries(namespace: u8) -> Vec<Made<'static>> {
    let listed: &[u8] = &[2, 0, 0, 0, 4, 0, 0, 0];
    let mut entries = vec![
        (namespace, "Countess", "", To(1)),
        (namespace, "Augusta", "Augusta", To(2)),
        (namespace, "Ada.html", "Ada Byron", Page(ADA)),
        (namespace, "Broken", "", Unknown),
        (namespace, "Mercury", "", Page(MANY)),
        (namespace, "circle", "", To(5)),
        (namespace, "face", "", To(7)),
        (namespace, "face.png", "", Picture),
        (namespace, "footer", "", Page("<p>not an article</p>")),
        (namespace, "gone", "", To(99)),
        (b'M', "Creator", "", Text(b"Somebody\n")),
        (b'M', "Date", "", Text(b"2026-01-02")),
        (b'M', "Language", "", Text(b"eng")),
        (b'M', "License", "", Text(b"CC-BY-SA-4.0\x1b[31m")),
        (b'W', "mainPage", "", To(2)),
    ];
    if namespace == b'C' {
        entries.push((b'X', "listing/titleOrdered/v1", "", Text(listed)));
    }
    entries
}

#[test]
fn pages_redirects_and_facts_are_those_of_the_file() {
    let dir = tempfile::tempdir().expect("a folder");
    for (version, namespace) in [((5, 0), b'A'), ((6, 0), b'A'), ((6, 1), b'C'), ((6, 2), b'C')] {
        for kind in [PLAIN, ZSTD, PLAIN | LONG, ZSTD | LONG] {
            let path = written(&dir, &zim(version, kind, &entries(namespace)));
            let Contents { mut articles, redirects, dropped, bad, broken } = read(&path);
            assert_eq!(broken, None, "{version:?} {kind}");
            assert_eq!(bad, [", `entry 3`: its media type has the number 77, and there are 3"], "{version:?} {kind}");
            if namespace == b'A' {
                assert!(articles.remove("footer").is_some(), "without a list, every page is an article");
            }
            assert_eq!(articles.keys().collect::<Vec<_>>(), ["Ada Byron", "Mercury"]);
            assert_eq!(blocks(&articles["Ada Byron"]), ["Ada wrote programs.", "one\ntwo"]);
            let live = html::article(ADA, ArticleOptions::default()).expect("a page");
            assert_eq!(blocks(&articles["Ada Byron"]), *live.blocks);
            assert_eq!(
                (articles["Ada Byron"].entries.as_ref(), articles["Mercury"].entries.as_ref()),
                (None, Some(&vec!["Mercury (planet)".to_owned()]))
            );
            let lead: Vec<_> = redirects.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
            assert_eq!(lead, [("Augusta", "Ada Byron"), ("Countess", "Ada Byron")]);
            assert_eq!(dropped, [Dropped::Circle, Dropped::ToNothing, Dropped::ToNothing]);
            assert_eq!(Format::detect(&path), Some(Format::Zim));
            let said = |text: &str| Some(text.to_owned());
            let expected = Facts {
                language: said("en"),
                as_of: said("2026-01-02"),
                license: None,
                attribution: said("Somebody"),
                changes: None,
            };
            assert_eq!(facts(&path), expected);
        }
    }
}

#[test]
fn long_chains_of_redirects_are_dropped_and_counted() {
    let dir = tempfile::tempdir().expect("a folder");
    let names: Vec<String> = (1..20).map(|number| format!("r{number:02}")).collect();
    let mut entries = vec![(b'C', "Ada", "", Page(ADA))];
    entries.extend((0..).zip(&names).map(|(to, name)| (b'C', name.as_str(), "", To(to))));
    let manifest = built(dir.path(), "c", written(&dir, &zim((6, 1), ZSTD, &entries)));
    assert_eq!((manifest.redirects, manifest.names.redirect_circle), (16, 3), "{:?}", manifest.names);
    let all = Skipped::default();
    assert_eq!((manifest.sources[0].rows, manifest.sources[0].skipped), (20, all));
}

#[test]
fn entries_are_the_titles_of_the_pages_that_links_lead_to() {
    let dir = tempfile::tempdir().expect("a folder");
    let item = |link: &str| format!("<li>{link}, one</li>");
    let links = [
        "<a href=\"../A1\">shown</a>",
        "<a href=\"caf%C3%A9%3F?x=1#part\">shown</a>",
        "<a href=../r title=\"its own\">shown</a>",
        "<a href=../r>shown</a>",
        "<a href=../gone>no page</a>",
        "<a href=../face.png>a picture</a>",
        "<a href=\"https://example.org/A1\">outside</a>",
        "<a href=#part>here</a>",
        "<a href=\"../../../../%ff\">no text</a>",
    ];
    let page = format!("<p>Many may refer to:</p><ul>{}</ul>", links.map(item).concat());
    for (version, namespace) in [((5, 0), b'A'), ((6, 1), b'C')] {
        let entries = [
            (namespace, "A1", "Art 1", Page(ADA)),
            (namespace, "dir/Many", "Many", Page(&page)),
            (namespace, "dir/caf\u{e9}?", "The caf\u{e9}", Page(ADA)),
            (namespace, "face.png", "", Picture),
            (namespace, "r", "Other name", To(0)),
        ];
        let contents = read(&written(&dir, &zim(version, ZSTD, &entries)));
        let found = contents.articles["Many"].entries.clone().expect("entries");
        let expected =
            ["Art 1", "The caf\u{e9}", "its own", "Other name", "no page", "a picture", "outside", "here", "no text"];
        assert_eq!(found, expected);
    }
}

#[test]
fn xz_is_read_with_bounded_memory() {
    let dir = tempfile::tempdir().expect("a folder");
    let bytes: Vec<u8> =
        (0..PACKED.len() / 2).map(|at| u8::from_str_radix(&PACKED[2 * at..2 * at + 2], 16).expect("hex")).collect();
    let made =
        |packed: &[u8]| file((5, 0), &[(b'A', "Ada", "", Page(""))], &[[&[XZ][..], packed].concat(), Vec::new()]);
    let contents = read(&written(&dir, &made(&bytes)));
    assert_eq!(blocks(&contents.articles["Ada"]), ["Ada wrote programs."], "{:?}", contents.bad);
    // The header of the block asks for four gigabytes to look back to; its checksum is that of the changed header.
    let mut greedy = bytes.clone();
    greedy[16] = 40;
    let mut checksum = flate2::Crc::new();
    checksum.update(&greedy[12..20]);
    greedy[20..24].copy_from_slice(&checksum.sum().to_le_bytes());
    let contents = read(&written(&dir, &made(&greedy)));
    assert_eq!(contents.bad, [", `A/Ada`: cluster 0 is damaged: needed memory too big for mem_limit_kb"]);
    for (at, mask) in (0..bytes.len()).zip([1, 0x80, 0xff].into_iter().cycle()) {
        let mut damaged = bytes.clone();
        damaged[at] ^= mask;
        let contents = read(&written(&dir, &made(&damaged)));
        assert_eq!((contents.broken, contents.articles.len() + contents.bad.len()), (None, 1));
    }
}

#[test]
fn a_file_of_which_any_byte_is_wrong_is_refused_or_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let whole = zim((6, 1), ZSTD, &entries(b'C'));
    let end = whole.len() - 16;
    for (at, mask) in (0..end).zip([1, 0x80, 0xff].into_iter().cycle()) {
        let mut damaged = whole.clone();
        damaged[at] ^= mask;
        let refused = read(&written(&dir, &damaged));
        assert!(refused.broken.is_some() && refused.articles.is_empty(), "{at}");
        // Somebody who means harm writes the checksum too.
        damaged.truncate(end);
        read(&written(&dir, &sealed(damaged)));
    }
    for length in 0..end {
        assert!(read(&written(&dir, &whole[..length])).broken.is_some(), "{length}");
        let mut cut = whole[..length].to_vec();
        if let Some(place) = cut.get_mut(72..80) {
            place.copy_from_slice(&long(length));
        }
        let Contents { articles, bad, broken, .. } = read(&written(&dir, &sealed(cut)));
        assert!(broken.is_some() || bad.len() > 1 || articles.len() < 2, "{length}");
    }
}

#[test]
fn huge_numbers_take_no_memory_and_what_is_left_out_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let zeros = vec![0; 40 << 20];
    let entries = [
        (b'C', "Ada", "", Page(ADA)),
        (b'C', "Bomb", "", Text(&[])),
        (b'C', "Late", "", Page("")),
        (b'C', "Wide", "", Page("")),
    ];
    let table = |first: u64| [&[PLAIN][..], &first.to_le_bytes()].concat();
    let large = cluster(ZSTD, &[&zeros, b"<p>behind</p>"]);
    for (clusters, words) in [
        ([large, cluster(PLAIN, &[b"", b"\xff"])], "it is larger than 32 MiB"),
        (
            [table(u64::MAX), cluster(PLAIN, &[b"", b"\xff"])],
            "cluster 0 is damaged: its table cannot have 4294967295 bytes",
        ),
        ([table(0), cluster(PLAIN, &[b"", b"\xff"])], "cluster 0 is damaged: its table cannot have 0 bytes"),
        ([vec![7], cluster(PLAIN, &[b"", b"\xff"])], "cluster 0 is packed in the way 7, which is not known"),
    ] {
        let Contents { articles, bad, broken, .. } = read(&written(&dir, &file((6, 1), &entries, &clusters)));
        assert_eq!((broken, articles.len()), (None, 0));
        assert_eq!(
            bad,
            [
                format!(", `C/Ada`: {words}"),
                format!(", `C/Late`: {words}"),
                ", `C/Wide`: it is not UTF-8 text".to_owned()
            ]
        );
    }
    let title = "x".repeat(2 << 20);
    let contents =
        read(&written(&dir, &zim((6, 1), ZSTD, &[(b'C', "Long", &title, Page(ADA)), (b'C', "M", "", Page(ADA))])));
    assert_eq!(
        (contents.bad, contents.articles.len()),
        (vec![", `entry 0`: its address and title have no end".to_owned()], 1)
    );
}

fn built(dir: &Path, name: &str, path: PathBuf) -> Manifest {
    let settings = BuildSettings { sources: vec![(Format::Zim, path)], memory: 1 << 20, ..BuildSettings::default() };
    build(&dir.join(name), &settings, &mut |_| {}).expect("a corpus").manifest
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_files_of_the_formats_authors_are_read() {
    let folder = shared::folder().join("data/zim");
    for (name, entries, (articles, redirects), language, empty) in [
        ("small.nons.zim", 16, (1, 0), Some("en"), 1),
        // Its language is `=en`.
        ("small.withns.zim", 17, (1, 0), None, 1),
        ("wikibooks_be_2017-02.nons.zim", 123, (66, 4), Some("bel"), 1),
        ("wikipedia_en_ray_charles_2015-06.zim", 458, (85, 151), Some("en"), 0),
    ] {
        let path = folder.join(name);
        assert_eq!(Archive::open(&path).expect("a file").entries, entries, "{name}");
        assert_eq!(facts(&path).language.as_deref(), language, "{name}");
        let contents = read(&path);
        assert_eq!((contents.broken, contents.bad), (None, Vec::new()), "{name}");
        assert_eq!((contents.articles.len(), contents.redirects.len()), (articles, redirects), "{name}");
        assert!(contents.redirects.values().all(|to| contents.articles.contains_key(to)), "{name}");
        assert_eq!(contents.articles.values().filter(|article| article.is_empty()).count(), empty, "{name}");
        let texts = contents.articles.values().flat_map(blocks);
        assert!(texts.into_iter().all(|text| !text.contains("</")), "{name}");
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_damaged_and_split_files_of_the_formats_authors_are_refused_or_read() {
    let folder = shared::folder().join("data/zim/suite");
    let dir = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_str().expect("text");
        let Contents { articles, broken, .. } = read(&path);
        let words = match name {
            "invalid.smaller_than_header.zim" => "it has 40 bytes, and the header of a ZIM file has 80",
            "invalid.invalid_checksumpos.zim" => "its header says that it ends with byte 0",
            "invalid.invalid_mimelistpos.zim" => "its list of media types is damaged",
            "invalid.outofbounds_clusterptrpos.zim" => "its list of 2 clusters would lie behind its end",
            "invalid.outofbounds_urlptrpos.zim" => "its list of 17 entries would lie behind its end",
            name if name.starts_with("invalid.") => "it is damaged: its MD5 is ",
            name if name.contains(".embedded") || name.ends_with("ab") || name.ends_with("ac") => "cut out first",
            _ => {
                assert!(broken.is_none() && !articles.is_empty(), "{name}: {broken:?}");
                continue;
            }
        };
        assert!(broken.as_ref().is_some_and(|reason| reason.contains(words)), "{name}: {broken:?}");
        // Past the checksum, too.
        let mut bytes = fs::read(&path).expect("a file");
        bytes.truncate(bytes.len().saturating_sub(16));
        assert!(read(&written(&dir, &sealed(bytes))).articles.len() <= 1, "{name}");
    }
    let whole = built(dir.path(), "whole", folder.join("wikibooks_be_all_nopic_2017-02.zim"));
    assert_eq!((whole.as_of.as_deref(), whole.license.attribution.as_deref()), (Some("2017-02-13"), Some("Wikibooks")));
    for name in ["wikibooks_be_all_nopic_2017-02_splitted.zim", "wikibooks_be_all_nopic_2017-02_splitted.zimaa"] {
        let path = folder.join(name);
        assert_eq!((zim_parts(&path).len(), Format::detect(&path)), (3, Some(Format::Zim)));
        let parts = built(dir.path(), name, path);
        assert_eq!((&parts.id, &parts.sources[0].sha256), (&whole.id, &whole.sources[0].sha256));
    }
    let extent = |name| Format::Zim.extent(Path::new(name));
    assert_eq!(
        (extent("w_en_all_mini_2025-08.zim"), extent("w_en_all_nopic_2025-08.zim")),
        (Extent::Lead, Extent::Page)
    );
    let cut = dir.path().join("cut.zim");
    fs::copy(folder.join("wikibooks_be_all_nopic_2017-02_splitted.zimaa"), cut.with_extension("zimaa"))
        .expect("copied");
    assert_eq!(read(&cut).broken.as_deref(), Some("it is cut: 51200 bytes of 152865 are there"));
}
