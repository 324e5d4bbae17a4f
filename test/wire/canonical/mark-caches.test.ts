import { describe, expect, test } from "bun:test";
import { markCaches } from "../../../src/wire/canonical/fit/mark-caches.ts";
import type { ConversationRequest } from "../../../src/wire/canonical/model/request.ts";
import { FORMAT_TRAITS } from "../../../src/wire/formats/traits.ts";
import { openRequest } from "../../fidelity/open-request.ts";
import { makeTarget } from "../../fidelity/targets.ts";

const BOTH = { shared: true, turns: true };
const TOOLS = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
const TURNS = [
  { role: "user", content: "Look." },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: "a", content: "A wall." },
];

/** Sends a chat to a model of Bedrock with marks of the gateway, and returns the body. */
function toBedrock(name: string, messages: readonly unknown[]) {
  const target = makeTarget("bedrock-converse");
  const provider = { ...target.provider, model: { ...target.provider.model, name } };
  const request = openRequest("chat", { model: "acme/model", messages, tools: TOOLS });
  return JSON.parse(request.encoding.encode({ ...target, provider, cacheMarking: BOTH }).body.toString());
}

const POINT = { cachePoint: { type: "default" } };

describe("the gateway's marks in a request to Bedrock", () => {
  const system = { role: "system", content: "Be brief." };

  test.each(["anthropic.claude-target-v1:0", "amazon.nova-pro-v1:0"])(
    "are cache points behind the instructions and the last result, for %s",
    (name) => {
      const { system: instructions, messages, toolConfig } = toBedrock(name, [system, ...TURNS]);
      expect(instructions).toEqual([{ text: "Be brief." }, POINT]);
      expect(messages.at(-1).content.at(-1)).toEqual(POINT);
      expect(JSON.stringify(messages.slice(0, -1))).not.toContain("cachePoint");
      expect(JSON.stringify(toolConfig)).not.toContain("cachePoint");
    },
  );

  test("are behind the tools of a Claude without instructions, and not behind those of Nova, which takes none there", () => {
    const claude = toBedrock("anthropic.claude-target-v1:0", TURNS);
    expect(claude.toolConfig.tools.at(-1)).toEqual(POINT);
    expect(JSON.stringify(toBedrock("amazon.nova-pro-v1:0", TURNS).toolConfig)).not.toContain("cachePoint");
  });
});

test("a format without marks gets none", () => {
  const request = { messages: [], tools: [] } as unknown as ConversationRequest;
  expect(markCaches(request, FORMAT_TRAITS.gemini, BOTH)).toBe(request);
});
