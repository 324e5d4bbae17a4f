import { hashText } from "../../../base/json/hash-nodes.ts";
import { type JsonNode, memberOf, parseMember, tryStringOf } from "../../../base/json/scan.ts";
import type { InferenceRequest } from "./inference-request.ts";
import { readTags } from "./request-tags.ts";

/** Reads the client's headers. */
export type ReadHeader = Pick<Headers, "get">;

/** The headers of a request that has none. */
export const NO_HEADERS: ReadHeader = { get: () => null };

/** The fields of a body that may identify its conversation, not validated; undefined where absent. */
interface BodyHints {
  readonly sessionId: unknown;
  readonly promptCacheKey: unknown;
  /** The id from a field that only one client API has. */
  readonly other?: string | null;
}

/** Longer ids are replaced by their hash. */
const MAX_CHARS = 256;

/** Headers of coding agents, besides the documented ones. */
const AGENT_HEADERS = ["session-id", "session_id", "conversation_id", "x-claude-code-session-id"] as const;

/** Returns the client's id of the conversation, at most 256 characters; null where it sends none. Never logged. */
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

/**
 * Reads session, user and tags from the fields of OpenAI's formats and the headers. `text` is the body, bytes as Latin-1.
 * @throws GatewayError as `readTags`.
 */
export function readHints(
  text: string,
  root: JsonNode,
  headers: ReadHeader,
): Pick<InferenceRequest, "session" | "user" | "tags"> {
  const hints = {
    sessionId: tryStringOf(text, memberOf(root, "session_id")),
    promptCacheKey: tryStringOf(text, memberOf(root, "prompt_cache_key")),
  };
  const session = findSession(hints, headers);
  const tags = readTags(parseMember(text, root, "tags"), headers);
  const user = tryStringOf(text, memberOf(root, "user"));
  return { session, user: findUser(user, tryStringOf(text, memberOf(root, "safety_identifier"))), tags };
}

/**
 * Reads session and tags of a request whose body has none of these fields.
 * @throws GatewayError as `readTags`.
 */
export function readHeaderHints(headers: ReadHeader): Pick<InferenceRequest, "session" | "user" | "tags"> {
  return { session: findSession(NO_BODY_HINTS, headers), user: null, tags: readTags(undefined, headers) };
}

const NO_BODY_HINTS: BodyHints = { sessionId: undefined, promptCacheKey: undefined };

/** Returns the first of these values that is an id of a user; null where none is. */
export function findUser(first: unknown, second?: unknown): string | null {
  return readHint(first) ?? readHint(second);
}

function readHint(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const hint = value.trim();
  if (hint === "") return null;
  return hint.length <= MAX_CHARS ? hint : `long:${hashText(hint)}`;
}
