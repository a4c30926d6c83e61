// All approvals of all projects: who waits for a person must not depend on which project they look at.

import { get, path } from "./api.js";
import { onEvents } from "./daemon.js";
import { projects } from "./projects.js";
import { now } from "./time.js";

/** Should an event be lost, nothing waits longer than this unseen. */
const AT_LATEST = 20_000;

/** Dispatches `change` when something came or was decided. `error`: why they could not be had. */
export const inbox = Object.assign(new EventTarget(), { all: null, error: null });

export function followApprovals(signal) {
    inbox.all = null;
    const look = () => refresh(signal);
    onEvents(["approval"], look, signal);
    const timer = setInterval(look, AT_LATEST);
    signal.addEventListener("abort", () => clearInterval(timer));
    // A phone that was asleep has missed whatever came meanwhile.
    document.addEventListener("visibilitychange", () => document.hidden || look(), { signal });
    addEventListener("online", look, { signal });
    return look();
}

export async function refresh(signal) {
    try {
        const lists = await Promise.all(projects.all.map((one) => ofProject(one.path, signal)));
        Object.assign(inbox, { all: lists.flat(), error: null });
    } catch (error) {
        if (signal?.aborted) return;
        inbox.error = error;
    }
    inbox.dispatchEvent(new Event("change"));
}

async function ofProject(project, signal) {
    const approvals = await get(path("approvals"), { project }, { signal });
    return (approvals ?? []).map((approval) => ({ ...approval, project }));
}

/** Oldest first: who asked first is answered first, and what comes does not move what is there. */
export function waiting() {
    return (inbox.all ?? [])
        .filter(waits)
        .sort((one, other) => one.created - other.created || (one.id < other.id ? -1 : 1));
}

/** Newest first. */
export function decided() {
    return (inbox.all ?? [])
        .filter((approval) => !waits(approval))
        .sort((one, other) => (other.decided ?? other.created) - (one.decided ?? one.created));
}

export function waits(approval) {
    return approval.state === "pending" && !(approval.expires * 1000 <= now());
}
