import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  itemsOf,
  type OpenSite,
  startOpenSite,
  TARGETS,
  type Target,
  TOOL,
  textOf,
} from "../../support/open-responses/open-site.ts";
import { findFaults } from "../../support/open-responses/shapes.ts";
import type { Json } from "../../support/open-responses/stream-rules.ts";
import { SPOKEN } from "../../support/vendors/scripts/behaviors.ts";

let site: OpenSite;
beforeAll(async () => {
  site = await startOpenSite();
});
afterAll(() => site.stop());

const OTHER = { ...TOOL, name: "other" };
const question = { type: "message", role: "user", content: "Find it." };
const named = (name: string) => ({ type: "function", name });

describe.each(TARGETS)("the tools of a request to $name", (target: Target) => {
  beforeEach(() => void site.behave(target, "agent"));
  const create = (fields: object) =>
    site.create({ model: target.model, input: [question], tools: [TOOL, OTHER], ...fields });
  const calledBy = (response: Json) => itemsOf(response, "function_call").map((item) => item["name"]);
  const resultOf = (call: Json, output: unknown) => ({
    type: "function_call_output",
    call_id: call["call_id"],
    output,
  });

  test("are called as a function_call item with an id, a call_id, a name and arguments in JSON", async () => {
    const response = await create({});
    expect(findFaults("response", response)).toEqual([]);
    const [call] = itemsOf(response, "function_call") as [Json];
    expect(call).toMatchObject({ name: TOOL.name, status: "completed" });
    expect(JSON.parse(call["arguments"])).toEqual({ q: expect.any(String) });
    expect(call["id"]).not.toBe(call["call_id"]);
  });

  test("are repeated in the response with all fields of a function", async () => {
    const { tools, tool_choice } = await create({});
    expect(tools).toMatchObject([TOOL, OTHER]);
    expect(tool_choice).toBe("auto");
  });

  test.each([
    ["a text", "It is here."],
    ["a list of parts", [{ type: "input_text", text: "It is here." }]],
  ])("get their result back as %s, and the model answers it", async (_form, output) => {
    const [call] = itemsOf(await create({}), "function_call") as [Json];
    const response = await create({ input: [question, call, resultOf(call, output)] });
    expect(itemsOf(response, "message")).toHaveLength(1);
    const seen = target.format === null ? textOf(response) : JSON.stringify(site.vendor.calls.at(-1)?.body);
    expect(seen).toContain("It is here.");
    if (target.format !== null) expect(textOf(response)).toBe(SPOKEN.join(""));
  });

  test("are not called if tool_choice is none", async () => {
    const response = await create({ tool_choice: "none" });
    expect([calledBy(response), response["tool_choice"]]).toEqual([[], "none"]);
    expect(itemsOf(response, "message")).toHaveLength(1);
  });

  test("are called if tool_choice is required", async () => {
    const response = await create({ tool_choice: "required" });
    expect([calledBy(response).length, response["tool_choice"]]).toEqual([1, "required"]);
  });

  test("are demanded by their name, which the response repeats", async () => {
    const response = await create({ tool_choice: named(OTHER.name) });
    expect(response["tool_choice"]).toMatchObject(named(OTHER.name));
    if (target.format === null) expect(calledBy(response)).toEqual([OTHER.name]);
    else expect(JSON.stringify(site.vendor.calls.at(-1)?.body)).toMatch(CHOICES[target.format]);
  });

  test.each([
    ["that names its mode", { mode: "auto" }],
    ["without a mode", {}],
  ])("are restricted to those of allowed_tools by a choice %s", async (_form, mode) => {
    const choice = { type: "allowed_tools", tools: [named(OTHER.name)], ...mode };
    const response = await create({ tool_choice: choice });
    expect(calledBy(response)).toEqual([OTHER.name]);
    expect(findFaults("response", response)).toEqual([]);
    expect(response["tool_choice"]).toEqual({ ...choice, mode: "auto" });
    // All of them are repeated: the choice only narrows what may be called.
    expect(response["tools"]).toMatchObject([TOOL, OTHER]);
  });

  test("are not called if none of allowed_tools may be", async () => {
    const response = await create({
      tool_choice: { type: "allowed_tools", mode: "none", tools: [named(OTHER.name)] },
    });
    expect(calledBy(response)).toEqual([]);
  });

  test("must have the tool that tool_choice names", async () => {
    const response = await site.post({
      model: target.model,
      input: [question],
      tools: [TOOL],
      tool_choice: named("unknown"),
    });
    expect(response.status).toBe(400);
    expect(findFaults("failure", await response.json())).toEqual([]);
  });
});

/** How each format spells a choice of one tool. */
const CHOICES = {
  "openai-chat": /"tool_choice":\{"type":"function","function":\{"name":"other"\}\}/,
  "openai-responses": /"tool_choice":\{"type":"function","name":"other"\}/,
  "anthropic-messages": /"tool_choice":\{"type":"tool","name":"other"/,
  gemini: /"allowedFunctionNames":\["other"\]/,
} as const;
