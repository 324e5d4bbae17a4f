import { createTable } from "../../base/json/fields.ts";
import type { Finish, FinishReason } from "../canonical/model/answer.ts";
import { readVendorError, type VendorError } from "../conversation/errors/vendor-error.ts";

const KNOWN: Readonly<Record<string, FinishReason>> = createTable({
  COMPLETE: "stop",
  STOP_SEQUENCE: "stop-sequence",
  MAX_TOKENS: "length",
  TOOL_CALL: "tool-calls",
  ERROR_TOXIC: "content-filter",
});

/** Converts a finish reason: `tool-calls` if there were calls, `stop` for unknown reasons. */
export function readFinish(native: string, hasToolCalls: boolean): Finish {
  const known = KNOWN[native] ?? "stop";
  return { reason: hasToolCalls && known === "stop" ? "tool-calls" : known, native, stopSequence: null };
}

/** The HTTP statuses of the reasons that report a failure. */
const FAILED: Readonly<Record<string, number>> = createTable({ ERROR: 500, TIMEOUT: 504 });

/** Returns the failure that a finish reason reports, with Cohere's message; null for any other reason. */
export function findFailedFinish(native: string, vendorMessage: unknown): VendorError | null {
  const status = FAILED[native];
  if (status === undefined) return null;
  const message =
    typeof vendorMessage === "string" && vendorMessage !== ""
      ? vendorMessage
      : `the upstream ended the answer with "${native}"`;
  return readVendorError(status, { message });
}
