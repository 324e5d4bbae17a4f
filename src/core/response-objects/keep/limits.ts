import { GatewayError } from "../../../base/failures/errors.ts";

/** @throws GatewayError `payload_too_large`. */
export function rejectFull(accountBytes: number): never {
  throw new GatewayError({
    code: "payload_too_large",
    message: `The responses that this account keeps have reached ${accountBytes} bytes (responses.account_bytes). Delete some with DELETE /v1/responses/{id}, send store: false, or ask the operator to raise the limit.`,
    metadata: { field: "store" },
  });
}

/** @throws GatewayError `payload_too_large`. */
export function rejectLongChain(chainBytes: number): never {
  throw new GatewayError({
    code: "payload_too_large",
    message: `The conversation has reached ${chainBytes} bytes (responses.chain_bytes). Compact it with POST /v1/responses/compact, or begin a new one.`,
    metadata: { field: "input" },
  });
}
