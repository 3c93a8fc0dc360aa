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
 * What was edited at a step, else in what it differs from the other side's.
 * @param {Step} step
 * @param {string | null} part
 */
function words({ origin }, part) {
    const said = origin ?? (part && partInWords(part));
    return said ? el("span", { class: origin === "copied" ? "word copied" : "word" }, said) : null;
}

/**
 * @param {Step} step
 * @param {string | null} part in which this step differs from the other side's
 */
export function stepCard(step, part) {
    const differs = (/** @type {string} */ own) => (part === own ? " differs" : "");
    const word = words(step, part);
    return el(
        "article",
        { class: part ? "step divergent" : "step" },
        el("div", { class: "step-head" }, el("h3", {}, step.n, word && " ", word), plain("p", "calls", step.calls)),
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
 * The steps that are there once.
 * @param {Step[]} steps the same on all sides
 * @param {string | null} parent the episode that they are copied from
 * @returns {HTMLElement | null}
 */
function sharedSteps(steps, parent) {
    if (steps.length === 0) {
        return null;
    }
    const [are, numbers] = steps.length === 1 ? ["is", "Step 1"] : ["are", `Steps 1 to ${steps.length}`];
    const title = `${numbers} ${are} ${parent === null ? "the same" : `copied from ${parent}`}`;
    return el("details", { class: "shared" }, el("summary", {}, title), ...steps.map((step) => stepCard(step, null)));
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
 * What all sides branch off, where that is the same step of the same episode.
 * @param {Episode[]} sides
 * @returns {Branch | null}
 */
export function forkOf(sides) {
    const first = sides[0]?.branch ?? null;
    return first && sides.every(({ branch }) => branch?.key === first.key && branch.at === first.at) ? first : null;
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
    const fork = forkOf(sides.map(([, own]) => own));
    const copied = fork ? Math.max(0, fork.at - 1) : Infinity;
    const parent = fork ? fork.parent : null;
    if (!right) {
        const steps = left[1].steps;
        const shared = fork ? Math.min(copied, steps.length) : 0;
        const rest = steps.slice(shared).map((step) => stepCard(step, null));
        const column = el("section", { class: "column alone", "aria-label": `Steps of ${left[0]}` }, ...rest);
        return [sharedSteps(steps.slice(0, shared), parent), column].filter((block) => block !== null);
    }
    const [at, part] = divergence ?? [Infinity, ""];
    const shared = Math.min(Math.max(0, at - 1), copied, left[1].steps.length, right[1].steps.length);
    const rows = Math.max(left[1].steps.length, right[1].steps.length) - shared;
    const shape = { shared, rows, part, at };
    const columns = rows > 0 ? el("div", { class: "columns" }, side(left[0], left[1], shape), side(right[0], right[1], shape)) : null;
    return [sharedSteps(left[1].steps.slice(0, shared), parent), columns].filter((block) => block !== null);
}
