import { anthropicMessages } from "../../src/wire/anthropic-messages/codec.ts";
import { forwardMessagesRequest } from "../../src/wire/anthropic-messages/forward-request.ts";
import { readMessagesAnswer } from "../../src/wire/anthropic-messages/read-answer.ts";
import { createMessagesRelay } from "../../src/wire/anthropic-messages/relay-stream.ts";
import { scanMessagesRequest } from "../../src/wire/anthropic-messages/scan-request.ts";
import type { ClientCodec } from "../../src/wire/canonical/format.ts";
import { repairToolCalls } from "../../src/wire/conversation/repair-tool-calls.ts";
import { openChatRequest } from "../../src/wire/dialects/chat-request.ts";
import { createHubRequest, type HubRequest } from "../../src/wire/dialects/hub-request.ts";
import type { EncodedForUpstream, UpstreamTarget } from "../../src/wire/dialects/inference-request.ts";
import type { Fields } from "../../src/wire/json/fields.ts";
import { openaiChat } from "../../src/wire/openai-chat/codec.ts";
import { openaiResponses } from "../../src/wire/openai-responses/codec.ts";
import {
  canForwardResponses,
  forwardResponsesRequest,
} from "../../src/wire/openai-responses/forward-request.ts";
import { readResponsesAnswer } from "../../src/wire/openai-responses/read-answer.ts";
import { createResponsesRelay } from "../../src/wire/openai-responses/relay-stream.ts";
import { scanResponsesRequest } from "../../src/wire/openai-responses/scan-request.ts";
import { type Client, FORMAT_OF } from "./formats.ts";

export const CODECS: Readonly<Record<Client, ClientCodec>> = {
  chat: openaiChat,
  responses: openaiResponses,
  messages: anthropicMessages,
};

/** A request at the door of its client API, as it goes out to any upstream: by its own way to its own format, else through the hub. */
export function openRequest(client: Client, body: Fields): HubRequest {
  const bytes = Buffer.from(JSON.stringify(body));
  const own = OWN_WAYS[client](bytes);
  const wantsUsageChunk = (body["stream_options"] as Fields | undefined)?.["include_usage"] === true;
  const hub = createHubRequest(CODECS[client], () => CODECS[client].decodeRequest(body), {
    wantsUsageChunk,
    estimatedPromptTokens: 7,
  });
  return {
    encode: (target) =>
      (target.format === FORMAT_OF[client] ? own.encode(target) : null) ?? hub.encode(target),
    openRelay: (format, identity) => (format === FORMAT_OF[client] ? own : hub).openRelay(format, identity),
    readAnswer: (format, text, identity) =>
      (format === FORMAT_OF[client] ? own : hub).readAnswer(format, text, identity),
  };
}

/** The way of a request to an upstream of its own format; null where it has to go through the hub after all. */
type OwnWay = Omit<HubRequest, "encode"> & { encode(target: UpstreamTarget): EncodedForUpstream | null };

const OWN_WAYS: Readonly<Record<Client, (bytes: Buffer) => OwnWay>> = {
  chat: (bytes) => openChatRequest(bytes, (id) => id),
  responses(bytes) {
    const scanned = scanResponsesRequest(bytes);
    return {
      encode: ({ model, toolCalls }) =>
        canForwardResponses(scanned, model.name) && repairToolCalls(scanned.outline, toolCalls) === null
          ? forwarded(forwardResponsesRequest(scanned, model.name))
          : null,
      openRelay: (_format, identity) => createResponsesRelay(identity),
      readAnswer: (_format, body, identity) => readResponsesAnswer(body, identity),
    };
  },
  messages(bytes) {
    const scanned = scanMessagesRequest(bytes);
    return {
      encode: ({ model, toolCalls }) =>
        scanned.mayCarryReasoning || repairToolCalls(scanned.outline, toolCalls) !== null
          ? null
          : forwarded(forwardMessagesRequest(scanned, model.name)),
      openRelay: (_format, identity) => createMessagesRelay(identity, { estimatedPromptTokens: 7 }),
      readAnswer: (_format, body, identity) => readMessagesAnswer(body, identity),
    };
  },
};

function forwarded(body: Buffer): EncodedForUpstream {
  return { body, repair: null, carriesReasoning: true, warnings: [] };
}
