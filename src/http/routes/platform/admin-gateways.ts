import { z } from "zod";
import { presentGateway } from "../../../core/gateways/present-gateway.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint, NOTHING } from "../../api/endpoint.ts";

const GatewayView = z
  .object({
    id: z.string().describe("Id of the gateway, `gateway_…`. It belongs to its data directory."),
    state: z
      .enum(["live", "gone"])
      .describe("`gone`: not seen for 30 seconds. The gateway may be cut from the database, paused or dead."),
    host: z.string().describe("Name of its machine."),
    version: z.string().describe("Version of the program."),
    data_dir: z.string().describe("Path of its data directory, which has its journal."),
    epoch: z.number().int().describe("Rises with each start and each takeover."),
    leased: z.number().describe("What it has leased of balances and has not saved as spent, in US dollars."),
    started_at: z.iso.datetime(),
    seen_at: z.iso.datetime().describe("When it was seen for the last time, by the clock of the database."),
  })
  .meta({
    id: "Gateway",
    description:
      "A gateway that shares the database. One that has stopped in an orderly way is not listed. One that is `gone` keeps what it has leased until it comes back, another gateway takes its journal over, or `gateway leases release` gives it up.",
  });

/** `GET /api/admin/gateways`: the gateways that share the database. */
export const listGateways = defineEndpoint({
  method: "GET",
  path: "/api/admin/gateways",
  tag: "Gateways",
  summary: "List the gateways that share the database",
  access: OPERATOR,
  params: NOTHING,
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: z.array(GatewayView) }),
  async handle({ deps }) {
    return { data: (await deps.gateways.list()).map(presentGateway) };
  },
});
