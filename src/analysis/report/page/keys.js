// Keys of one letter. They can be switched off, as somebody who speaks to the computer would press them by accident.
import { recall, remember } from "./storage.js";

const SWITCH = "wikitrail:keys";

/** Whether the keys act. */
export function keysOn() {
    return recall(SWITCH) !== "off";
}

/** @param {boolean} on */
export function switchKeys(on) {
    remember(SWITCH, on ? "on" : "off");
}

/** @param {EventTarget | null} target */
function takesText(target) {
    const fields = 'input:not([type="radio"], [type="checkbox"]), select, textarea';
    return target instanceof HTMLElement && (target.matches(fields) || target.isContentEditable);
}

/**
 * @param {Record<string, () => void>} actions by key
 * @param {(key: string) => boolean} first takes some keys before them
 */
export function listenForKeys(actions, first) {
    document.addEventListener("keydown", (event) => {
        const held = event.ctrlKey || event.metaKey || event.altKey;
        if (!keysOn() || held || event.defaultPrevented || takesText(event.target) || document.querySelector("dialog[open]")) {
            return;
        }
        if (!event.repeat && first(event.key)) {
            event.preventDefault();
        } else if (Object.hasOwn(actions, event.key)) {
            event.preventDefault();
            actions[event.key]?.();
        }
    });
}
