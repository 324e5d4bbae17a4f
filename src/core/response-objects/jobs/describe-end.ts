import { type Failure, statusOf } from "../../../base/failures/errors.ts";
import type { Fields } from "../../../base/json/fields.ts";
import { encodeFailure } from "../../../wire/openai-responses/errors.ts";
import { encodeEvent } from "../../../wire/openai-responses/stream-events.ts";
import type { ResponseStatus } from "../records/response-object.ts";

/** The end of a response as it is stored, and as its last event. */
export interface DescribedEnd {
  readonly status: ResponseStatus;
  readonly output: readonly string[];
  /** JSON. */
  readonly response: string;
  /** Its last event, or events, bytes as Latin-1. */
  readonly events: string;
}

/** What is known of a response that ends without an end of its provider. */
export interface BrokenResponse {
  /** The response as it began. */
  readonly begun: Fields;
  /** The items that were complete, as JSON. */
  readonly output: readonly string[];
  /** The number of its next event. */
  readonly sequence: number;
}

/** Describes the end of a response that failed or was cancelled. */
export function describeEnd(
  { begun, output, sequence }: BrokenResponse,
  reason: Failure | "cancelled",
): DescribedEnd {
  const isCancelled = reason === "cancelled";
  const status = isCancelled ? "cancelled" : "failed";
  const error = isCancelled ? null : encodeError(reason);
  const response: Fields = { ...begun, status, error, usage: null };
  const items = output.map((item) => JSON.parse(item) as unknown);
  // OpenAI's API has no event for a cancelled response. Clients stop at this one.
  const type = isCancelled ? "response.incomplete" : "response.failed";
  const event = { type, sequence_number: sequence, response: { ...response, output: items } };
  return { status, output, response: JSON.stringify(response), events: encodeEvent(event) };
}

function encodeError(failure: Failure): Fields {
  const { message, code: type, metadata } = failure;
  return encodeFailure({
    message,
    type,
    code: statusOf(failure),
    ...(metadata === undefined ? {} : { metadata }),
  });
}
