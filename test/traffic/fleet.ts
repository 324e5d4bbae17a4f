import { joinIntoOne } from "../../src/base/text/composed-bytes.ts";
import type { Clock, Timer } from "../../src/base/time/clock.ts";
import {
  type Exchange,
  type Transport,
  TransportError,
  type UpstreamRequest,
  type UpstreamResponse,
} from "../../src/core/deployments/transport.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import { chunkOf, documentOf, textOf } from "../support/vendors/vendor.ts";

/** The condition of a vendor. `dead` kinds answer no request. */
export type Trouble =
  | { readonly kind: "none" }
  /** Refuses connections, answers 500, answers 503, answers with nothing, does not answer. */
  | { readonly kind: "refusing" | "failing" | "overloaded" | "empty" | "mute" }
  | { readonly kind: "brown-out"; readonly failShare: number; readonly slowness: number };

export const NO_TROUBLE: Trouble = { kind: "none" };

/** The behavior of a healthy vendor. */
export interface VendorTraits {
  readonly slug: string;
  /** Median time to first token. */
  readonly ttftMs: number;
  readonly tokensPerS: number;
  /** Requests per minute with each key; `null`: unlimited. */
  readonly perMinute: number | null;
}

/** One call as a vendor sees it. */
export interface FleetCall {
  readonly at: number;
  readonly vendor: string;
  /** The id of its request. */
  readonly request: number;
  /** Whether it is the request's first call to this vendor. */
  readonly isFirst: boolean;
}

/** Simulated vendors behind one transport. */
export interface Fleet extends Transport {
  /** All calls so far, in order. */
  readonly calls: readonly FleetCall[];
  troubleOf(slug: string): Trouble;
  setTrouble(slug: string, trouble: Trouble): void;
  /** Whether it was healthy and had no limit from that time until now. */
  wasWellSince(slug: string, at: number): boolean;
  /** Whether the request's conversation was in the cache of the vendor that answered it; `null` if none did. */
  wasWarm(request: number): boolean | null;
}

/** How long a vendor keeps a prompt that it has seen. */
const CACHE_MS = 300_000;
const PROMPT_TOKENS = 1_000;
/** Duration of a rejected call. */
const REFUSAL_MS = 40;

interface VendorState {
  readonly traits: VendorTraits;
  /** Requests that reached this vendor. */
  readonly asked: Set<number>;
  trouble: Trouble;
  wellSince: number;
  /** Remaining calls of each key. */
  readonly allowance: Map<string, { left: number; at: number }>;
  /** Until when a conversation is cached, by key, model and conversation. */
  readonly cache: Map<string, number>;
}

/** Creates a fleet. Each request's last message is its number, its first message the conversation's name. */
export function createFleet(traits: readonly VendorTraits[], clock: Clock, chance: SeededRandom): Fleet {
  const calls: FleetCall[] = [];
  const warm = new Map<number, boolean>();
  const vendors = new Map<string, VendorState>();
  for (const each of traits) {
    vendors.set(each.slug, {
      traits: each,
      asked: new Set(),
      trouble: NO_TROUBLE,
      wellSince: 0,
      allowance: new Map(),
      cache: new Map(),
    });
  }
  const vendor = (slug: string): VendorState => vendors.get(slug) as VendorState;

  return {
    calls,
    open(request) {
      const state = vendor(request.url.host.split(".")[0] as string);
      const asking = readAsking(request);
      const { number } = asking;
      calls.push({
        at: clock.now(),
        vendor: state.traits.slug,
        request: number,
        isFirst: !state.asked.has(number),
      });
      state.asked.add(number);
      const exchange = new FleetExchange();
      playCall(state, asking, request, exchange, { clock, chance, warm });
      return exchange;
    },
    close() {},
    troubleOf: (slug) => vendor(slug).trouble,
    setTrouble(slug, trouble) {
      const state = vendor(slug);
      if (trouble.kind === "none") state.wellSince = clock.now();
      state.trouble = trouble;
    },
    wasWellSince(slug, at) {
      const { trouble, wellSince, traits } = vendor(slug);
      return trouble.kind === "none" && wellSince <= at && traits.perMinute === null;
    },
    wasWarm: (request) => warm.get(request) ?? null,
  };
}

interface Asking {
  readonly number: number;
  readonly conversation: string;
  readonly model: string;
  readonly key: string;
  readonly isStream: boolean;
}

function readAsking({ body, headers }: UpstreamRequest): Asking {
  const fields = JSON.parse(Buffer.from(joinIntoOne(body ?? new Uint8Array())).toString("utf8")) as {
    model: string;
    stream?: boolean;
    messages: { content: string }[];
  };
  return {
    number: Number(fields.messages.at(-1)?.content),
    conversation: fields.messages[0]?.content ?? "",
    model: fields.model,
    key: headers["authorization"] ?? "",
    isStream: fields.stream === true,
  };
}

interface Surroundings {
  readonly clock: Clock;
  readonly chance: SeededRandom;
  readonly warm: Map<number, boolean>;
}

