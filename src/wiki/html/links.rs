//! The titles that the lead of an article links to.

use super::article::{MISSING, ROOTS, has_class, is_left_out};
use super::{ExtractError, tree};
use scraper::ElementRef;
use scraper::node::Node;

/// Namespaces without articles, by their English names.
const OTHER_NAMESPACES: [&str; 9] =
    ["Category", "Draft", "File", "Help", "Module", "Portal", "Special", "Template", "Wikipedia"];
/// Links that lead out of the wiki or to no page.
const NO_PAGE_CLASSES: [&str; 4] = ["external", "extiw", "mw-selflink", "new"];

/// The titles that the paragraphs before the first heading link to, in order, each once, `most` at most. A page whose markup
/// exceeds the limits is refused.
pub fn lead_links(html: &str, most: usize) -> Result<Vec<String>, ExtractError> {
    let page = tree::parse(html)?;
    let mut links = Vec::new();
    if let Some(root) = ROOTS.iter().find_map(|selector| page.select(selector).next()) {
        collect_links(root, false, most, &mut links, 0);
    }
    Ok(links)
}

/// Returns whether the lead goes on.
fn collect_links(
    element: ElementRef<'_>,
    in_paragraph: bool,
    most: usize,
    links: &mut Vec<String>,
    depth: usize,
) -> bool {
    let node = element.value();
    if is_left_out(node) || depth > tree::MAX_DEPTH {
        return true;
    }
    if node.name() == "h2" || links.len() >= most {
        return false;
    }
    let in_paragraph = in_paragraph || node.name() == "p";
    if in_paragraph
        && node.name() == "a"
        && let Some(title) = link_target(element)
        && !links.contains(&title)
    {
        links.push(title);
    }
    let mut children = element.children().filter(|child| matches!(child.value(), Node::Element(_)));
    children.all(|child| {
        ElementRef::wrap(child).is_none_or(|child| collect_links(child, in_paragraph, most, links, depth + 1))
    })
}

/// The title of the article that a link leads to.
fn link_target(link: ElementRef<'_>) -> Option<String> {
    let title = link.attr("title").filter(|title| !title.is_empty() && !title.ends_with(MISSING))?;
    let leads_on = !has_class(link.value(), &NO_PAGE_CLASSES);
    let other =
        title.split_once(':').is_some_and(|(space, _)| OTHER_NAMESPACES.contains(&space) || space.ends_with("talk"));
    (leads_on && !other).then(|| title.to_owned())
}

#[cfg(test)]
mod tests {
    use super::lead_links;

    #[test]
    fn the_lead_links_to_articles_in_order_and_once() {
        let html = "<div class=mw-parser-output><div class=hatnote><p><a href=/wiki/H title=H>h</a></div>\
            <table><tr><td><a href=/wiki/T title=T>t</a></table>\
            <p>A <a href=/wiki/B title=B>b</a> <b><a href=./C title=C>c</a></b> <a href=/wiki/B title=B>b</a>\
            <a href=/w/index.php?title=D title='D (page does not exist)' class=new>d</a><a href=/wiki/File:E title=File:E>e</a>\
            <sup class=reference><a href=#cite>[1]</a></sup><a href=//de.wikipedia.org title=de:F class=extiw>f</a>\
            <p><a href=/wiki/G title='Star: G'>g</a><div class=mw-heading><h2>More</h2></div><p><a href=/wiki/I title=I>i</a></div>";
        assert_eq!(lead_links(html, 9).expect("readable"), ["B", "C", "Star: G"]);
        assert_eq!(lead_links(html, 2).expect("readable"), ["B", "C"]);
    }
}
