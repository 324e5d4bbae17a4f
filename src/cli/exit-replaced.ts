import type { GatewayReplacedError } from "../core/gateways/gateway-identity.ts";
import type { BufferedLog } from "../telemetry/log.ts";

/** The exit code of a gateway that another process has replaced: EX_TEMPFAIL, a failure after which a supervisor starts it again. */
const REPLACED_EXIT_CODE = 75;

/** How long the line that says why the process ends has to leave. Milliseconds. */
const LAST_LINE_MS = 50;

/** Ends the process without a graceful stop: what it does from now on it cannot save. Its journal has what clients have seen. */
export function exitReplaced(error: GatewayReplacedError, log: BufferedLog): void {
  log.error("this gateway was replaced and ends now; a new start is a new registration", {
    detail: error.message,
  });
  log.flush();
  setTimeout(() => process.exit(REPLACED_EXIT_CODE), LAST_LINE_MS);
}
