// The data of the page: gzipped JSON in base64.

/** How many chunks stay decoded. */
const KEPT = 8;

/**
 * @param {string} base64
 * @returns {Promise<any>}
 */
export async function unpack(base64) {
    const text = base64.trim();
    const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
}

/**
 * Why the table cannot be shown; `null` if it can.
 * @param {Table} table
 * @param {Meta} meta
 */
export function fault(table, meta) {
    const length = table.id.length;
    if (table.variants.length !== meta.variants.length) {
        return `the table has ${table.variants.length} variants, the page ${meta.variants.length}`;
    }
    const columns = [table.question, table.gold, table.type, table.dataset, table.chunk, table.hard];
    for (const variant of table.variants) {
        columns.push(variant.right, variant.class, variant.outcome, variant.answer, variant.steps);
    }
    const short = columns.find((column) => column?.length !== length);
    return short || columns.includes(/** @type {any} */ (undefined)) ? `a column of the table has not ${length} entries` : null;
}

/** The episodes, decoded when they are asked for. */
export class Chunks {
    /** @param {(n: number) => string | null} source the text of a chunk */
    constructor(source) {
        this.source = source;
        /** @type {Map<number, Promise<Chunk>>} */
        this.kept = new Map();
    }

    /**
     * Decodes a chunk and does not keep it.
     * @param {number} n
     * @returns {Promise<Chunk>}
     */
    async read(n) {
        const text = this.source(n);
        if (text === null) {
            throw new Error(`part ${n} of the episodes is missing in this file`);
        }
        return unpack(text);
    }

    /**
     * @param {number} n
     * @returns {Promise<Chunk>}
     */
    async chunk(n) {
        const decoded = this.kept.get(n) ?? this.read(n);
        this.kept.delete(n);
        this.kept.set(n, decoded);
        decoded.catch(() => this.kept.delete(n));
        const [oldest] = this.kept.keys();
        if (this.kept.size > KEPT && oldest !== undefined) {
            this.kept.delete(oldest);
        }
        return decoded;
    }

    /**
     * The question with that index in the table.
     * @param {number} n the chunk
     * @param {number} index
     */
    async question(n, index) {
        const question = (await this.chunk(n))[String(index)];
        if (!question) {
            throw new Error(`part ${n} of the episodes lacks question ${index + 1}`);
        }
        return question;
    }
}
