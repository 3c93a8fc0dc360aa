// One question: what was asked, what the variants answered, and their steps side by side.
import { addressOf } from "./address.js";
import { choice, copyText, counted, el, listed, shellWord } from "./dom.js";
import { pairIndex, shownPair, variantsOf } from "./filter.js";
import { judgeForm } from "./judge_form.js";
import { mark, markOf } from "./rows.js";
import { forkOf, partInWords, trail } from "./trail.js";

/**
 * @typedef {object} Subject
 * @property {Meta} meta
 * @property {Table} table
 * @property {Filter} filter
 * @property {number} index
 * @property {ChunkQuestion | null} question `null` where its episodes are not in the file
 * @property {number[]} shown the questions of the list
 * @property {(i: number) => string} of
 * @property {(v: number, repeat: number) => Judgement | null} made
 * @property {(v: number, repeat: number) => boolean} hides
 * @property {(change: Partial<Filter>) => void} change
 * @property {(judgements: Judgement[], side: string) => void} save
 */

/** @param {Subject} subject */
function repeatOf({ meta, filter }) {
    const repeat = Number(filter.repeat);
    return Number.isInteger(repeat) && repeat >= 0 && repeat < meta.repeats ? repeat : 0;
}

/**
 * Where two variants begin to differ; variants that were not asked differ from nothing.
 * @param {Subject} subject
 * @param {number} left
 * @param {number} right
 * @returns {Divergence}
 */
function divergence(subject, left, right) {
    const pairs = subject.question?.parted[repeatOf(subject)];
    return pairs?.[pairIndex(left, right, subject.meta.variants.length)] ?? null;
}

/**
 * @param {Subject} subject
 * @param {number} v
 */
function episodeOf(subject, v) {
    return subject.question?.episodes[v]?.[repeatOf(subject)] ?? null;
}

/** @param {Subject} subject */
function ownVariants({ meta, table, index }) {
    return variantsOf(meta, table.dataset[index] ?? 0);
}

/**
 * How much there is to see in a pair: most where one is right and the other wrong, then where they
 * differ early, least in what a tool answered.
 * @param {Subject} subject
 * @param {number} left
 * @param {number} right
 */
function distance(subject, left, right) {
    const [one, two] = [episodeOf(subject, left), episodeOf(subject, right)];
    if (!one || !two) {
        return -1;
    }
    const where = divergence(subject, left, right);
    return (one.right === !two.right ? 1 : 0) + (where ? (where[1] === "observation" ? 0.3 : 1) / where[0] : 0);
}

/**
 * @param {Subject} subject
 * @returns {number[][]} variants that did the same, together
 */
function groups(subject) {
    /** @type {number[][]} */
    const found = [];
    for (const v of ownVariants(subject)) {
        const episode = episodeOf(subject, v);
        const own = found.find(([first]) => {
            const other = first === undefined ? null : episodeOf(subject, first);
            return episode === null || other === null ? episode === other && subject.question : divergence(subject, first ?? 0, v) === null;
        });
        if (own) {
            own.push(v);
        } else {
            found.push([v]);
        }
    }
    return found;
}

/**
 * Previous, next, and where this question is in the list.
 * @param {Subject} subject
 * @param {string} label
 */
export function walk(subject, label) {
    const { table, filter, index, shown, of } = subject;
    const place = shown.indexOf(index);
    const link = (/** @type {number | undefined} */ to, /** @type {string} */ text, /** @type {string} */ rel) =>
        to === undefined
            ? el("span", { class: "off" }, text)
            : el("a", { href: addressOf(filter, table.id[to] ?? "", of(to)), rel, class: rel }, text);
    const where = place < 0 ? `not among the ${counted(shown.length, "question")} of the list` : `${place + 1} of ${shown.length}`;
    return el(
        "nav",
        { class: "walk", "aria-label": label },
        el("a", { href: addressOf(filter), class: "up" }, "All questions"),
        link(place > 0 ? shown[place - 1] : undefined, "← Previous", "prev"),
        link(place < 0 ? shown[0] : shown[place + 1], "Next →", "next"),
        el("span", { class: "where" }, where),
    );
}

/** @param {Subject} subject */
function facts({ table, meta, index, question }) {
    const dataset = meta.datasets.length > 1 ? meta.datasets[table.dataset[index] ?? 0] : null;
    const known = [table.id[index], question?.type ?? table.type[index], question?.level, dataset].filter(Boolean);
    const golds = question ? question.gold : [table.gold[index] ?? ""].filter(Boolean);
    const line = el("p", { class: "facts" }, known.join(" · "));
    const gold = el("p", { class: "gold" }, golds.length > 1 ? "Gold answers " : "Gold answer ");
    golds.forEach((text, i) => gold.append(i > 0 ? ", " : "", el("b", { dir: "auto" }, text)));
    if (golds.length === 0) {
        gold.append("hidden");
    }
    if (question && question.pages.length > 0) {
        gold.append(el("span", {}, ` · gold pages ${listed(question.pages)}`));
    }
    return [line, gold];
}

