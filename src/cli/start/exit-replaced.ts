import type { GatewayReplacedError } from "../../core/gateways/gateway-identity.ts";
import type { BufferedLog } from "../../telemetry/log.ts";
import { EXIT_CODES } from "../render/exit-codes.ts";

/** How long the process waits so that the log line with the reason is written. Milliseconds. */
const LAST_LINE_MS = 50;

/** Ends the process without a graceful stop: what it does from now on it cannot save. Its journal has what clients have seen. */
export function exitReplaced(error: GatewayReplacedError, log: BufferedLog): void {
  log.error("this gateway was replaced and ends now; a new start is a new registration", {
    detail: error.message,
  });
  log.flush();
  setTimeout(() => process.exit(EXIT_CODES.replaced), LAST_LINE_MS);
}
