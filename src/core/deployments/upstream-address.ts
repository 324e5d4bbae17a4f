import type { InferenceAction } from "../../wire/client-apis/inference-request.ts";
import type { FormatName } from "../../wire/conversation/format-name.ts";

/** What is asked of an upstream. */
export type UpstreamAction = InferenceAction | "count-tokens";

/** A request, as far as its address depends on it. */
export interface UpstreamCall {
  readonly format: FormatName;
  readonly action: UpstreamAction;
  /** The model's name at the provider. From the catalog, never from a request. */
  readonly model: string;
  readonly stream: boolean;
}

/** A request that is ready but for its proof. */
export interface UnsignedRequest {
  readonly url: URL;
  readonly body: Uint8Array;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The key; null where the host wants none. */
  readonly secret: string | null;
}

/** Where a provider's requests go, and how they prove who sends them. */
export interface UpstreamAddress {
  /** Null: this provider has no such endpoint, whatever the model. */
  urlFor(call: UpstreamCall): URL | null;
  /** Headers that every request in a format has, such as `anthropic-version`; an operator's win over them. */
  headersFor(format: FormatName): Readonly<Record<string, string>>;
  /**
   * Headers that prove who sends it, to be added to those it has. A promise only where a token must be fetched; it
   * rejects with an `AuthorizeError`.
   */
  authorize(
    request: UnsignedRequest,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
}

/** A token that could not be had. `message` is for the log and holds no secret. */
export class AuthorizeError extends Error {
  /** `refused`: the key is at fault. `unavailable`: who gives tokens is out of reach, or failed. */
  readonly kind: "refused" | "unavailable";

  constructor(kind: "refused" | "unavailable", message: string) {
    super(message);
    this.name = "AuthorizeError";
    this.kind = kind;
  }
}
