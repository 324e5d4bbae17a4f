import { expect, test } from "bun:test";
import { flattenTools } from "../../../src/wire/canonical/fit/flatten-tools.ts";
import { EMPTY_REQUEST, type Tool, type ToolChoice } from "../../../src/wire/canonical/model/request.ts";
import { FORMAT_TRAITS } from "../../../src/wire/formats/traits.ts";

const fn = (name: string, namespace?: string): Tool => ({
  kind: "function",
  name,
  description: null,
  parameters: null,
  strict: null,
  ...(namespace === undefined ? {} : { namespace }),
});
const TOOLS = [fn("plain"), fn("with.dot"), fn("find", "crm"), fn("find", "shop")];

test.each<[ToolChoice, unknown]>([
  [
    { kind: "tool", name: "plain" },
    { kind: "tool", name: "plain" },
  ],
  [
    { kind: "tool", name: "with.dot" },
    { kind: "tool", name: expect.stringMatching(/^with_dot_[0-9a-f]{8}$/) },
  ],
  // The first of several tools with one name.
  [
    { kind: "tool", name: "find" },
    { kind: "tool", name: "crm__find" },
  ],
  [
    { kind: "allowed", names: ["plain", "with.dot", "find"], required: true },
    {
      kind: "allowed",
      names: ["plain", expect.stringMatching(/^with_dot_[0-9a-f]{8}$/), "crm__find"],
      required: true,
    },
  ],
  [{ kind: "required" }, { kind: "required" }],
])("a choice of tools names them as the target gets them: %j", (toolChoice, expected) => {
  const request = { ...EMPTY_REQUEST, messages: [], tools: TOOLS, toolChoice };
  const target = { format: FORMAT_TRAITS["anthropic-messages"], takesCustomTools: false } as const;
  const { request: flat, renamed } = flattenTools(request, target);
  expect(flat.toolChoice).toEqual(expected as ToolChoice);
  const names = flat.tools.map((tool) => (tool.kind === "native" ? "" : tool.name));
  expect(names).toEqual(["plain", expect.stringMatching(/^with_dot_/), "crm__find", "shop__find"]);
  expect([...renamed.values()].map(({ name }) => name)).toEqual(["with.dot", "find", "find"]);
});

test("a choice of custom tools names them as the target gets them, which takes free text", () => {
  const custom: Tool = {
    kind: "custom",
    name: "patch",
    description: null,
    inputFormat: null,
    namespace: "code",
  };
  const toolChoice: ToolChoice = { kind: "tool", name: "patch", customs: ["patch"] };
  const request = { ...EMPTY_REQUEST, messages: [], tools: [custom], toolChoice };
  const flattenFor = (takesCustomTools: boolean) =>
    flattenTools(request, { format: FORMAT_TRAITS["openai-chat"], takesCustomTools }).request.toolChoice;
  expect(flattenFor(true)).toEqual({ kind: "tool", name: "code__patch", customs: ["code__patch"] });
  expect(flattenFor(false)).toEqual({ kind: "tool", name: "code__patch" });
});
