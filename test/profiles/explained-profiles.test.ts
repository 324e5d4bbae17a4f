import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHAT, type Fields, type ProfileSite, RESPONSES, startProfileSite } from "./sites/profile-site.ts";

const CONFIGURED = {
  providers: { mistral: { takes: { n: { max: 4 } } } },
  catalog: { overrides: { "openai/gpt-4.1": { endpoints: { openai: { takes: { top_k: { max: 40 } } } } } } },
};

interface ExplainedCandidate {
  readonly provider: string;
  readonly upstream_format: string | null;
  readonly changes: readonly { readonly field: string; readonly message: string }[] | null;
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly takes: readonly Fields[];
}

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite(JSON.stringify(CONFIGURED));
});
afterAll(() => site.stop());

const MESSAGES = [{ role: "user", content: "Hello" }];

async function explain(body: Fields, api = "chat.completions"): Promise<readonly ExplainedCandidate[]> {
  const response = await fetch(`${site.gateway.base}/route/explain?api=${api}`, {
    method: "POST",
    headers: { authorization: `Bearer ${site.gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(api === "responses" ? { input: "Hello", ...body } : { messages: MESSAGES, ...body }),
  });
  expect(response.status).toBe(200);
  const { data } = (await response.json()) as { data: { candidates: ExplainedCandidate[] } };
  return data.candidates;
}

describe("an explained route", () => {
  test.each([
    [CHAT, "openai/gpt-5", { temperature: 0.2, reasoning_effort: "none", top_k: 5, stop: ["x"] }],
    [CHAT, "anthropic/claude-opus-4.8", { temperature: 0.2, seed: 7 }],
    [CHAT, "mistralai/mistral-small-latest", { temperature: 1.8, n: 8, logit_bias: { "1": 2 } }],
    [RESPONSES, "openai/gpt-5", { temperature: 0.2, reasoning: { effort: "none" } }],
  ] as const)("of $name names for %s what the answer's warnings name", async (api, model, given) => {
    const [candidate] = await explain(
      { model, ...given },
      api.name === RESPONSES.name ? "responses" : undefined,
    );
    const { text, named } = await site.ask(api, model, given);
    const { gateway_metadata } = JSON.parse(text) as { gateway_metadata: { warnings: unknown } };
    expect(named.length).toBeGreaterThan(1);
    expect(candidate?.changes).toEqual(gateway_metadata.warnings as ExplainedCandidate["changes"]);
  });

  test("says that nothing is changed where everything is taken", async () => {
    const [candidate] = await explain({ model: "openai/gpt-4.1", temperature: 0.2 });
    expect(candidate).toMatchObject({ changes: [], error: null });
  });

  test("has a candidate that the request cannot be sent to, with the reason", async () => {
    const [candidate] = await explain({ model: "anthropic/claude-opus-4.8", n: 2 });
    expect(candidate?.error).toMatchObject({
      type: "invalid_request",
      message: expect.stringContaining("n must be 1"),
    });
  });

  test("shows the rules of each candidate with their sources", async () => {
    const takesOf = async (model: string, provider: string) => {
      const candidates = await explain({ model, provider: { only: [provider] } });
      const [candidate] = candidates;
      return new Map(candidate?.takes.map(({ parameter, ...rule }) => [parameter, rule]));
    };
    const mistral = await takesOf("mistralai/mistral-small-latest", "mistral");
    expect(mistral.get("temperature")).toEqual({ taken: "some", max: 1.5, source: "family" });
    const greedy = { parameter: "temperature", values: [0] };
    expect(mistral.get("top_p")).toEqual({ taken: "some", values: [1], not_with: greedy, source: "family" });
    expect(mistral.get("n")).toEqual({ taken: "some", max: 4, source: "configuration" });
    expect(mistral.get("logit_bias")).toEqual({ taken: "no", source: "provider" });
    expect(mistral.has("seed")).toBe(false);

    const openai = await takesOf("openai/gpt-5.4", "openai");
    const only = { taken: "some", while_reasoning: true, source: "family" };
    expect(openai.get("temperature")).toEqual({ ...only, values: [1] });
    expect(openai.get("top_logprobs")).toEqual({ ...only, values: [] });
    expect(openai.get("stop")).toEqual({ taken: "no", source: "family" });
    const configured = await takesOf("openai/gpt-4.1", "openai");
    expect(configured.get("top_k")).toEqual({ taken: "some", max: 40, source: "configuration" });

    const claude = await takesOf("anthropic/claude-opus-4.8", "anthropic");
    expect(claude.get("top_k")).toEqual({ taken: "no", source: "family" });
    const schemas = await takesOf("deepseek/deepseek-v4-pro", "deepseek");
    expect(schemas.get("structured_outputs")).toEqual({ taken: "no", source: "provider" });
  });
});

test("the operator's page of a model shows what each endpoint takes, with the source of each rule", async () => {
  const response = await fetch(`${site.gateway.url}/api/admin/models/openai/gpt-4.1`, {
    headers: { authorization: `Bearer ${site.gateway.adminKey}` },
  });
  const { data } = (await response.json()) as { data: { endpoints: ExplainedCandidate[] } };
  const own = data.endpoints.find(({ provider }) => provider === "openai");
  expect(own?.takes).toContainEqual({ parameter: "top_k", taken: "some", max: 40, source: "configuration" });
  const other = data.endpoints.find(({ provider }) => provider === "azure");
  expect(other?.takes).toContainEqual({ parameter: "top_k", taken: "no", source: "provider" });
});
