import type { SchemaBudget } from "../json-schema/lowering.ts";
import type { ModelFamily } from "./model-family.ts";

/** What all of a request's encoders share. */
export interface Encoding {
  readonly family: ModelFamily;
  /** Names something that the target cannot express. */
  readonly warn: (field: string, message: string) => void;
  readonly schemas: SchemaBudget;
}
