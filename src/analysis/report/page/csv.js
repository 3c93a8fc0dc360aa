// The rows of the filter as a table for spreadsheets.

/**
 * A text as a cell of RFC 4180. As in `wikitrail export --to csv`, a `'` goes before what a spreadsheet would run as a formula.
 * @param {string | number | null | undefined} value
 */
export function cell(value) {
    const text = String(value ?? "").replaceAll("\0", "\ufffd");
    const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) && /\d$/.test(text) && Number.isFinite(Number(text));
    const safe = /^[=+\-@\t\r]/.test(text) && !isNumber ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * @param {Table} table
 * @param {Meta} meta
 * @param {number[]} shown
 * @param {number[]} variants
 * @param {(i: number, v: number) => boolean} hides
 */
export function csvOf(table, meta, shown, variants, hides) {
    const several = meta.datasets.length > 1;
    const right = meta.repeats > 1 ? "share right" : "right";
    const heads = variants.flatMap((v) => ["answer", right, "class", "steps"].map((name) => `${meta.variants[v]?.name ?? ""}: ${name}`));
    const ofVariant = (/** @type {number} */ i, /** @type {number} */ v) => {
        const own = table.variants[v];
        const measured = (own?.right[i] ?? null) !== null;
        const word = measured ? meta.classes[own?.class[i] ?? -1] : own?.outcome[i];
        const verdict = hides(i, v) ? ["hidden", "hidden"] : [own?.em[i], word];
        return [own?.answer[i], ...verdict, own?.steps[i]];
    };
    const rows = shown.map((i) => [
        ...(several ? [meta.datasets[table.dataset[i] ?? -1]] : []),
        table.id[i],
        table.question[i],
        table.gold[i],
        ...variants.flatMap((v) => ofVariant(i, v)),
    ]);
    const head = [...(several ? ["dataset"] : []), "id", "question", "gold answer", ...heads];
    return [head, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
