import type { ConsoleSessions } from "../../core/console/console-sessions.ts";
import type { FailedSignIns } from "../../core/console/failed-sign-ins.ts";
import type { ConsoleSource } from "./console-source.ts";

/** What the pages and endpoints of the console depend on. */
export interface ConsoleDeps {
  /** The built files. */
  readonly files: ConsoleSource;
  readonly sessions: ConsoleSessions;
  readonly failedSignIns: FailedSignIns;
  /** The address of the gateway for browsers, as configured; null if it follows from the request. */
  readonly publicUrl: URL | null;
  /** The names under which browsers may use the console besides loopback names and addresses. In lower case, without ports. */
  readonly hosts: ReadonlySet<string>;
}
