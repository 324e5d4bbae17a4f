import {
  type Exchange,
  type Transport,
  TransportError,
  type UpstreamRequest,
} from "../../src/core/ports/transport.ts";
import { type ProviderSlug, priceOf } from "../chaos/prices.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import { chunkOf, documentOf, textOf } from "../support/vendor.ts";

/** What a vendor bills for an answer that it has given in full. */
export interface Bill {
  readonly provider: ProviderSlug;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: number;
}

/** One call that has reached a vendor and is not over. */
export interface VendorCall {
  /** Does the next thing that a vendor may do, whatever that is. */
  act(chance: SeededRandom): void;
  readonly isOver: boolean;
}

/** Vendors behind a transport that only acts when it is told to. */
export interface SimulatedVendors extends Transport {
  /** Calls under way. */
  open(request: UpstreamRequest): Exchange;
  readonly calls: readonly VendorCall[];
  /** What was billed, by the text that the answer begins with. */
  readonly bills: ReadonlyMap<string, Bill>;
}

const MOST_PROMPT_TOKENS = 400;
/** As a name is counted by its bytes. */
const NAME_TOKENS = 2;

/** Makes vendors. `holdTokens` bounds an answer that the request does not bound; `onCall` hears of each before it is made. */
export function createVendors(holdTokens: number, onCall: () => void): SimulatedVendors {
  let calls: SimulatedCall[] = [];
  const bills = new Map<string, Bill>();
  let count = 0;
  return {
    open(request) {
      onCall();
      count += 1;
      const call = new SimulatedCall(request, `<${count}>`, holdTokens, bills);
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
  private readonly mostTokens: number;
  private readonly provider: ProviderSlug;

  constructor(
    request: UpstreamRequest,
    private readonly name: string,
    holdTokens: number,
    private readonly bills: Map<string, Bill>,
  ) {
    const body = JSON.parse(Buffer.from(request.body ?? []).toString("utf8")) as Record<string, unknown>;
    this.isStream = body["stream"] === true;
    this.mostTokens = typeof body["max_tokens"] === "number" ? body["max_tokens"] : holdTokens;
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
    else if (chance.oneIn(8)) this.breakWith(new TransportError("truncated", "cut"));
    else if (chance.oneIn(3) || this.saidTokens >= this.mostTokens) this.finish(chance);
    else this.say();
  }

  private begin(chance: SeededRandom): void {
    const dice = chance.below(10);
    if (dice === 0) this.breakWith(new TransportError("reset", "reset"));
    else if (dice === 1) this.answer(chance.pick([400, 429, 500, 503]), { error: { message: "no" } });
    else if (!this.isStream) this.answer(200, documentOf(this.name, { usage: this.bill(chance) }));
    else this.startStream();
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

  private say(): void {
    this.push(textOf(" on!"));
    this.saidTokens += 1;
  }

  private finish(chance: SeededRandom): void {
    this.push(chunkOf({}, "stop"), { ...chunkOf({}), choices: [], usage: this.bill(chance) }, "[DONE]");
    this.send(null);
    this.isOver = true;
  }

  private bill(chance: SeededRandom): Record<string, number> {
    const promptTokens = 1 + chance.below(MOST_PROMPT_TOKENS);
    const completionTokens = 1 + chance.below(this.mostTokens);
    const cost = priceOf(this.provider, { promptTokens, completionTokens });
    this.bills.set(this.name, { provider: this.provider, promptTokens, completionTokens, cost });
    return { prompt_tokens: promptTokens, completion_tokens: completionTokens };
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
