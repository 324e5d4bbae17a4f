import type { GenerationDeps } from "../../core/generation/call/call.ts";
import type { HttpDeps } from "./context.ts";

/**
 * The dependencies of endpoints that need only the stores. A command has them without a running gateway. Then a gateway's holds and unsaved
 * records are not known.
 */
export interface StoreDeps extends Pick<HttpDeps, "clock" | "log"> {
  readonly callers: Pick<HttpDeps["callers"], "keyCache" | "accountCache">;
  readonly resources: Omit<HttpDeps["resources"], "storedResponses" | "reloadConfig" | "webhooks">;
  readonly reports: Pick<HttpDeps["reports"], "usage" | "usageTimes" | "healthHistory"> & {
    readonly promptLog: Pick<HttpDeps["reports"]["promptLog"], "find" | "has">;
    readonly rejections: Pick<HttpDeps["reports"]["rejections"], "find" | "list">;
  };
  readonly browser: Pick<HttpDeps["browser"], "oidcIssuer">;
  readonly generation: StoredGeneration;
}

/** The settings and memory of generations that need no running gateway. */
interface StoredGeneration extends Pick<GenerationDeps, "clock" | "gatewayId" | "serving" | "accounts"> {
  readonly settings: Pick<GenerationDeps["settings"], "policy" | "pricing" | "timers">;
  readonly recorder: Pick<GenerationDeps["recorder"], "drain" | "find">;
  readonly ledger: Pick<GenerationDeps["ledger"], "balanceOf">;
}
