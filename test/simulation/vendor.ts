import { joinIntoOne } from "../../src/base/text/composed-bytes.ts";
import {
  type Exchange,
  type Transport,
  TransportError,
  type UpstreamRequest,
} from "../../src/core/deployments/transport.ts";
import { type ProviderSlug, priceOf } from "../books/prices.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import { chunkOf, documentOf, textOf } from "../support/vendors/vendor.ts";

/** What a vendor bills for a complete answer. */
export interface Bill {
  readonly provider: ProviderSlug;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: number;
  /** Its counts are impossible, or the answer is longer than the request allows. */
  readonly isImpossible: boolean;
}

/** A call that a vendor has received. */
export interface VendorCall {
  /** Does one random step of the answer. */
  act(chance: SeededRandom): void;
  readonly isOver: boolean;
}

/** Simulated vendors. Their answers proceed only by `VendorCall.act`. */
export interface SimulatedVendors extends Transport {
  open(request: UpstreamRequest): Exchange;
  /** The calls that have not ended. */
  readonly calls: readonly VendorCall[];
  /** The bills, by the text at the beginning of the answer. */
  readonly bills: ReadonlyMap<string, Bill>;
}

const MAX_PROMPT_TOKENS = 400;
/** One in this many streams ignores the limit of the request. */
const IGNORES_BOUND = 5;
/** Impossible token counts. */
const IMPOSSIBLE_COUNTS = [1e5, 1e12, 9e15, 1e19, 1e300] as const;
/** The tokens of an answer's name, estimated by its bytes. */
const NAME_TOKENS = 2;
/** A text of one token, estimated by its bytes. */
const TOKEN = " on!";
/** The most tokens of one event. */
const MAX_AT_ONCE = 120;

/** Creates vendors. An answer without a limit has up to `mostTokens`; `onCall` is called before each call. */
export function createVendors(mostTokens: number, onCall: () => void): SimulatedVendors {
  let calls: SimulatedCall[] = [];
  const bills = new Map<string, Bill>();
  let count = 0;
  return {
    open(request) {
      onCall();
      count += 1;
      const call = new SimulatedCall(request, `<${count}>`, mostTokens, bills, count % IGNORES_BOUND === 0);
      calls.push(call);
      return call;
    },
    close() {},
    get calls() {
      calls = calls.filter(({ isOver }) => !isOver);
      return calls;
    },
    bills,
  };
}

class SimulatedCall implements Exchange, VendorCall {
  isOver = false;
  private readonly head = Promise.withResolvers<Awaited<Exchange["response"]>>();
  private readonly pieces: (Uint8Array | null | TransportError)[] = [];
  private wanted: PromiseWithResolvers<Uint8Array | null> | null = null;
  private hasBegun = false;
  private saidTokens = 0;
  private readonly isStream: boolean;
  /** The limit of the request. */
  private readonly boundTokens: number;
  private readonly mostTokens: number;
  private readonly provider: ProviderSlug;

  constructor(
    request: UpstreamRequest,
    private readonly name: string,
    mostTokens: number,
    private readonly bills: Map<string, Bill>,
    ignoresBound: boolean,
  ) {
    const body = JSON.parse(
      Buffer.from(joinIntoOne(request.body ?? new Uint8Array())).toString("utf8"),
    ) as Record<string, unknown>;
    this.isStream = body["stream"] === true;
    const bound = body["max_tokens"];
    this.boundTokens = typeof bound === "number" ? bound : Number.POSITIVE_INFINITY;
    this.mostTokens = this.isStream && ignoresBound ? mostTokens : Math.min(this.boundTokens, mostTokens);
    this.provider = request.url.host.split(".")[0] as ProviderSlug;
    this.head.promise.catch(() => {});
  }

  get response(): Exchange["response"] {
    return this.head.promise;
  }

  cancel(): void {
    this.breakWith(new TransportError("cancelled", "cancelled"));
  }

  act(chance: SeededRandom): void {
    if (!this.hasBegun) this.begin(chance);
    else if (chance.oneIn(8)) this.breakWith(new TransportError("truncated", "truncated"));
    else if (chance.oneIn(5) || this.saidTokens >= this.mostTokens) this.finish(chance);
    else this.say(chance);
  }

  private begin(chance: SeededRandom): void {
    const dice = chance.below(10);
    if (dice === 0) this.breakWith(new TransportError("reset", "reset"));
    else if (dice === 1) this.answer(chance.pick([400, 429, 500, 503]), { error: { message: "no" } });
    else if (!this.isStream) {
      const completionTokens = 1 + chance.below(this.mostTokens);
      this.answer(200, documentOf(this.name, { usage: this.bill(chance, completionTokens) }));
    } else this.startStream();
  }

  private startStream(): void {
    this.start(200, "text/event-stream");
    this.push(chunkOf({ role: "assistant", content: this.name }));
    this.saidTokens = NAME_TOKENS;
  }

  private answer(status: number, body: unknown): void {
    this.start(status, "application/json");
    this.send(Buffer.from(JSON.stringify(body)));
    this.send(null);
    this.isOver = true;
  }

  private say(chance: SeededRandom): void {
    const tokens = Math.min(1 + chance.below(MAX_AT_ONCE), this.mostTokens - this.saidTokens);
    this.push(textOf(TOKEN.repeat(tokens)));
    this.saidTokens += tokens;
  }

  private finish(chance: SeededRandom): void {
    this.push(
      chunkOf({}, "stop"),
      { ...chunkOf({}), choices: [], usage: this.bill(chance, this.saidTokens) },
      "[DONE]",
    );
    this.send(null);
    this.isOver = true;
  }

  private bill(chance: SeededRandom, completionTokens: number): Record<string, number> {
    const promptTokens = 1 + chance.below(MAX_PROMPT_TOKENS);
    const cost = priceOf(this.provider, { promptTokens, completionTokens });
    const isImpossible = chance.oneIn(8);
    const isTooLong = completionTokens > this.boundTokens;
    this.bills.set(this.name, {
      provider: this.provider,
      promptTokens,
      completionTokens,
      cost,
      isImpossible: isImpossible || isTooLong,
    });
    return {
      prompt_tokens: isImpossible && chance.oneIn(2) ? chance.pick(IMPOSSIBLE_COUNTS) : promptTokens,
      completion_tokens: isImpossible ? chance.pick(IMPOSSIBLE_COUNTS) : completionTokens,
    };
  }

  private start(status: number, contentType: string): void {
    this.hasBegun = true;
    this.head.resolve({
      status,
      header: (name) => (name === "content-type" ? contentType : null),
      read: () => this.read(),
    });
  }

  private push(...events: readonly unknown[]): void {
    const lines = events.map(
      (event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`,
    );
    this.send(Buffer.from(lines.join("")));
  }

  private send(piece: Uint8Array | null | TransportError): void {
    this.pieces.push(piece);
    const wanted = this.wanted;
    if (wanted === null) return;
    this.wanted = null;
    this.read().then(wanted.resolve, wanted.reject);
  }

  private read(): Promise<Uint8Array | null> {
    const piece = this.pieces.shift();
    if (piece instanceof TransportError) return Promise.reject(piece);
    if (piece !== undefined) return Promise.resolve(piece);
    this.wanted = Promise.withResolvers();
    return this.wanted.promise;
  }

  private breakWith(error: TransportError): void {
    if (this.isOver && error.kind !== "cancelled") return;
    this.isOver = true;
    this.head.reject(error);
    this.send(error);
  }
}
