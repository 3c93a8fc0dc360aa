// What a person thinks of episodes: kept in this browser, saved as a file for `wikitrail annotate --import`.
import { recall, remember } from "./storage.js";

const NAME = "wikitrail:by";
const BLIND = "wikitrail:blind";

/** The name under which judgements are made. */
export function judge() {
    return recall(NAME) ?? "";
}

/** @param {string} name */
export function setJudge(name) {
    remember(NAME, name);
}

/** Whether the rules' verdicts are hidden until a judgement is made. */
export function isBlind() {
    return recall(BLIND) === "on";
}

/** @param {boolean} on */
export function setBlind(on) {
    remember(BLIND, on ? "on" : "off");
}

/**
 * Whether it says nothing, which withdraws what the person said before.
 * @param {Judgement} judgement
 */
export function isWithdrawn(judgement) {
    return judgement.correct === null && judgement.class === null && judgement.note === null;
}

/**
 * The same judgement without what it says.
 * @param {Judgement} judgement
 * @returns {Judgement}
 */
export function withdrawn(judgement) {
    return { ...judgement, correct: null, class: null, step: null, note: null, at: new Date().toISOString() };
}

/**
 * One judgement for each episode and person.
 * @param {Judgement} judgement
 */
function identity(judgement) {
    return JSON.stringify([judgement.variant, judgement.repeat, judgement.key, judgement.by]);
}

/** The judgements of this page's report. */
export class Judgements {
    /** @param {string} report */
    constructor(report) {
        this.slot = `wikitrail:judgements:${report}`;
        this.report = report;
        this.kept = true;
        /** @type {Map<string, Judgement>} */
        this.made = new Map();
        /** What the last ones replaced, for an undo. @type {[Judgement, Judgement | null][]} */
        this.last = [];
        this.read();
    }

    /** Reads what is stored, as another window may have written meanwhile. */
    read() {
        const lines = (recall(this.slot) ?? "").split("\n").filter(Boolean);
        for (const line of lines) {
            /** @type {Judgement} */
            const judgement = JSON.parse(line);
            this.made.set(identity(judgement), judgement);
        }
    }

    /** As the file that `wikitrail annotate --import` reads. */
    lines() {
        return [...this.made.values()].map((judgement) => `${JSON.stringify(judgement)}\n`).join("");
    }

    /** Those that were not withdrawn. */
    get valid() {
        return [...this.made.values()].filter((made) => !isWithdrawn(made));
    }

    /** @param {Judgement[]} judgements of what one form shows */
    add(judgements) {
        this.read();
        this.last = judgements.map((judgement) => [judgement, this.made.get(identity(judgement)) ?? null]);
        for (const judgement of judgements) {
            this.made.delete(identity(judgement));
            this.made.set(identity(judgement), judgement);
        }
        this.kept = remember(this.slot, this.lines());
    }

    /** What brings back what was there before the last judgements. */
    undone() {
        return this.last.map(([judgement, before]) => (before ? { ...before, at: new Date().toISOString() } : withdrawn(judgement)));
    }

    /**
     * The judgements of one episode by the person whose name was given last, withdrawn ones too.
     * @param {string} variant
     * @param {number} repeat
     * @param {string} id
     */
    own(variant, repeat, id) {
        const by = judge();
        return [...this.made.values()].filter((made) => made.id === id && made.variant === variant && made.repeat === repeat && (!by || made.by === by));
    }

    /**
     * The latest judgement of an episode.
     * @param {string} variant
     * @param {number} repeat
     * @param {string} id
     */
    of(variant, repeat, id) {
        const own = this.own(variant, repeat, id).filter((made) => !isWithdrawn(made));
        return own[own.length - 1] ?? null;
    }

    /** @param {string} id */
    any(id) {
        return this.valid.some((made) => made.id === id);
    }
}
