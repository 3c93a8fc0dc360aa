// Light or dark: as the system says, until somebody chooses.
import { recall, remember } from "./storage.js";

const CHOICE = "wikitrail:theme";

/** @param {string | null} theme */
function apply(theme) {
    if (theme === "light" || theme === "dark") {
        document.documentElement.dataset["theme"] = theme;
    } else {
        delete document.documentElement.dataset["theme"];
    }
}

/** @param {HTMLElement | null} button */
export function startTheme(button) {
    apply(recall(CHOICE));
    button?.addEventListener("click", () => {
        const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
        const now = document.documentElement.dataset["theme"] ?? system;
        const next = now === "dark" ? "light" : "dark";
        const theme = next === system ? "" : next;
        remember(CHOICE, theme);
        apply(theme);
    });
}
