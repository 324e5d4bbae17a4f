import { call } from "../../api/client.ts";
import { type Loaded, useLoad } from "../load.ts";
import { session } from "../session.ts";
import type { CatalogList, ModelDetails } from "./model-types.ts";

/** How long a list is used again, because prices and keys change seldom. Milliseconds. */
const FRESH_MS = 60_000;

let latest: { readonly key: string; readonly at: number; readonly list: Promise<CatalogList> } | null = null;

/** Loads the catalog. Screens that follow each other within a minute share one response. */
function loadCatalog(key: string, signal: AbortSignal): Promise<CatalogList> {
  const isFresh = latest !== null && latest.key === key && Date.now() - latest.at < FRESH_MS;
  if (isFresh && latest !== null) return latest.list;
  const list = call("GET /api/admin/models", { signal });
  const entry = { key, at: Date.now(), list };
  latest = entry;
  list.catch(() => {
    if (latest === entry) latest = null;
  });
  return list;
}

/** Makes the next screen load the catalog again. */
export function forgetCatalog(): void {
  latest = null;
}

/** The catalog for a component. */
export function useCatalog(): Loaded<CatalogList> {
  const key = session.value?.key_id ?? "";
  return useLoad(`catalog ${key}`, (signal) => loadCatalog(key, signal));
}

/** Loads one model with its endpoints. */
export function loadModel(id: string, signal: AbortSignal): Promise<ModelDetails> {
  const [author = "", model = ""] = id.split("/");
  return call("GET /api/admin/models/{author}/{model}", { params: { author, model }, signal }).then(
    ({ data }) => data,
  );
}
