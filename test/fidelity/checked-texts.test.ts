import { describe, expect, test } from "bun:test";
import type { Fields } from "../../src/base/json/fields.ts";
import type { ComposedBytes } from "../../src/base/text/composed-bytes.ts";
import { CLIENT_APIS } from "../../src/wire/client-apis/client-apis.ts";
import type { ClientApi, UpstreamTarget } from "../../src/wire/client-apis/request/inference-request.ts";
import { readRequestTexts } from "../../src/wire/client-apis/texts/body-texts.ts";
import type { FormatName, ProviderFormat } from "../../src/wire/conversation/traits/format-name.ts";
import { isInRun } from "../support/long-run.ts";
import { FORMATS } from "./formats.ts";
import { REQUEST_CASES } from "./requests/cases.ts";
import { makeBody } from "./requests/request-case.ts";
import { makeTarget } from "./targets.ts";

/*
 * What guardrails check is all that a provider gets: a text is put at every place of every kind of request, each text that guardrails
 * see is replaced, and the rest is encoded for every format (each place for one of them, except in a long run).
 */

const HIDDEN = "a tulip garden";
/** The same within media, which are base64. */
const IN_MEDIA = "a tulip in base64";
const MASK = "[TEXT]";

const APIS = { chat: "chat.completions", responses: "responses", messages: "messages" } as const;

/** Every string and object of a body, with a function that returns the body with something else in its place. */
function* listPlaces(body: unknown): Generator<{ readonly path: string; readonly changed: unknown }> {
  for (const path of listPaths(body, [])) {
    const value = path.reduce<unknown>((inner, step) => (inner as Fields)[step], body);
    const shown = path.join(".");
    if (typeof value === "string") {
      yield { path: shown, changed: put(body, path, HIDDEN) };
      for (const written of spellings(value))
        yield { path: `${shown} as ${written}`, changed: put(body, path, written) };
    } else if (!Array.isArray(value)) {
      const object = value as Fields;
      yield { path: `${shown} + name`, changed: put(body, path, { ...object, [HIDDEN]: 1 }) };
      yield { path: `${shown} + unknown`, changed: put(body, path, { ...object, unknown_member: HIDDEN }) };
      for (const name of ADDED)
        yield {
          path: `${shown} + ${name}`,
          changed: put(body, path, { ...object, [name]: { content: HIDDEN, text: [HIDDEN], value: HIDDEN } }),
        };
    }
  }
}

const ADDED = ["__proto__", "description", "input_examples", "name", "metadata", "extra_body"] as const;

/** Other ways to hide a text in a string: JSON within it, and media that are text. */
function* spellings(value: string): Generator<string> {
  if (value.startsWith("{")) yield `{"q\\u0075ery":"a t\\u0075lip garden","a tulip garden":1}`;
  const data = Buffer.from(IN_MEDIA).toString("base64");
  if (value.startsWith("data:")) yield `data:text/plain;base64,${data}`;
  yield `data:text/plain,${HIDDEN}`;
  yield `gw1.${Buffer.from(JSON.stringify({ s: HIDDEN, e: HIDDEN, i: HIDDEN, o: HIDDEN, m: true })).toString("base64url")}`;
}

function listPaths(value: unknown, path: readonly string[]): string[][] {
  if (typeof value === "string") return [[...path]];
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, one]) => listPaths(one, [...path, key]));
  return [[...path], ...inner];
}

/** Returns a copy with another value at a path. Members named `__proto__` are members. */
function put(value: unknown, [step, ...rest]: readonly string[], inner: unknown): unknown {
  if (step === undefined) return inner;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as Fields) }) as Record<string, unknown>;
  copy[step] = put((value as Fields)[step], rest, inner);
  return copy;
}

