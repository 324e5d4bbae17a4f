import { fail } from "../../base/failures/errors.ts";

/**
 * Rejects `thread`: the gateway does not store threads. The SDK recognizes this error and sends the whole history instead
 * (docs/api/messages.md).
 * @throws GatewayError `invalid_request`.
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
