// The columns of the list: which there are, which the reader chose, and their menu.
import { el } from "./dom.js";
import { COLUMNS, chosenPair, variantsOf } from "./filter.js";

/** What the menu switches, with its name there. The question is always in the list: it is the link. */
const GROUPS = [
    ["id", "id"],
    ["gold", "gold answer"],
    ["type", "type"],
    ["dataset", "dataset"],
    ["right", "how many variants are right"],
    ["marks", "right or wrong"],
    ["answers", "answers"],
    ["steps", "steps"],
];

/** The filter's word for a list of questions alone. */
const NONE = "none";

/** Up to so many marks have room for the whole failure class. */
const WIDE_MARKS = 3;

/**
 * The variants that have columns: all of a few, else the two that are chosen.
 * @param {Meta} meta
 * @param {Filter} filter
 * @returns {number[]}
 */
function variantsIn(meta, filter) {
    const all = filter.dataset === "" ? meta.variants.map((_, v) => v) : variantsOf(meta, Number(filter.dataset));
    if (all.length <= COLUMNS) {
        return all;
    }
    const [left, right] = chosenPair(meta, filter);
    const first = left < 0 ? (right === 0 ? 1 : 0) : left;
    return [first, right < 0 ? (first === 1 ? 0 : 1) : right];
}

/**
 * The groups that this page has something for.
 * @param {Table} table
 * @param {Meta} meta
 */
function offered(table, meta) {
    const without = new Set([
        ...(table.type.some((type) => type !== null) ? [] : ["type"]),
        ...(meta.datasets.length > 1 ? [] : ["dataset"]),
        ...(meta.variants.length > 1 ? [] : ["right"]),
    ]);
    return GROUPS.filter(([group]) => !without.has(group ?? ""));
}

/**
 * The groups that are on: those of the address, else what fits the number of variants.
 * @param {Meta} meta
 * @param {Filter} filter
 */
function chosenGroups(meta, filter) {
    if (filter.columns !== "") {
        return new Set(filter.columns.split(","));
    }
    const few = meta.variants.length <= 2 ? ["answers"] : meta.variants.length > COLUMNS ? ["right"] : [];
    return new Set(["id", "gold", "marks", ...few]);
}

/**
 * The columns of the list from left to right. `key` is what the address calls a column that it is sorted by.
 * @param {Table} table
 * @param {Meta} meta
 * @param {Filter} filter
 * @returns {Column[]}
 */
export function columnsOf(table, meta, filter) {
    const groups = chosenGroups(meta, filter);
    const variants = variantsIn(meta, filter);
    const roomy = variants.length <= WIDE_MARKS;
    /** @type {Column[]} */
    const columns = [
        { group: "id", kind: "id", key: "id", title: "id", v: -1, rem: 8.4, narrow: false },
        { group: "", kind: "question", key: "question", title: "question", v: -1, rem: 0, narrow: false },
        { group: "gold", kind: "gold", key: "gold", title: "gold answer", v: -1, rem: roomy ? 9.5 : 8.5, narrow: false },
        { group: "type", kind: "type", key: "type", title: "type", v: -1, rem: 7, narrow: false },
        { group: "dataset", kind: "dataset", key: "dataset", title: "dataset", v: -1, rem: 8, narrow: false },
        { group: "right", kind: "sum", key: "right", title: "right", v: -1, rem: 8, narrow: false },
    ];
    for (const v of variants) {
        const name = meta.variants[v]?.name ?? "";
        columns.push(
            { group: "marks", kind: "mark", key: `mark:${name}`, title: name, v, rem: roomy ? 8.6 : 5.5, narrow: !roomy },
            { group: "answers", kind: "answer", key: `answer:${name}`, title: `${name} answer`, v, rem: roomy ? 9.5 : 8, narrow: false },
            { group: "steps", kind: "steps", key: `steps:${name}`, title: `${name} steps`, v, rem: 5, narrow: false },
        );
    }
    const known = new Set(offered(table, meta).map(([group]) => group));
    return columns.filter(({ group }) => group === "" || (groups.has(group) && known.has(group)));
}

/**
 * The menu of columns; it stays open while the list is made again.
 * @param {Table} table
 * @param {Meta} meta
 * @param {(columns: string) => void} change
 */
export function columnsMenu(table, meta, change) {
    const boxes = offered(table, meta).map(([group, name]) => {
        const box = el("input", { type: "checkbox", value: group ?? "" });
        return { box, label: el("label", { class: "check" }, box, ` ${name}`) };
    });
    const chosen = () => boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
    const reset = el("button", { type: "button", click: () => change("") }, "Reset");
    const fields = el("fieldset", { change: () => change(chosen().join(",") || NONE) }, el("legend", { class: "unseen" }, "Columns of the list"), ...boxes.map(({ label }) => label), reset);
    const summary = el("summary", {}, "Columns");
    const menu = el("details", { class: "menu" }, summary, fields);
    const close = () => {
        menu.open = false;
    };
    menu.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && menu.open) {
            close();
            summary.focus();
        }
    });
    document.addEventListener("click", (event) => !menu.contains(/** @type {Node} */ (event.target)) && close());
    const update = (/** @type {Filter} */ filter) => {
        const groups = chosenGroups(meta, filter);
        boxes.forEach(({ box }) => {
            box.checked = groups.has(box.value);
        });
        reset.disabled = filter.columns === "";
    };
    return { menu, update };
}
