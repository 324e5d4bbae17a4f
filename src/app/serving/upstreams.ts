import type { Log } from "../../base/failures/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Transport } from "../../core/deployments/transport.ts";
import { createFetchTransport } from "../../providers/fetch/transport.ts";
import { createHttp1Transport } from "../../providers/http1/transport.ts";
import { createSandboxTransport } from "../../providers/sandbox/sandbox-transport.ts";
import type { Config } from "../config/config-schema.ts";
import type { Environment } from "../config/read-provider-keys.ts";

/** The transports to all upstreams. */
export interface Upstreams {
  /** Calls providers over the network. */
  readonly transport: Transport;
  /** Calls the built-in sandbox provider. */
  readonly sandboxTransport: Transport;
  close(): void;
}

/** The dependencies of the transports. */
interface UpstreamSources {
  readonly config: Config;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly log: Log;
  /** Replaces the network in tests. */
  readonly transport?: Transport;
}

/** Creates the transports. No connection is opened before the first call. */
export function createUpstreams(sources: UpstreamSources): Upstreams {
  const transport = sources.transport ?? createNetworkTransport(sources);
  const sandboxTransport = createSandboxTransport({ clock: sources.clock });
  return {
    transport,
    sandboxTransport,
    close() {
      transport.close();
      sandboxTransport.close();
    },
  };
}

const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

function createNetworkTransport({ config, environment, clock, log }: UpstreamSources): Transport {
  const { transport } = config.upstream;
  const hasProxy = PROXY_VARIABLES.some((name) => environment[name]);
  if (transport === "fetch" || (transport === "auto" && hasProxy)) return createFetchTransport();
  return createHttp1Transport({
    clock,
    onStrayBytes: (origin) =>
      log.warn("an upstream sends bytes after its answers; its connections are not reused for a while", {
        origin,
      }),
  });
}
