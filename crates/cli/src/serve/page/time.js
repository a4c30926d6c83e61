// Times as people say them, with the exact one behind. Whatever counts is counted here, once a second.

const counted = new Map();
let skew = 0;

/** The clock of the daemon is the one by which approvals expire; a phone may have another. */
export function noteServerTime(header) {
    const difference = Date.parse(header) - Date.now();
    skew = Math.abs(difference) > 5000 ? difference : 0;
}

export function now() {
    return Date.now() + skew;
}

/** Seconds or milliseconds since 1970, or RFC 3339. */
export function toDate(value) {
    if (value === null || value === undefined || value === "") return null;
    const date = new Date(typeof value === "number" ? (value < 1e11 ? value * 1000 : value) : value);
    return Number.isNaN(date.getTime()) ? null : date;
}

/** `3 min ago`, with the exact time as its title. */
export function moment(value) {
    const date = toDate(value);
    const made = document.createElement("time");
    if (!date) return made;
    made.dateTime = date.toISOString();
    made.title = date.toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" });
    return count(made, () => {
        made.textContent = ago(date);
    });
}

function ago(date) {
    const seconds = Math.round((now() - date) / 1000);
    if (seconds < 5) return "just now";
    if (seconds < 60) return `${seconds} s ago`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
    if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
    if (seconds < 7 * 86_400) return seconds < 2 * 86_400 ? "yesterday" : `${Math.floor(seconds / 86_400)} days ago`;
    return date.toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });
}

/** How long it still waits; `over` is called once when it does no more. */
export function countdown(value, over) {
    const made = document.createElement("time");
    const date = toDate(value);
    if (!date) return made;
    made.className = "countdown";
    made.dateTime = date.toISOString();
    made.title = `until ${date.toLocaleString()}`;
    return count(made, () => {
        const left = Math.max(0, Math.ceil((date - now()) / 1000));
        made.textContent = left > 0 ? `${remaining(left)} left` : "expired";
        made.classList.toggle("urgent", left < 60);
        if (left === 0) {
            counted.delete(made);
            over?.();
        }
    });
}

/** Nobody counts the seconds of hours. */
function remaining(seconds) {
    const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
    return minutes < 60
        ? `${minutes}:${String(rest).padStart(2, "0")}`
        : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long something has been going on. */
export function stopwatch(value) {
    const made = document.createElement("time");
    const date = toDate(value);
    if (!date) return made;
    return count(made, () => {
        made.textContent = duration(Math.max(0, now() - date));
    });
}

/** Seconds after which what is not in the page is taken to have left it. */
const PATIENCE = 10;

function count(made, update) {
    counted.set(made, { update, missed: 0 });
    update();
    return made;
}

setInterval(() => {
    for (const [made, entry] of counted) {
        if (made.isConnected) {
            entry.missed = 0;
            entry.update();
        } else if (++entry.missed > PATIENCE) {
            counted.delete(made);
        }
    }
}, 1000);

export function duration(milliseconds) {
    if (milliseconds === null || milliseconds === undefined) return "";
    if (milliseconds > 0 && milliseconds < 1) return `${Math.round(milliseconds * 1000)} µs`;
    if (milliseconds < 1000)
        return `${milliseconds % 1 !== 0 && milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
    const seconds = milliseconds / 1000;
    if (seconds < 60) return `${seconds.toFixed(1)} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
    return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** For how long nothing has happened. */
export function idle(milliseconds) {
    return milliseconds < 1000 ? "idle" : `idle ${duration(milliseconds)}`;
}

export function bytes(count) {
    if (count === null || count === undefined) return "";
    const units = ["B", "KB", "MB", "GB", "TB"];
    let value = count;
    let unit = 0;
    while (value >= 1024 && unit < units.length - 1) {
        value /= 1024;
        unit += 1;
    }
    return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
