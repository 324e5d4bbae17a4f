import type { ConfiguredOutput } from "../config/config-schema.ts";
import type { SourcePath } from "./import-report.ts";
import type { KnownProvider } from "./provider-names.ts";

/** Prices as the configuration has them: decimal strings in US dollars by name. */
export interface ImportedPrices {
  readonly prices: Readonly<Record<string, string>>;
  readonly priceTiers: readonly Readonly<Record<string, string | number>>[];
}

/** Rate limits as `limits.models` has them. */
export interface ImportedLimits {
  readonly requests_per_minute?: number;
  readonly tokens_per_minute?: number;
  readonly concurrent?: number;
}

/** A model at a provider, as another gateway's configuration describes it. Texts may be references: `${NAME}`. */
export interface ImportedDeployment {
  readonly at: SourcePath;
  readonly provider: KnownProvider;
  /** The name of the provider in the source, for hosts without an address. */
  readonly providerName: string;
  /** The provider's name of the model. */
  readonly upstream: string;
  /** The provider's usual name of the model, if `upstream` is a name of the operator's own. */
  readonly similarTo?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** Parts of the base URL: region, project, location, resource, api_version. */
  readonly parts?: Readonly<Record<string, string>>;
  readonly prices?: ImportedPrices | undefined;
  readonly limits?: ImportedLimits;
  readonly output?: ConfiguredOutput;
  /** Fields of a model that the catalog does not have: its sizes and inputs. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** A target of a route, before models have ids. */
export interface RouteTarget {
  readonly deployment: ImportedDeployment;
  /** 0: only if the others fail. */
  readonly weight: number;
}
