import type { Fields } from "../../base/json/fields.ts";
import type { JsonNode } from "../../base/json/scan.ts";
import type { LeftOut } from "../../base/json/splice.ts";
import type { AnswerHead, AnswerRelay, RelayIdentity, WholeAnswer } from "../canonical/answer/relay.ts";
import type { RequestCharges } from "../conversation/charges.ts";
import type { RoutingParameters } from "../conversation/preferences.ts";

/** How a forwarded request has to be changed for the chosen provider. */
export interface ForwardingTarget {
  /** The model's name at the provider. */
  readonly model: string;
  /** The only fields that the provider accepts; null if it ignores unknown ones. */
  readonly knownFields: ReadonlySet<string> | null;
  /** Fields that the provider rejects. */
  readonly refusedFields: ReadonlySet<string>;
  /** Fields that would ask the vendor to store something, which are left out under zero data retention. */
  readonly storingFields: ReadonlySet<string>;
  /** Returns the hash that the provider gets in place of the client's user. */
  readonly hashUser: (user: string) => string;
  /** What may cost more than there are prices for; absent: nothing. */
  readonly costly?: LeftOut;
}

/** A forwarded request as it is sent to a provider. */
export interface ForwardedEncoding {
  readonly body: Buffer;
  /** Media types of body and answer, where they are not JSON. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields that were removed because the provider would reject the request. */
  readonly leftOut: readonly string[];
}

/**
 * A request that is forwarded with few changes, and how its answer is read: what all endpoints have in common whose bodies are not
 * translated between formats (docs/adr/0015-forwarded-endpoints.md).
 */
export interface ForwardedRequest extends RoutingParameters {
  readonly model: string;
  readonly stream: boolean;
  /** The number of answers that are charged for, such as images. */
  readonly answers: number;
  /** The most tokens of one answer; null if only the model limits them. */
  readonly maxTokens: number | null;
  /** Bytes of text, from which tokens are estimated and bounded. */
  readonly promptTextBytes: number;
  /** Approximate memory besides its body, in bytes. */
  readonly heldBytes: number;
  /** What may be charged besides its tokens. */
  readonly charges: RequestCharges;
  /** The scanned body, which may name conversation and end user; null if it is not JSON. */
  readonly scanned: { readonly text: string; readonly root: JsonNode } | null;
  /** The texts of a form by name; absent where the body is JSON. */
  readonly formFields?: Fields;
  /** Whether body and answer are JSON or events in UTF-8. */
  readonly isText: { readonly body: boolean; readonly answer: boolean };
  encode(target: ForwardingTarget): ForwardedEncoding;
  openRelay(head: AnswerHead, identity: RelayIdentity): AnswerRelay;
  readAnswer(body: Buffer, head: AnswerHead, identity: RelayIdentity): WholeAnswer<Buffer>;
}

/** The header of a request whose answer is a stream of events. */
export const EVENT_HEADERS = { accept: "text/event-stream" } as const;

/** The properties of a request that is JSON, has one answer, and whose answer is JSON that is not streamed. */
export const JSON_EXCHANGE = {
  stream: false,
  answers: 1,
  maxTokens: 0,
  isText: { body: true, answer: true },
  openRelay() {
    throw new Error("these answers are not streamed");
  },
} as const satisfies Partial<ForwardedRequest>;
