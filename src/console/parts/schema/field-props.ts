import type { ComponentType } from "preact";
import type { ConfigSecret } from "../../api/schema.ts";
import type { Schema } from "./schema.ts";

/** What the fields of a form have in common. */
export interface FieldContext {
  /** Returns what is wrong with the value at a path; null if nothing is. */
  readonly errorOf: (path: readonly string[]) => string | null;
  /** The stored secrets, which values refer to. */
  readonly secrets: readonly ConfigSecret[];
  /** Draws the fields of members and items. */
  readonly Field: ComponentType<SchemaFieldProps>;
}

/** What a field of a form that is generated from a schema needs. */
export interface SchemaFieldProps {
  readonly schema: Schema;
  /** The path in the configuration, with the positions of items, as the API names fields. */
  readonly path: readonly string[];
  readonly label: string;
  /** The value; undefined if it is not set. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly form: FieldContext;
  /** Whether the label is only for assistive technology, because it is shown elsewhere with the description. */
  readonly hidesLabel?: boolean;
}
