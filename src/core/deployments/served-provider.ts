import type { ProviderFormat } from "../../wire/conversation/traits/format-name.ts";
import { listEndpointFormats } from "../catalog/profile/list-formats.ts";
import type {
  FamilyProfile,
  ModelEndpoint,
  ModelRecord,
  ProviderRecord,
} from "../catalog/records/records.ts";
import type { Transport } from "./transport.ts";
import type { UpstreamAddress } from "./upstream-address.ts";

/** A credential for a provider, ready for use. Its secret is used only in requests to this provider. */
export interface ProviderKey {
  /** Identifies the key in memory, such as `openai#0`. */
  readonly label: string;
  /** Null if the host requires no key. */
  readonly secret: string | null;
  /** Its share of the conversations, relative to the other platform keys. 0: only when the others fail. */
  readonly weight: number;
  /** The id of a BYOK key; null for a platform key. */
  readonly byokId: string | null;
  /** The URLs and authentication of requests with this key. */
  readonly address: UpstreamAddress;
  /** Headers of every request with this key, in addition to those that authenticate it. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A BYOK key ready for use, or why its provider cannot be called with it. The reason contains no secret. */
export type ByokKeyReading =
  | { readonly kind: "key"; readonly key: ProviderKey }
  | { readonly kind: "rejected"; readonly reason: string };

/** A provider that can be called. */
export interface ServedProvider {
  readonly record: ProviderRecord;
  /** The parameters that families of models accept, at this provider and at others. */
  readonly families: readonly FamilyProfile[];
  /** The formats in which it is called: those of its catalog row, or those that the operator configures. */
  readonly formats: readonly ProviderFormat[];
  /** The platform keys; none if the provider can be called only with BYOK keys. */
  readonly keys: readonly ProviderKey[];
  readonly transport: Transport;
  /** Prepares a BYOK key for use. Returns the same result for the same object. Null if the provider accepts no BYOK keys. */
  readonly readByokKey: ((key: ByokSecret) => ByokKeyReading) | null;
}

/** A decrypted BYOK key. */
export interface ByokSecret {
  readonly id: string;
  readonly label: string;
  readonly secret: string;
}

/** A model endpoint at a provider. */
export interface ProviderEndpoint {
  readonly model: ModelRecord;
  readonly endpoint: ModelEndpoint;
  readonly provider: ServedProvider;
}

/** Returns the formats in which a model endpoint can be called, the preferred one first. */
export function formatsOf({ formats }: ServedProvider, endpoint: ModelEndpoint): readonly ProviderFormat[] {
  return listEndpointFormats(endpoint, formats);
}
