// The projects of the daemon, and which of them is looked at.

import { get, path } from "./api.js";

const KEPT_AS = "exacta-project";

/** Dispatches `change` when another one is chosen. */
export const projects = Object.assign(new EventTarget(), { all: [] });

export async function loadProjects(signal) {
    projects.all = (await get(path("projects"), {}, { signal })) ?? [];
    return projects.all;
}

/** The path of the one that is looked at. */
export function project() {
    const kept = sessionStorage.getItem(KEPT_AS);
    const known = projects.all.find((one) => one.path === kept) ?? projects.all[0];
    return known?.path ?? null;
}

export function choose(path) {
    sessionStorage.setItem(KEPT_AS, path);
    projects.dispatchEvent(new Event("change"));
}

export function nameOf(path) {
    return projects.all.find((one) => one.path === path)?.name ?? path;
}

export function areSeveral() {
    return projects.all.length > 1;
}
