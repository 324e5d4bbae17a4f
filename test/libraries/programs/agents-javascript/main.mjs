import { readFileSync } from "node:fs";
import {
  Agent,
  OpenAIConversationsSession,
  run,
  setDefaultOpenAIClient,
  setTracingDisabled,
  tool,
} from "@openai/agents";
import OpenAI from "openai";

/* Runs every case with the Agents SDK, and prints what it read: one line of JSON for each case. */

const { url, key, cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));

/** How many items each request for a response has sent. */
let sent = [];
const countItems = (address, init) => {
  if (init?.method === "POST" && String(address).endsWith("/responses")) {
    const { input } = JSON.parse(init.body);
    sent.push(typeof input === "string" ? 1 : input.length);
  }
  return fetch(address, init);
};

const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, fetch: countItems });
setDefaultOpenAIClient(openai);
setTracingDisabled(true);

function makeAgent({ model, tools }) {
  return new Agent({
    name: "Worker",
    instructions: "Be brief.",
    model,
    modelSettings: { store: true, reasoning: { effort: "low", summary: "auto" } },
    tools: Object.entries(tools).map(([name, { parameters, result }]) =>
      tool({ name, description: name, parameters, strict: false, execute: async () => result }),
    ),
  });
}

async function ask(agent, input, isStream, options) {
  if (!isStream) return run(agent, input, options);
  const result = await run(agent, input, { ...options, stream: true });
  await result.completed;
  return result;
}

const STATES = {
  async previous_response_id(body, isStream) {
    const agent = makeAgent(body);
    const first = await ask(agent, "Hello!", isStream, {});
    const { finalOutput } = await ask(agent, body.task, isStream, {
      previousResponseId: first.lastResponseId,
    });
    return { text: finalOutput, sent };
  },
  async conversation(body, isStream) {
    const agent = makeAgent(body);
    const { id: conversationId } = await openai.conversations.create({});
    await ask(agent, "Hello!", isStream, { conversationId });
    const { finalOutput } = await ask(agent, body.task, isStream, { conversationId });
    return { text: finalOutput, sent };
  },
  async session(body, isStream) {
    const agent = makeAgent(body);
    const session = new OpenAIConversationsSession({ client: openai });
    await ask(agent, "Hello!", isStream, { session });
    const again = new OpenAIConversationsSession({
      client: openai,
      conversationId: await session.getSessionId(),
    });
    const { finalOutput } = await ask(agent, body.task, isStream, { session: again });
    const items = await again.getItems();
    return {
      text: finalOutput,
      users: items.filter(({ role }) => role === "user").length,
      results: items.filter(({ type }) => type === "function_call_result").length,
    };
  },
  async background({ model }, isStream) {
    let response = await openai.responses.create({
      model,
      input: "Hello!",
      background: true,
      stream: isStream,
    });
    if (isStream) {
      for await (const event of response) {
        response = event.response ?? response;
        // The client goes on without its stream.
        if (event.type === "response.created") break;
      }
    }
    const begun = response.status;
    while (response.status === "queued" || response.status === "in_progress")
      response = await openai.responses.retrieve(response.id);
    return { begun, text: response.output_text, finish: response.status };
  },
};

for (const { name, body, stream } of cases) {
  let result;
  sent = [];
  try {
    result = await STATES[body.state](body, stream);
  } catch (error) {
    result = { problem: String(error.stack ?? error) };
  }
  console.log(JSON.stringify({ name, result }));
}
