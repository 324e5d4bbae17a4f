import type { SeededRandom } from "../support/seeded-random.ts";
import { isHostile, MAX_TOKENS, type PlanName, SERIALS, writePrompt } from "./billing-vendor.ts";
import type { Payer, Payers } from "./payers.ts";

/** One request, and what its client has seen of the answer. */
export interface Asked {
  readonly serial: number;
  readonly payer: Payer;
  readonly plan: PlanName;
  /** Its bound; `null` without one. */
  readonly maxTokens: number | null;
  readonly isStream: boolean;
  /** The start of the gateway that it was sent to, and its position among that start's requests. */
  readonly round: number;
  readonly place: number;
  /** `null` until the first byte of an answer. */
  status: number | null;
  generationId: string | null;
  /** Whether the answer is complete. */
  isWhole: boolean;
}

/** Running clients. */
export interface Load {
  /** Starts no further requests. */
  stop(): void;
  /** Aborts what is still open. */
  leave(): void;
  /** Resolves when the last answer has ended, successfully or not, after `stop`. */
  readonly ended: Promise<void>;
}

/** Concurrent clients, each of which sends one request after another. */
export interface Clients {
  readonly asked: readonly Asked[];
  /** Starts to send, as the clients of one start of the gateway. */
  load(url: string, round: number): Load;
}

const BUSY = 12;
/** Mostly complete answers, and some of each other kind. */
const PLANS_DEALT: readonly PlanName[] = [
  ...Array<PlanName>(8).fill("quick"),
  ...Array<PlanName>(6).fill("spaced"),
  "endless",
  "broken",
  "refused",
  "elsewhere",
  "elsewhere",
];
/** As many honest answers as hostile ones, so that any effect of a hostile one meets others. */
const HOSTILE_DEALT: readonly PlanName[] = [
  ...Array<PlanName>(4).fill("quick"),
  "spaced",
  "spaced",
  "endless",
  "elsewhere",
  ...Array<PlanName>(4).fill("lying"),
  "half",
  "long",
  "long",
  "overlong",
];
/** After how many pieces a client disconnects; it may never reach that. */
const LEAVES_ONE_IN = 12;

interface Face {
  readonly path: string;
  readonly body: (prompt: string, model: string, isStream: boolean, maxTokens: number | null) => unknown;
  readonly streamEnd: string;
}

const FACES: readonly Face[] = [
  {
    path: "/api/gateway/chat/completions",
    body: (content, model, stream, maxTokens) => ({
      model,
      stream,
      ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
      messages: [{ role: "user", content }],
    }),
    streamEnd: "[DONE]\n\n",
  },
  {
    path: "/api/gateway/messages",
    body: (content, model, stream, maxTokens) => ({
      model,
      stream,
      ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
      messages: [{ role: "user", content: [{ type: "text", text: content }] }],
    }),
    streamEnd: '{"type":"message_stop"}\n\n',
  },
];

/** Creates clients that choose what to ask, how, and with which key by `chance`; with `meetsHostility` half of them use hostile vendors. */
export function createClients(
  { all: payers, poor }: Pick<Payers, "all" | "poor">,
  chance: SeededRandom,
  meetsHostility: boolean,
): Clients {
  const asked: Asked[] = [];

  const askOnce = async (url: string, round: number, place: number, all: AbortSignal): Promise<void> => {
    const plan = chance.pick(meetsHostility ? HOSTILE_DEALT : PLANS_DEALT);
    const isStream = plan === "endless" || !chance.oneIn(3);
    const one: Asked = {
      serial: asked.length,
      // A long answer costs more than the poor account has, which is why it is requested.
      payer: plan === "long" && chance.oneIn(2) ? poor : chance.pick(payers),
      plan,
      maxTokens: chooseBound(plan, chance),
      isStream,
      round,
      place,
      status: null,
      generationId: null,
      isWhole: false,
    };
    if (one.serial >= SERIALS) throw new Error("more requests than there are usages to tell them apart by");
    asked.push(one);
    const face = chance.pick(FACES);
    const model = isHostile(plan) ? "acme/hostile" : plan === "elsewhere" ? "acme/pair" : "acme/alone";
    const leavesAfter = chance.oneIn(LEAVES_ONE_IN) ? chance.below(5) : null;
    const body = face.body(writePrompt(one.serial, plan, place), model, isStream, one.maxTokens);
    await ask(url, face, body, one, leavesAfter, all);
  };

  return {
    asked,
    load(url, round) {
      let place = 0;
      let isOver = false;
      const leaving = new AbortController();
      const client = async (): Promise<void> => {
        // A client that was rejected immediately waits before it asks again.
        while (!isOver) await askOnce(url, round, place++, leaving.signal).catch(() => Bun.sleep(5));
      };
      return {
        stop() {
          isOver = true;
        },
        leave: () => leaving.abort(),
        ended: Promise.all(Array.from({ length: BUSY }, client)).then(() => {}),
      };
    },
  };
}

/** A request for a long answer has no bound, because a bound would shorten it. */
function chooseBound(plan: PlanName, chance: SeededRandom): number | null {
  if (plan === "long") return null;
  return isHostile(plan) ? chance.pick([1, MAX_TOKENS]) : MAX_TOKENS;
}

/** Rejects when the connection breaks, as it does when the gateway is killed. */
async function ask(
  url: string,
  face: Face,
  body: unknown,
  one: Asked,
  leavesAfter: number | null,
  all: AbortSignal,
): Promise<void> {
  const leaving = new AbortController();
  const response = await fetch(`${url}${face.path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${one.payer.secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.any([leaving.signal, all]),
  });
  one.status = response.status;
  one.generationId = response.headers.get("x-gateway-generation-id");
  let text = "";
  let pieces = 0;
  for await (const piece of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(piece).toString("latin1");
    if (pieces++ === leavesAfter) leaving.abort();
  }
  if (response.status === 200)
    one.isWhole = one.isStream ? text.endsWith(face.streamEnd) : text.trimEnd().endsWith("}");
}
