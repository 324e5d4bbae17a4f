import { computed, signal } from "@preact/signals";
import { atBase, withoutBase } from "../api/base.ts";

/** The path under which all pages of the console are. */
export const ROOT = "/console";

/** The address of the page: path and query. The fragment belongs to the page's own sections. */
const url = signal(readUrl());

/** Returns path and query of the page, as the gateway sees them. */
export function readUrl(): string {
  return withoutBase(window.location.pathname) + window.location.search;
}

/** The path of the page without a slash at its end. */
export const path = computed(() => new URL(url.value, window.location.origin).pathname.replace(/\/+$/, ""));

/** The query of the page. The first value of a name counts. */
export const query = computed<Readonly<Record<string, string>>>(() => {
  const found: Record<string, string> = {};
  for (const [name, value] of new URL(url.value, window.location.origin).searchParams) found[name] ??= value;
  return found;
});

/** Goes to another page of the console. `replaces` leaves no entry in the browser's history. */
export function navigate(to: string, { replaces = false } = {}): void {
  if (to === readUrl()) return;
  if (replaces) history.replaceState(null, "", atBase(to));
  else history.pushState(null, "", atBase(to));
  url.value = readUrl();
}

/** Changes values of the query; null removes one. Filters replace the entry, so that "back" leaves the page. */
export function setQuery(changes: Readonly<Record<string, string | null>>, { replaces = true } = {}): void {
  const search = new URLSearchParams(window.location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") search.delete(name);
    else search.set(name, value);
  }
  const text = search.toString();
  navigate(withoutBase(window.location.pathname) + (text === "" ? "" : `?${text}`), { replaces });
}

/** Follows links to pages of the console without loading the document again, and the browser's buttons. */
export function followLinks(): void {
  window.addEventListener("popstate", () => {
    url.value = readUrl();
  });
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest?.("a");
    if (!link || !isPlainClick(event) || !isPage(link)) return;
    event.preventDefault();
    navigate(withoutBase(link.pathname) + link.search);
  });
}

function isPlainClick(event: MouseEvent): boolean {
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
}

function isPage(link: HTMLAnchorElement): boolean {
  const isInside = link.pathname === atBase(ROOT) || link.pathname.startsWith(`${atBase(ROOT)}/`);
  return link.origin === window.location.origin && isInside && !link.hash && !link.target && !link.download;
}

/** Matches a pattern such as `/console/requests/:id` with a path. Returns the parameters; null if it does not match. */
export function matchPath(pattern: string, at: string): Readonly<Record<string, string>> | null {
  const [names, parts] = [pattern.split("/"), at.split("/")];
  if (names.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [i, name] of names.entries()) {
    const part = parts[i] as string;
    if (name.startsWith(":")) params[name.slice(1)] = decodePart(part);
    else if (name !== part) return null;
  }
  return params;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
