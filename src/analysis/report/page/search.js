// The search: how texts are compared. Nothing here touches the page.

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
