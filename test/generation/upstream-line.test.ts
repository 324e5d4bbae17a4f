import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ServedDeployment } from "../../src/core/deployments/served-deployment.ts";
import type { ProviderKey } from "../../src/core/deployments/served-provider.ts";
import type { Candidate } from "../../src/core/routing/plan/plan.ts";
import type { ProviderFormat } from "../../src/wire/conversation/traits/format-name.ts";

function keyOf(label: string, headers: Readonly<Record<string, string>>): ProviderKey {
  const address: ProviderKey["address"] = {
    urlFor: ({ format, action, model, stream }) =>
      action === "rerank" ? null : new URL(`http://${label}.test/${format}/${action}/${model}/${stream}`),
    headersFor: (format) => (format === "anthropic-messages" ? { "anthropic-version": "1" } : {}),
    authorize: () => ({}),
  };
  return { label, secret: "secret", weight: 1, byokId: null, address, headers };
}

const KEYS = [keyOf("one", {}), keyOf("two", { "x-team": "a", accept: "text/plain" })];
const ENDPOINTS = [{ name: "small" }, { name: "large" }] as unknown as readonly Candidate["endpoint"][];
const SERVED = new Map(
  ENDPOINTS.map((endpoint) => {
    const provider = { record: { slug: "host" } } as Candidate["provider"];
    return [endpoint, new ServedDeployment({ id: "a/m" } as Candidate["model"], endpoint, provider)];
  }),
);
const FORMATS: readonly ProviderFormat[] = ["openai-chat", "anthropic-messages", "bedrock-converse"];
const ACTIONS = ["chat", "embeddings", "completions"] as const;
const ADDED = [undefined, { traceparent: "00-1" }, { accept: "own", "x-team": "added" }];
const ACCEPTED: Readonly<Partial<Record<ProviderFormat, string>>> = {
  "bedrock-converse": "application/vnd.amazon.eventstream",
};

interface Question {
  readonly key: ProviderKey;
  readonly endpoint: Candidate["endpoint"];
  readonly action: (typeof ACTIONS)[number] | "rerank";
  readonly format: ProviderFormat;
  readonly stream: boolean;
}

const question = fc.record<Question>({
  key: fc.constantFrom(...KEYS),
  endpoint: fc.constantFrom(...ENDPOINTS),
  action: fc.constantFrom(...ACTIONS),
  format: fc.constantFrom(...FORMATS),
  stream: fc.boolean(),
});

function lineOf({ key, endpoint, action, format, stream }: Question) {
  return (SERVED.get(endpoint) as ServedDeployment).lineFor(key, { action, stream }, format);
}

/** The headers of one request, made anew. */
function reference({ key, format, stream }: Question, added: Readonly<Record<string, string>> | undefined) {
  return {
    "content-type": "application/json",
    accept: stream ? (ACCEPTED[format] ?? "text/event-stream") : "application/json",
    ...added,
    ...key.address.headersFor(format),
    ...key.headers,
  };
}

describe("what requests to a model endpoint have in common", () => {
  test("is as if it was made for each request, whichever requests came before", () => {
    const requests = fc.array(fc.tuple(question, fc.constantFrom(...ADDED)), { maxLength: 30 });
    fc.assert(
      fc.property(requests, (sequence) => {
        for (const [one, added] of sequence) {
          const line = lineOf(one);
          const { label, address } = one.key;
          const { format, action, endpoint, stream } = one;
          const sent = action === "completions" ? "chat" : action;
          expect(line.url.href).toBe(`http://${label}.test/${format}/${sent}/${endpoint.name}/${stream}`);
          expect(line.url.href).toBe(
            address.urlFor({ format, action: sent, model: endpoint.name, stream })?.href ?? "",
          );
          const headers = added === undefined ? line.headers : line.headersWith(added);
          expect(headers).toEqual(reference(one, added));
        }
      }),
    );
  });

  test("is one object for each key, endpoint, action and format", () => {
    const [key] = KEYS as [ProviderKey];
    const [endpoint] = ENDPOINTS as [Candidate["endpoint"]];
    const one: Question = { key, endpoint, action: "chat", format: "openai-chat", stream: false };
    expect(lineOf(one)).toBe(lineOf({ ...one }));
    expect(lineOf(one)).not.toBe(lineOf({ ...one, stream: true }));
  });

  test("is missing, with an error, where the provider has no address for the action", () => {
    const [key] = KEYS as [ProviderKey];
    const [endpoint] = ENDPOINTS as [Candidate["endpoint"]];
    const one: Question = { key, endpoint, action: "rerank", format: "openai-chat", stream: false };
    expect(() => lineOf(one)).toThrow("host has no address for openai-chat");
  });
});
