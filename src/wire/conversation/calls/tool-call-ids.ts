import { createHash } from "node:crypto";
import { ownText } from "../../../base/json/own-text.ts";
import type { ToolCallIdFormat } from "./outline.ts";

/** The maximum length of tool-call ids in the Anthropic and OpenAI formats, in characters. */
const MAX_ID_CHARACTERS = 64;

const MISTRAL_ID = /^[A-Za-z0-9]{9}$/;
const ANTHROPIC_ID = /^[A-Za-z0-9_-]{1,64}$/;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** The form of generated ids, which is valid in each format. `digits` are taken from ALPHABET. */
const MADE_IDS = {
  mistral: { prefix: "", digits: 9 },
  anthropic: { prefix: "call_", digits: 24 },
  openai: { prefix: "call_", digits: 24 },
} as const;

/** Whether a format accepts a tool-call id (docs/api/translation.md, "Tool-call repair"). Never true for the empty id. */
export function fitsToolCallId(id: string, format: ToolCallIdFormat): boolean {
  if (format === "mistral") return MISTRAL_ID.test(id);
  if (format === "anthropic") return ANTHROPIC_ID.test(id);
  return id !== "" && countsAtMost(id, MAX_ID_CHARACTERS) && id.isWellFormed();
}

/** Whether a text has at most `limit` characters; a surrogate pair is one character. */
function countsAtMost(text: string, limit: number): boolean {
  if (text.length <= limit) return true;
  return text.length <= 2 * limit && [...text].length <= limit;
}

/** Chooses the tool-call ids of one request to an upstream. */
export interface ToolCallIds {
  /**
   * Returns the id to send for a client's id that `before` earlier calls had: deterministic for the two. `clientId` is not empty.
   * The first call with a valid id keeps it, so that a longer conversation begins like a shorter one.
   */
  idFor(clientId: string, before: number): string;
  /** Returns an id for a call without one, derived from the call's position. Must be called once per position. */
  makeUp(messageIndex: number, callIndex: number): string;
  /** The number of ids that were mapped or generated. */
  changed(): number;
  /** The client's ids by the ids sent, where they differ. Generated ids are absent, because the client has none for them. */
  readonly originalIds: ReadonlyMap<string, string>;
}

/**
 * Maps ids that a target rejects (docs/api/translation.md, "Tool-call repair"). A mapped id is derived from the client's id and from
 * the number of earlier calls with it. So it is the same in every request of a conversation, and prompt caches match. If the derived
 * id is already used in this request, the next one of its series is taken. `fitting` are the valid ids of the request, which no
 * other id is mapped to.
 */
export function createToolCallIds(format: ToolCallIdFormat, fitting: Iterable<string>): ToolCallIds {
  const taken = new Set(fitting);
  const sentIds = new Map<string, string>();
  const originalIds = new Map<string, string>();
  let changed = 0;

  const take = (seed: string): string => {
    let round = 0;
    let id = deriveId(format, seed, round);
    while (taken.has(id)) id = deriveId(format, seed, ++round);
    taken.add(id);
    changed++;
    return id;
  };

  return {
    originalIds,
    changed: () => changed,
    idFor(clientId, before) {
      if (before === 0 && fitsToolCallId(clientId, format)) return clientId;
      const seed = before === 0 ? `id:${clientId}` : `again:${before}:${clientId}`;
      const known = sentIds.get(seed);
      if (known !== undefined) return known;
      const sent = take(seed);
      sentIds.set(seed, sent);
      // The answer needs it after the text of the request is gone.
      originalIds.set(sent, ownText(clientId));
      return sent;
    },
    makeUp: (messageIndex, callIndex) => take(`position:${messageIndex}:${callIndex}`),
  };
}

/** Returns the id with number `round` in a seed's series of ids. */
function deriveId(format: ToolCallIdFormat, seed: string, round: number): string {
  // UTF-16, because UTF-8 encodes all lone surrogates as the same character.
  const digest = createHash("sha256").update(`${round}:${seed}`, "utf16le").digest();
  const { prefix, digits } = MADE_IDS[format];
  let id: string = prefix;
  for (let at = 0; at < digits; at++) id += ALPHABET[digest[at]! % ALPHABET.length];
  return id;
}
