import { type Asked, createAsked } from "../books/asked.ts";
import { isHostile, MAX_TOKENS, type PlanName, SERIALS } from "../books/billing-vendor.ts";
import { CLIENT_FACES, sendRequest } from "../books/send-request.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { Payers } from "./payers.ts";

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
  load(url: string): Load;
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

/** Creates clients that choose what to ask, how, and with which key by `chance`; with `meetsHostility` half of them use hostile vendors. */
export function createClients(
  { all: payers, poor }: Pick<Payers, "all" | "poor">,
  chance: SeededRandom,
  meetsHostility: boolean,
): Clients {
  const asked: Asked[] = [];

  const askOnce = async (url: string, signal: AbortSignal): Promise<void> => {
    if (asked.length >= SERIALS) throw new Error("more requests than there are usages to tell them apart by");
    const plan = chance.pick(meetsHostility ? HOSTILE_DEALT : PLANS_DEALT);
    const one = createAsked({
      serial: asked.length,
      isStream: plan === "endless" || !chance.oneIn(3),
      // A long answer costs more than the poor account has, which is why it is requested.
      payer: plan === "long" && chance.oneIn(2) ? poor : chance.pick(payers),
      plan,
      maxTokens: chooseBound(plan, chance),
    });
    asked.push(one);
    const face = chance.pick(CLIENT_FACES);
    const leavesAfter = chance.oneIn(LEAVES_ONE_IN) ? chance.below(5) : null;
    await sendRequest(one, { url, face, leavesAfter, signal });
  };

  return {
    asked,
    load(url) {
      let isOver = false;
      const leaving = new AbortController();
      const client = async (): Promise<void> => {
        // A client that was rejected immediately waits before it asks again.
        while (!isOver) await askOnce(url, leaving.signal).catch(() => Bun.sleep(5));
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
