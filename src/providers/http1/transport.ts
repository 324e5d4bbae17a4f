export { createFetchTransport as createHttp1Transport } from "../fetch/transport.ts";
