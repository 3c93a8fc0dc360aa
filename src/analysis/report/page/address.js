// Addresses: `#/?show=differ` is the list, `#/q/ID?show=differ` a question within it, `#scores` a section.

/** @type {Filter} */
export const NO_FILTER = Object.freeze({
    q: "",
    show: "all",
    a: "",
    b: "",
    class: "",
    variant: "",
    type: "",
    dataset: "",
    order: "",
    columns: "",
    left: "",
    right: "",
    repeat: "",
    sample: "",
    seed: "",
    at: "",
});

/**
 * @param {string} hash with or without its `#`
 * @returns {Place}
 */
export function placeOf(hash) {
    const address = hash.replace(/^#/, "");
    if (!address.startsWith("/")) {
        return { view: "section", id: address, of: "", filter: { ...NO_FILTER } };
    }
    const mark = address.indexOf("?");
    const path = mark < 0 ? address : address.slice(0, mark);
    const given = new URLSearchParams(mark < 0 ? "" : address.slice(mark + 1));
    const filter = { ...NO_FILTER };
    for (const name of /** @type {(keyof Filter)[]} */ (Object.keys(NO_FILTER))) {
        filter[name] = given.get(name) ?? NO_FILTER[name];
    }
    // The id of a question may be empty.
    const isQuestion = path.startsWith("/q/");
    const id = isQuestion ? decoded(path.slice(3)) : "";
    return { view: isQuestion ? "question" : "list", id, of: given.get("of") ?? "", filter };
}

/** @param {string} text */
function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/**
 * The address of the list, or of a question within it.
 * @param {Filter} filter
 * @param {string} [id]
 * @param {string} [of]
 */
export function addressOf(filter, id, of) {
    const given = new URLSearchParams();
    for (const name of /** @type {(keyof Filter)[]} */ (Object.keys(NO_FILTER))) {
        if (filter[name] !== NO_FILTER[name]) {
            given.set(name, filter[name]);
        }
    }
    if (of) {
        given.set("of", of);
    }
    const query = given.toString();
    return `#/${id === undefined ? "" : `q/${encodeURIComponent(id)}`}${query ? `?${query}` : ""}`;
}
