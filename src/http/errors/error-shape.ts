import { CLIENT_APIS } from "../../wire/client-apis/client-apis.ts";
import type { ErrorRenderer } from "../context/context.ts";
import { rendererOf } from "./client-api-errors.ts";
import { rendererOfUnserved } from "./unserved-endpoints.ts";

/** The renderers of client APIs with an error format of their own, by path. */
const RENDERERS: ReadonlyMap<string, ErrorRenderer> = new Map(
  Object.values(CLIENT_APIS)
    .filter(({ encodeError }) => encodeError !== undefined)
    .flatMap((api) => api.operations.map(({ path }) => [path, rendererOf(api)])),
);

/** Matches a path with one of these paths as a part. */
const OF_API = new RegExp(`(${[...RENDERERS.keys()].join("|")})(?:/|$)`);

/**
 * Returns the error format for a path without a handler: an unknown path or a wrong method. Most clients can only read errors in the
 * format of their API.
 */
export function rendererFor(pathname: string): ErrorRenderer {
  return RENDERERS.get(OF_API.exec(pathname)?.[1] ?? "") ?? rendererOfUnserved(pathname);
}
