// One question as a row of the list.
import { addressOf } from "./address.js";
import { columnsOf } from "./columns.js";
import { el, unseen } from "./dom.js";
import { isUnstable, sortOf, wholeName } from "./filter.js";

/** Ids with more characters are shortened in the middle: so many are left at each end. */
const LONG_ID = 15;
const END_OF_ID = 6;

/** Failure classes that are too long for a narrow column. */
const SHORT = /** @type {Record<string, string>} */ ({ hallucination: "halluc.", reasoning: "reason.", declined: "declin." });

/**
 * A failure class; in narrow columns its first letters, and the whole word for screen readers.
 * @param {string} word
 * @param {boolean} narrow
 */
function classWord(word, narrow) {
    const short = narrow ? SHORT[word] : undefined;
    return short ? el("span", { title: word }, el("span", { "aria-hidden": "true" }, short), unseen(word)) : word;
}

/**
 * ✓ or ✗ with the failure class in words.
 * @param {boolean | null} right
 * @param {string | null} word the class of a wrong answer, or the outcome of an episode that is neither
 * @param {boolean} [narrow] whether the column is too narrow for a long word
 */
export function mark(right, word, narrow = false) {
    if (right === true) {
        return el("span", { class: "right" }, "✓", unseen(" right"));
    }
    if (right === false) {
        return el("span", { class: "wrong" }, "✗ ", classWord(word ?? "wrong", narrow));
    }
    return el("span", { class: "neither" }, (word ?? "not asked").replaceAll("_", " "));
}

/**
 * What the row says of one variant: of repeats, how many are right.
 * @param {Meta} meta
 * @param {VariantColumns} columns
 * @param {number} i
 * @param {boolean} [narrow]
 */
export function markOf(meta, columns, i, narrow = false) {
    const right = columns.right[i] ?? null;
    const classed = meta.classes[columns.class[i] ?? -1] ?? null;
    const outcome = columns.outcome[i] ?? null;
    const word = right === null && outcome === "finished" ? "no verdict" : (classed ?? (right === null ? outcome : null));
    const measured = columns.measured[i] ?? 0;
    if (right === null || measured < 2) {
        return mark(right === null ? null : right === 1, word, narrow);
    }
    const share = `${Math.round((columns.em[i] ?? 0) * measured)}/${measured}`;
    const tone = isUnstable(columns, i) ? "mixed" : right === 1 ? "right" : "wrong";
    const reason = tone === "wrong" && classed !== null && classWord(classed, narrow);
    return el("span", { class: tone }, share, unseen(" repeats right"), reason && " ", reason);
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
 * The heads of the columns: each is a button that sorts, then turns the order around, then takes it back.
 * @param {Column[]} columns
 * @param {Meta} meta
 * @param {string} order
 * @param {(order: string) => void} change
 * @returns {HTMLTableRowElement}
 */
export function headRow(columns, meta, order, change) {
    const head = el("tr", { role: "row", "aria-rowindex": 1 });
    const sort = sortOf(meta, order);
    for (const { kind, key, title, v } of columns) {
        const whole = title.replace(meta.variants[v]?.name ?? "", () => wholeName(meta.variants[v]));
        const own = sort !== null && order.replace(/^-/, "") === key;
        const direction = own ? (sort.descending ? "descending" : "ascending") : null;
        const next = direction === null ? key : direction === "ascending" ? `-${key}` : "";
        const sign = direction && el("span", { "aria-hidden": "true" }, direction === "ascending" ? " ▲" : " ▼");
        const button = el("button", { type: "button", class: "sort", "data-key": key, title: `Sort by ${whole}`, click: () => change(next) }, title, sign);
        head.append(el("th", { role: "columnheader", scope: "col", class: kind, "aria-sort": direction }, button));
    }
    return head;
}

/**
 * An id, a long one without its middle: the text has it whole, so that it is copied and heard whole.
 * @param {string} id
 * @returns {(HTMLElement | string)[]}
 */
function shortId(id) {
    const letters = Array.from(id);
    if (letters.length <= LONG_ID) {
        return [id];
    }
    const middle = letters.slice(END_OF_ID, -END_OF_ID).join("");
    return [letters.slice(0, END_OF_ID).join(""), el("span", { class: "middle" }, middle), letters.slice(-END_OF_ID).join("")];
}

/** @param {number | null | undefined} steps a mean, where there are repeats */
function stepsText(steps) {
    return steps === null || steps === undefined ? "–" : Number.isInteger(steps) ? String(steps) : steps.toFixed(1);
}

/**
 * @param {List} list
 * @param {number} i the question
 * @param {Column} column
 * @returns {(Node | string | null | false)[]}
 */
function cellOf(list, i, { kind, v, narrow }) {
    const { table, meta, filter } = list;
    const own = table.variants[v];
    const hidden = el("span", { class: "neither" }, "hidden");
    if (kind === "id") {
        const judged = list.judged(i) && el("span", { class: "judged", title: "judged" }, " ✎", unseen(" judged"));
        return [el("span", { title: table.id[i] ?? "" }, ...shortId(table.id[i] ?? "")), judged];
    }
    if (kind === "question") {
        const found = list.found.get(i);
        const where = found && el("span", { class: "found-in" }, `${meta.variants[found[0]]?.name ?? ""}, ${found[1]}`);
        const link = el("a", { href: addressOf(filter, table.id[i] ?? "", list.of(i)), title: table.question[i] ?? "" }, table.question[i] || "(empty)");
        return [el("div", { class: "lines" }, where ?? null, link)];
    }
    if (kind === "sum") {
        return [table.variants.some((_, other) => list.hides(i, other)) ? hidden : summary(table, i)];
    }
    if (kind === "mark") {
        return [list.hides(i, v) || !own ? hidden : markOf(meta, own, i, narrow)];
    }
    if (kind === "steps") {
        return [stepsText(own?.steps[i])];
    }
    /** @type {Record<string, string | null | undefined>} */
    const texts = { answer: own?.answer[i], gold: table.gold[i], type: table.type[i], dataset: meta.datasets[table.dataset[i] ?? -1] };
    const text = texts[kind] ?? null;
    return [text === null ? "–" : el("span", { title: text, dir: "auto" }, text)];
}

/**
 * @param {List} list
 * @param {number} i the question
 * @param {number} place in the list, from 0
 * @returns {HTMLTableRowElement}
 */
export function questionRow(list, i, place) {
    const { table, meta, filter } = list;
    const row = el("tr", { role: "row", "aria-rowindex": place + 2, "data-place": place, "data-question": i });
    for (const column of columnsOf(table, meta, filter)) {
        const { kind, title } = column;
        const who = kind !== "id" && kind !== "question" && el("span", { class: "who" }, `${title} `);
        row.append(el("td", { role: "cell", class: kind }, who, ...cellOf(list, i, column)));
    }
    return row;
}
