import { FORMAT_TRAITS } from "../../wire/formats/traits.ts";
import type { ProviderKey } from "./served-provider.ts";
import type { UpstreamCall } from "./upstream-address.ts";

/** Header values by lower-case name. */
type HeaderValues = Readonly<Record<string, string>>;

/** What requests to a model endpoint with one key, for one action in one format, have in common. */
export class UpstreamLine {
  readonly url: URL;
  /** The headers of requests that add none of their own, without credentials. */
  readonly headers: HeaderValues;
  private credentials: HeaderValues | null = null;
  private authorized: HeaderValues;

  constructor(
    private readonly key: ProviderKey,
    private readonly call: UpstreamCall,
    url: URL,
  ) {
    this.url = url;
    this.headers = this.headersWith(undefined);
    this.authorized = this.headers;
  }

  /** Returns whether these are the calls of an action in a format. */
  isFor({ format, action, stream }: Pick<UpstreamCall, "format" | "action" | "stream">): boolean {
    const { call } = this;
    return call.format === format && call.action === action && call.stream === stream;
  }

  /** Returns the headers of a request that adds some of its own, without credentials. What the operator has configured takes precedence. */
  headersWith(added: HeaderValues | undefined): HeaderValues {
    const { key, call } = this;
    return {
      "content-type": "application/json",
      accept: call.stream ? FORMAT_TRAITS[call.format].streamType : "application/json",
      ...added,
      ...key.address.headersFor(call.format),
      ...key.headers,
    };
  }

  /** Returns `headers` with credentials: the same object as long as the credentials are the same object. */
  authorizedBy(credentials: HeaderValues): HeaderValues {
    if (this.credentials !== credentials) {
      this.credentials = credentials;
      this.authorized = { ...this.headers, ...credentials };
    }
    return this.authorized;
  }
}
