import type { ErrorRenderer } from "../context/context.ts";
import { renderMessagesError, renderResponsesError } from "./client-api-errors.ts";
import { renderError } from "./render-error.ts";

/**
 * How an error looks at a path that no handler has taken: clients of the APIs with a shape of their own read none else,
 * also where they use a wrong method, or an address of that API that is not here.
 */
export function rendererFor(pathname: string): ErrorRenderer {
  const api = /\/(responses|messages)(?:\/|$)/.exec(pathname)?.[1];
  if (api === "responses") return renderResponsesError;
  return api === "messages" ? renderMessagesError : renderError;
}
