import { answerHello, type RecordedRequest } from "./recording-vendor.ts";

/** Answers "Hello there." in the format of the request; chat completions also as a stream. */
export function answerAnyFormat(request: RecordedRequest): Response {
  const { path } = request;
  if (path.endsWith("/messages/count_tokens")) return Response.json({ input_tokens: 7 });
  if (path.endsWith("/messages")) return Response.json(MESSAGE);
  if (path.endsWith("/responses")) return Response.json(RESPONSE);
  if (path.endsWith(":generateContent")) return Response.json(GEMINI);
  if (path.endsWith("/converse")) return Response.json(CONVERSE);
  if (path.endsWith("/v2/chat")) return Response.json(COHERE);
  return answerHello(request);
}

const TEXT = "Hello there.";

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "up",
  content: [{ type: "text", text: TEXT }],
  stop_reason: "end_turn",
  usage: { input_tokens: 3, output_tokens: 2 },
};

const RESPONSE = {
  id: "resp_1",
  object: "response",
  status: "completed",
  output: [
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: TEXT, annotations: [] }],
    },
  ],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
};

const GEMINI = {
  candidates: [{ content: { role: "model", parts: [{ text: TEXT }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
};

const CONVERSE = {
  output: { message: { role: "assistant", content: [{ text: TEXT }] } },
  stopReason: "end_turn",
  usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
};

const COHERE = {
  id: "1",
  message: { role: "assistant", content: [{ type: "text", text: TEXT }] },
  finish_reason: "COMPLETE",
  usage: { tokens: { input_tokens: 3, output_tokens: 2 } },
};