function playCall(
  state: VendorState,
  asking: Asking,
  request: UpstreamRequest,
  exchange: FleetExchange,
  around: Surroundings,
): void {
  const { clock, chance } = around;
  const { trouble } = state;
  const inTime = (ms: number, act: () => void) => exchange.later(clock.after(ms, act));
  const refuse = (status: number, retryAfterS?: number) =>
    inTime(REFUSAL_MS, () => exchange.document(status, { error: { message: "no" } }, retryAfterS));
  const retryAfterS = takeAllowance(state, asking.key, clock.now());
  if (trouble.kind === "mute") return;
  if (trouble.kind === "refusing") {
    inTime(Math.min(2, request.connectTimeoutMs), () =>
      exchange.fail(new TransportError("connect_failed", "refused")),
    );
  } else if (trouble.kind === "failing") refuse(500);
  else if (trouble.kind === "overloaded") refuse(503);
  else if (trouble.kind === "empty") inTime(REFUSAL_MS, () => exchange.nothing(asking.isStream));
  else if (retryAfterS !== null) refuse(429, retryAfterS);
  else if (trouble.kind === "brown-out" && chance.next() < trouble.failShare) refuse(500);
  else {
    const slowness = trouble.kind === "brown-out" ? trouble.slowness : 1;
    answerWell(state, asking, exchange, slowness, { ...around, inTime });
  }
}

function answerWell(
  { traits, cache }: VendorState,
  { key, model, conversation, number, isStream }: Asking,
  exchange: FleetExchange,
  slowness: number,
  { clock, chance, warm, inTime }: Surroundings & { inTime(ms: number, act: () => void): void },
): void {
  const cached = `${key} ${model} ${conversation}`;
  const isWarm = (cache.get(cached) ?? 0) > clock.now();
  // A factor around 1, with a long tail.
  const spread = 0.6 + 0.5 * -Math.log(1 - chance.next());
  const ttftMs = traits.ttftMs * spread * slowness * (isWarm ? 0.6 : 1);
  const tokens = 20 + chance.below(300);
  const tokensMs = ((tokens * 1_000) / traits.tokensPerS) * slowness;
  const usage = {
    prompt_tokens: PROMPT_TOKENS,
    completion_tokens: tokens,
    total_tokens: PROMPT_TOKENS + tokens,
    prompt_tokens_details: { cached_tokens: isWarm ? PROMPT_TOKENS : 0 },
  };
  const end = () => {
    cache.set(cached, clock.now() + CACHE_MS);
    warm.set(number, isWarm);
  };
  if (!isStream) {
    inTime(ttftMs + tokensMs, () => {
      end();
      exchange.document(200, documentOf("words", { usage }));
    });
    return;
  }
  inTime(ttftMs, () => {
    exchange.begin();
    exchange.events(chunkOf({ role: "assistant", content: "words" }));
    inTime(tokensMs, () => {
      end();
      exchange.events(textOf(" more"), chunkOf({}, "stop"), { ...chunkOf({}), choices: [], usage }, "[DONE]");
      exchange.end();
    });
  });
}

/** Counts a call; returns the seconds to wait if the key has none left. */
function takeAllowance({ traits, allowance }: VendorState, key: string, now: number): number | null {
  const { perMinute } = traits;
  if (perMinute === null) return null;
  const known = allowance.get(key) ?? { left: perMinute, at: now };
  const left = Math.min(perMinute, known.left + ((now - known.at) * perMinute) / 60_000);
  allowance.set(key, { left: left >= 1 ? left - 1 : left, at: now });
  return left >= 1 ? null : Math.ceil(((1 - left) * 60) / perMinute);
}

/** An exchange whose answer arrives when the fleet says so. */
class FleetExchange implements Exchange {
  private readonly head = Promise.withResolvers<UpstreamResponse>();
  private readonly pieces: (Uint8Array | null | TransportError)[] = [];
  private wanted: PromiseWithResolvers<Uint8Array | null> | null = null;
  private timer: Timer | null = null;
  private isOver = false;

  constructor() {
    this.head.promise.catch(() => {});
  }

  get response(): Promise<UpstreamResponse> {
    return this.head.promise;
  }

  /** The next event, unless the exchange is aborted. */
  later(timer: Timer): void {
    this.timer = timer;
  }

  cancel(): void {
    this.timer?.cancel();
    this.fail(new TransportError("cancelled", "cancelled"));
  }

  fail(error: TransportError): void {
    if (this.isOver) return;
    this.isOver = true;
    this.head.reject(error);
    this.send(error);
  }

  document(status: number, body: unknown, retryAfterS?: number): void {
    const retryAfter = retryAfterS === undefined ? null : String(retryAfterS);
    this.start(status, "application/json", retryAfter);
    this.send(Buffer.from(JSON.stringify(body)));
    this.end();
  }

  nothing(isStream: boolean): void {
    this.start(200, isStream ? "text/event-stream" : "application/json", null);
    this.end();
  }

  begin(): void {
    this.start(200, "text/event-stream", null);
  }

  events(...events: readonly unknown[]): void {
    const lines = events.map(
      (event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`,
    );
    this.send(Buffer.from(lines.join("")));
  }

  end(): void {
    this.isOver = true;
    this.send(null);
  }

  private start(status: number, contentType: string, retryAfter: string | null): void {
    this.head.resolve({
      status,
      header: (name) => (name === "content-type" ? contentType : name === "retry-after" ? retryAfter : null),
      read: () => this.read(),
    });
  }

  private send(piece: Uint8Array | null | TransportError): void {
    this.pieces.push(piece);
    const { wanted } = this;
    if (wanted === null) return;
    this.wanted = null;
    this.read().then(wanted.resolve, wanted.reject);
  }

  private read(): Promise<Uint8Array | null> {
    const piece = this.pieces.shift();
    if (piece instanceof TransportError) return Promise.reject(piece);
    if (piece !== undefined) return Promise.resolve(piece);
    this.wanted = Promise.withResolvers();
    this.wanted.promise.catch(() => {});
    return this.wanted.promise;
  }
}
