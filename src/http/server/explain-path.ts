import { nearestNames } from "../../base/text/nearest-names.ts";
import { findUnserved } from "../errors/unserved-endpoints.ts";
import { FIXED_ROUTES, GATEWAY_ROUTES, OPEN_FIXED_ROUTES, PREFIXES } from "./route-table.ts";

/** The endpoint that a client probably means: `POST /v1/chat/completions`. */
interface Meant {
  readonly method: string;
  readonly path: string;
}

/** Served paths without parameters, by their end: below the prefixes, and at a fixed path. */
const ENDS: ReadonlyMap<string, Meant> = listEnds();

function listEnds(): ReadonlyMap<string, Meant> {
  const ends = new Map<string, Meant>();
  const add = (routes: Readonly<Record<string, object>>, prefix: string): void => {
    for (const [path, methods] of Object.entries(routes)) {
      const [method] = Object.keys(methods);
      const isPlain = path.length > 1 && !/[:*]/.test(path);
      if (isPlain && method !== undefined) ends.set(path, { method, path: prefix + path });
    }
  };
  add(FIXED_ROUTES, "");
  add(OPEN_FIXED_ROUTES, "");
  add(GATEWAY_ROUTES, "/v1");
  return ends;
}

/** How many letters a misspelled path may have more or less than the right one. */
const MAX_LENGTH_DIFFERENCE = 2;
/** The maximum number of segments of a served path. */
const MAX_SEGMENTS = 6;

/** Returns advice about a path that is not served: the endpoint to use instead, or where all endpoints are listed. */
export function explainUnknownPath(pathname: string): string {
  const unserved = findUnserved(pathname);
  if (unserved !== null) return `There is no endpoint at this path. ${unserved.hint}`;
  const meant = findByEnd(pathname);
  if (meant !== null) return `There is no endpoint at this path. ${explainMeant(meant)}`;
  const near = findNear(pathname);
  if (near !== null)
    return `There is no endpoint at this path. Did you mean ${near.method} ${near.path}? GET /docs/reference lists all endpoints.`;
  return "There is no endpoint at this path. The chat completions endpoint is POST /v1/chat/completions, and GET /docs/reference lists all endpoints.";
}

/** Finds the longest end of a path that is served. The text before it is a wrong prefix. Superfluous slashes are ignored. */
function findByEnd(pathname: string): Meant | null {
  const segments = pathname.toLowerCase().split("/").filter(Boolean).slice(-MAX_SEGMENTS);
  for (let from = 0; from < segments.length; from++) {
    const meant = ENDS.get(`/${segments.slice(from).join("/")}`);
    if (meant !== undefined) return meant;
  }
  return null;
}

function explainMeant({ method, path }: Meant): string {
  const use = `Use ${method} ${path}`;
  if (path.startsWith("/v1/messages"))
    return `${use}: the base URL of an Anthropic client is the address of the gateway, without /v1.`;
  if (path.startsWith("/v1/"))
    return `${use}: the base URL of a client is the address of the gateway and /v1.`;
  return `${use}.`;
}

const LONGEST_PREFIX_FIRST = PREFIXES.toSorted((a, b) => b.length - a.length);

/** Paths that people type, except those of the management API. */
const TYPED_ENDS: readonly string[] = [...ENDS.keys()].filter((path) => !path.startsWith("/api/"));

/** Finds the served path with the most similar spelling. Compares only paths of similar length, because scanners send many paths. */
function findNear(pathname: string): Meant | null {
  const path = pathname.toLowerCase();
  const prefix = LONGEST_PREFIX_FIRST.find((one) => path.startsWith(`${one}/`));
  const end = path.slice(prefix?.length ?? 0);
  const alike = TYPED_ENDS.filter((one) => Math.abs(one.length - end.length) <= MAX_LENGTH_DIFFERENCE);
  const [near] = nearestNames(end, alike, 1);
  return near === undefined ? null : (ENDS.get(near) ?? null);
}
