// What the browser keeps for this page. A page from disk may be refused storage, so everything is kept in memory too.

/** @type {Map<string, string>} */
const memory = new Map();

/**
 * @param {string} key
 * @returns {string | null}
 */
export function recall(key) {
    try {
        return localStorage.getItem(key) ?? memory.get(key) ?? null;
    } catch {
        return memory.get(key) ?? null;
    }
}

/**
 * Whether the browser keeps it after the page is closed.
 * @param {string} key
 * @param {string} value
 */
export function remember(key, value) {
    memory.set(key, value);
    try {
        localStorage.setItem(key, value);
        return true;
    } catch {
        return false;
    }
}
