import { createFetchTransport } from "../../src/providers/fetch/transport.ts";
import { testTransport } from "./transport-contract.ts";

testTransport({
  name: "fetch",
  reusesConnections: false,
  create: ({ ca }) => createFetchTransport(ca === undefined ? {} : { tls: { ca } }),
});
