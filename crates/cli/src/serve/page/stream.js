// Server-sent events over fetch: EventSource cannot send the Authorization header.

import { ApiError, open } from "./api.js";

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;
/** A stream that lasted so long was a good one: after it the pauses begin anew. */
const LASTING = 5_000;

/** `{ event, data }`, one after the other. Leaving the loop closes the connection. */
export async function* parseEvents(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let name = "";
    let data = [];
    try {
        for (;;) {
            const { value, done } = await reader.read();
            if (done) return;
            const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
            rest = lines.pop();
            for (const line of lines) {
                if (line === "") {
                    if (data.length > 0) yield { event: name || "message", data: parsed(data.join("\n")) };
                    [name, data] = ["", []];
                    continue;
                }
                const [, field, content] = line.match(/^([^:]*):? ?([^]*)$/);
                if (field === "event") name = content;
                if (field === "data") data.push(content);
            }
        }
    } finally {
        reader.cancel().catch(() => {});
    }
}

function parsed(text) {
    try {
        return JSON.parse(text);
    } catch {
        return { text };
    }
}

/** Listens until the signal says otherwise, again and again with longer pauses.
 *  `onState` gets `connecting`, `live`, `waiting`, or `refused` with the error that asking again would not change. */
export async function listen(path, { query, signal, onEvent, onState = () => {} }) {
    let pause = FIRST_PAUSE;
    while (!signal.aborted) {
        let began = Infinity;
        try {
            onState("connecting");
            const body = await open(path, { query, signal });
            began = performance.now();
            onState("live");
            for await (const event of parseEvents(body)) {
                if (signal.aborted) return;
                onEvent(event);
            }
        } catch (problem) {
            if (signal.aborted) return;
            if (problem instanceof ApiError && problem.isFinal) return void onState("refused", problem);
        }
        if (signal.aborted) return;
        if (performance.now() - began > LASTING) pause = FIRST_PAUSE;
        onState("waiting");
        // Not all at the same moment, when a daemon comes back.
        await sleep(pause * (0.75 + Math.random() / 2), signal);
        pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
}

export function sleep(milliseconds, signal) {
    return new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        signal?.addEventListener(
            "abort",
            () => {
                clearTimeout(timer);
                resolve();
            },
            { once: true },
        );
    });
}
