import type { ModelTarget } from "../canonical/model/format.ts";
import type { SchemaLowerer } from "../json-schema/lower-schema.ts";
import type { ModelFamily } from "./model-family.ts";

/** The state that the encoders of one request share. */
export interface BedrockEncoding {
  readonly target: ModelTarget;
  readonly family: ModelFamily;
  /** Warns the client of something that the target cannot express. */
  readonly warn: (field: string, message: string) => void;
  readonly schemas: SchemaLowerer;
}
