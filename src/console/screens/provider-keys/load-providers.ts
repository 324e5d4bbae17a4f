import { call } from "../../api/client.ts";
import type { Provider } from "../../api/schema.ts";

/** Loads all providers of the catalog with the number of models that each serves here. */
export async function loadProviders(signal: AbortSignal): Promise<readonly Provider[]> {
  return (await call("GET /api/gateway/providers", { query: { all: "true" }, signal })).data;
}
