import { z } from "zod";
import { toDollars } from "../../../base/numbers/money.ts";
import { formatTime } from "../../../base/time/time.ts";
import type { RegisteredGateway } from "../../../core/gateways/gateway-registry.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";

const GatewayView = z
  .object({
    id: z.string().describe("Id of the gateway, `gateway_…`. It belongs to its data directory."),
    state: z
      .enum(["live", "gone"])
      .describe("`gone`: not seen for 30 seconds. The gateway may be cut from the database, paused or dead."),
    host: z.string().describe("Name of its machine."),
    version: z.string().describe("Version of the program."),
    data_dir: z.string().describe("Path of its data directory, which has its journal."),
    epoch: z.number().int().describe("Increases with each start and each takeover."),
    leased: z.number().describe("US dollars of balances that it has leased and not yet saved as spent."),
    config: z
      .object({
        file_digest: z
          .string()
          .describe(
            "Digest of its configuration file and variables. Gateways with the same ones have the same.",
          ),
        revision: z.int().describe("Revision of the stored configuration in force; 0 for none."),
        problem: z.string().nullable().describe("Why the latest revision is not in force; `null` if it is."),
      })
      .nullable()
      .describe(
        "What it reports of its configuration. `null` for a version that does not read the stored one.",
      ),
    started_at: z.iso.datetime(),
    seen_at: z.iso.datetime().describe("Time at which it was last seen, by the database's clock."),
  })
  .meta({
    id: "Gateway",
    description:
      "A gateway that shares the database. Gateways that stopped gracefully are not listed. A gateway that is `gone` keeps its leases until it comes back, another gateway takes over its journal, or `gateway leases release` releases them.",
  });

/** `GET /api/admin/gateways`: the gateways that share the database. */
export const listGateways = defineEndpoint({
  method: "GET",
  path: "/api/admin/gateways",
  tag: "Gateways",
  summary: "List the gateways that share the database",
  access: OPERATOR,
  response: z.object({ data: z.array(GatewayView) }),
  async handle({ deps }) {
    return { data: (await deps.resources.gateways.list()).map(presentGateway) };
  },
});

/** Returns a gateway as the API and the commands show it. */
function presentGateway(gateway: RegisteredGateway) {
  return {
    id: gateway.id,
    state: gateway.isLive ? ("live" as const) : ("gone" as const),
    host: gateway.host,
    version: gateway.version,
    data_dir: gateway.dataDir,
    epoch: gateway.epoch,
    leased: toDollars(gateway.leased),
    config: presentConfig(gateway.config),
    started_at: formatTime(gateway.startedAt),
    seen_at: formatTime(gateway.seenAt),
  };
}

function presentConfig(config: RegisteredGateway["config"]) {
  if (config === null) return null;
  return { file_digest: config.fileDigest, revision: config.revision, problem: config.problem };
}
