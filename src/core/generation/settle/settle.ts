import type { Failure } from "../../../base/failures/errors.ts";
import { NO_TOKENS } from "../../../wire/conversation/usage.ts";
import { recordText } from "../../usage/records/record-text.ts";
import type { StoredOutcome, UsageRecord } from "../../usage/records/records.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import type { AttachedExtensions } from "../call/extension.ts";
import type { OpenRecord } from "../records/open-record.ts";
import { type Charge, setUsage } from "./charge.ts";

/** How a generation ended. */
export interface Ending {
  readonly outcome: Exclude<StoredOutcome, "open" | "interrupted">;
  /** The failure that the client received, or null. */
  readonly failure: Failure | null;
  /** The HTTP status that the client received. */
  readonly status: number;
  /** Null if nothing was produced. */
  readonly charge: Charge | null;
  readonly finish: { readonly client: string; readonly native: string } | null;
  readonly firstTokenAt: number | null;
}

/** The ending of a generation that produced nothing. */
export const NOTHING_PRODUCED = { charge: null, finish: null, firstTokenAt: null } as const;

const NO_CHARGE: Pick<Charge, "usage" | "advisors" | "prices" | "listPrices" | "paid" | "list"> = {
  usage: NO_TOKENS,
  advisors: [],
  prices: null,
  paid: 0,
  list: 0,
};

/** The parts of a generation that settling uses. */
export interface Settling {
  readonly deps: GenerationDeps;
  readonly call: GenerationCall;
  readonly extensions: AttachedExtensions;
  /** Whether nothing of the request may be stored. */
  readonly zeroRetention: boolean;
}

/** Writes the final record of a generation, releases its hold and limits, and notifies the extensions. */
export function settle(settling: Settling, record: OpenRecord, ending: Ending): void {
  const settled = writeFinal(settling, record, ending);
  // The client already has its answer. If the journal cannot write the record now, the record stays in memory until the store is available.
  settling.deps.recorder.flush();
  settleWritten(settling, settled, ending);
}

/** Settles an answer whose last bytes can wait until the record is flushed. Resolves after the flush, even if it fails. */
export async function settleSoon(settling: Settling, record: OpenRecord, ending: Ending): Promise<void> {
  const settled = writeFinal(settling, record, ending);
  await settling.deps.recorder.flushDurably();
  settleWritten(settling, settled, ending);
}

/**
 * Ends the record of a generation in place, writes it as the final version, and returns it. The caller calls `settleWritten` once the
 * record is flushed durably. If the flush fails, nothing has been released yet: the generation must be settled in another way, which ends
 * the record again.
 */
export function writeFinal(settling: Settling, record: OpenRecord, ending: Ending): UsageRecord {
  endRecord(settling, record, ending);
  settling.deps.recorder.write(record);
  return record;
}

/**
 * Releases the hold, limits and memory of a generation whose final record was written, and notifies the extensions. This is the only place
 * that releases them. A failure to release one does not prevent the others.
 */
export function settleWritten(
  { deps, call, extensions }: Settling,
  settled: UsageRecord,
  { failure }: Pick<Ending, "failure">,
): void {
  try {
    deps.ledger.settle(settled.id, settled.costNanodollars);
  } finally {
    try {
      deps.rateLimiter.settle(settled.id, countTokens(settled));
    } finally {
      call.onEnded();
      extensions.onSettled(settled, failure);
    }
  }
}

function countTokens({ promptTokens, completionTokens, advisors }: UsageRecord): number {
  let tokens = promptTokens + completionTokens;
  for (const one of advisors ?? []) tokens += one.promptTokens + one.completionTokens;
  return tokens;
}

/** Characters of the message and of the field that a failure names in a record. */
const MESSAGE_CHARS = 500;
const FIELD_CHARS = 200;

function messageOf(failure: Failure | null): string | undefined {
  return failure === null ? undefined : recordText(failure.message, MESSAGE_CHARS);
}

function fieldOf(failure: Failure | null): string | undefined {
  const field = failure?.metadata?.["field"];
  // What follows the name may be the name of a property or tool, which the message has too where it may be stored.
  return typeof field === "string" ? recordText(field.split(/[.[]/, 1)[0] ?? "", FIELD_CHARS) : undefined;
}

/** Sets every field that describes how a generation ended, so that nothing remains of an earlier ending that could not be made durable. */
function endRecord({ deps, zeroRetention }: Settling, record: OpenRecord, ending: Ending): void {
  const charge = ending.charge ?? NO_CHARGE;
  setUsage(record, charge);
  record.outcome = ending.outcome;
  record.lease = undefined;
  record.error = ending.failure?.code ?? null;
  // The message may quote the request.
  record.errorMessage = zeroRetention ? undefined : messageOf(ending.failure);
  record.errorField = fieldOf(ending.failure);
  record.status = ending.status;
  record.finishReason = ending.finish?.client ?? null;
  record.nativeFinishReason = ending.finish?.native ?? null;
  record.costNanodollars = charge.paid;
  record.upstreamCostNanodollars = charge.list;
  record.prices = charge.prices;
  record.listPrices = charge.listPrices;
  record.firstTokenAt = ending.firstTokenAt;
  record.finishedAt = deps.clock.now();
}
