import { readFileSync } from "node:fs";
import { OpenRouter } from "@openrouter/sdk";

/* Sends every case with the library, which validates all answers, and prints what it read: one line of JSON for each case. */

const { url, key, cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const client = new OpenRouter({ serverURL: `${url}/api/v1`, apiKey: key, retryConfig: { strategy: "none" } });

/** The id of the last chat completion, whose generation is asked for. */
let lastId = "";

async function chat(chatRequest, stream) {
  const answer = await client.chat.send({ chatRequest: { ...chatRequest, stream } });
  if (stream) return joinChat(answer);
  lastId = answer.id;
  const [{ message, finishReason }] = answer.choices;
  const calls = (message.toolCalls ?? []).map((call) => [call.function.name, call.function.arguments]);
  return { text: message.content ?? "", calls, finish: finishReason };
}

async function joinChat(chunks) {
  const read = { text: "", calls: [], finish: null };
  for await (const { choices } of chunks) {
    for (const { delta, finishReason } of choices) {
      read.text += delta.content ?? "";
      read.finish = finishReason ?? read.finish;
      for (const { index, function: piece } of delta.toolCalls ?? []) {
        read.calls[index] ??= ["", ""];
        read.calls[index][0] += piece?.name ?? "";
        read.calls[index][1] += piece?.arguments ?? "";
      }
    }
  }
  return read;
}

async function responses(responsesRequest, stream) {
  let answer = await client.responses.send({ responsesRequest: { ...responsesRequest, stream } });
  if (stream) for await (const event of answer) answer = event.response;
  const parts = answer.output.flatMap((item) => (item.type === "message" ? item.content : []));
  const calls = answer.output.filter(({ type }) => type === "function_call");
  return {
    text: parts.map(({ text = "" }) => text).join(""),
    calls: calls.map((call) => [call.name, call.arguments]),
    finish: answer.status,
  };
}

async function listModels() {
  let ids = 0;
  for await (const { result } of await client.models.list()) ids += result.data.length;
  return { ids };
}

const MODEL = { author: "openai", slug: "gpt-5.1" };
const READ = {
  count: async () => ({ ids: (await client.models.count()).data.count }),
  model: async () => ({ id: (await client.models.get(MODEL)).data.id }),
  endpoints: async () => ({ id: (await client.endpoints.list(MODEL)).data.id }),
  providers: async () => ({ isList: Array.isArray((await client.providers.list()).data) }),
  key: async () => ({ limit: (await client.apiKeys.getCurrentKeyMetadata()).data.limit }),
  credits: async () => ({ used: (await client.credits.getCredits()).data.totalUsage }),
  generation: async () => ({
    isLast: (await client.generations.getGeneration({ id: lastId })).data.id === lastId,
  }),
};

async function send({ api, body, stream }) {
  if (api === "chat") return chat(body, stream);
  if (api === "responses") return responses(body, stream);
  if (api === "models") return listModels();
  if (api !== "embeddings") return READ[api]();
  const { data } = await client.embeddings.generate({ requestBody: body });
  return { lengths: data.map(({ embedding }) => embedding.length) };
}

for (const one of cases) {
  let result;
  try {
    result = await send(one);
  } catch (error) {
    const isAnswer = typeof error.statusCode === "number" && error.statusCode >= 400;
    result = isAnswer
      ? { status: error.statusCode }
      : { problem: error.pretty?.() ?? String(error.stack ?? error) };
  }
  console.log(JSON.stringify({ name: one.name, result }));
}
