import type { Fields } from "../../src/base/json/fields.ts";
import { parseChatRequest } from "../../src/wire/client-apis/chat-request.ts";
import type { ClientRequest } from "../../src/wire/client-apis/hub/client-request.ts";
import { parseMessagesRequest } from "../../src/wire/client-apis/messages-request.ts";
import { parseResponsesRequest } from "../../src/wire/client-apis/responses-request.ts";
import type { Client } from "./formats.ts";

type Rename = (id: string) => string;

const PARSERS: Readonly<Record<Client, (bytes: Buffer, rename: Rename) => ClientRequest>> = {
  chat: parseChatRequest,
  responses: parseResponsesRequest,
  messages: parseMessagesRequest,
};

/** Parses a request of a client API. */
export function openRequest(client: Client, body: Fields): ClientRequest {
  return openRequestText(client, JSON.stringify(body));
}

/** Parses a request of a client API from its JSON. */
export function openRequestText(client: Client, json: string): ClientRequest {
  return PARSERS[client](Buffer.from(json), (id) => id);
}
