// Which questions the list shows, in which order. Nothing here touches the page.
import { foldText, listTexts, wordsOf } from "./search.js";

/** Up to so many variants have a column each. */
export const COLUMNS = 6;

/**
 * @param {Meta} meta
 * @param {string} name
 */
export function variantOf(meta, name) {
    return meta.variants.findIndex((variant) => variant.name === name);
}

/**
 * The name of a variant in its run, where the page calls it by a shorter one.
 * @param {Variant | undefined} variant
 */
export function wholeName(variant) {
    const [name, whole] = [variant?.name ?? "", variant?.variant ?? ""];
    return name.includes(whole) ? name : whole;
}

/**
 * Whether some repeats of a variant are right and some wrong.
 * @param {VariantColumns} variant
 * @param {number} i
 */
export function isUnstable(variant, i) {
    const em = variant.em[i] ?? null;
    return em !== null && em > 0 && em < 1;
}

/**
 * @param {Table} table
 * @param {Meta} meta
 * @param {Filter} filter
 * @returns {(i: number) => boolean}
 */
function shows(table, meta, filter) {
    const named = variantOf(meta, filter.variant);
    const columns = named < 0 ? table.variants : table.variants.filter((_, v) => v === named);
    if (filter.show === "flip") {
        const a = table.variants[variantOf(meta, filter.a)];
        const b = table.variants[variantOf(meta, filter.b)];
        return (i) => a?.right[i] === 1 && b?.right[i] === 0;
    }
    if (filter.show === "unmeasured") {
        return (i) => columns.some((v) => v.unmeasured[i] === 1);
    }
    if (filter.show === "cut") {
        return (i) => columns.some((v) => v.cut[i] === 1);
    }
    if (filter.show === "unstable") {
        return (i) => columns.some((v) => isUnstable(v, i));
    }
    if (filter.show === "disputed") {
        return (i) => columns.some((v) => v.disputed[i] === 1);
    }
    if (filter.show === "differ") {
        return (i) => table.variants.some((v) => v.right[i] === 1) && table.variants.some((v) => v.right[i] === 0);
    }
    if (filter.show === "wrong") {
        return (i) => columns.some((v) => v.right[i] === 0) && !columns.some((v) => v.right[i] === 1);
    }
    return named < 0 ? () => true : (i) => columns.some((v) => v.outcome[i] !== null);
}

/**
 * The column that an order names: `gold`, or `mark:NAME` of a variant; `-` before it turns the order around.
 * @param {Meta} meta
 * @param {string} order
 * @returns {{kind: string, v: number, descending: boolean} | null}
 */
export function sortOf(meta, order) {
    const descending = order.startsWith("-");
    const column = descending ? order.slice(1) : order;
    const mark = column.indexOf(":");
    if (mark < 0) {
        return ["id", "question", "gold", "type", "dataset", "right"].includes(column) ? { kind: column, v: -1, descending } : null;
    }
    const [kind, v] = [column.slice(0, mark), variantOf(meta, column.slice(mark + 1))];
    return v >= 0 && ["mark", "answer", "steps"].includes(kind) ? { kind, v, descending } : null;
}

/**
 * What a column is sorted by, question by question: numbers, or texts in which `q2` comes before `q10`.
 * @param {Table} table
 * @param {{kind: string, v: number}} column
 * @returns {(string | number | null)[]}
 */
function sortKeys(table, { kind, v }) {
    const own = table.variants[v];
    const texts = (/** @type {(string | null)[]} */ column) =>
        column.map((text) => (text === null ? null : foldText(text).replace(/\d+/g, (digits) => digits.padStart(15, "0"))));
    if (kind === "right") {
        return table.id.map((_, i) => {
            const known = table.variants.filter((variant) => variant.right[i] !== null);
            return known.length > 0 ? known.filter((variant) => variant.right[i] === 1).length / known.length : null;
        });
    }
    if (kind === "mark") {
        // Wrong ones are together by their class.
        return own?.em.map((em, i) => (em === null ? null : em * 1e6 + (own.class[i] ?? -1))) ?? [];
    }
    if (kind === "steps") {
        return own?.steps ?? [];
    }
    return kind === "dataset" ? table.dataset : texts(kind === "answer" ? (own?.answer ?? []) : table[/** @type {"id" | "question" | "gold" | "type"} */ (kind)]);
}

/** The last order of a table: the search asks for it at every letter. @type {WeakMap<Table, {order: string, indices: number[]}>} */
const lastOrder = new WeakMap();

/**
 * All questions in the filter's order. Among equals that of the dataset stays, and questions without a value come last.
 * @param {Table} table
 * @param {Meta} meta
 * @param {string} order
 * @returns {number[]}
 */
