import type { CLIENT_APIS_WITH_TIERS, EFFORTS, VERBOSITIES } from "./tier-schema.ts";

/** A client API that tiers can be asked for over. */
export type TierApi = (typeof CLIENT_APIS_WITH_TIERS)[number];

/** What a tier picks: models, and how they are to think and speak whatever the client says of it. */
export interface TierPick {
  /** In order of preference: the first that is served here, allowed and able leads, the others are its fallbacks. */
  readonly models: readonly string[];
  /** `enabled` names no effort. Absent: as the client wishes. */
  readonly reasoning?: "enabled" | (typeof EFFORTS)[number] | undefined;
  /** Absent: as the client wishes. */
  readonly verbosity?: (typeof VERBOSITIES)[number] | undefined;
}

/** How a tier picks. */
export type TierRule =
  /** By the value of a request header, in any letter case. */
  | {
      readonly by: "header";
      readonly header: string;
      readonly cases: readonly { readonly values: readonly string[]; readonly pick: TierPick }[];
      readonly else: TierPick;
    }
  /** By the API that the client speaks. */
  | {
      readonly by: "api";
      readonly cases: Readonly<Partial<Record<TierApi, TierPick>>>;
      readonly else: TierPick;
    }
  /** By whether the account that pays has money. */
  | { readonly by: "balance"; readonly paid: TierPick; readonly else: TierPick }
  /** One of the free models for each session. */
  | {
      readonly by: "free";
      /** Patterns of ids that are left out, `*` for any characters. */
      readonly except: readonly string[];
      /** Free models that serve where no other can, in this order. */
      readonly last: readonly string[];
    };

/** A model id that stands for others, which the request decides (specification 4.5). An element of `catalog/tiers.json`. */
export interface TierRecord {
  /** `gateway-auto/…`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** `YYYY-MM-DD`, shown as `created`; absent: not known. */
  readonly released?: string | undefined;
  readonly rule: TierRule;
}

/** `catalog/tiers.json`. */
export interface TierData {
  /** The day of its last change. */
  readonly version: string;
  /** Models that take a `verbosity`, beside those whose record says so; others refuse the field. */
  readonly verbosity: readonly string[];
  readonly tiers: readonly TierRecord[];
}