/** Returns the bodies that providers of these formats get after all texts were replaced; none if the request is rejected. */
function sentBodies(api: ClientApi, body: unknown, formats: readonly ProviderFormat[]): string[] {
  const texts = readRequestTexts(api, Buffer.from(JSON.stringify(body)));
  const masked = texts.replace(new Map(texts.texts.map((_, index) => [index, MASK])));
  return formats.flatMap((format) => {
    try {
      const request = CLIENT_APIS[api].parse(masked, (id) => id);
      const encoded = request.encoding.encode(targetOf(format));
      return [`${format} ${textOf(encoded.body)}`];
    } catch (error) {
      // A mask where an enumeration stands may be rejected: then nothing is sent.
      expect(String(error)).toMatch(/^GatewayError/);
      return [];
    }
  });
}

function targetOf(format: ProviderFormat): UpstreamTarget {
  const target = makeTarget(format === "openai-completions" ? "openai-chat" : (format as FormatName));
  return { ...target, provider: { ...target.provider, format }, hashUser: () => "a hash" };
}

function textOf(body: Buffer | ComposedBytes): string {
  return (Buffer.isBuffer(body) ? body : body.join()).toString("utf8");
}

/** Whether a text is in a body: as it is, or in base64 or JSON within it. */
function hasHidden(body: string): boolean {
  const data = Buffer.from(IN_MEDIA).toString("base64").slice(0, 16);
  return (
    body.includes(HIDDEN) || body.includes(IN_MEDIA) || body.includes(data) || body.includes("t\\\\u0075lip")
  );
}

function findUnchecked(
  api: ClientApi,
  body: unknown,
  formats: readonly ProviderFormat[] = FORMATS,
): string[] {
  return [...listPlaces(body)].flatMap(({ path, changed }, place) =>
    sentBodies(
      api,
      changed,
      formats.filter((_, index) => isInRun(formats.length, place, index)),
    )
      .filter(hasHidden)
      .map((sent) => `${path}: ${sent}`),
  );
}

describe.each(REQUEST_CASES)("a request of the group '%s'", (_title, cases) => {
  test.each(cases.map((one) => [one.name, one] as const))(
    "with the feature '%s' gives no provider a text that guardrails do not see",
    (_name, { bodies }) => {
      for (const client of Object.keys(APIS) as (keyof typeof APIS)[]) {
        const fields = bodies[client];
        if (fields !== undefined)
          expect(findUnchecked(APIS[client], makeBody(client, fields)).slice(0, 3)).toEqual([]);
      }
    },
  );
});

describe("a request that has one prompt or is forwarded", () => {
  test.each([
    ["completions", { prompt: ["x"], suffix: "y", stop: ["z"], logit_bias: { "5": 1 } }],
    ["fim", { prompt: "x", suffix: "y", stop: ["z"], metadata: { a: "b" } }],
    ["embeddings", { input: ["x"], input_type: "query" }],
    ["moderations", { input: [{ type: "text", text: "x" }] }],
    ["rerank", { query: "x", documents: ["y", { text: "z", title: "t" }], rank_fields: ["title"] }],
    ["images", { prompt: "x", style: "vivid" }],
    ["speech", { input: "x", voice: "alloy", instructions: "slowly" }],
  ] as const)("in %s gives no provider a text that guardrails do not see", (api, fields) => {
    const model = api === "fim" ? "mistralai/codestral" : "acme/model";
    const formats = [api === "completions" ? "openai-completions" : "openai-chat"] as const;
    expect(sentBodies(api, { model, ...fields }, formats)).toHaveLength(1);
    expect(findUnchecked(api, { model, ...fields }, formats)).toEqual([]);
  });
});

test("the texts that are put into requests are found where nothing is checked", () => {
  const request = CLIENT_APIS["chat.completions"].parse(
    Buffer.from(JSON.stringify(makeBody("chat", { stop: [HIDDEN] }))),
    (id) => id,
  );
  const { body } = request.encoding.encode(makeTarget("anthropic-messages"));
  expect(hasHidden(textOf(body))).toBe(true);
});
