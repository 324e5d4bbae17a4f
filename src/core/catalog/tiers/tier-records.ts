import type { CLIENT_APIS_WITH_TIERS, EFFORTS, VERBOSITIES } from "./tier-schema.ts";

/** A client API that accepts tiers. */
export type TierApi = (typeof CLIENT_APIS_WITH_TIERS)[number];

/** The choice of a tier in one case: models, and parameter overrides. */
export interface TierPick {
  /** Model ids in order of preference. The first that is served, allowed and capable is used, the others are its fallbacks. */
  readonly models: readonly string[];
  /** `enabled` sets no effort. Absent: as the client requests. */
  readonly reasoning?: "enabled" | (typeof EFFORTS)[number] | undefined;
  /** Absent: as the client requests. */
  readonly verbosity?: (typeof VERBOSITIES)[number] | undefined;
}

/** How a tier chooses its pick. */
export type TierRule =
  /** By the value of a request header, ignoring case. */
  | {
      readonly by: "header";
      readonly header: string;
      readonly cases: readonly { readonly values: readonly string[]; readonly pick: TierPick }[];
      readonly else: TierPick;
    }
  /** By client API. */
  | {
      readonly by: "api";
      readonly cases: Readonly<Partial<Record<TierApi, TierPick>>>;
      readonly else: TierPick;
    }
  /** By whether the paying account has a positive balance. */
  | { readonly by: "balance"; readonly paid: TierPick; readonly else: TierPick }
  /** One of the free models for each session. */
  | {
      readonly by: "free";
      /** Patterns of excluded model ids. `*` matches any characters. */
      readonly except: readonly string[];
      /** Free models that are used only if no other can serve the request, in this order. */
      readonly last: readonly string[];
    };

/** A model id that stands for a choice of models: an element of `catalog/tiers.json`. */
export interface TierRecord {
  /** `gateway-auto/…`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** `YYYY-MM-DD`, presented as `created`. Absent if unknown. */
  readonly released?: string | undefined;
  readonly rule: TierRule;
}

/** The content of `catalog/tiers.json`. */
export interface TierData {
  /** The day of its last change. */
  readonly version: string;
  /** Models that accept `verbosity`, in addition to those whose record lists it. Others may reject the field. */
  readonly verbosity: readonly string[];
  readonly tiers: readonly TierRecord[];
}
