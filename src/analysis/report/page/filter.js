// Which questions the list shows, in which order. Nothing here touches the page.

/** Up to so many variants have a column each. */
export const COLUMNS = 6;

/** @type {WeakMap<Table, string[]>} */
const searched = new WeakMap();

/**
 * What the search looks through, one text a question.
 * @param {Table} table
 * @returns {string[]}
 */
function texts(table) {
    let known = searched.get(table);
    if (!known) {
        known = table.id.map((id, i) => {
            const answers = table.variants.map((variant) => variant.answer[i] ?? "");
            return [id, table.question[i], table.gold[i] ?? "", ...new Set(answers)].join("\n").toLowerCase();
        });
        searched.set(table, known);
    }
    return known;
}

/**
 * @param {Meta} meta
 * @param {string} name
 */
export function variantOf(meta, name) {
    return meta.variants.findIndex((variant) => variant.name === name);
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
    if (filter.show === "differ") {
        return (i) => table.variants.some((v) => v.right[i] === 1) && table.variants.some((v) => v.right[i] === 0);
    }
    if (filter.show === "wrong") {
        return (i) => columns.some((v) => v.right[i] === 0) && !columns.some((v) => v.right[i] === 1);
    }
    return named < 0 ? () => true : (i) => columns.some((v) => v.outcome[i] !== null);
}

/**
 * @param {Table} table
 * @param {number} i
 */
function mostSteps(table, i) {
    return table.variants.reduce((most, variant) => Math.max(most, variant.steps[i] ?? 0), 0);
}

/**
 * The indices of the questions that match, in the filter's order.
 * @param {Table} table
 * @param {Meta} meta
 * @param {Filter} filter
 * @returns {number[]}
 */
export function matching(table, meta, filter) {
    const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean);
    const text = words.length > 0 ? texts(table) : [];
    const shown = shows(table, meta, filter);
    // The class of a flip is that of the variant that is wrong.
    const named = variantOf(meta, filter.show === "flip" ? filter.b : filter.variant);
    const columns = named < 0 ? table.variants : table.variants.filter((_, v) => v === named);
    const classed = meta.classes.indexOf(filter.class);
    const indices = [];
    for (let i = 0; i < table.id.length; i++) {
        const kept =
            shown(i) &&
            (filter.class === "" || columns.some((v) => v.class[i] === classed && classed >= 0)) &&
            (filter.type === "" || table.type[i] === filter.type) &&
            (filter.dataset === "" || String(table.dataset[i]) === filter.dataset) &&
            words.every((word) => text[i]?.includes(word));
        if (kept) {
            indices.push(i);
        }
    }
    if (filter.order === "hardest") {
        indices.sort((x, y) => (table.hard[y] ?? 0) - (table.hard[x] ?? 0) || x - y);
    } else if (filter.order === "steps") {
        const most = new Map(indices.map((i) => [i, mostSteps(table, i)]));
        indices.sort((x, y) => (most.get(y) ?? 0) - (most.get(x) ?? 0) || x - y);
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
