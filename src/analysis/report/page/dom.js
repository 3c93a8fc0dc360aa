// Elements from text. Nothing in this page is ever parsed as HTML.

/** Characters that a reader cannot see, and marks that turn the direction of writing: the same that the terminal escapes. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * `text` with hidden characters written out, as in `\u{202e}`.
 * @param {string} text
 */
export function visible(text) {
    return text.replace(/\r\n/g, "\n").replace(HIDDEN, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
}

/**
 * An element with attributes and children; functions are listeners, `false` and `null` are left out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | null | ((event: any) => void)>} [attributes]
 * @param {(Node | string | null | false)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") {
            element.addEventListener(name, value);
        } else if (value !== false && value !== null) {
            element.setAttribute(name, value === true ? "" : visible(String(value)));
        }
    }
    for (const child of children) {
        if (child !== null && child !== false) {
            element.append(typeof child === "string" ? visible(child) : child);
        }
    }
    return element;
}

/**
 * Words that only a screen reader says.
 * @param {string} text
 */
export function unseen(text) {
    return el("span", { class: "unseen" }, text);
}

/** @param {string} id */
export function byId(id) {
    return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** @param {number} n */
export function thousands(n) {
    return n.toLocaleString("en-US");
}

/**
 * @param {number} n
 * @param {string} noun
 */
export function counted(n, noun) {
    return `${thousands(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/**
 * `a`, `a and b`, `a, b and c`.
 * @param {string[]} words
 */
export function listed(words) {
    return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/**
 * A label with its select.
 * @param {string} label
 * @param {[string, string][]} options values with their texts
 * @param {string} value
 * @param {(value: string) => void} change
 */
export function choice(label, options, value, change) {
    const select = el("select", { change: () => change(select.value) });
    for (const [own, text] of options) {
        select.append(el("option", { value: own, selected: own === value }, text));
    }
    return el("label", { class: "choice" }, el("span", {}, label), select);
}

/**
 * A word as a shell takes it.
 * @param {string} word
 */
export function shellWord(word) {
    return /^[\w\-./:=,@%+#]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

/**
 * A message that says what is wrong with the page, above everything else.
 * @param {string} text
 */
export function complain(text) {
    const main = document.querySelector("main") ?? document.body;
    main.prepend(el("p", { role: "alert", class: "complaint" }, text));
}

/**
 * What went wrong, in words.
 * @param {unknown} error
 */
export function reason(error) {
    return error instanceof Error ? error.message : String(error);
}

/**
 * Saves `text` as a file of the reader.
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
export function saveFile(name, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type }));
    el("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Copies `text`, and says so on the button for a moment.
 * @param {HTMLElement} button
 * @param {string} text
 */
export async function copyText(button, text) {
    const label = button.textContent ?? "";
    const say = (/** @type {string} */ own) => button.replaceChildren(own);
    const done = await navigator.clipboard.writeText(text).then(
        () => true,
        () => copySelected(text),
    );
    say(done ? "Copied" : "Not copied");
    setTimeout(() => say(label), 1500);
}

/**
 * For browsers without a clipboard for pages from disk.
 * @param {string} text
 */
function copySelected(text) {
    const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
}
