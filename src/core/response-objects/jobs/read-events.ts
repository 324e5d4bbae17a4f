import { fail } from "../../../base/failures/errors.ts";
import type { Clock } from "../../../base/time/clock.ts";
import type { ChainDeps } from "../chains/open-chain.ts";
import { RUNNING, type StoredObject } from "../records/response-object.ts";
import { ObjectSeal } from "../records/seal-object.ts";
import { sequenceOf, splitEvents } from "./event-log.ts";

/** How long a reader waits before it looks again for events that another gateway writes. Milliseconds. */
const POLL_MS = 500;
/** Groups of events that are read together. */
const PAGE_GROUPS = 50;
/** Silence after which a keep-alive is sent. Milliseconds. */
const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE = ": keep-alive\n\n";

/** What following a response needs. */
export interface FollowDeps extends ChainDeps {
  /** Resolves when this gateway has written events of a response, or after `ms`. */
  waitForEvents(responseId: string, ms: number): Promise<void>;
}

/** What of a response is followed. */
export interface Following {
  readonly response: StoredObject;
  /** The number of the last event that the reader has; -1 for none. */
  readonly after: number;
  /** Whether the reader has left. */
  readonly isLeft: () => boolean;
}

/**
 * Returns the events of a background response, until its end or until the reader has left. Pieces are bytes as Latin-1. Reading may reject
 * with a StoreError.
 * @throws GatewayError `invalid_request` for a response without events, `not_found` if its master key is not known.
 */
export function followEvents(deps: FollowDeps, following: Following): AsyncGenerator<string> {
  const { response } = following;
  if (!response.isBackground)
    return fail("invalid_request", "Only responses with background: true can be streamed again.", {
      metadata: { field: "stream" },
    });
  const seal = ObjectSeal.open(deps.vault, deps.random, response);
  if (seal === null) return fail("not_found", "The response was encrypted with an unknown master key.");
  return readEvents(deps, seal, following);
}

async function* readEvents(
  deps: FollowDeps,
  seal: ObjectSeal,
  { response, after, isLeft }: Following,
): AsyncGenerator<string> {
  const silence = new Silence(deps.clock);
  let next = after + 1;
  while (!isLeft()) {
    // Read before the events: those of a response that has ended are all written.
    const isRunning = await isStillRunning(deps, response.id);
    const groups = await deps.store.readEvents(response.id, next, PAGE_GROUPS);
    for (const { ciphertext } of groups) {
      const events = splitEvents(seal.openLatin1(ciphertext)).filter(
        (event) => (sequenceOf(event) ?? -1) >= next,
      );
      if (events.length === 0) continue;
      next = (sequenceOf(events.at(-1) as string) ?? next) + 1;
      silence.end();
      yield events.join("");
    }
    if (groups.length === PAGE_GROUPS) continue;
    if (!isRunning) return;
    await deps.waitForEvents(response.id, POLL_MS);
    if (silence.isLong()) yield KEEP_ALIVE;
  }
}

async function isStillRunning({ store, clock }: ChainDeps, id: string): Promise<boolean> {
  const found = await store.findHead(id, clock.now());
  return found !== null && RUNNING.includes(found.status);
}

/** Measures how long nothing was sent. */
class Silence {
  private since: number;

  constructor(private readonly clock: Clock) {
    this.since = clock.now();
  }

  end(): void {
    this.since = this.clock.now();
  }

  /** Returns whether a keep-alive is due, and begins anew if so. */
  isLong(): boolean {
    if (this.clock.now() - this.since < KEEP_ALIVE_MS) return false;
    this.end();
    return true;
  }
}
