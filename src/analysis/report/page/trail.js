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
        { class: part ? "step divergent" : "step", tabindex: "-1" },
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
 * Whose steps follow, and why its answer is wrong.
 * @param {Side} side
 */
function columnHead({ name, verdict, reasons }) {
    const lines = reasons.map((text) => el("p", { class: "evidence", dir: "auto" }, text));
    return [el("h2", { class: "who" }, name, " ", verdict), el("div", { class: "reasons" }, ...lines)];
}

/**
 * One side from the first step that differs on.
 * @param {Side} own
 * @param {{shared: number, rows: number, heads: number, part: string, at: number}} shape
 */
function column(own, { shared, rows, heads, part, at }) {
    const { name, episode } = own;
    const cards = episode.steps.slice(shared).map((step, i) => stepCard(step, shared + i + 1 === at ? part : null));
    const ended = cards.length < rows && el("p", { class: "ended" }, part === "end" && cards.length === 0 ? `${name} ends here` : "(already ended)");
    const section = el("section", { class: "column", "aria-label": `Steps of ${name}` }, ...columnHead(own).slice(0, heads), ...cards, ended);
    section.style.gridRow = `span ${rows + heads}`;
    return section;
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
 * @param {Side[]} sides one, or two that differ
 * @param {Divergence} divergence
 * @returns {HTMLElement[]}
 */
export function trail(sides, divergence) {
    const [left, right] = sides;
    if (!left) {
        return [];
    }
    const fork = forkOf(sides.map(({ episode }) => episode));
    const copied = fork ? Math.max(0, fork.at - 1) : Infinity;
    const parent = fork ? fork.parent : null;
    const steps = left.episode.steps;
    if (!right) {
        const shared = fork ? Math.min(copied, steps.length) : 0;
        const rest = steps.slice(shared).map((step) => stepCard(step, null));
        const alone = el("section", { class: "column alone", "aria-label": `Steps of ${left.name}` }, ...columnHead(left), ...rest);
        return [sharedSteps(steps.slice(0, shared), parent), alone].filter((block) => block !== null);
    }
    const [at, part] = divergence ?? [Infinity, ""];
    const shared = Math.min(Math.max(0, at - 1), copied, steps.length, right.episode.steps.length);
    const rows = Math.max(steps.length, right.episode.steps.length) - shared;
    const heads = sides.some(({ reasons }) => reasons.length > 0) ? 2 : 1;
    const shape = { shared, rows, heads, part, at };
    const columns = rows > 0 ? el("div", { class: "columns" }, column(left, shape), column(right, shape)) : null;
    return [sharedSteps(steps.slice(0, shared), parent), columns].filter((block) => block !== null);
}

/**
 * The next or previous step from the one that has the focus, else from what is in sight; steps side by side are one.
 * @param {HTMLElement} holder
 * @param {1 | -1} way
 */
export function moveToStep(holder, way) {
    const cards = /** @type {HTMLElement[]} */ ([...holder.querySelectorAll(".step")].filter((card) => card.getClientRects().length > 0));
    const top = (/** @type {Element} */ card) => card.getBoundingClientRect().top;
    const focused = document.activeElement?.closest(".step");
    const from = focused ? top(focused) : (holder.querySelector(".question-head")?.getBoundingClientRect().bottom ?? 0) - 1;
    const later = cards.filter((card) => (top(card) - from) * way > 2).sort((a, b) => (top(a) - top(b)) * way);
    focusStep(later[0]);
}

/**
 * To the first step that differs, else to the first one.
 * @param {HTMLElement} holder
 */
export function moveToDifference(holder) {
    focusStep(/** @type {HTMLElement | null} */ (holder.querySelector(".step.divergent") ?? holder.querySelector(".column .step")));
}

/** @param {HTMLElement | null | undefined} card */
function focusStep(card) {
    card?.focus({ preventScroll: true });
    card?.scrollIntoView({ block: "start", behavior: "instant" });
}
