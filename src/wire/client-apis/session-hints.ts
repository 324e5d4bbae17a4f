import { hashText } from "../json/hash-nodes.ts";
import { type JsonNode, memberOf, tryStringOf } from "../json/scan.ts";

/** Looks a header of the client's up. */
export type ReadHeader = Pick<Headers, "get">;

/** For requests that came without any. */
export const NO_HEADERS: ReadHeader = { get: () => null };

/** What a body says of the conversation that it belongs to, as it came; undefined where it says nothing. */
export interface BodyHints {
  readonly sessionId: unknown;
  readonly promptCacheKey: unknown;
  /** Where else a client API has it. */
  readonly other?: string | null;
}

/** Longer ones stand as their fingerprint. */
const MAX_CHARS = 256;

/** What coding agents send that name their session in none of the ways that the contract names. */
const AGENT_HEADERS = ["session-id", "session_id", "conversation_id", "x-claude-code-session-id"] as const;

/** The client's id of the conversation, at most 256 characters; null where it sends none. Never logged. */
export function findSession(body: BodyHints, headers: ReadHeader): string | null {
  return (
    readHint(body.sessionId) ??
    readHint(headers.get("x-session-id")) ??
    readHint(headers.get("x-session-affinity")) ??
    readHint(body.promptCacheKey) ??
    readHint(body.other) ??
    findAgentSession(headers)
  );
}

function findAgentSession(headers: ReadHeader): string | null {
  for (const name of AGENT_HEADERS) {
    const hint = readHint(headers.get(name));
    if (hint !== null) return hint;
  }
  return null;
}

/** What a body says in OpenAI's words, and the client's headers. `text` is the body, bytes read as Latin-1. */
export function readHints(
  text: string,
  root: JsonNode,
  headers: ReadHeader,
): { readonly session: string | null; readonly user: string | null } {
  const read = (field: string) => tryStringOf(text, memberOf(root, field));
  const session = findSession(
    { sessionId: read("session_id"), promptCacheKey: read("prompt_cache_key") },
    headers,
  );
  return { session, user: findUser(read("user"), read("safety_identifier")) };
}

/** The first of these that names somebody; null where none does. */
export function findUser(...named: readonly unknown[]): string | null {
  for (const name of named) {
    const user = readHint(name);
    if (user !== null) return user;
  }
  return null;
}

function readHint(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const hint = value.trim();
  if (hint === "") return null;
  return hint.length <= MAX_CHARS ? hint : `long:${hashText(hint)}`;
}
