import { CHAT_COMPLETIONS } from "./chat-request.ts";
import type { ClientApiDeclaration } from "./client-api.ts";
import { COMPLETIONS } from "./completions-request.ts";
import { EMBEDDINGS } from "./embeddings-request.ts";
import { FIM } from "./fim-request.ts";
import { IMAGES, MODERATIONS, RERANK, SPEECH, TRANSCRIPTIONS } from "./forwarded-requests.ts";
import { MESSAGES } from "./messages-request.ts";
import type { ClientApi } from "./request/inference-request.ts";
import { RESPONSES } from "./responses-request.ts";

/** The client APIs. */
export const CLIENT_APIS: Readonly<Record<ClientApi, ClientApiDeclaration>> = {
  "chat.completions": CHAT_COMPLETIONS,
  responses: RESPONSES,
  messages: MESSAGES,
  completions: COMPLETIONS,
  fim: FIM,
  embeddings: EMBEDDINGS,
  moderations: MODERATIONS,
  rerank: RERANK,
  images: IMAGES,
  speech: SPEECH,
  transcriptions: TRANSCRIPTIONS,
};

/** Returns the path of an API's first operation, without a prefix. */
export function pathOf(api: ClientApi): string {
  return CLIENT_APIS[api].operations[0].path;
}
