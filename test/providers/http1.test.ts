import { createHttp1Transport } from "../../src/providers/http1/transport.ts";
import { testTransport } from "./transport-contract.ts";

testTransport({
  name: "http1",
  create: ({ clock, ca }) => createHttp1Transport({ clock, ...(ca !== undefined && { tls: { ca } }) }),
});
