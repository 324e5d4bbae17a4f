import { z } from "zod";
import type { AccountChange } from "../../core/accounts/manage-accounts.ts";
import { PatternsField } from "./account-fields.ts";

const MEANINGS = {
  allowed_models: "The models it may call, `*` for any characters; null: all",
  denied_models: "Models it may not call",
  allowed_providers: "The providers it may use, by slug; null: all",
  denied_providers: "Providers it may not use",
  deny_data_collection: "Only providers known not to train on what they are sent",
  zero_retention: "Only providers known to keep nothing",
  own_keys_only: "Only its own keys at providers, never the gateway's",
} as const;

/** A policy, or the part of it that is to change. */
export const PolicyField = z
  .strictObject({
    allowed_models: PatternsField.nullable().optional().describe(MEANINGS.allowed_models),
    denied_models: PatternsField.optional().describe(MEANINGS.denied_models),
    allowed_providers: PatternsField.nullable().optional().describe(MEANINGS.allowed_providers),
    denied_providers: PatternsField.optional().describe(MEANINGS.denied_providers),
    deny_data_collection: z.boolean().optional().describe(MEANINGS.deny_data_collection),
    zero_retention: z.boolean().optional().describe(MEANINGS.zero_retention),
    own_keys_only: z.boolean().optional().describe(MEANINGS.own_keys_only),
  })
  .meta({ id: "PolicyChange", description: "A policy, or the part of it that is to change; the rest stays" });

/** A policy as it is shown. */
export const PolicyView = z
  .object({
    allowed_models: z.array(z.string()).nullable().describe(MEANINGS.allowed_models),
    denied_models: z.array(z.string()).describe(MEANINGS.denied_models),
    allowed_providers: z.array(z.string()).nullable().describe(MEANINGS.allowed_providers),
    denied_providers: z.array(z.string()).describe(MEANINGS.denied_providers),
    deny_data_collection: z.boolean().describe(MEANINGS.deny_data_collection),
    zero_retention: z.boolean().describe(MEANINGS.zero_retention),
    own_keys_only: z.boolean().describe(MEANINGS.own_keys_only),
  })
  .meta({ id: "Policy", description: "What an account may call, and under what terms" });

/** A policy's fields as the core names them. */
export function readPolicy(field: z.infer<typeof PolicyField> | undefined): AccountChange["policy"] {
  if (field === undefined) return undefined;
  return {
    allowedModels: field.allowed_models,
    deniedModels: field.denied_models,
    allowedProviders: field.allowed_providers,
    deniedProviders: field.denied_providers,
    denyDataCollection: field.deny_data_collection,
    zeroRetention: field.zero_retention,
    ownKeysOnly: field.own_keys_only,
  };
}
