import type { z } from "zod";
import type { Stored } from "../records/records.ts";
import type { CLIENT_APIS_WITH_TIERS, pickSchema, tierDataSchema, tierSchema } from "./tier-schema.ts";

/** A client API that accepts tiers. */
export type TierApi = (typeof CLIENT_APIS_WITH_TIERS)[number];

/** What a tier chooses in one case: models, and parameter overrides. */
export interface TierPick extends Stored<z.infer<typeof pickSchema>> {}

/** A model id that stands for a choice of models: an element of `catalog/tiers.json`. */
export interface TierRecord extends Stored<z.infer<typeof tierSchema>> {}

/** How a tier chooses its pick. */
export type TierRule = TierRecord["rule"];

/** The content of `catalog/tiers.json`. */
export interface TierData extends Stored<z.infer<typeof tierDataSchema>> {}