/**
 * The command that prints the same in a terminal.
 * @param {Subject} subject
 * @param {number[]} variants one or two
 */
function command({ table, meta, index }, variants) {
    const id = shellWord(table.id[index] ?? "");
    const targets = variants.map((v) => meta.variants[v]?.target ?? "");
    const line = targets.length > 1 ? `wikitrail show ${targets.map((target) => `${target}:${id}`).join(" ")}` : `wikitrail show ${targets[0]} ${id}`;
    const button = el("button", { type: "button", click: () => copyText(button, line) }, "Copy");
    return el("p", { class: "command" }, el("code", {}, line), " ", button);
}

/**
 * Every variant's answer, those that did the same in one row.
 * @param {Subject} subject
 * @param {[number, number]} pair
 */
function answers(subject, pair) {
    const { table, meta, index } = subject;
    const rows = groups(subject).map((group) => {
        const [v] = group;
        const columns = table.variants[v ?? 0];
        const episode = episodeOf(subject, v ?? 0);
        const hidden = group.some((own) => subject.hides(own, repeatOf(subject)));
        const verdict = hidden ? "hidden" : episode ? mark(episode.right, episode.class ?? episode.outcome) : columns ? markOf(meta, columns, index) : "";
        const steps = episode ? episode.steps.length : columns?.steps[index];
        const names = group.map((own) => {
            const name = meta.variants[own]?.name ?? "";
            return pair.includes(own) ? el("b", {}, name) : el("span", {}, name);
        });
        return el(
            "tr",
            {},
            el("th", { scope: "row" }, ...names.flatMap((name, i) => (i > 0 ? [", ", name] : [name]))),
            el("td", {}, verdict),
            el("td", { dir: "auto" }, (episode ? episode.answer : columns?.answer[index]) ?? "–"),
            el("td", { class: "n" }, steps === null || steps === undefined ? "–" : String(steps)),
        );
    });
    const titles = ["variant", "verdict", "answer", "steps"].map((text) => el("th", { scope: "col", class: text === "steps" ? "n" : "" }, text));
    const grid = el("table", {}, el("caption", {}, "Variants that did the same share a row."), el("thead", {}, el("tr", {}, ...titles)), el("tbody", {}, ...rows));
    return el("div", { class: "scroll answers", tabindex: "0", role: "region", "aria-label": "Answers of all variants" }, grid);
}

/**
 * Which variants and which repeat are shown.
 * @param {Subject} subject
 * @param {[number, number]} pair
 */
function selects(subject, [left, right]) {
    const { meta, change } = subject;
    const name = (/** @type {number} */ v) => meta.variants[v]?.name ?? "";
    const names = ownVariants(subject).map((v) => /** @type {[string, string]} */ ([name(v), name(v)]));
    const controls = [];
    if (names.length > 2) {
        controls.push(choice("left", names, name(left), (own) => change(own === name(right) ? { left: own, right: name(left) } : { left: own, right: name(right) })));
        controls.push(choice("right", names, name(right), (own) => change(own === name(left) ? { left: name(right), right: own } : { left: name(left), right: own })));
    }
    if (meta.repeats > 1) {
        const repeats = Array.from({ length: meta.repeats }, (_, i) => /** @type {[string, string]} */ ([String(i), `${i}`]));
        controls.push(choice("repeat", repeats, String(repeatOf(subject)), (own) => change({ repeat: own === "0" ? "" : own })));
    }
    return controls.length > 0 ? el("div", { class: "controls" }, ...controls) : null;
}

/**
 * @param {Episode} episode
 * @param {boolean} hidden
 */
function assessment(episode, hidden) {
    const answer = episode.answer === null ? el("span", { class: "neither" }, "no answer") : el("b", { dir: "auto", class: "answer" }, episode.answer);
    const scores = [episode.em === null ? null : `EM ${episode.em}`, episode.f1 === null ? null : `F1 ${episode.f1.toFixed(2)}`];
    const outcome = episode.outcome === "finished" ? null : [episode.outcome.replaceAll("_", " "), episode.detail].filter(Boolean).join(": ");
    const line = el("p", { class: "verdict-line" }, hidden ? el("span", { class: "neither" }, "hidden until you judge") : mark(episode.right, episode.class ?? episode.outcome), " ", answer);
    if (!hidden) {
        line.append(el("span", { class: "scores" }, scores.filter(Boolean).join(", ")));
    }
    const lines = [outcome, episode.votes, episode.repairs, ...(hidden ? [] : [episode.grounding && `grounding: ${episode.grounding}`])].filter((text) => text !== null && text !== "");
    return [
        line,
        !hidden && episode.evidence ? el("p", { class: "evidence" }, episode.evidence) : null,
        ...(hidden ? [] : episode.readings.map((text) => el("p", { class: "evidence", dir: "auto" }, text))),
        ...lines.map((text) => el("p", { class: "aside" }, text)),
        el("p", { class: "aside" }, episode.sum),
        episode.left_out > 0 ? el("p", { class: "notice" }, `${counted(episode.left_out, "more step")} not in this page; the command above prints all`) : null,
    ];
}

