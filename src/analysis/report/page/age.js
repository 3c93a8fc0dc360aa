// How long ago something was, in words that stay true while the page is open.

/**
 * @param {number} seconds
 */
export function ago(seconds) {
    const [n, unit] = seconds < 60 ? [seconds, "s"] : seconds < 3600 ? [seconds / 60, "minute"] : seconds < 86400 ? [seconds / 3600, "hour"] : [seconds / 86400, "day"];
    const whole = Math.max(0, Math.floor(n));
    return `${whole} ${unit}${unit === "s" || whole === 1 ? "" : "s"} ago`;
}

/** Writes the age of each time on the page, which Rust writes as a date. */
export function showAges() {
    for (const time of document.querySelectorAll("time")) {
        time.title ||= time.textContent ?? "";
        const words = ago((Date.now() - Date.parse(time.dateTime)) / 1000);
        if (time.textContent !== words) {
            time.textContent = words;
        }
    }
}
