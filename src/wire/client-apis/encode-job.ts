import { parseChatRequest } from "./chat-request.ts";
import type { ClientRequest } from "./hub/client-request.ts";
import { parseMessagesRequest } from "./messages-request.ts";
import type { EncodedJob, EncodeJob } from "./request/inference-request.ts";
import { parseResponsesRequest } from "./responses-request.ts";

const PARSERS: Readonly<
  Record<EncodeJob["api"], (bytes: Buffer, rename: (id: string) => string) => ClientRequest>
> = {
  "chat.completions": parseChatRequest,
  responses: parseResponsesRequest,
  messages: parseMessagesRequest,
};

/**
 * Chooses the format and encodes a request from plain data, as `RequestEncoding.plan` does in the main thread.
 * `hashUser` returns the hash that the vendor gets in place of the client's user.
 * @throws GatewayError as `RequestEncoding.encode`.
 */
export function encodeJob(job: EncodeJob, hashUser: (user: string) => string): EncodedJob {
  const { body, turns } = job;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const request = PARSERS[job.api](bytes, (id) => id);
  const recallTurn = (name: string) => turns.get(name) ?? null;
  const hasTurns = turns.size > 0;
  const targets = job.targets.map((target) => ({ ...target, recallTurn, hasTurns, hashUser }));
  const { answers, ...encoded } = request.encoding.plan(targets).encode();
  return { encoded, answering: answers.describe(job.readsThroughHub) };
}
