/** The guardrails of the configuration in the order in which they run. Pure functions. */
import type { PinnedSetting } from "../../api/schema.ts";
import type { LoadedConfig } from "../../parts/config/config-types.ts";
import { findPinned, storedAt } from "../../parts/config/read-config.ts";
import { findVariant, type Schema, variantsOf } from "../../parts/schema/schema.ts";

export const KINDS = ["regex", "pii", "injection", "webhook"] as const;
export type GuardrailKind = (typeof KINDS)[number];

/** A guardrail as the configuration has it. Fields that are typed may have any value. */
export interface Guardrail extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly kind: GuardrailKind;
  readonly enabled?: boolean;
  readonly on?: string;
  readonly action?: string;
  readonly on_error?: string;
  readonly accounts?: readonly string[];
  readonly keys?: readonly string[];
  readonly teams?: readonly string[];
  readonly models?: readonly string[];
}

/** A guardrail in the list, and the file that sets it; null for a stored one. */
export interface GuardrailRow {
  readonly guardrail: Guardrail;
  readonly pinned: PinnedSetting | null;
}

/** Returns the stored guardrails, with references in place of secrets. */
export function listStored(data: LoadedConfig): readonly Guardrail[] {
  return (storedAt(data, ["guardrails"]) ?? []) as readonly Guardrail[];
}

/** Returns all guardrails in force, in their order: those of the file first. */
export function listRows(data: LoadedConfig): readonly GuardrailRow[] {
  const inForce = (data.settings.find(({ name }) => name === "guardrails")?.value ??
    []) as readonly Guardrail[];
  const stored = listStored(data);
  return inForce.map((guardrail) => {
    const pinned = findPinned(data, ["guardrails", guardrail.name]);
    const own = stored.find(({ name }) => name === guardrail.name);
    return { guardrail: pinned === null ? (own ?? guardrail) : guardrail, pinned };
  });
}

/** Returns the schema of the guardrails of a kind. */
export function schemaOf(schema: Schema, kind: GuardrailKind): Schema {
  const list = schema.properties?.["guardrails"]?.items as Schema;
  const variants = variantsOf(list) ?? [];
  return variants[findVariant(variants, { kind })] ?? {};
}

/** What a new guardrail of each kind begins with. */
export const NEW_GUARDRAILS: Readonly<Record<GuardrailKind, Guardrail>> = {
  regex: { name: "", kind: "regex", on: "request", action: "block" },
  pii: { name: "", kind: "pii", on: "request", action: "mask" },
  injection: { name: "", kind: "injection", action: "block" },
  webhook: { name: "", kind: "webhook", on: "request", on_error: "block" },
};

/** Returns a guardrail of another kind, with the fields that both kinds have. */
export function changeKind(from: Guardrail, kind: GuardrailKind): Guardrail {
  const { name, accounts, keys, models } = from;
  const scope = { accounts, keys, models };
  const kept = Object.fromEntries(Object.entries(scope).filter(([, list]) => list !== undefined));
  return { ...NEW_GUARDRAILS[kind], name, ...kept };
}

/** Returns the stored list with a guardrail in place of the one with a name, or at the end. */
export function putGuardrail(
  stored: readonly Guardrail[],
  before: string | null,
  guardrail: Guardrail,
): readonly Guardrail[] {
  if (before === null) return [...stored, guardrail];
  return stored.map((one) => (one.name === before ? guardrail : one));
}

/** Returns the stored list with a guardrail one place earlier. */
export function moveUp(stored: readonly Guardrail[], name: string): readonly Guardrail[] {
  const at = stored.findIndex((one) => one.name === name);
  const [moved, before] = [stored[at], stored[at - 1]];
  if (moved === undefined || before === undefined) return stored;
  return stored.map((one, i) => (i === at - 1 ? moved : i === at ? before : one));
}
