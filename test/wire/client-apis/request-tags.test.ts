import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { failureOf } from "../../../src/base/failures/errors.ts";
import { CLIENT_APIS } from "../../../src/wire/client-apis/client-apis.ts";
import type { ClientApi } from "../../../src/wire/client-apis/request/inference-request.ts";
import { readTags } from "../../../src/wire/client-apis/request/request-tags.ts";
import { NO_HEADERS } from "../../../src/wire/client-apis/request/session-hints.ts";

/** The client APIs whose body may have `tags`. */
type JsonApi = Exclude<ClientApi, "transcriptions">;

const PLAIN: Readonly<Record<JsonApi, object>> = {
  "chat.completions": { model: "openai/gpt-4o", messages: [{ role: "user", content: "Hi" }] },
  responses: { model: "openai/gpt-4o", input: "Hi" },
  messages: { model: "openai/gpt-4o", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  embeddings: { model: "openai/text-embedding-3-small", input: "Hi" },
  fim: { model: "mistralai/codestral-latest", prompt: "let" },
  completions: { model: "openai/gpt-3.5-turbo-instruct", prompt: "Hi" },
  moderations: { model: "openai/omni-moderation-latest", input: "Hi" },
  rerank: { model: "cohere/rerank-v3.5", query: "Hi", documents: ["Hi"] },
  images: { model: "openai/gpt-image-2", prompt: "Hi" },
  speech: { model: "openai/tts-1", input: "Hi", voice: "alloy" },
};
const APIS = Object.keys(PLAIN) as JsonApi[];

function tagsOf(api: JsonApi, fields: object, header?: string): readonly string[] {
  const body = Buffer.from(JSON.stringify({ ...PLAIN[api], ...fields }));
  const headers = new Headers(header === undefined ? {} : { "x-gateway-tags": header });
  return CLIENT_APIS[api].parse(body, (id) => id, headers).tags;
}

/** Returns the message of a rejection, and the field that it names. */
function rejectionOf(read: () => unknown): { readonly message: string; readonly field: unknown } {
  try {
    read();
  } catch (error) {
    const { code, message, metadata } = failureOf(error);
    expect(code).toBe("invalid_request");
    return { message, field: metadata?.["field"] };
  }
  throw new Error("nothing was rejected");
}

describe("the tags of a request", () => {
  test.each(APIS)("of the API %s are those of the header and of the body, each once", (api) => {
    expect(tagsOf(api, {})).toEqual([]);
    expect(tagsOf(api, { tags: null })).toEqual([]);
    expect(tagsOf(api, { tags: [] })).toEqual([]);
    expect(tagsOf(api, { tags: ["team-a", "job:7", "team-a"] })).toEqual(["team-a", "job:7"]);
    expect(tagsOf(api, {}, "team-a, job:7")).toEqual(["team-a", "job:7"]);
    expect(tagsOf(api, { tags: ["nightly", "b"] }, " a,,b ,")).toEqual(["a", "b", "nightly"]);
  });

  test.each(APIS)("of the API %s are rejected with the field that is malformed", (api) => {
    expect(rejectionOf(() => tagsOf(api, { tags: "team-a" })).field).toBe("tags");
    expect(rejectionOf(() => tagsOf(api, { tags: ["a", 7] })).field).toBe("tags[1]");
    expect(rejectionOf(() => tagsOf(api, {}, "a, b\tc")).field).toBe("x-gateway-tags");
  });

  test.each(["", " ", " a", "a ", "(other)", "=1+1", "-a", "a,b", "ä", "a\nb", "x".repeat(65)])(
    "cannot be %j in a body",
    (tag) => {
      const { field, message } = rejectionOf(() => readTags([tag], NO_HEADERS));
      expect(field).toBe("tags[0]");
      expect(message).toStartWith("tags[0] must be a text of 1 to 64 characters");
    },
  );

  test.each(["a", "7", "team a", "jobID:214590dsff09fds", "Env=prod/eu+1@x_y.z-", "x".repeat(64)])(
    "can be %j",
    (tag) => {
      expect(readTags([tag], NO_HEADERS)).toEqual([tag]);
    },
  );

  test("are at most 10, header and body together, without duplicates", () => {
    const names = Array.from({ length: 11 }, (_, at) => `t${at}`);
    expect(readTags(names.slice(0, 10), new Headers({ "x-gateway-tags": "t0,t9" }))).toHaveLength(10);
    expect(rejectionOf(() => readTags(names, NO_HEADERS)).field).toBe("tags");
    const { field, message } = rejectionOf(() =>
      readTags(names.slice(0, 6), new Headers({ "x-gateway-tags": names.slice(6).join(",") })),
    );
    expect(field).toBe("x-gateway-tags");
    expect(message).toContain("at most 10 tags, header and body together");
  });

  test("are either rejected as invalid_request or within their bounds, whatever a client sends", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.option(fc.string()), (body, header) => {
        try {
          const tags = readTags(body, { get: () => header });
          expect(tags.length).toBeLessThanOrEqual(10);
          for (const tag of tags) expect(tag).toMatch(/^[A-Za-z0-9][ -~]{0,63}$/);
        } catch (error) {
          expect(failureOf(error).code).toBe("invalid_request");
        }
      }),
    );
  });
});