function inOrder(table, meta, order) {
    const last = lastOrder.get(table);
    if (last?.order === order) {
        return last.indices;
    }
    const indices = table.id.map((_, i) => i);
    const sort = sortOf(meta, order);
    if (sort) {
        const keys = sortKeys(table, sort);
        const sign = sort.descending ? -1 : 1;
        indices.sort((x, y) => {
            const [one, other] = [keys[x] ?? null, keys[y] ?? null];
            if (one === null || other === null) {
                return Number(one === null) - Number(other === null);
            }
            return one === other ? 0 : one < other ? -sign : sign;
        });
    }
    lastOrder.set(table, { order, indices });
    return indices;
}

/**
 * The indices of the questions that match, in the filter's order.
 * @param {Table} table
 * @param {Meta} meta
 * @param {Filter} filter
 * @param {{has: (i: number) => boolean}} [found] questions whose steps have the words
 * @returns {number[]}
 */
export function matching(table, meta, filter, found) {
    const words = wordsOf(filter.q);
    const text = words.length > 0 ? listTexts(table) : [];
    const shown = shows(table, meta, filter);
    // The class of a flip is that of the variant that is wrong.
    const named = variantOf(meta, filter.show === "flip" ? filter.b : filter.variant);
    const columns = named < 0 ? table.variants : table.variants.filter((_, v) => v === named);
    const classed = meta.classes.indexOf(filter.class);
    const indices = [];
    for (const i of inOrder(table, meta, filter.order)) {
        const kept =
            shown(i) &&
            (filter.class === "" || columns.some((v) => v.class[i] === classed && classed >= 0)) &&
            (filter.type === "" || table.type[i] === filter.type) &&
            (filter.dataset === "" || String(table.dataset[i]) === filter.dataset) &&
            (words.every((word) => text[i]?.includes(word)) || found?.has(i));
        if (kept) {
            indices.push(i);
        }
    }
    return indices;
}

/**
 * Names in the filter that this page does not have, as from an address that was made for another page.
 * @param {Table} table
 * @param {Meta} meta
 * @param {Filter} filter
 * @returns {string[]}
 */
export function unknownNames(table, meta, filter) {
    const names = [filter.a, filter.b, filter.variant, filter.left, filter.right].filter(Boolean);
    const unknown = names.filter((name) => variantOf(meta, name) < 0);
    if (filter.class && !meta.classes.includes(filter.class)) {
        unknown.push(filter.class);
    }
    if (filter.type && !table.type.includes(filter.type)) {
        unknown.push(filter.type);
    }
    if (filter.order && !sortOf(meta, filter.order)) {
        unknown.push(filter.order);
    }
    return [...new Set(unknown)];
}

/**
 * The place of a pair among all pairs of `count` variants: (0,1), (0,2), …, (1,2), ….
 * @param {number} left
 * @param {number} right
 * @param {number} count
 */
export function pairIndex(left, right, count) {
    const [i, j] = left < right ? [left, right] : [right, left];
    return (i * (2 * count - i - 1)) / 2 + (j - i - 1);
}

/**
 * The variants that the address asks for, side by side; -1 where it names none.
 * @param {Meta} meta
 * @param {Filter} filter
 * @returns {[number, number]}
 */
export function chosenPair(meta, filter) {
    const flip = filter.show === "flip";
    const left = variantOf(meta, filter.left || (flip ? filter.a : filter.variant));
    const right = variantOf(meta, filter.right || (flip ? filter.b : ""));
    if (left !== right) {
        return [left, right];
    }
    return filter.right ? [-1, right] : [left, -1];
}

/**
 * The variants of a dataset; of several runs, some have other questions than others.
 * @param {Meta} meta
 * @param {number} dataset
 * @returns {number[]}
 */
export function variantsOf(meta, dataset) {
    return meta.variants.map((_, v) => v).filter((v) => meta.variants[v]?.dataset === dataset);
}

/**
 * The variants of a question that are shown side by side: the chosen ones, else the first with the greatest
 * distance. The second is -1 where there is one variant only.
 * @param {Meta} meta
 * @param {Filter} filter
 * @param {number[]} all the variants that the question may have
 * @param {(left: number, right: number) => number} distance
 * @returns {[number, number]}
 */
export function shownPair(meta, filter, all, distance) {
    const own = (/** @type {number} */ v) => (all.includes(v) ? v : -1);
    const chosen = chosenPair(meta, filter);
    const [first, right] = [own(chosen[0]), own(chosen[1])];
    const other = (/** @type {number} */ one) => {
        const others = all.filter((v) => v !== one);
        const most = Math.max(...others.map((v) => distance(one, v)));
        return others.find((v) => distance(one, v) === most) ?? -1;
    };
    const left = first >= 0 ? first : right < 0 ? (all[0] ?? 0) : other(right);
    return [left, right < 0 ? other(left) : right];
}
