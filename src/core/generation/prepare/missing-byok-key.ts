import type { Failure } from "../../../base/failures/errors.ts";

/** Returns the failure of a request that only BYOK keys may serve, and none does. `id` is a model's or a tier's. */
export function missingByokKey(id: string, level: "account" | "team" | "request"): Failure {
  const quoted = JSON.stringify(id);
  const remedy = `store a key for a provider of ${quoted} (GET /api/gateway/models/${id}/endpoints lists them), or choose another model`;
  if (level !== "request") {
    return {
      code: "model_not_allowed",
      message: `This ${level} uses only BYOK keys, but none of them serves ${quoted}: ${remedy}.`,
      metadata: { model: id },
    };
  }
  return {
    code: "invalid_request",
    message: `provider.own_keys_only leaves no provider: the account has no BYOK key that serves ${quoted}. Omit it, ${remedy}.`,
    metadata: { field: "provider.own_keys_only", model: id },
  };
}
