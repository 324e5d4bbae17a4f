import { z } from "zod";
import type { ClientApi } from "../../wire/client-apis/request/inference-request.ts";
import { ImagesRequest, ModerationsRequest, RerankRequest, SpeechRequest } from "./forwarded-schemas.ts";
import {
  ChatRequest,
  CompletionRequest,
  EmbeddingsRequest,
  EXAMPLE_MODEL,
  FimRequest,
  HELLO,
  MessagesRequest,
  ResponsesRequest,
} from "./inference-schemas.ts";

/** The client APIs with JSON bodies. */
type ExplainedApi = Exclude<ClientApi, "transcriptions">;

const APIS: Readonly<Record<ExplainedApi, z.ZodType>> = {
  "chat.completions": ChatRequest,
  responses: ResponsesRequest,
  messages: MessagesRequest,
  completions: CompletionRequest,
  fim: FimRequest,
  embeddings: EmbeddingsRequest,
  moderations: ModerationsRequest,
  rerank: RerankRequest,
  images: ImagesRequest,
  speech: SpeechRequest,
};

/** The query of `POST route/explain`. */
export const ExplainQuery = z.object({
  api: z
    .enum(Object.keys(APIS) as [ExplainedApi, ...ExplainedApi[]])
    .default("chat.completions")
    .describe("Client API of the request in the body."),
});

/** The body of `POST route/explain`: any inference request. */
export const ExplainBody = z.union(Object.values(APIS) as [z.ZodType, z.ZodType, ...z.ZodType[]]).meta({
  description: "A request of the client API.",
  examples: [{ model: EXAMPLE_MODEL, messages: HELLO }],
});
