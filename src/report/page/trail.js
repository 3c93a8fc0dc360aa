// The steps of episodes.
import { el, thousands } from "./dom.js";

/** Characters of one text that are shown before somebody asks for the rest. */
const SHOWN = 6000;

/** The words for the parts in which two episodes may differ first. */
const PARTS = /** @type {Record<string, string>} */ ({
    thought: "another thought",
    action: "another action",
    observation: "another observation",
    end: "one of them ends",
    answer: "another answer",
});

/** @param {string} part */
export function partInWords(part) {
    return PARTS[part] ?? part;
}

/**
 * @param {string} text
 * @param {string} kind
 */
function piece(text, kind) {
    const name = kind === "sa" ? "sentence answer" : kind === "s" ? "sentence" : "answer";
    return kind === "" ? document.createTextNode(el("span", {}, text).textContent ?? "") : el("mark", { class: name }, text);
}

/**
 * The pieces of a text, cut where it is long.
 * @param {"div" | "p" | "code"} tag
 * @param {string} name
 * @param {[string, string][]} pieces
 */
function long(tag, name, pieces) {
    const length = pieces.reduce((sum, [own]) => sum + own.length, 0);
    const holder = el(tag, { class: name, dir: "auto" });
    let room = length > SHOWN + 500 ? SHOWN : length;
    for (const [own, kind] of pieces) {
        if (room > 0) {
            holder.append(piece(own.slice(0, room), kind));
            room -= own.length;
        }
    }
    if (length > SHOWN + 500) {
        const all = () => holder.replaceChildren(...pieces.map(([own, kind]) => piece(own, kind)));
        holder.append("… ", el("button", { type: "button", class: "more", click: all }, `Show all ${thousands(length)} characters`));
    }
    return holder;
}

/**
 * @param {"div" | "p" | "code"} tag
 * @param {string} name
 * @param {string | null} own
 */
function plain(tag, name, own) {
    return own ? long(tag, name, [[own, ""]]) : null;
}

/** @param {Step} step */
function pageLine(step) {
    const title = step.page;
    if (!title) {
        return null;
    }
    const link = step.url && /^https?:\/\//i.test(step.url);
    const name = link ? el("a", { href: step.url, rel: "noreferrer noopener", target: "_blank" }, title) : el("b", {}, title);
    const line = el("p", { class: "page" }, "page ", name);
    if (step.gold) {
        line.append(" ", el("span", { class: "badge" }, "gold page"));
    }
    const source = step.source?.startsWith(`${title}, `) ? step.source.slice(title.length + 2) : step.source;
    const rest = source ?? (step.rev && `revision ${step.rev}`);
    line.append(el("span", {}, rest ? ` · ${rest}` : ""));
    return line;
}

/**
 * @param {string} label
 * @param {string | null} own
 */
function fold(label, own) {
    return own ? el("details", { class: "more" }, el("summary", {}, label), plain("div", "long", own)) : null;
}

/**
 * @param {Step} step
 * @param {string | null} part in which this step differs from the other side's
 */
export function stepCard(step, part) {
    const differs = (/** @type {string} */ own) => (part === own ? " differs" : "");
    return el(
        "article",
        { class: part ? "step divergent" : "step" },
        el("div", { class: "step-head" }, el("h3", {}, step.n, part && " ", part && el("span", { class: "word" }, partInWords(part))), plain("p", "calls", step.calls)),
        fold("Reasoning", step.reasoning),
        plain("p", `thought${differs("thought")}`, step.thought),
        plain("code", `action${differs("action")}`, step.action),
        step.observation && long("div", `observation${differs("observation")}`, step.observation),
        pageLine(step),
        plain("p", "aside", step.note),
        fold("Discarded", step.discarded),
    );
}

/**
 * @param {number} shared
 */
function sharedTitle(shared) {
    return shared === 1 ? "Step 1 is the same" : `Steps 1 to ${shared} are the same`;
}

/**
 * One side from the first step that differs on.
 * @param {string} name
 * @param {Episode} own
 * @param {{shared: number, rows: number, part: string, at: number}} shape
 */
function side(name, own, { shared, rows, part, at }) {
    const cards = own.steps.slice(shared).map((step, i) => stepCard(step, shared + i + 1 === at ? part : null));
    const ended = cards.length < rows && el("p", { class: "ended" }, part === "end" && cards.length === 0 ? `${name} ends here` : "(already ended)");
    const column = el("section", { class: "column", "aria-label": `Steps of ${name}` }, el("p", { class: "who" }, name), ...cards, ended);
    column.style.gridRow = `span ${rows + 1}`;
    return column;
}

/**
 * @param {[string, Episode][]} sides one, or two that differ
 * @param {Divergence} divergence
 * @returns {HTMLElement[]}
 */
export function trail(sides, divergence) {
    const [left, right] = sides;
    if (!left) {
        return [];
    }
    if (!right) {
        const column = el("section", { class: "column alone", "aria-label": `Steps of ${left[0]}` }, ...left[1].steps.map((step) => stepCard(step, null)));
        return [column];
    }
    const [at, part] = divergence ?? [Infinity, ""];
    const shared = Math.min(Math.max(0, at - 1), left[1].steps.length, right[1].steps.length);
    const rows = Math.max(left[1].steps.length, right[1].steps.length) - shared;
    const same = left[1].steps.slice(0, shared).map((step) => stepCard(step, null));
    const folded = shared > 0 && el("details", { class: "shared" }, el("summary", {}, sharedTitle(shared)), ...same);
    const shape = { shared, rows, part, at };
    const columns = rows > 0 && el("div", { class: "columns" }, side(left[0], left[1], shape), side(right[0], right[1], shape));
    return [folded, columns].filter((block) => block !== false);
}
