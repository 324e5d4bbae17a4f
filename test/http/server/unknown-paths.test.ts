import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { UNSERVED_ENDPOINTS } from "../../../src/http/errors/unserved-endpoints.ts";
import { FIXED_ROUTES, GATEWAY_ROUTES, PREFIXES } from "../../../src/http/server/route-table.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

function call(path: string, method = "POST"): Promise<Response> {
  return fetch(gateway.url + path, { method, ...(method === "POST" ? { body: "{}" } : {}) });
}

/** Returns the message of a 404, in whatever format it is. */
async function readHint(response: Response): Promise<string> {
  expect(response.status).toBe(404);
  expect(response.headers.get("content-type")).toBe("application/json");
  const body = (await response.json()) as { message?: string; error?: string | { message: string } };
  const message = typeof body.error === "string" ? body.error : (body.error?.message ?? body.message);
  expect(message).toStartWith("There is no endpoint at this path. ");
  return message as string;
}

describe("a well-known endpoint that is not served", () => {
  test.each(UNSERVED_ENDPOINTS.map(({ example, hint }) => [example, hint] as const))(
    "%s is a 404 that says what to use instead",
    async (path, hint) => {
      for (const method of ["POST", "GET"]) expect(await readHint(await call(path, method))).toEndWith(hint);
    },
  );

  test.each(UNSERVED_ENDPOINTS.map(({ example, hint }) => [example, hint] as const))(
    "%s gets its own hint and not that of another row of the table",
    (path, hint) => {
      expect(UNSERVED_ENDPOINTS.find((row) => row.path.test(path))?.hint).toBe(hint);
    },
  );

  test("is found below every prefix, with an id behind it, and in any letter case", async () => {
    for (const prefix of ["", ...PREFIXES])
      expect(await readHint(await call(`${prefix}/Vector_Stores/vs_1/files`))).toContain("/v1/embeddings");
  });

  test("has a hint that only names endpoints that are served", () => {
    const served = new Set([
      ...Object.keys(FIXED_ROUTES),
      ...Object.keys(GATEWAY_ROUTES).map((path) => `/v1${path}`),
    ]);
    const named = UNSERVED_ENDPOINTS.flatMap(
      ({ hint }) => hint.match(/\/(?:v1\/[\w/]+|\w+z|docs|openapi\.json|console)\b/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(UNSERVED_ENDPOINTS.length / 2);
    expect(named.filter((path) => !served.has(path))).toEqual([]);
  });

  test("has no body for HEAD, and is a 404 for OPTIONS", async () => {
    const head = await call("/v1/files", "HEAD");
    expect([head.status, await head.text()]).toEqual([404, ""]);
    expect(await readHint(await call("/v1/files", "OPTIONS"))).toContain("Files are not stored");
  });

  test.each([
    [
      "Google's",
      "/v1beta/models/gemini-2.5-pro:generateContent",
      { error: { code: 404, status: "NOT_FOUND" } },
    ],
    ["Ollama's", "/api/chat", { error: expect.stringContaining("Ollama's API") }],
    ["Cohere's", "/v2/chat", { message: expect.stringContaining("Cohere's API") }],
    ["Anthropic's", "/v1/messages/batches", { type: "error", error: { type: "not_found_error" } }],
    [
      "OpenAI's Responses",
      "/v1/responses/gen_1/other",
      { error: { type: "invalid_request_error", status: 404 } },
    ],
    ["the gateway's", "/v1/batches", { error: { type: "not_found", code: 404 }, error_type: "not_found" }],
  ])("has an error in %s format: %s", async (_name, path, body) => {
    expect(await (await call(path)).json()).toMatchObject(body);
  });

  test("is a 405 with the hint where the path exists for other methods", async () => {
    const response = await call("/v1/models/gemini-2.5-pro:generateContent");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(await response.json()).toMatchObject({
      error: { code: 405, message: expect.stringContaining("POST /v1/chat/completions") },
    });
  });
});

describe("a path with a wrong prefix", () => {
  test.each([
    ["/chat/completions", "Use POST /v1/chat/completions: the base URL of a client is"],
    ["/v1/v1/chat/completions", "Use POST /v1/chat/completions: the base URL of a client is"],
    ["/api/gateway/v1/v1/chat/completions", "Use POST /v1/chat/completions:"],
    ["/v1/chat/completions/chat/completions", "Use POST /v1/chat/completions:"],
    ["/openai/deployments/gpt-4o/chat/completions", "Use POST /v1/chat/completions:"],
    ["/v1/engines/davinci/completions", "Use POST /v1/completions:"],
    ["/v1beta/openai/embeddings", "Use POST /v1/embeddings:"],
    ["/V1/Chat/Completions", "Use POST /v1/chat/completions:"],
    ["/v1/v1/chat/completions/", "Use POST /v1/chat/completions:"],
    ["/v1//chat/completions", "Use POST /v1/chat/completions:"],
    [
      "/messages",
      "Use POST /v1/messages: the base URL of an Anthropic client is the address of the gateway, without /v1.",
    ],
    [
      "/v1/v1/messages/count_tokens",
      "Use POST /v1/messages/count_tokens: the base URL of an Anthropic client",
    ],
    ["/models", "Use GET /v1/models:"],
    ["/v1/healthz", "Use GET /healthz."],
  ])("%s is a 404 that names the right path", async (path, hint) => {
    expect(await readHint(await call(path))).toContain(hint);
  });
});

describe("a misspelled path", () => {
  test.each([
    ["/v1/chat/completion", "Did you mean POST /v1/chat/completions?"],
    ["/v1/embedding", "Did you mean POST /v1/embeddings?"],
    ["/api/gateway/respones", "Did you mean POST /v1/responses?"],
    ["/api/gateway/v1/modles", "Did you mean GET /v1/models?"],
    ["/helthz", "Did you mean GET /healthz?"],
  ])("%s is a 404 with the nearest path", async (path, hint) => {
    expect(await readHint(await call(path))).toContain(hint);
  });

  test.each(["/v1/nothing-like-it", "/xyzzy", `/${"a/".repeat(2_000)}b`, "/%ff"])(
    "%s leads to the list of endpoints if nothing is near",
    async (path) => {
      expect(await readHint(await call(path))).toContain("GET /docs/reference lists all endpoints");
    },
  );
});
