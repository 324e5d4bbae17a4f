import { readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

/* Sends every case with the libraries, and prints what they read: one line of JSON for each case. */

const { url, key, cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });

const readChat = ({ choices: [choice] }) => ({
  text: choice.message.content ?? "",
  calls: (choice.message.tool_calls ?? []).map((call) => [call.function.name, call.function.arguments]),
  finish: choice.finish_reason,
});

const readResponse = ({ output, output_text, status }) => ({
  text: output_text,
  calls: output.filter(({ type }) => type === "function_call").map((call) => [call.name, call.arguments]),
  finish: status,
});

const readMessage = ({ content, stop_reason }) => ({
  text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
  calls: content
    .filter(({ type }) => type === "tool_use")
    .map((block) => [block.name, JSON.stringify(block.input)]),
  finish: stop_reason,
});

async function listModels(pages) {
  const ids = [];
  for await (const { id } of pages) ids.push(id);
  return { ids: ids.length };
}

const SEND = {
  chat: async (body, stream) =>
    readChat(
      stream
        ? await openai.chat.completions.stream(body).finalChatCompletion()
        : await openai.chat.completions.create(body),
    ),
  responses: async (body, stream) =>
    readResponse(
      stream ? await openai.responses.stream(body).finalResponse() : await openai.responses.create(body),
    ),
  messages: async (body, stream) =>
    readMessage(
      stream ? await anthropic.messages.stream(body).finalMessage() : await anthropic.messages.create(body),
    ),
  embeddings: async (body) => {
    const { data } = await openai.embeddings.create(body);
    return { lengths: data.map(({ embedding }) => embedding.length) };
  },
  models: () => listModels(openai.models.list()),
};

for (const { name, api, body, stream } of cases) {
  let result;
  try {
    result = await SEND[api](body, stream);
  } catch (error) {
    result =
      typeof error.status === "number" ? { status: error.status } : { problem: String(error.stack ?? error) };
  }
  console.log(JSON.stringify({ name, result }));
}
