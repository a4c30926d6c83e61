// Speaks with the daemon: the token, requests, errors. What the answers mean is the business of the views.

import { noteServerTime } from "./time.js";

const KEPT_AS = "exacta-token";

/** Dispatches `refused` when the daemon does not know the token (any more). */
export const access = new EventTarget();

export function token() {
    return sessionStorage.getItem(KEPT_AS);
}

/** Only for this tab, and gone with it. */
export function keepToken(value) {
    sessionStorage.setItem(KEPT_AS, value.trim());
}

export function forgetToken() {
    sessionStorage.removeItem(KEPT_AS);
}

/** What the daemon, or the way to it, says instead of an answer. */
export class ApiError extends Error {
    constructor({ status = 0, code = "", message, hint = "", body = null }) {
        super(message);
        Object.assign(this, { name: "ApiError", status, code, hint, body });
    }

    /** Asking again would bring the same. */
    get isFinal() {
        return [400, 401, 403, 404, 405, 410, 421].includes(this.status);
    }

    /** Lists that come with some refusals: `conflicts`, `later`, `refusals`. */
    list(name) {
        return this.body?.error?.[name] ?? this.body?.[name] ?? [];
    }
}

export async function get(path, query = {}, { signal } = {}) {
    return answer(await send("GET", path, { query, signal }));
}

export async function post(path, body = {}, { signal } = {}) {
    return answer(await send("POST", path, { body, signal }));
}

export async function remove(path, query = {}, { signal } = {}) {
    return answer(await send("DELETE", path, { query, signal }));
}

/** The body of an answer that comes piece by piece. */
export async function open(path, { method = "GET", query = {}, body, signal } = {}) {
    const response = await send(method, path, { query, body, signal, accept: "text/event-stream" });
    if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
        throw new ApiError({ status: response.status, message: "The daemon did not answer with a stream of events." });
    }
    return response.body;
}

/** Ids come from agents too: whatever is in them stays one part of the path. */
export function path(...parts) {
    // These two would be taken for steps, even encoded.
    if (parts.includes(".") || parts.includes(".."))
        throw new ApiError({ status: 404, message: "There is no such thing." });
    return `/v1/${parts.map(encodeURIComponent).join("/")}`;
}

async function send(method, where, { query = {}, body, signal, accept = "application/json" }) {
    const url = new URL(where, location.origin);
    for (const [name, value] of Object.entries(query)) {
        if (value !== null && value !== undefined && value !== "" && value !== false) url.searchParams.set(name, value);
    }
    const headers = { Accept: accept, Authorization: `Bearer ${token() ?? ""}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const options = { method, headers, signal, cache: "no-store", credentials: "omit", redirect: "error" };
    let response;
    try {
        response = await fetch(url, { ...options, body: body === undefined ? undefined : JSON.stringify(body) });
    } catch (problem) {
        if (signal?.aborted) throw problem;
        throw unreachable();
    }
    noteServerTime(response.headers.get("Date"));
    if (!response.ok) throw await refusal(response);
    return response;
}

async function answer(response) {
    const text = await response.text();
    if (text === "") return null;
    try {
        return JSON.parse(text);
    } catch {
        throw new ApiError({ status: response.status, code: "no_json", message: "The daemon's answer is not JSON." });
    }
}

async function refusal(response) {
    const body = await response.json().catch(() => null);
    // As the API says it, or as the verbs of the command line print it.
    const said = typeof body?.error === "object" ? body.error : { message: body?.error, hint: body?.hint };
    const error = new ApiError({
        status: response.status,
        code: said?.code ?? `http_${response.status}`,
        message: said?.message ?? `The daemon answered ${response.status}.`,
        hint: said?.hint ?? "",
        body,
    });
    if (response.status === 401) access.dispatchEvent(new CustomEvent("refused", { detail: error }));
    return error;
}

function unreachable() {
    return new ApiError({
        code: "unreachable",
        message: "The daemon does not answer.",
        hint: "Is `exacta serve` still running on this address?",
    });
}
