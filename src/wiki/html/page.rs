//! The tree of a page as the reader of articles needs it: texts, names, and what elements are marked as.
//!
//! Nodes lie side by side in the order in which they were made and know each other by number; attributes are judged when
//! an element is made and are not kept.

use super::marks::Marks;
use html5ever::tendril::StrTendril;
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{Attribute, QualName, local_name, ns};
use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};
use std::iter::successors;

/// A node's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeId(u32);

impl NodeId {
    /// The page itself.
    const ROOT: Self = Self(0);
    /// No node.
    const NONE: Self = Self(u32::MAX);

    fn get(self) -> Option<Self> {
        (self != Self::NONE).then_some(self)
    }
}

/// What a node is.
#[derive(Debug)]
pub(super) enum Content {
    /// The page, its document type, the inside of a template, a comment.
    Other,
    /// A text.
    Text(StrTendril),
    /// An element.
    Element {
        /// Its name.
        name: QualName,
        /// What its attributes say.
        marks: Marks,
        /// The `title` of a link; empty without one.
        title: StrTendril,
    },
}

/// A node and its neighbours.
#[derive(Debug)]
struct Node {
    parent: NodeId,
    previous: NodeId,
    next: NodeId,
    first: NodeId,
    last: NodeId,
    content: Content,
}

/// One end of a node, on a walk through a tree.
pub(super) enum Edge {
    /// Its beginning.
    Open(NodeId),
    /// Its end.
    Close(NodeId),
}

/// The tree of a page.
#[derive(Debug)]
pub(super) struct Page {
    nodes: Vec<Node>,
    /// The name of what has none.
    nameless: QualName,
}

impl Page {
    /// All nodes in the order in which they were made, those outside of the tree included.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (NodeId, &Content)> {
        (0..).map(NodeId).zip(self.nodes.iter().map(|node| &node.content))
    }

    /// What a node is.
    pub(super) fn content(&self, id: NodeId) -> &Content {
        &self.node(id).content
    }

    /// The first child of a node.
    pub(super) fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).first.get()
    }

    /// What follows the end of a node, on a walk through the tree below `root`.
    pub(super) fn after(&self, id: NodeId, root: NodeId) -> Option<Edge> {
        if id == root {
            return None;
        }
        let node = self.node(id);
        Some(node.next.get().map_or(Edge::Close(node.parent), Edge::Open))
    }

    /// A node and all below it, in document order.
    pub(super) fn descendants(&self, root: NodeId) -> impl Iterator<Item = NodeId> {
        successors(Some(root), move |&id| {
            let node = self.node(id);
            node.first.get().or_else(|| {
                successors(Some(id), |&up| self.node(up).parent.get())
                    .take_while(|&up| up != root)
                    .find_map(|up| self.node(up).next.get())
            })
        })
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    fn add(&mut self, content: Content) -> NodeId {
        // The limit on what a page may weigh keeps the number far below the greatest.
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        let none = NodeId::NONE;
        self.nodes.push(Node { parent: none, previous: none, next: none, first: none, last: none, content });
        id
    }

    fn detach(&mut self, id: NodeId) {
        let node = self.node_mut(id);
        let (parent, previous, next) = (node.parent, node.previous, node.next);
        (node.parent, node.previous, node.next) = (NodeId::NONE, NodeId::NONE, NodeId::NONE);
        match previous.get() {
            Some(previous) => self.node_mut(previous).next = next,
            None if parent != NodeId::NONE => self.node_mut(parent).first = next,
            None => {}
        }
        match next.get() {
            Some(next) => self.node_mut(next).previous = previous,
            None if parent != NodeId::NONE => self.node_mut(parent).last = previous,
            None => {}
        }
    }

    /// Puts a node without a parent before `next`, or to the end of `parent` where that is none.
    fn insert(&mut self, id: NodeId, parent: NodeId, next: NodeId) {
        let previous = match next.get() {
            Some(next) => std::mem::replace(&mut self.node_mut(next).previous, id),
            None => std::mem::replace(&mut self.node_mut(parent).last, id),
        };
        match previous.get() {
            Some(previous) => self.node_mut(previous).next = id,
            None => self.node_mut(parent).first = id,
        }
        let node = self.node_mut(id);
        (node.parent, node.previous, node.next) = (parent, previous, next);
    }

    /// Puts a node or a text before `next`, or to the end of `parent` where that is none. Texts side by side are one.
    fn place(&mut self, child: NodeOrText<NodeId>, parent: NodeId, next: NodeId) {
        let id = match child {
            NodeOrText::AppendNode(id) => {
                self.detach(id);
                id
            }
            NodeOrText::AppendText(text) => {
                let before = match next.get() {
                    Some(next) => self.node(next).previous,
                    None => self.node(parent).last,
                };
                if let Some(before) = before.get()
                    && let Content::Text(written) = &mut self.node_mut(before).content
                {
                    written.push_tendril(&text);
                    return;
                }
                self.add(Content::Text(text))
            }
        };
        self.insert(id, parent, next);
    }
}

