import { call } from "../../api/client.ts";
import type { ProviderName } from "./platform-rows.ts";

/** Loads all providers of the catalog with the number of models that each serves here. */
export async function loadProviders(signal: AbortSignal): Promise<readonly ProviderName[]> {
  return (await call("GET /api/gateway/providers", { query: { all: "true" }, signal })).data;
}
