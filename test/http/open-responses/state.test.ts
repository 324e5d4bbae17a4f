import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  itemsOf,
  type OpenSite,
  startOpenSite,
  TARGETS,
  TOOL,
  textOf,
} from "../../support/open-responses/open-site.ts";
import { findFaults } from "../../support/open-responses/shapes.ts";
import { findBrokenRules, type Json } from "../../support/open-responses/stream-rules.ts";
import { SPOKEN } from "../../support/vendors/scripts/behaviors.ts";

let site: OpenSite;
beforeAll(async () => {
  site = await startOpenSite();
});
afterAll(() => site.stop());

describe.each(TARGETS)("a stored response from $name", (target) => {
  beforeEach(() => void site.behave(target, "agent"));
  const create = (fields: object) => site.create({ model: target.model, store: true, ...fields });
  /** Returns what the model has seen. */
  const seenBy = (response: Json) =>
    target.format === null ? textOf(response) : JSON.stringify(site.vendor.calls.at(-1)?.body);

  test("is continued with its input, its output and the new input, in this order", async () => {
    const first = await create({ input: "My name is Alice." });
    const second = await create({ input: "What is my name?", previous_response_id: first["id"] });
    expect(findFaults("response", second)).toEqual([]);
    expect(second).toMatchObject({ store: true, previous_response_id: first["id"], status: "completed" });
    const seen = seenBy(second);
    const said = target.format === null ? "assistant: You said: My name is Alice." : SPOKEN.join("");
    const places = ["My name is Alice.", said].map((text) => seen.indexOf(text));
    expect(places.every((at) => at >= 0)).toBe(true);
    expect(places[1]).toBeGreaterThan(places[0] as number);
    if (target.format !== null) expect(seen.indexOf("What is my name?")).toBeGreaterThan(places[1] as number);
  });

  test("is continued with the result of its call", async () => {
    const first = await create({ input: "Find it.", tools: [TOOL] });
    const [call] = itemsOf(first, "function_call") as [Json];
    const result = { type: "function_call_output", call_id: call["call_id"], output: "It is here." };
    const second = await create({ input: [result], tools: [TOOL], previous_response_id: first["id"] });
    expect(itemsOf(second, "message")).toHaveLength(1);
    expect(seenBy(second)).toContain("It is here.");
  });

  test("is streamed by the same rules, and its stream ends with [DONE]", async () => {
    const first = await create({ input: "One" });
    const body = { model: target.model, store: true, input: "Two", previous_response_id: first["id"] };
    const events = await site.stream(body);
    expect(findBrokenRules(events)).toEqual([]);
    expect(events.at(-1)?.["response"]).toMatchObject({ store: true, previous_response_id: first["id"] });
    const text = await (await site.post({ ...body, stream: true })).text();
    expect(text).toEndWith("data: [DONE]\n\n");
  });

  test("can be retrieved as it was", async () => {
    const created = await create({ input: "One" });
    const response = await fetch(`${site.gateway.url}/v1/responses/${created["id"]}`, {
      headers: { authorization: `Bearer ${site.gateway.key}` },
    });
    const found = (await response.json()) as Json;
    expect(findFaults("response", found)).toEqual([]);
    expect(found).toMatchObject({ id: created["id"], output: created["output"], status: "completed" });
  });

  test("that is made in the background is streamed by the same rules, up to [DONE]", async () => {
    const body = { model: target.model, input: "One", background: true };
    const events = await site.stream(body);
    expect(findBrokenRules(events)).toEqual([]);
    expect(events.at(-1)?.["response"]).toMatchObject({ background: true, status: "completed" });
    expect(await (await site.post({ ...body, stream: true })).text()).toEndWith("data: [DONE]\n\n");
  });

  test("cannot be continued under an unknown id", async () => {
    const response = await site.post({
      model: target.model,
      input: "Two",
      previous_response_id: "resp_missing",
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: "previous_response_not_found", param: "previous_response_id" } },
    ]);
  });

  test("is not kept without store", async () => {
    const first = await create({ input: "One", store: false });
    expect(first["store"]).toBe(false);
    const response = await site.post({
      model: target.model,
      input: "Two",
      previous_response_id: first["id"],
    });
    expect(response.status).toBe(400);
  });
});
