import { FORMAT_TRAITS } from "../../wire/formats/traits.ts";
import type { ProviderKey } from "./served-provider.ts";
import type { UpstreamCall } from "./upstream-address.ts";

/** Header values by lower-case name. */
type HeaderValues = Readonly<Record<string, string>>;

/** The URL and headers that requests to a model endpoint share if they have the same key, action and format. */
export class UpstreamLine {
  /** The headers of a request that adds none, without credentials. */
  readonly headers: HeaderValues;

  constructor(
    private readonly key: ProviderKey,
    private readonly call: UpstreamCall,
    readonly url: URL,
  ) {
    this.headers = this.headersWith({});
  }

  /** Returns whether this line is for an action in a format. */
  isFor({ format, action, stream }: Pick<UpstreamCall, "format" | "action" | "stream">): boolean {
    const { call } = this;
    return call.format === format && call.action === action && call.stream === stream;
  }

  /**
   * Returns the headers of a request, without credentials: those of the line and `added`. Headers that the operator configures take
   * precedence.
   */
  headersWith(added: HeaderValues): HeaderValues {
    const { key, call } = this;
    return {
      "content-type": "application/json",
      accept: call.stream ? FORMAT_TRAITS[call.format].streamType : "application/json",
      ...added,
      ...key.address.headersFor(call.format),
      ...key.headers,
    };
  }
}