/// Builds the tree of a page as the tree builder says, and counts what that costs.
pub(super) struct Builder {
    page: RefCell<Page>,
    /// The attributes of `<html>` and `<body>`, to which later tags of these names may add.
    gathered: RefCell<Vec<(NodeId, Vec<Attribute>)>>,
    weight: Cell<usize>,
}

/// How many bytes of an attribute's value weigh as much as a node.
const VALUE: usize = 64;

impl Builder {
    /// An empty page; `length` is that of its markup in bytes.
    pub(super) fn new(length: usize) -> Self {
        /// How many bytes of markup there are to a node, at least, in most real pages.
        const MARKUP: usize = 20;
        let nameless = QualName::new(None, ns!(), local_name!(""));
        let mut page = Page { nodes: Vec::with_capacity(length / MARKUP + 16), nameless };
        page.add(Content::Other);
        Self { page: RefCell::new(page), gathered: RefCell::default(), weight: Cell::new(0) }
    }

    /// How many nodes there are.
    pub(super) fn count(&self) -> usize {
        self.page.borrow().nodes.len()
    }

    /// What the nodes cost together, in nodes without attributes.
    pub(super) fn weight(&self) -> usize {
        self.weight.get()
    }

    /// Whether the newest node is an element with more than `most` nodes above it; nothing where it is no element.
    pub(super) fn newest_is_deeper(&self, most: usize) -> Option<bool> {
        let page = self.page.borrow();
        let newest = page.nodes.last().filter(|node| matches!(node.content, Content::Element { .. }))?;
        let above = successors(newest.parent.get(), |&id| page.node(id).parent.get());
        Some(above.take(most + 1).count() > most)
    }

    fn add(&self, content: Content, weight: usize) -> NodeId {
        self.weight.set(self.weight.get() + weight);
        self.page.borrow_mut().add(content)
    }

    fn place(&self, child: NodeOrText<NodeId>, parent: NodeId, next: NodeId) {
        let mut page = self.page.borrow_mut();
        let count = page.nodes.len();
        page.place(child, parent, next);
        self.weight.set(self.weight.get() + page.nodes.len() - count);
    }
}

impl TreeSink for Builder {
    type Handle = NodeId;
    type Output = Page;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Page {
        self.page.into_inner()
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        NodeId::ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Ref<'a, QualName> {
        Ref::map(self.page.borrow(), |page| match page.content(*target) {
            Content::Element { name, .. } => name,
            // The builder asks for names of elements only.
            _ => &page.nameless,
        })
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        let marks = Marks::of(&name.local, &attrs);
        let is_title = |attribute: &&Attribute| attribute.name.local == local_name!("title");
        let title = match name.local {
            local_name!("a") => {
                attrs.iter().find(is_title).map(|attribute| attribute.value.clone()).unwrap_or_default()
            }
            _ => StrTendril::new(),
        };
        let weight = 1 + attrs.iter().map(|attribute| 1 + attribute.value.len() / VALUE).sum::<usize>();
        let gathers = matches!(name.local, local_name!("html") | local_name!("body"));
        let id = self.add(Content::Element { name, marks, title }, weight);
        if gathers {
            self.gathered.borrow_mut().push((id, attrs));
        }
        if flags.template {
            let inside = self.add(Content::Other, 1);
            self.place(NodeOrText::AppendNode(inside), id, NodeId::NONE);
        }
        id
    }

    fn create_comment(&self, _text: StrTendril) -> NodeId {
        self.add(Content::Other, 1)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> NodeId {
        self.add(Content::Other, 1)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.place(child, *parent, NodeId::NONE);
    }

    fn append_before_sibling(&self, sibling: &NodeId, new_node: NodeOrText<NodeId>) {
        if let NodeOrText::AppendNode(id) = new_node {
            self.page.borrow_mut().detach(id);
        }
        let parent = self.page.borrow().node(*sibling).parent;
        if parent.get().is_some() {
            self.place(new_node, parent, *sibling);
        }
    }

    fn append_based_on_parent_node(&self, element: &NodeId, previous: &NodeId, child: NodeOrText<NodeId>) {
        let has_parent = self.page.borrow().node(*element).parent.get().is_some();
        if has_parent { self.append_before_sibling(element, child) } else { self.append(previous, child) }
    }

    fn append_doctype_to_document(&self, _name: StrTendril, _public: StrTendril, _system: StrTendril) {
        let doctype = self.add(Content::Other, 1);
        self.append(&NodeId::ROOT, NodeOrText::AppendNode(doctype));
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        self.page.borrow().first_child(*target).unwrap_or(*target)
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn add_attrs_if_missing(&self, target: &NodeId, attrs: Vec<Attribute>) {
        let mut all = self.gathered.borrow_mut();
        let Some((_, gathered)) = all.iter_mut().find(|(id, _)| id == target) else { return };
        for attribute in attrs {
            if gathered.iter().all(|known| known.name != attribute.name) {
                gathered.push(attribute);
            }
        }
        if let Content::Element { name, marks, .. } = &mut self.page.borrow_mut().node_mut(*target).content {
            *marks = Marks::of(&name.local, gathered);
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.page.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        let mut page = self.page.borrow_mut();
        while let Some(child) = page.first_child(*node) {
            page.detach(child);
            page.insert(child, *new_parent, NodeId::NONE);
        }
    }
}
