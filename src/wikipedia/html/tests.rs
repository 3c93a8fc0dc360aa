//! Tests of the readings of pages. Expectations of the paper's reading are what Beautiful Soup 4 gives.

use super::{Article, ArticleOptions, ExtractError, PageKind, article, paper_page};

fn blocks(html: &str) -> Vec<String> {
    paper_page(html).expect("readable").blocks.to_vec()
}

fn read(html: &str) -> Article {
    article(html, ArticleOptions::default()).expect("readable")
}

#[test]
fn the_papers_reading_nests_what_html5_would_close() {
    assert_eq!(blocks("<p>a<p>b<div>c</div></p>d"), ["abcd", "bc"]);
    assert_eq!(blocks("<ul><li>x<ul><li>y</ul></ul><p>z"), ["z", "xy", "y"]);
    assert_eq!(blocks("<p>a</ul>b</p><p/>c"), ["ab", ""]);
    assert_eq!(blocks("<P>a<b>c</P >d"), ["ac"]);
}

#[test]
fn the_papers_reading_hides_scripts_and_shrinks_white_space() {
    assert_eq!(blocks("<p>a<style>b</style><script>'</p>'</script><rt>c</rt><template><p>d</template>e"), ["ae", ""]);
    assert_eq!(blocks("<p>a<b> \n\t</b>b<b>   </b>c<pre>  \n </pre>d"), ["a\nb c  \n d"]);
    assert_eq!(blocks("<p>\u{1f} a \u{a0}"), ["a"]);
    assert_eq!(blocks("<p>a<!-- b -- >c<![CDATA[d]]><?e?><!f>g</3>h"), ["acdgh"]);
}

#[test]
fn the_papers_reading_keeps_html_parsers_ends() {
    assert_eq!(blocks("<p>&amp;&notit;&#160a; <p>x"), ["&&notit&#160a; x", "x"]);
    assert_eq!(blocks("<p>a < b <3 <p title='>'>c</p x>d"), ["a < b <3 cd", "c"]);
    assert_eq!(blocks("<p>a<b c='d"), ["a<b c='d"]);
    assert_eq!(paper_page("<p>a<![nonsense]>"), Err(ExtractError::Rejected));
}

#[test]
fn result_headings_are_found_by_one_of_several_classes() {
    let page =
        paper_page("<div class='x mw-search-result-heading'>\n A <b>b</b> </div><div class=mw-search-result>c</div>");
    assert_eq!(*page.expect("readable").headings, ["A b"]);
}

#[test]
fn hostile_pages_cost_what_their_length_is_worth() {
    let deep = format!("{}x", "<ul><li>some words here".repeat(20_000));
    assert_eq!(paper_page(&deep), Err(ExtractError::TooMuchText));
    for piece in ["<p", "<!--", "</", "<a b='", "<a <a ", "&#", "&a", "<![if ", "<script>", "</script", "<sup>", "<p>"]
    {
        let page = piece.repeat(20_000);
        let _ = paper_page(&page);
    }
    assert_eq!(article(&"<sup>".repeat(20_000), ArticleOptions::default()), Err(ExtractError::TooDeep));
}

#[test]
fn repeated_text_of_a_long_page_is_bounded_as_well() {
    let nested = |depth: usize| format!("{}{}", "<ul><li>".repeat(depth), "x".repeat(1 << 20));
    assert_eq!(blocks(&nested(64)).len(), 64);
    assert_eq!(paper_page(&nested(65)), Err(ExtractError::TooMuchText));
}

#[test]
fn the_article_is_read_in_order_without_what_surrounds_it() {
    let page = "<body><h1 id=firstHeading>T<i>x</i></h1><ul><li>skin menu entry</ul><div id='mw-content-text'>\
        <table class=infobox><td><ul><li>box</ul></table><p>One<sup class=reference>[1]</sup> two<sup>2</sup>\n  three.</p>\
        <h2>H<span class=mw-editsection>[edit]</span></h2><ul><li>a b<ul><li>c d</ul><li>e f</ul><p>Four<br>five</p>\
        <div class=navbox><p>nav</div><ol class=references><li>ref</ol></div><footer><p>foot";
    let article = read(page);
    assert_eq!(article.title.as_deref(), Some("Tx"));
    assert_eq!(article.kind, PageKind::Article);
    assert_eq!(*article.blocks, ["One two2 three.", "a b\nc d\ne f", "Four\nfive"]);
    let marked = super::article(page, ArticleOptions { drop_footnote_marks: false }).expect("readable");
    assert_eq!(marked.blocks[0], "One[1] two2 three.");
}

#[test]
fn a_short_page_that_names_its_encoding_is_read_to_its_end() {
    let page = "<meta charset=utf-8><meta charset=utf-8><p>One two three";
    assert_eq!(*read(page).blocks, ["One two three"]);
}

#[test]
fn disambiguation_is_known_by_mark_or_by_text() {
    let list = "<ul><li><a href=/wiki/A title='A (film)'>A</a>, of <a>1990</a></li><li><i><a>B</a></i></li></ul>";
    let marked = read(&format!("<body><p>T can be:</p>{list}<div id=disambigbox></div>"));
    assert_eq!((marked.kind, &*marked.links), (PageKind::Disambiguation, &["A (film)".to_owned(), "B".to_owned()][..]));
    assert_eq!(read(&format!("<body><p>T may refer to:</p>{list}")).kind, PageKind::Disambiguation);
    assert_eq!(read(&format!("<body><p>T can be:</p>{list}")).kind, PageKind::Article);
    let none = read("<body><p class=mw-search-nonefound>There were no results");
    assert_eq!((none.kind, none.titles.len()), (PageKind::Results, 0));
}

#[test]
fn one_mark_of_mediawiki_and_a_title_make_a_page_of_a_wiki() {
    let titled = |body: &str| format!("<html><head><title>X</title></head>{body}</html>");
    for page in [
        "<meta name=generator content='MediaWiki 1.46.0-wmf.5'><title>X</title><p>x",
        &titled("<body class='skin-vector mediawiki ltr'><p>x"),
        &titled("<div id=mw-content-text><p>x</div>"),
        &titled("<div class='noprint mw-parser-output'><p>x</div>"),
        "<h1 id=firstHeading>X</h1><div class=mw-body>x</div>",
        "<div id=mw-content-text><p class=mw-search-nonefound>There were no results.</p></div>",
        "<body class=mw-special-Search><div class=searchresults></div>",
    ] {
        assert!(read(page).from_mediawiki, "{page}");
    }
    for page in [
        "",
        "<p>x",
        &titled("<body class='portal'><h1>Welcome</h1><form><p>mw-content-text mediawiki</form>"),
        &titled("<body class=no-mediawiki><p>This is not made by MediaWiki.<div class=xmw-body></div>"),
        "<meta name=generator content=WordPress><title>X</title>",
        "<meta name=description content=MediaWiki><title>X</title>",
        "<div id=mw-content-text><p>x</div>",
    ] {
        assert!(!read(page).from_mediawiki, "{page}");
    }
}
