import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type OpenSite, startOpenSite, TARGETS } from "../../support/open-responses/open-site.ts";
import { findFaults } from "../../support/open-responses/shapes.ts";

let site: OpenSite;
beforeAll(async () => {
  site = await startOpenSite();
});
afterAll(() => site.stop());

/** Posts a request that is rejected, and returns the status and the error. */
async function reject(body: unknown, path = "") {
  const response = await site.post(body, path);
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  const failure = await response.json();
  expect(findFaults("failure", failure)).toEqual([]);
  return { status: response.status, error: (failure as { error: Record<string, unknown> }).error };
}

describe.each(TARGETS)("an error of a request to $name", (target) => {
  const { model } = target;

  test.each([
    { says: "with an invalid field", more: { temperature: "hot" }, param: "temperature" },
    {
      says: "with an unknown role",
      more: { input: [{ role: "boss", content: "Hi" }] },
      param: "input[0].role",
    },
    { says: "without an input", more: { input: undefined }, param: "input" },
  ])("$says is a 400 that names the field", async ({ more, param }) => {
    const { status, error } = await reject({ model, input: "Hi", ...more });
    expect([status, error["type"], error["param"]]).toEqual([400, "invalid_request_error", param]);
  });

  test.each([false, true])(
    "of the model is a status of its own before the first token (stream: %p)",
    async (stream) => {
      const { status, error } = await reject({ model, stream, input: `${site.behave(target, "failure")}Hi` });
      expect([status, error["type"]]).toEqual([502, "server_error"]);
    },
  );

  test("of a rate limit is a 429 that a client may retry", async () => {
    const { status, error } = await reject({ model, input: `${site.behave(target, "limited")}Hi` });
    expect([status, error["code"]]).toEqual([429, "rate_limit_exceeded"]);
  });

  test("of a conversation that is too long is not hidden by truncation", async () => {
    const { status, error } = await reject({
      model,
      truncation: "disabled",
      input: `${site.behave(target, "overflow")}Hi`,
    });
    expect([status, error["code"]]).toEqual([400, "context_length_exceeded"]);
  });
});

describe("an error of the Responses API", () => {
  test("is a 400 for a body that is no JSON", async () => {
    expect((await reject("{")).status).toBe(400);
  });

  test("is a 400 for a request without a model", async () => {
    expect((await reject({ input: "Hi" })).status).toBe(400);
  });

  test("is a 400 with the code model_not_found for an unknown model", async () => {
    const { status, error } = await reject({ model: "acme/unknown", input: "Hi" });
    expect([status, error]).toEqual([
      400,
      expect.objectContaining({ type: "invalid_request_error", code: "model_not_found" }),
    ]);
  });

  test("is a 401 for an unknown key, and a 404 for an unknown response", async () => {
    const ask = (path: string, key: string) =>
      fetch(`${site.gateway.url}/v1/responses${path}`, { headers: { authorization: `Bearer ${key}` } });
    const unknown = await ask("/gen_01m8mydn5k01jgt7bp2atjjm9t", site.gateway.key);
    expect([unknown.status, findFaults("failure", await unknown.json())]).toEqual([404, []]);
    const unsigned = await ask("/gen_01m8mydn5k01jgt7bp2atjjm9t", "gw_unknown");
    expect([unsigned.status, findFaults("failure", await unsigned.json())]).toEqual([401, []]);
  });
});
