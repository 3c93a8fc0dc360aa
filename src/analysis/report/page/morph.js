// Makes a part of the page like a newer one and keeps every element that both have: with it stay its scroll position, the
// focus in it, what is selected and what is open.

/**
 * @param {Node} old
 * @param {Node} fresh
 */
export function morph(old, fresh) {
    /** @type {Map<string, ChildNode[]>} */
    const known = new Map();
    for (const child of old.childNodes) {
        known.set(keyOf(child), [...(known.get(keyOf(child)) ?? []), child]);
    }
    /** @type {[Node, ChildNode | null][]} */
    const pairs = [...fresh.childNodes].map((child) => [child, known.get(keyOf(child))?.shift() ?? null]);
    for (const child of [...known.values()].flat()) {
        child.remove();
    }
    let place = old.firstChild;
    for (const [child, same] of pairs) {
        if (same === null) {
            // What runs is in the page itself.
            if (child.nodeName !== "SCRIPT") {
                old.insertBefore(document.importNode(child, true), place);
            }
            continue;
        }
        if (same === place) {
            place = place.nextSibling;
        } else {
            old.insertBefore(same, place);
        }
        renewNode(same, child);
    }
}

/**
 * @param {ChildNode} old
 * @param {Node} fresh
 */
function renewNode(old, fresh) {
    if (!(old instanceof Element) || !(fresh instanceof Element)) {
        if (old.nodeValue !== fresh.nodeValue) {
            old.nodeValue = fresh.nodeValue;
        }
        return;
    }
    // The list of questions is drawn by the page, and what is for readers without scripts is not shown.
    if (old.id === "questions" || old.nodeName === "NOSCRIPT") {
        return;
    }
    for (const { name, value } of fresh.attributes) {
        if (old.getAttribute(name) !== value) {
            old.setAttribute(name, value);
        }
    }
    for (const { name } of [...old.attributes]) {
        if (!fresh.hasAttribute(name) && name !== "open") {
            old.removeAttribute(name);
        }
    }
    morph(old, fresh);
}

/**
 * By what a node is known again among those of its parent.
 * @param {Node} node
 */
function keyOf(node) {
    if (!(node instanceof Element)) {
        return node.nodeName;
    }
    const named = node.nodeName === "TR" ? node.querySelector("th") : node.nodeName === "DETAILS" ? node.querySelector("summary") : null;
    const data = [...node.attributes].filter(({ name }) => name.startsWith("data-")).map(({ value }) => value);
    return [node.nodeName, node.id, node.getAttribute("class"), ...data, named?.textContent].join("\n");
}
