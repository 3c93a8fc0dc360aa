// One question as a row of the list.
import { addressOf } from "./address.js";
import { el, unseen } from "./dom.js";
import { COLUMNS, chosenPair, variantsOf } from "./filter.js";

/**
 * The variants that have a column: all of a few, else the two that are chosen.
 * @param {Meta} meta
 * @param {Filter} filter
 * @returns {number[]}
 */
export function columnsOf(meta, filter) {
    const all = filter.dataset === "" ? meta.variants.map((_, v) => v) : variantsOf(meta, Number(filter.dataset));
    if (all.length <= COLUMNS) {
        return all;
    }
    const [left, right] = chosenPair(meta, filter);
    const first = left < 0 ? (right === 0 ? 1 : 0) : left;
    return [first, right < 0 ? (first === 1 ? 0 : 1) : right];
}

/**
 * ✓ or ✗ with the failure class in words.
 * @param {boolean | null} right
 * @param {string | null} word the class of a wrong answer, or the outcome of an episode that is neither
 */
export function mark(right, word) {
    if (right === true) {
        return el("span", { class: "right" }, "✓", unseen(" right"));
    }
    if (right === false) {
        return el("span", { class: "wrong" }, `✗ ${word ?? "wrong"}`);
    }
    return el("span", { class: "neither" }, (word ?? "not asked").replaceAll("_", " "));
}

/**
 * What the row says of one variant.
 * @param {Meta} meta
 * @param {VariantColumns} columns
 * @param {number} i
 */
export function markOf(meta, columns, i) {
    const right = columns.right[i] ?? null;
    const classed = meta.classes[columns.class[i] ?? -1] ?? null;
    const outcome = columns.outcome[i] ?? null;
    return mark(right === null ? null : right === 1, right === null && outcome === "finished" ? "no verdict" : (classed ?? (right === null ? outcome : null)));
}

/**
 * How many of the variants that were asked are right.
 * @param {Table} table
 * @param {number} i
 */
function summary(table, i) {
    const measured = table.variants.filter((variant) => variant.right[i] !== null);
    const right = measured.filter((variant) => variant.right[i] === 1).length;
    const wrong = measured.length - right;
    const sign = measured.length === 0 ? "" : wrong === 0 ? "✓ " : right === 0 ? "✗ " : "";
    const tone = measured.length === 0 ? "neither" : wrong === 0 ? "right" : right === 0 ? "wrong" : "mixed";
    return el("span", { class: tone }, measured.length === 0 ? "not measured" : `${sign}${right} of ${measured.length} right`);
}

/**
 * @param {Meta} meta
 * @param {Filter} filter
 * @returns {HTMLTableRowElement}
 */
export function headRow(meta, filter) {
    const head = el("tr", { role: "row", "aria-rowindex": 1 });
    const heading = (/** @type {string} */ text, /** @type {string} */ name) =>
        el("th", { role: "columnheader", scope: "col", class: name, title: text }, text);
    head.append(heading("id", "id"), heading("question", "question"), heading("right", "sum"));
    for (const v of columnsOf(meta, filter)) {
        head.append(heading(meta.variants[v]?.name ?? "", "mark"));
    }
    return head;
}

/**
 * @param {{table: Table, meta: Meta, filter: Filter, hides: (i: number, v: number) => boolean, judged: (i: number) => boolean, of: (i: number) => string}} list
 * @param {number} i the question
 * @param {number} place in the list, from 0
 * @returns {HTMLTableRowElement}
 */
export function questionRow(list, i, place) {
    const { table, meta, filter } = list;
    const id = table.id[i] ?? "";
    const address = addressOf(filter, id, list.of(i));
    const row = el("tr", { role: "row", "aria-rowindex": place + 2, "data-place": place });
    const judged = list.judged(i) && el("span", { class: "judged", title: "judged" }, " ✎", unseen(" judged"));
    const columns = columnsOf(meta, filter);
    const hidden = () => el("span", { class: "neither" }, "hidden");
    const anyHidden = table.variants.some((_, v) => list.hides(i, v));
    row.append(
        el("td", { role: "cell", class: "id", title: id }, id, judged),
        el("td", { role: "cell", class: "question" }, el("a", { href: address, title: table.question[i] ?? "" }, table.question[i] || "(empty)")),
        el("td", { role: "cell", class: "sum" }, anyHidden ? hidden() : summary(table, i)),
    );
    for (const v of columns) {
        const variant = meta.variants[v];
        const own = table.variants[v];
        const who = el("span", { class: "who" }, `${variant?.name ?? ""} `);
        row.append(el("td", { role: "cell", class: "mark" }, who, list.hides(i, v) || !own ? hidden() : markOf(meta, own, i)));
    }
    return row;
}
