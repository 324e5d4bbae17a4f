import type { ErrorRenderer } from "../context/context.ts";
import { renderMessagesError, renderResponsesError } from "./client-api-errors.ts";
import { rendererOfUnserved } from "./unserved-endpoints.ts";

/**
 * Returns the error format for a path without a handler: an unknown path or a wrong method. Most clients can only read errors in the
 * format of their API.
 */
export function rendererFor(pathname: string): ErrorRenderer {
  const api = /\/(responses|messages)(?:\/|$)/.exec(pathname)?.[1];
  if (api === "responses") return renderResponsesError;
  return api === "messages" ? renderMessagesError : rendererOfUnserved(pathname);
}
