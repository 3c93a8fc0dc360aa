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

    get count() {
        return this.made.size;
    }

    /** @param {Judgement} judgement */
    add(judgement) {
        this.read();
        this.made.delete(identity(judgement));
        this.made.set(identity(judgement), judgement);
        this.kept = remember(this.slot, this.lines());
    }

    /**
     * The latest judgement of an episode.
     * @param {string} variant
     * @param {number} repeat
     * @param {string} id
     */
    of(variant, repeat, id) {
        const own = [...this.made.values()].filter((made) => made.id === id && made.variant === variant && made.repeat === repeat);
        return own[own.length - 1] ?? null;
    }

    /** @param {string} id */
    any(id) {
        return [...this.made.values()].some((made) => made.id === id);
    }
}
