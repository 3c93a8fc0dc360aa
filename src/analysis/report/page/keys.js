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
    return target instanceof HTMLElement && (target.matches("input, select, textarea") || target.isContentEditable);
}

/** @param {Record<string, () => void>} actions by key */
export function listenForKeys(actions) {
    document.addEventListener("keydown", (event) => {
        const action = actions[event.key];
        const held = event.ctrlKey || event.metaKey || event.altKey;
        const asked = action && keysOn() && !held && !event.defaultPrevented;
        if (asked && !takesText(event.target) && !document.querySelector("dialog[open]")) {
            event.preventDefault();
            action();
        }
    });
}
