import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { STRICT_MODELS, type StrictVendors, startStrictVendors } from "../../clients/strict-vendors.ts";

let vendors: StrictVendors;
beforeAll(async () => {
  vendors = await startStrictVendors();
});
afterAll(() => vendors.stop());

const ARGUMENTS = '{"place":"Oslo"}';
const FUNCTION = {
  name: "get_rain",
  parameters: { type: "object", properties: { place: { type: "string" } } },
};

/** A conversation that begins with a tool call by the model, in two client APIs. */
const BODIES = {
  "/chat/completions": {
    tools: [{ type: "function", function: FUNCTION }],
    messages: [
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_1", type: "function", function: { name: FUNCTION.name, arguments: ARGUMENTS } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "None." },
    ],
  },
  "/responses": {
    tools: [{ type: "function", ...FUNCTION, strict: false }],
    input: [
      { type: "function_call", call_id: "call_1", name: FUNCTION.name, arguments: ARGUMENTS },
      { type: "function_call_output", call_id: "call_1", output: "None." },
    ],
  },
};

describe("a conversation that begins with the model's turn", () => {
  for (const format of ["anthropic-messages", "gemini"] as const) {
    test.each(Object.entries(BODIES))(
      `gets a user message prepended for a ${format} upstream, and a warning says so, when requested at %s`,
      async (path, body) => {
        vendors.clear();
        const { base, key } = vendors.gateway;
        const response = await fetch(base + path, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: STRICT_MODELS[format], ...body }),
        });
        expect(vendors.requests().map(({ rejection }) => rejection)).toEqual([null]);
        expect(response.status).toBe(200);
        expect(await response.json()).toMatchObject({
          gateway_metadata: {
            warnings: expect.arrayContaining([
              {
                field: "messages",
                message: "The conversation does not begin with the user; a first message was added.",
              },
            ]),
          },
        });
      },
    );
  }
});
