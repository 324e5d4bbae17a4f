import { listMissing } from "../required-fields.ts";
import { encodeEvent } from "../stream-events.ts";

/** The response to a request for which no model is called. */
interface WarmUp {
  readonly id: string;
  /** The model as the client named it. */
  readonly model: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
}

const NO_TOKENS = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};

/** Returns the events of a response without output, bytes as Latin-1. */
export function answerWarmUp({ id, model, createdAt }: WarmUp): string {
  const begun = {
    id,
    object: "response",
    created_at: createdAt,
    status: "in_progress",
    model,
    output: [],
    store: false,
    ...listMissing({}),
  };
  const ended = { ...begun, status: "completed", completed_at: createdAt, usage: NO_TOKENS };
  return [
    { type: "response.created", sequence_number: 0, response: begun },
    { type: "response.in_progress", sequence_number: 1, response: begun },
    { type: "response.completed", sequence_number: 2, response: ended },
  ]
    .map(encodeEvent)
    .join("");
}
