// Commands that this page has started. They outlive the view, not the page: closing their connection kills them.

import { ApiError, open, path } from "./api.js";
import { parseEvents } from "./stream.js";

/** By session: `{ command, stop }`. */
const running = new Map();
/** Commands by the id of their run: the output of a session may tell of one that has ended already. */
const known = new Map();
/** Dispatches `change`, and `event` with everything that comes. */
export const runs = new EventTarget();

export function runningIn(session) {
    return running.get(session) ?? null;
}

export function commandOf(session, id) {
    return known.get(id) ?? running.get(session)?.command ?? null;
}

export async function run(session, request) {
    const abort = new AbortController();
    running.set(session, { command: request.command, stop: () => abort.abort() });
    changed();
    try {
        const body = await open(path("run"), {
            method: "POST",
            body: { ...request, session, stream: true },
            signal: abort.signal,
        });
        for await (const event of parseEvents(body)) {
            if (event.event === "started") known.set(event.data.id, request.command);
            // It could not be run; the answer had begun, so no status could say it.
            if (event.event === "problem") throw new ApiError(event.data.error);
            tell(session, event);
        }
    } catch (error) {
        tell(session, abort.signal.aborted ? { event: "stopped" } : { event: "failed", data: error });
    } finally {
        running.delete(session);
        changed();
    }
}

export function stopAll() {
    for (const { stop } of running.values()) stop();
}

function tell(session, event) {
    runs.dispatchEvent(new CustomEvent("event", { detail: { session, ...event } }));
}

function changed() {
    runs.dispatchEvent(new Event("change"));
}

addEventListener("beforeunload", (event) => {
    // Whoever leaves ends them, and should know it.
    if (running.size > 0) event.preventDefault();
});
