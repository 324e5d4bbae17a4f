import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway/gateway.ts";
import { findTempRoot } from "../support/temp-root.ts";

/** The master key of all gateways of a test. */
export const MASTER_KEY = "a".repeat(64);

/** Gateways of one test on one database, each with a data directory of its own. */
export interface SharedGateways {
  /** Starts a gateway. `folder` names its data directory; the same name starts on the same one. */
  start(folder: string, options?: TestGatewayOptions): Promise<TestGateway>;
  /** Stops the gateway that was started last in a data directory. */
  stop(folder: string): Promise<void>;
  /** The path of a data directory. */
  dataDir(folder: string): string;
  /** Stops all gateways and removes their data directories. */
  clear(): Promise<void>;
}

/** Creates the place of gateways that use the database at `url`. */
export function shareDatabase(url: string): SharedGateways {
  const root = mkdtempSync(join(findTempRoot(), "gateway-shared-"));
  const dataDir = (folder: string): string => join(root, folder);
  const running = new Map<string, TestGateway>();
  /** The key that the first start created. */
  let key: string | undefined;
  return {
    dataDir,
    stop: async (folder) => running.get(folder)?.stop(),
    async start(folder, options = {}) {
      const gateway = await startTestGateway({
        ...options,
        ...(key === undefined ? {} : { key }),
        dataDir: dataDir(folder),
        environment: { DATABASE_URL: url, GATEWAY_SECRETS_KEY: MASTER_KEY, ...options.environment },
      });
      key = gateway.key;
      let isStopped = false;
      const stop = async (): Promise<void> => {
        if (isStopped) return;
        isStopped = true;
        await gateway.stop({ keepData: true });
      };
      const shared = { ...gateway, stop };
      running.set(folder, shared);
      return shared;
    },
    async clear() {
      for (const gateway of running.values()) await gateway.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
