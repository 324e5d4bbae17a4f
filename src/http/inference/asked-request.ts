import type { ClientApi, InferenceRequest } from "../../wire/client-apis/request/inference-request.ts";
import type { AskedRequest } from "../context/context.ts";

/** Larger bodies are not parsed once more to find the model of a request that could not be parsed. Bytes. */
const MAX_READ_BYTES = 64 * 1024;

/** The members of a body that a rejection has. */
interface NamedModel {
  readonly model?: unknown;
  readonly provider?: { readonly zdr?: unknown } | null;
}

/** Returns what a rejected request asked for. `request` is null if it could not be parsed; then its body may still name a model. */
export function describeAsked(
  api: ClientApi,
  body: Buffer | null,
  request: Pick<InferenceRequest, "model" | "preferences"> | null,
): AskedRequest {
  if (request !== null)
    return { api, model: request.model, zeroRetention: request.preferences.zeroRetention };
  const named = readNamed(body);
  return {
    api,
    model: typeof named.model === "string" ? named.model : null,
    zeroRetention: named.provider?.zdr === true,
  };
}

function readNamed(body: Buffer | null): NamedModel {
  if (body === null || body.length > MAX_READ_BYTES) return {};
  try {
    return (JSON.parse(body.toString()) as NamedModel | null) ?? {};
  } catch {
    return {};
  }
}
