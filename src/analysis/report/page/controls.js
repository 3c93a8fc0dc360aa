// The controls above the list of questions.
import { addressOf, NO_FILTER } from "./address.js";
import { byId, choice, copyText, el } from "./dom.js";
import { COLUMNS, chosenPair, isUnstable } from "./filter.js";

/**
 * The values of a column that a question has, in the order of their first question.
 * @param {(string | null)[]} column
 * @returns {string[]}
 */
function distinct(column) {
    return /** @type {string[]} */ ([...new Set(column)].filter((value) => value !== null));
}

/**
 * @param {string[]} names
 * @returns {[string, string][]}
 */
function same(names) {
    return names.map((name) => [name, name]);
}

/**
 * @param {Table} table
 * @param {Meta} meta
 * @returns {[string, string][]}
 */
function showOptions(table, meta) {
    /** @type {[string, string][]} */
    const seldom = [];
    if (table.variants.some((v) => v.unmeasured.includes(1))) {
        seldom.push(["unmeasured", "not measured"]);
    }
    if (table.variants.some((v) => v.cut.includes(1))) {
        seldom.push(["cut", "calls cut by a limit"]);
    }
    if (table.variants.some((v) => v.disputed.includes(1))) {
        seldom.push(["disputed", "judge and EM disagree"]);
    }
    if (meta.repeats > 1 && table.variants.some((v) => v.em.some((_, i) => isUnstable(v, i)))) {
        seldom.push(["unstable", "unstable: repeats disagree"]);
    }
    if (meta.variants.length < 2) {
        return [
            ["all", "all"],
            ["wrong", "wrong"],
            ...seldom,
        ];
    }
    return [
        ["all", "all"],
        ["differ", "variants differ"],
        ["wrong", "all wrong"],
        ["flip", "one right, another wrong"],
        ...seldom,
    ];
}

/**
 * @param {Meta} meta
 * @param {Filter} filter
 * @param {(change: Partial<Filter>) => void} change
 */
function variantControls(meta, filter, change) {
    const names = same(meta.variants.map((variant) => variant.name));
    const controls = [];
    if (filter.show === "flip") {
        controls.push(choice("right", names, filter.a, (a) => change({ a })));
        controls.push(choice("wrong", names, filter.b, (b) => change({ b })));
    } else if (names.length > 1) {
        controls.push(choice("variant", [["", "any"], ...names], filter.variant, (variant) => change({ variant })));
    }
    if (names.length > COLUMNS) {
        const [left, right] = chosenPair(meta, filter).map((v, i) => names[v < 0 ? i : v]?.[0] ?? "");
        controls.push(choice("first column", names, left ?? "", (own) => change({ left: own })));
        controls.push(choice("second column", names, right ?? "", (own) => change({ right: own })));
    }
    return controls;
}

/**
 * What `show` needs besides itself: a flip has two variants, everything else none.
 * @param {Meta} meta
 * @param {string} show
 * @returns {Partial<Filter>}
 */
function showing(meta, show) {
    const [a, b] = meta.variants;
    return show === "flip" ? { show, a: a?.name ?? "", b: b?.name ?? "", variant: "" } : { show, a: "", b: "" };
}

/**
 * @param {Table} table
 * @param {Meta} meta
 * @param {Filter} filter
 * @param {(change: Partial<Filter>) => void} change
 * @returns {HTMLElement[]}
 */
export function controlsFor(table, meta, filter, change) {
    const controls = [
        choice("show", showOptions(table, meta), filter.show, (show) => change(showing(meta, show))),
        ...variantControls(meta, filter, change),
        choice("failure class", [["", "any"], ...same(meta.classes)], filter.class, (own) => change({ class: own })),
    ];
    const types = distinct(table.type);
    if (types.length > 1) {
        controls.push(choice("type", [["", "any"], ...same(types)], filter.type, (type) => change({ type })));
    }
    if (meta.datasets.length > 1) {
        const names = meta.datasets.map((name, i) => /** @type {[string, string]} */ ([String(i), name]));
        controls.push(choice("dataset", [["", "all"], ...names], filter.dataset, (dataset) => change({ dataset })));
    }
    return controls;
}

/**
 * The field for the search; it stays while the other controls are made again.
 * @param {string} value
 * @param {(q: string) => void} change
 */
export function searchField(value, change) {
    const input = el("input", { type: "search", id: "search", placeholder: "id, question, answer or steps", autocomplete: "off", spellcheck: "false" });
    input.value = value;
    input.addEventListener("input", () => change(input.value));
    return { input, label: el("label", { class: "choice search" }, el("span", {}, "search"), input) };
}

/**
 * The numbers of the tables that filter the list, and the buttons that copy.
 * @param {{open: number, filter: Filter}} page
 */
export function listenToOverview(page) {
    byId("overview").addEventListener("click", (event) => {
        const button = /** @type {Element} */ (event.target).closest("button");
        const copied = button?.dataset["copy"];
        if (button && copied) {
            copyText(button, document.getElementById(copied)?.textContent ?? "");
        } else if (button?.matches(".cell")) {
            const { show, a, b, variant, class: own } = button.dataset;
            const filter = { ...NO_FILTER, columns: page.filter.columns, show: show ?? "all", a: a ?? "", b: b ?? "", variant: variant ?? "", class: own ?? "" };
            location.hash = addressOf(filter);
            byId("questions").scrollIntoView();
        }
    });
    document.querySelector("a.skip")?.addEventListener("click", (event) => {
        const heading = /** @type {HTMLElement | null} */ (byId("question").querySelector("h1"));
        if (page.open >= 0 && heading) {
            event.preventDefault();
            heading.focus();
        }
    });
}
