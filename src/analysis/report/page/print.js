// On paper, folds are open and long texts whole.

/** @param {HTMLElement} main */
export function preparePrint(main) {
    /** @type {HTMLDetailsElement[]} */
    let opened = [];
    addEventListener("beforeprint", () => {
        opened = [...main.querySelectorAll("details")].filter((fold) => !fold.open && !fold.matches(".judge"));
        opened.forEach((fold) => fold.toggleAttribute("open", true));
        main.querySelectorAll("button.more").forEach((button) => /** @type {HTMLElement} */ (button).click());
    });
    addEventListener("afterprint", () => {
        opened.forEach((fold) => fold.toggleAttribute("open", false));
        opened = [];
    });
}
