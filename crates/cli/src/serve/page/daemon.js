// What the daemon tells as it happens: dispatches `approval`, `session`, `process` and `task`, and `connection` for its own state.

import { path } from "./api.js";
import { listen } from "./stream.js";

export const daemon = new EventTarget();

export function connect(signal) {
    listen(path("events"), {
        signal,
        onEvent: ({ event, data }) => daemon.dispatchEvent(new CustomEvent(event, { detail: data })),
        onState: (state, error) => daemon.dispatchEvent(new CustomEvent("connection", { detail: { state, error } })),
    });
}

/** Calls once for many events that come together, and not after the signal. */
export function onEvents(names, call, signal, delay = 150) {
    let timer = 0;
    const later = () => {
        clearTimeout(timer);
        timer = setTimeout(call, delay);
    };
    // `missed`: more came than the daemon has kept for this page; whoever listens has to look.
    for (const name of [...names, "missed"]) daemon.addEventListener(name, later, { signal });
    signal.addEventListener("abort", () => clearTimeout(timer));
}
