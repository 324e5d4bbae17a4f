import { z } from "zod";
import type { AccountChange } from "../../core/accounts/manage-accounts.ts";
import { PatternsField } from "./account-fields.ts";

/** A policy, or the part of it that is to change. */
export const PolicyField = z.strictObject({
  allowed_models: PatternsField.nullable().optional(),
  denied_models: PatternsField.optional(),
  allowed_providers: PatternsField.nullable().optional(),
  denied_providers: PatternsField.optional(),
  deny_data_collection: z.boolean().optional(),
  zero_retention: z.boolean().optional(),
  own_keys_only: z.boolean().optional(),
});

/** A policy as it is shown. */
export const PolicyView = z.object({
  allowed_models: z.array(z.string()).nullable(),
  denied_models: z.array(z.string()),
  allowed_providers: z.array(z.string()).nullable(),
  denied_providers: z.array(z.string()),
  deny_data_collection: z.boolean(),
  zero_retention: z.boolean(),
  own_keys_only: z.boolean(),
});

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
