import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { checkConfig } from "../../../src/app/config/load-config.ts";
import { type Parts, wireUp } from "../../../src/app/start/wire-up.ts";
import type { Log } from "../../../src/base/failures/log.ts";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { createKey } from "../../../src/core/accounts/manage/manage-keys.ts";
import { joinRoutes, listApiRoutes } from "../../../src/http/inference/api-routes.ts";
import { serve } from "../../../src/http/server/server.ts";
import type { ClientApiDeclaration, SentTarget } from "../../../src/wire/client-apis/client-api.ts";
import { CLIENT_APIS } from "../../../src/wire/client-apis/client-apis.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";

/** Makes a chat of what was sent to a model in the path: `{"say": "…"}`. */
function readSaying(stream: boolean) {
  return (body: Buffer, { params, query, headers }: SentTarget): Buffer => {
    const { say } = JSON.parse(body.toString("utf8")) as { readonly say: string };
    const said = `${say}, ${headers.get("x-listener") ?? "world"}`;
    const content = query.get("loud") === "true" ? said.toUpperCase() : said;
    const chat = {
      model: params["model"],
      stream,
      messages: [{ role: "user", content }],
    };
    return Buffer.from(JSON.stringify(chat));
  };
}

const { counting } = CLIENT_APIS.messages;
if (counting === undefined) throw new Error("the Messages API counts tokens");

/** A client API that has the model in its path, as Gemini's own has. */
const SPEAKING: ClientApiDeclaration = {
  ...CLIENT_APIS["chat.completions"],
  operations: [
    { method: "POST", path: "/speakers/{model}:say", readBody: readSaying(false) },
    { method: "POST", path: "/speakers/{model}:streamSay", readBody: readSaying(true) },
    {
      method: "POST",
      path: "/speakers/{model}",
      fixedPath: "/speak/{model}",
      readBody: readSaying(false),
    },
  ],
  counting: { ...counting, path: "/speakers/{model}:count", readBody: readSaying(false) },
  encodeError: ({ message }, { status, requestId }) => ({ problem: message, status, requestId }),
  requestIdHeader: "x-speech-id",
};

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

let parts: Parts;
let server: Bun.Server<undefined>;
let key: string;
const dataDir = makeTempFolder("gateway-test-");

beforeAll(async () => {
  const config = checkConfig("", "gateway.yaml", { GATEWAY_DATA_DIR: dataDir, GATEWAY_PORT: "0" });
  const platform = { clock: systemClock, random: createSystemRandom(), log: SILENT, environment: {} };
  parts = await wireUp(config, platform);
  ({ secret: key } = await createKey(parts.stores, { kind: "inference", name: "test", expiresAt: null }));
  const { underPrefixes, fixed } = listApiRoutes([SPEAKING]);
  const prefixed = Object.entries(underPrefixes).map(([path, methods]) => [`/v1${path}`, methods] as const);
  const routes = joinRoutes(Object.fromEntries(prefixed), fixed);
  const deps = () => parts.http;
  server = Bun.serve({
    port: 0,
    routes: Object.fromEntries(
      Object.entries(routes).map(([path, methods]) => [
        path,
        (request: Request, connection: Bun.Server<undefined>) =>
          serve({ deps, route: path, methods, isOpen: true }, request, connection),
      ]),
    ),
    fetch: () => new Response(null, { status: 404 }),
  });
});

afterAll(async () => {
  await server.stop(true);
  await parts.recorder.drain();
  parts.journal.close();
  parts.release();
  rmSync(dataDir, { recursive: true, force: true });
});

function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return fetch(new URL(path, server.url), {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

async function answerOf(response: Response): Promise<unknown> {
  const { model, choices } = (await response.json()) as Record<string, never> & {
    choices: { message: { content: string } }[];
  };
  return { status: response.status, model, said: choices[0]?.message.content };
}

const ECHOED = { status: 200, model: "sandbox/echo", said: expect.stringContaining("Hello") };

test.each(["/v1/speakers/sandbox/echo:say", "/v1/speakers/sandbox%2Fecho:say", "/v1/speakers/sandbox/echo"])(
  "a request to a client API with the model in its path reaches the model: %s",
  async (path) => {
    expect(await answerOf(await post(path, { say: "Hello" }))).toEqual(ECHOED);
  },
);

test("an operation of a client API with the model in its path is also served at its path without a prefix", async () => {
  expect(await answerOf(await post("/speak/sandbox/echo", { say: "Hello" }))).toEqual(ECHOED);
});

test("a client API reads the query and the headers of a request", async () => {
  const path = "/v1/speakers/sandbox/echo:say?loud=true";
  const response = await post(path, { say: "Hello" }, { "x-listener": "Ann" });
  expect(await answerOf(response)).toMatchObject({ said: expect.stringContaining("HELLO, ANN") });
});

test("an action of a path streams the answer", async () => {
  const response = await post("/v1/speakers/sandbox/echo:streamSay", { say: "Hello" });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  expect(response.headers.get("x-speech-id")).toMatch(/^req_/);
  expect(await response.text()).toEndWith("data: [DONE]\n\n");
});

test("a model whose id has a colon is told from the action behind it", async () => {
  const response = await post("/v1/speakers/sandbox/nothing:free:say", { say: "Hello" });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ problem: expect.stringContaining("sandbox/nothing:free") });
});

test("a failure has the format and the header of its client API", async () => {
  const response = await post("/v1/speakers/sandbox/none:say", { say: "Hello" });
  expect(response.status).toBe(400);
  const requestId = response.headers.get("x-speech-id");
  expect(await response.json()).toEqual({
    problem: expect.stringContaining("sandbox/none"),
    status: 400,
    requestId,
  });
});

test("a client API with the model in its path can count tokens", async () => {
  const response = await post("/v1/speakers/sandbox/echo:count", { say: "Hello" });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ input_tokens: expect.any(Number), estimated: true });
});
