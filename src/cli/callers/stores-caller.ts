import type { Config } from "../../app/config/config-schema.ts";
import { ModelsNotLoaded, openManagement } from "../../app/start/open-management.ts";
import { fail } from "../../base/failures/errors.ts";
import { createSystemRandom } from "../../base/secrets/random.ts";
import { rejectWithoutConsole, runForCommand } from "../../http/api/endpoint.ts";
import type { StoreDeps } from "../../http/context/store-deps.ts";
import { type Caller, readAnswer } from "./caller.ts";
import { baseOf, localUrl } from "./gateway-url.ts";
import { withStores } from "./with-stores.ts";

/** A caller of endpoints on the stores. */
export interface StoresCaller extends Caller {
  /** The dependencies of the endpoints, for a command that reads the stores itself. */
  readonly deps: StoreDeps;
  /** Loads the served models, for a command that needs them in `deps`. */
  loadModels(): Promise<void>;
}

/** Runs `work` with a caller of endpoints on the configured stores, and prints what it returns. `command` is what the audit log records. */
export function withStoresCaller(
  command: string,
  work: (caller: StoresCaller) => Promise<string>,
): Promise<void> {
  return withStores(async (stores, config) => {
    const sources = { environment: process.env, random: createSystemRandom() };
    const { deps, config: inForce, loadModels, close } = await openManagement(config, stores, sources);
    const shared = { deps, command, consoleUrl: () => consoleUrlOf(inForce()) };
    const call: Caller["call"] = async (endpoint, { params = {}, query = {}, body = {} }) => {
      const run = () => runForCommand(endpoint, { ...shared, params, query, body });
      // A read may be run again once it has asked for the models; a change may not.
      if (endpoint.method !== "GET" || endpoint.audited === true) await loadModels();
      const response = await run().catch(async (error) => {
        if (!(error instanceof ModelsNotLoaded)) throw error;
        await loadModels();
        return run();
      });
      return readAnswer(response);
    };
    const { location, schema } = stores;
    const database = schema === null ? null : `${location}, schema ${schema}`;
    try {
      return await work({ url: null, database, call, deps, loadModels });
    } finally {
      await close();
    }
  });
}

/**
 * Returns the configured URL of the console for browsers, otherwise that on this machine.
 * @throws GatewayError `conflict` if there is none.
 */
function consoleUrlOf(config: Config): string {
  const { console, server } = config;
  if (!console.enabled) rejectWithoutConsole();
  if (console.url === undefined && server.port === 0)
    fail(
      "conflict",
      "The gateway has no fixed port (server.port: 0). Set console.url, or name the running gateway with --url.",
    );
  return `${baseOf(console.url ?? localUrl(config))}/console`;
}
