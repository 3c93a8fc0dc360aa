// The episodes of the open question: which there are, how they are called, and where two of them part.
import { pairIndex, variantsOf, wholeName } from "./filter.js";

/**
 * @typedef {object} Subject
 * @property {Meta} meta
 * @property {Table} table
 * @property {Filter} filter
 * @property {number} index
 * @property {ChunkQuestion | null} question `null` where its episodes are not in the file
 * @property {number[]} shown the questions of the list
 * @property {(i: number) => string} of
 * @property {{at: number, count: number, left: number, v: number, last: string} | null} queue where one episode of a sample is judged
 * @property {(v: number, repeat: number) => Judgement | null} made
 * @property {(v: number, repeat: number) => boolean} sees whether the judge knows the verdict from before
 * @property {(episode: Episode) => Label[]} labels of others
 * @property {(key: string) => void} press a key of the queue
 * @property {(v: number, repeat: number) => boolean} hides
 * @property {(change: Partial<Filter>) => void} change
 * @property {(judgements: Judgement[], side: string) => void} save
 */

/** @param {Subject} subject */
export function repeatOf({ meta, filter }) {
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
export function divergence(subject, left, right) {
    const pairs = subject.question?.parted[repeatOf(subject)];
    return pairs?.[pairIndex(left, right, subject.meta.variants.length)] ?? null;
}

/**
 * The episode without what tells a blind judge whose it is and whether it is right: the reward that follows the end, and edits.
 * @param {Episode} episode
 * @returns {Episode}
 */
function withoutVerdict(episode) {
    const steps = episode.steps.map((step) => ({ ...step, origin: null, observation: step.ends ? null : step.observation }));
    return { ...episode, branch: null, steps };
}

/**
 * @param {Subject} subject
 * @param {number} v
 * @param {number} [repeat] the shown one if it is left out
 */
export function episodeOf(subject, v, repeat = repeatOf(subject)) {
    const episode = subject.question?.episodes[v]?.[repeat] ?? null;
    return episode && subject.hides(v, repeat) ? withoutVerdict(episode) : episode;
}

/**
 * A number that depends on a text alone.
 * @param {string} text
 */
function scatter(text) {
    return [...text].reduce((sum, c) => Math.imul(sum ^ (c.codePointAt(0) ?? 0), 0x01000193) >>> 0, 0x811c9dc5);
}

/**
 * The variants that the question may have; for a blind judge in an order that is another one with each question.
 * @param {Subject} subject
 */
export function ownVariants({ meta, table, index, hides, queue }) {
    const all = queue ? [queue.v] : variantsOf(meta, table.dataset[index] ?? 0);
    if (!all.some((v) => hides(v, 0))) {
        return all;
    }
    const place = (/** @type {number} */ v) => scatter(`${table.id[index]}\n${meta.variants[v]?.name}`);
    return all.sort((a, b) => place(a) - place(b));
}

/**
 * What a variant is called: a letter as long as a blind judge has not judged it.
 * @param {Subject} subject
 * @param {number} v
 */
export function nameOf(subject, v) {
    if (!subject.hides(v, repeatOf(subject))) {
        return subject.meta.variants[v]?.name ?? "";
    }
    const place = ownVariants(subject).indexOf(v);
    return `variant ${place < 26 ? String.fromCharCode(65 + place) : place + 1}`;
}

/**
 * The name of a variant in its run; a blind judge does not learn it.
 * @param {Subject} subject
 * @param {number} v
 */
export function wholeNameOf(subject, v) {
    return subject.hides(v, repeatOf(subject)) ? nameOf(subject, v) : wholeName(subject.meta.variants[v]);
}

/**
 * How much there is to see in a pair: most where one is right and the other wrong, then where they
 * differ early, least in what a tool answered. A blind judge is not to learn from the choice.
 * @param {Subject} subject
 * @param {number} left
 * @param {number} right
 */
export function distance(subject, left, right) {
    const [one, two] = [episodeOf(subject, left), episodeOf(subject, right)];
    if (!one || !two) {
        return -1;
    }
    if (subject.hides(left, repeatOf(subject)) || subject.hides(right, repeatOf(subject))) {
        return 0;
    }
    const where = divergence(subject, left, right);
    return (one.right === !two.right ? 1 : 0) + (where ? (where[1] === "observation" ? 0.3 : 1) / where[0] : 0);
}

/**
 * @param {Subject} subject
 * @returns {number[][]} variants that did the same, together
 */
export function groups(subject) {
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
