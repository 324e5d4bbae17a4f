import { type Asked, createAsked } from "../books/asked.ts";
import { MAX_TOKENS, type PlanName } from "../books/billing-vendor.ts";
import { CLIENT_FACES, sendRequest } from "../books/send-request.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { ClusterPayer } from "./payers.ts";

/** What a client knows about a request and its answer, beyond what the books need. */
export interface Answer {
  readonly one: Asked;
  readonly payer: ClusterPayer;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** The client disconnected by itself. */
  readonly hasLeft: boolean;
  /** The client waited for as long as it was willing to. */
  readonly isTooLate: boolean;
  /** The connection broke before the answer was complete. */
  readonly isBroken: boolean;
  /** The error of the answer, also at the end of a stream; `null` without one. */
  readonly error: ClientError | null;
}

/** An error as the client reads it. */
export interface ClientError {
  readonly type: string;
  readonly message: string;
  readonly limitSource: string | null;
  readonly hasRetryAfter: boolean;
}

/** Concurrent clients, each of which sends one request after another. */
export interface Clients {
  /** Every request in the order of its serial number. */
  readonly asked: readonly Asked[];
  /** What ended, in the order in which it ended. */
  readonly answers: readonly Answer[];
  /** Starts no further requests, and resolves when the last answer has ended. */
  stop(): Promise<void>;
}

/** How many clients there are, and how they choose. */
export interface ClientsOptions {
  /** The balancer. */
  readonly url: string;
  readonly payers: readonly ClusterPayer[];
  readonly count: number;
  readonly chance: SeededRandom;
}

/** Mostly complete answers, and some of each other kind. */
const PLANS_DEALT: readonly PlanName[] = [
  ...Array<PlanName>(10).fill("quick"),
  ...Array<PlanName>(8).fill("spaced"),
  "endless",
  "endless",
  "broken",
  "refused",
  "elsewhere",
  "elsewhere",
];
/** A prompt has room for six digits. */
const MAX_SERIAL = 999_999;
const LEAVES_ONE_IN = 16;
/** How long a client reads an endless stream at most: its progress is recorded every second. Milliseconds. */
const ENDLESS_MS = 3_500;
/** The longest that a client waits for an answer, as one of a gateway that is paused. Milliseconds. */
const PATIENCE_MS = 10_000;
/** The longest pause after an answer. A machine that is overloaded would fail requests by itself. Milliseconds. */
const PAUSE_MS = 400;
/** A client whose connection broke waits before it connects again. Milliseconds. */
const RECONNECT_MS = 100;

/** Starts to send. */
export function startClients({ url, payers, count, chance }: ClientsOptions): Clients {
  const asked: Asked[] = [];
  const answers: Answer[] = [];
  let isOver = false;

  const askOnce = async (): Promise<void> => {
    const plan = chance.pick(PLANS_DEALT);
    const payer = chance.pick(payers);
    const isStream = plan === "endless" || !chance.oneIn(3);
    const one = createAsked({ serial: asked.length, payer, plan, maxTokens: MAX_TOKENS, isStream });
    asked.push(one);
    const face = chance.pick(CLIENT_FACES);
    const leavesAfter = chance.oneIn(LEAVES_ONE_IN) ? chance.below(5) : null;
    // An endless stream ends by its client only.
    const leavesAfterMs = plan === "endless" ? chance.below(ENDLESS_MS) : PATIENCE_MS;
    const signal = AbortSignal.timeout(leavesAfterMs);
    const sent = await sendRequest(one, { url, face, leavesAfter, signal }).catch(() => null);
    const isTooLate = signal.aborted && plan !== "endless";
    const hasLeft = sent === null && (leavesAfter !== null || signal.aborted) && !isTooLate;
    answers.push({
      one,
      payer,
      endedAt: Date.now(),
      hasLeft,
      isTooLate,
      isBroken: sent === null && !hasLeft && !isTooLate,
      error: sent === null ? null : readError(sent),
    });
    await Bun.sleep(sent === null ? RECONNECT_MS : chance.below(PAUSE_MS));
  };

  const client = async (): Promise<void> => {
    while (!isOver && asked.length < MAX_SERIAL) await askOnce();
  };
  const ended = Promise.all(Array.from({ length: count }, client));
  return {
    asked,
    answers,
    async stop() {
      isOver = true;
      await ended;
    },
  };
}

/** Types of errors by the status that an event of a stream contains: each client API has its own names for them. */
const TYPES_IN_STREAMS: ReadonlyMap<number, string> = new Map([
  [429, "rate_limit_exceeded"],
  [502, "upstream_error"],
  [503, "unavailable"],
]);

/** Finds the error of an answer in any of its shapes: a document, or the last event of a stream. */
function readError({
  headers,
  text,
}: {
  readonly headers: Headers;
  readonly text: string;
}): ClientError | null {
  const found = /"error":\s*\{/.exec(text);
  if (found === null) return null;
  const status = Number(/"code":\s*(\d+)/.exec(text.slice(found.index))?.[1] ?? 0);
  return {
    type: /"error_type":\s*"(\w+)"/.exec(text)?.[1] ?? TYPES_IN_STREAMS.get(status) ?? `status ${status}`,
    message: /"message":\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? "",
    limitSource: /"limit_source":\s*"(\w+)"/.exec(text)?.[1] ?? null,
    hasRetryAfter: headers.has("retry-after"),
  };
}
