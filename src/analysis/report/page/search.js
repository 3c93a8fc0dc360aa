// The search: how texts are compared, and what the steps hold. Nothing here touches the page.

/** Letters that Unicode does not take apart into a plain letter and a mark. */
const PLAIN = /** @type {Record<string, string>} */ ({ ø: "o", ł: "l", đ: "d", æ: "ae", œ: "oe", þ: "th", ð: "d", ß: "ss", ı: "i", ħ: "h", ŧ: "t" });
const PLAIN_LETTERS = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "g");

/**
 * The text in lower case, in one normal form, without accents.
 * @param {string} text
 */
export function foldText(text) {
    const lower = text.toLowerCase();
    if (/^[\x00-\x7f]*$/.test(lower)) {
        return lower;
    }
    // Accents only: the marks of other scripts are letters to their readers.
    const bare = lower.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").normalize("NFC");
    return bare.toLowerCase().replace(PLAIN_LETTERS, (letter) => PLAIN[letter] ?? letter);
}

/** @param {string} q */
export function wordsOf(q) {
    return foldText(q).split(/\s+/).filter(Boolean);
}

/** @type {WeakMap<Table, string[]>} */
const folded = new WeakMap();

/**
 * What the list itself says of each question: id, question, gold answer and answers.
 * @param {Table} table
 * @returns {string[]}
 */
export function listTexts(table) {
    let texts = folded.get(table);
    if (!texts) {
        texts = table.id.map((id, i) => {
            const answers = table.variants.map((variant) => variant.answer[i] ?? "");
            return foldText([id, table.question[i], table.gold[i] ?? "", ...new Set(answers)].join("\n"));
        });
        folded.set(table, texts);
    }
    return texts;
}

/** @param {Step} step */
function foldedStep({ thought, action, observation }) {
    const read = observation?.map(([text]) => text).join("") ?? "";
    return foldText(`${thought ?? ""}\n${action ?? ""}\n${read}`);
}

/**
 * The first step that has all the words: its variant and the words of its head.
 * @param {ChunkQuestion} question
 * @param {string[]} words
 * @returns {[number, string] | null}
 */
function stepWith(question, words) {
    for (const [v, repeats] of question.episodes.entries()) {
        for (const step of repeats.flatMap((episode) => episode.steps)) {
            const text = foldedStep(step);
            if (words.every((word) => text.includes(word))) {
                return [v, step.n];
            }
        }
    }
    return null;
}

/**
 * Searches the steps part by part. It keeps no part, so that memory does not grow with the file; what it found for a text
 * stays until the text changes.
 */
export class StepSearch {
    /**
     * @param {Table} table
     * @param {(n: number) => Promise<Chunk>} read
     * @param {() => void} news after each part
     */
    constructor(table, read, news) {
        this.table = table;
        this.read = read;
        this.news = news;
        /** @type {string[]} */
        this.words = [];
        /** The questions of which a step has the words that the list lacks, with the variant and the step. @type {Map<number, [number, string]>} */
        this.found = new Map();
        /** @type {Set<number>} */
        this.searched = new Set();
        /** Parts of the search that goes on, and how many of them are left. */
        this.parts = 0;
        this.left = 0;
        /** Questions whose steps are missing in the file or damaged. */
        this.unread = 0;
        this.turn = 0;
    }

    /**
     * Takes up another text, or the table of a run that goes on: what was found before is forgotten.
     * @param {string} q
     * @param {Table} [table]
     */
    aim(q, table = this.table) {
        const words = wordsOf(q);
        if (table !== this.table || words.join(" ") !== this.words.join(" ")) {
            this.table = table;
            this.words = words;
            this.found = new Map();
            this.searched = new Set();
        }
    }

    /**
     * Searches the parts that have these questions, in place of any search that goes on.
     * @param {number[]} questions
     */
    async start(questions) {
        const turn = ++this.turn;
        const wanted = this.words.length > 0 ? questions : [];
        const all = new Set(wanted.map((i) => this.table.chunk[i] ?? null));
        const parts = /** @type {number[]} */ ([...all].filter((n) => n !== null && !this.searched.has(n)));
        this.unread = wanted.filter((i) => (this.table.chunk[i] ?? null) === null).length;
        this.parts = parts.length;
        this.left = parts.length;
        // Somebody who types has not finished the word.
        await new Promise((done) => {
            setTimeout(done, parts.length > 0 ? 250 : 0);
        });
        for (const n of parts) {
            if (turn !== this.turn) {
                return;
            }
            const chunk = await this.read(n).catch(() => null);
            if (turn === this.turn) {
                this.look(chunk, n, wanted);
                this.news();
            }
        }
    }

    /**
     * @param {Chunk | null} chunk
     * @param {number} n
     * @param {number[]} wanted
     */
    look(chunk, n, wanted) {
        const texts = listTexts(this.table);
        for (const [key, question] of Object.entries(chunk ?? {})) {
            const rest = this.words.filter((word) => !texts[Number(key)]?.includes(word));
            const where = rest.length > 0 ? stepWith(question, rest) : null;
            if (where) {
                this.found.set(Number(key), where);
            }
        }
        if (chunk) {
            this.searched.add(n);
        } else {
            this.unread += wanted.filter((i) => this.table.chunk[i] === n).length;
        }
        this.left--;
    }
}
