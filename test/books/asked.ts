import type { PlanName } from "./billing-vendor.ts";

/** A key to send requests with, its account, and its limits. */
export interface Payer {
  readonly name: string;
  readonly secret: string;
  readonly keyId: string;
  readonly accountId: string;
  /** What may be spent through it in total (or in this day, or month), nanodollars; `null`: unlimited. */
  readonly limit: number | null;
}

/** One request, and what its client has seen of the answer. */
export interface Asked {
  readonly serial: number;
  readonly payer: Payer;
  readonly plan: PlanName;
  /** Its bound; `null` without one. */
  readonly maxTokens: number | null;
  readonly isStream: boolean;
  /** The size of its prompt, as `writePrompt` takes it. It distinguishes requests that are open at the same time. */
  readonly size: number;
  /** When it was sent, milliseconds since the epoch. */
  readonly askedAt: number;
  /** `null` until the first byte of an answer. */
  status: number | null;
  generationId: string | null;
  /** Whether the answer is complete. */
  isWhole: boolean;
}

/** The number of prompt sizes, which is more than the requests that a client of any run has open at once. */
const SIZES = 256;

/** Creates a request that is sent now. */
export function createAsked(
  request: Pick<Asked, "serial" | "payer" | "plan" | "maxTokens" | "isStream">,
): Asked {
  const answer = { status: null, generationId: null, isWhole: false };
  return { ...request, size: request.serial % SIZES, askedAt: Date.now(), ...answer };
}
