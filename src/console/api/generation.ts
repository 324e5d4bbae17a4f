import type { Schemas } from "./schema.ts";

/** A generation in a list. */
export type GenerationLine = Schemas["GenerationLine"];
/** A generation with its caller, attempts and ledger entries. */
export type GenerationDetails = Schemas["GenerationDetails"];
