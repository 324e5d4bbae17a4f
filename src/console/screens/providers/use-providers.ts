import type { ApiError } from "../../api/client.ts";
import { call } from "../../api/client.ts";
import type { ConfigProvider } from "../../api/schema.ts";
import { type Config, useConfig } from "../../parts/config/use-config.ts";
import { forgetCatalog } from "../../state/catalog/load-models.ts";
import { type Loaded, useLoad } from "../../state/load.ts";
import { forgetOptions, loadOptions } from "../../state/names.ts";
import type { ProviderLists, ProviderRow } from "./provider-rows.ts";

/** The providers and the configuration. */
export interface Providers {
  readonly config: Config;
  readonly lists: Loaded<ProviderLists>;
  readonly error: ApiError | null;
  /** Loads everything again, after a change. */
  reload(): void;
}

/** What the parts of a provider's page get. */
export interface ProviderPart {
  readonly row: ProviderRow;
  /** What the catalog says; null for a host that is disabled. */
  readonly setup: ConfigProvider | null;
  readonly providers: Providers;
}

/** Loads the providers with their health, and the configuration. */
export function useProviders(): Providers {
  const config = useConfig();
  const lists = useLoad("providers of the configuration", loadLists);
  return {
    config,
    lists,
    error: config.error ?? lists.error,
    reload() {
      forgetServed();
      config.reload();
      lists.reload();
    },
  };
}

async function loadLists(signal: AbortSignal): Promise<ProviderLists> {
  const [setups, health] = await Promise.all([
    call("GET /api/admin/config/providers", { signal }),
    call("GET /api/admin/health", { signal }),
  ]);
  return { setups: setups.data, health: health.data, hostFormats: setups.host_formats };
}

/** Makes other screens load again what a change of providers changes. */
function forgetServed(): void {
  forgetCatalog();
  for (const list of ["models", "providers"] as const) {
    forgetOptions(list);
    loadOptions(list);
  }
}
