import { createHmac } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { NONCE_BYTES, openSealed, sealBytes } from "../../base/seal.ts";
import type { CalledTurn } from "../../wire/canonical/called-turn.ts";

/**
 * The gateway's own memory of turns that called tools, so that what a client dropped can be given back to the vendor.
 * In the memory of this process, bounded, forgotten after a while, and encrypted under a key that dies with the
 * process: a turn that is forgotten costs the model its thoughts, never the request.
 */
export interface TurnMemory {
  /** `scope` is who may have it back: an account, or a hashed address. */
  remember(scope: string, turn: CalledTurn): void;
  /** The turn that made a call; null when it is not known. */
  recall(scope: string, callId: string): CalledTurn | null;
}

const KEEP_MS = 3_600_000;
/** What an entry costs besides its contents, and what each call of it costs. */
const ENTRY_BYTES = 200;

/** A turn, known by each of its calls. */
interface Entry {
  readonly names: readonly string[];
  readonly sealed: Buffer;
  readonly expiresAt: number;
}

/** A memory of at most `maxBytes`; 0 remembers nothing. The oldest turns go first. */
export function createTurnMemory(clock: Clock, random: Random, maxBytes: number): TurnMemory {
  const key = Buffer.from(random.bytes(32));
  const entries = new Map<string, Entry>();
  let bytes = 0;

  const nameOf = (scope: string, callId: string): string =>
    createHmac("sha256", key).update(`${scope}\0${callId}`).digest("base64url");
  const costOf = ({ names, sealed }: Entry): number => sealed.length + ENTRY_BYTES * names.length;
  const forget = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    for (const name of entry.names) if (entries.get(name) === entry) entries.delete(name);
    bytes -= costOf(entry);
  };
  const keep = (entry: Entry): void => {
    for (const name of entry.names) forget(entries.get(name));
    if (costOf(entry) > maxBytes) return;
    for (const name of entry.names) entries.set(name, entry);
    bytes += costOf(entry);
    for (const oldest of entries.values()) {
      if (bytes <= maxBytes) break;
      forget(oldest);
    }
  };

  return {
    remember(scope, turn) {
      if (maxBytes === 0) return;
      const names = [...new Set(turn.callIds)].map((callId) => nameOf(scope, callId));
      const nonce = Buffer.from(random.bytes(NONCE_BYTES));
      const sealed = sealBytes(key, nonce, Buffer.from(JSON.stringify(turn)));
      keep({ names, sealed, expiresAt: clock.now() + KEEP_MS });
    },
    recall(scope, callId) {
      if (entries.size === 0) return null;
      const entry = entries.get(nameOf(scope, callId));
      if (entry === undefined) return null;
      if (entry.expiresAt > clock.now())
        return JSON.parse(openSealed(key, entry.sealed).toString("utf8")) as CalledTurn;
      forget(entry);
      return null;
    },
  };
}