/**
 * What one side answered, with the form for a judgement.
 * @param {Subject} subject
 * @param {number[]} variants that did the same
 * @param {string} side
 */
function head(subject, variants, side) {
    const { meta, table, index } = subject;
    const repeat = repeatOf(subject);
    const names = variants.map((v) => meta.variants[v]?.name ?? "");
    const section = el("section", { class: "side", "aria-label": listed(names) }, el("h2", {}, listed(names)));
    const first = variants[0] ?? 0;
    const episode = episodeOf(subject, first);
    if (!episode) {
        section.append(el("p", { class: "neither" }, "not asked"));
        return section;
    }
    const hidden = variants.some((v) => subject.hides(v, repeat));
    section.append(...assessment(episode, hidden).filter((line) => line !== null));
    const form = { meta, id: table.id[index] ?? "", episode, variant: names[0] ?? "", repeat, made: subject.made(first, repeat), side };
    const keep = (/** @type {Judgement} */ own) =>
        variants.map((v, i) => {
            const { key, started_at } = episodeOf(subject, v) ?? own;
            return { ...own, variant: names[i] ?? "", key, started_at: started_at ?? undefined };
        });
    section.append(judgeForm(form, (own) => subject.save(keep(own), side)));
    return section;
}

/**
 * @param {string} left
 * @param {string} right
 * @param {Divergence} where
 */
function sentence(left, right, where) {
    const text = where ? `${left} and ${right} differ from step ${where[0]} on: ${partInWords(where[1])}.` : `${left} and ${right} did the same in every step.`;
    return el("p", { class: "divergence" }, text);
}

/**
 * What the sides branch off, and what was edited in each.
 * @param {[string, Episode][]} sides
 */
function forkLine(sides) {
    const fork = forkOf(sides.map(([, own]) => own));
    if (!fork) {
        return null;
    }
    const one = (/** @type {[string, Episode]} */ [name, { branch }]) => el("li", {}, el("b", {}, name), `: ${branch?.edited ?? "the unedited control"}`);
    const line = el("p", {}, sides.length > 1 ? "Both branch" : "It branches", " off ", el("code", {}, fork.parent), `, at step ${fork.at}:`);
    return el("div", { class: "fork" }, line, el("ul", {}, ...sides.map(one)));
}

/**
 * @param {Subject} subject
 * @param {[number, number]} pair
 */
function comparison(subject, [left, right]) {
    const asked = (/** @type {number} */ v) => episodeOf(subject, v);
    const name = (/** @type {number} */ v) => subject.meta.variants[v]?.name ?? "";
    const key = el("p", { class: "key" }, "In what was read: ", el("mark", { class: "sentence" }, "gold sentence"), " ", el("mark", { class: "answer" }, "gold answer"));
    const [one, two] = [asked(left), right < 0 ? null : asked(right)];
    const where = one && two ? divergence(subject, left, right) : null;
    /** @type {[string, Episode][]} */
    const sides = [];
    for (const [v, episode] of /** @type {[number, Episode | null][]} */ ([[left, one], [right, two]])) {
        if (episode) {
            sides.push([name(v), episode]);
        }
    }
    if (one && two && !where) {
        const heads = el("div", { class: "heads one" }, head(subject, [left, right], "left"));
        return [heads, forkLine(sides), sentence(name(left), name(right), where), key, ...trail(sides.slice(0, 1), null)];
    }
    const heads = el("div", { class: right < 0 ? "heads one" : "heads" }, head(subject, [left], "left"), right >= 0 && head(subject, [right], "right"));
    return [heads, forkLine(sides), where && sentence(name(left), name(right), where), key, ...trail(sides, where)];
}

/**
 * The question's view, with the heading that takes the focus.
 * @param {Subject} subject
 */
export function questionView(subject) {
    const { meta, table, index, question, filter } = subject;
    const pair = shownPair(meta, filter, ownVariants(subject), (left, right) => distance(subject, left, right));
    const heading = el("h1", { tabindex: "-1", dir: "auto" }, table.question[index] || "(empty)");
    const both = pair.filter((v) => v >= 0);
    const parts = [walk(subject, "Questions"), heading, ...facts(subject)];
    if (!question) {
        const missing = "The steps of this question are not in this file. This prints them:";
        parts.push(answers(subject, pair), el("p", { class: "notice" }, missing), ...ownVariants(subject).map((v) => command(subject, [v])));
    } else {
        const controls = selects(subject, pair);
        parts.push(command(subject, both), ...(ownVariants(subject).length > 2 ? [answers(subject, pair)] : []), ...(controls ? [controls] : []));
        parts.push(...comparison(subject, pair).filter((part) => part !== null), walk(subject, "Questions, at the end"));
    }
    return { heading, parts };
}
