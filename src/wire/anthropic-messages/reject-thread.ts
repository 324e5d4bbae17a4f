import { fail } from "../../base/errors.ts";

/**
 * Threads that the server keeps are not offered. The SDK reads these words and sends the whole history instead
 * (docs/contract.md, "Messages").
 */
export function rejectThread(thread: unknown): void {
  if (thread === undefined || thread === null) return;
  fail(
    "invalid_request",
    "thread is not supported by this gateway. Send the whole conversation in messages.",
    {
      metadata: { field: "thread", error_code: "thread_unsupported_request", unsupported: ["thread"] },
    },
  );
}
