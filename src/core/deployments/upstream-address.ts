import type { Bytes } from "../../base/text/composed-bytes.ts";
import type { InferenceAction } from "../../wire/client-apis/request/inference-request.ts";
import { isConversationFormat, type ProviderFormat } from "../../wire/conversation/traits/format-name.ts";

/** An action for which an upstream is called. */
export type UpstreamAction = InferenceAction | "count-tokens";

/** Returns the action that is called at a provider. Text completions are translated to chats in every format except their own. */
export function upstreamActionOf(action: InferenceAction, format: ProviderFormat): UpstreamAction {
  return action === "completions" && isConversationFormat(format) ? "chat" : action;
}

/** The properties of a request on which its URL depends. */
export interface UpstreamCall {
  readonly format: ProviderFormat;
  readonly action: UpstreamAction;
  /** The provider's name of the model, from the catalog and never from a request. */
  readonly model: string;
  readonly stream: boolean;
}

/** A request without credentials. */
export interface UnsignedRequest {
  readonly url: URL;
  readonly body: Bytes;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The key; null if the host requires none. */
  readonly secret: string | null;
}

/** The URLs of a provider, and the authentication of requests to it. */
export interface UpstreamAddress {
  /** Returns the URL of a call; null if the provider has no endpoint for it. */
  urlFor(call: UpstreamCall): URL | null;
  /**
   * Returns the headers of every request in a format, such as `anthropic-version`. Headers that the operator configures take precedence.
   */
  headersFor(format: ProviderFormat): Readonly<Record<string, string>>;
  /**
   * Returns the headers that authenticate a request. Returns a promise only if an access token must be fetched. The promise rejects with an
   * `AuthorizeError`.
   */
  authorize(
    request: UnsignedRequest,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
}

/** The error of an access token that could not be fetched. `message` is for the log and contains no secret. */
export class AuthorizeError extends Error {
  /** `refused`: the token server rejected the key. `unavailable`: it failed or could not be reached. */
  readonly kind: "refused" | "unavailable";

  constructor(kind: "refused" | "unavailable", message: string) {
    super(message);
    this.name = "AuthorizeError";
    this.kind = kind;
  }
}
