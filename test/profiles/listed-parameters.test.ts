import { expect, test } from "bun:test";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { GatewayError } from "../../src/base/failures/errors.ts";
import { addProfiles, parametersOf } from "../../src/core/catalog/profile/endpoint-profile.ts";
import { listEndpointFormats, listProviderFormats } from "../../src/core/catalog/profile/list-formats.ts";
import { findFamilies, listTaken } from "../../src/core/catalog/profile/resolve-takes.ts";
import { actionOf } from "../../src/core/catalog/records/action-of.ts";
import type { ModelEndpoint, ModelRecord, ProviderRecord } from "../../src/core/catalog/records/records.ts";
import { ServedDeployment } from "../../src/core/deployments/served-deployment.ts";
import type { Deployment } from "../../src/core/deployments/served-models.ts";
import type { UpstreamTarget } from "../../src/wire/client-apis/request/inference-request.ts";
import { openRequest } from "../fidelity/open-request.ts";
import type { Fields } from "./sites/profile-site.ts";

const SCHEMA = { name: "place", schema: { type: "object", properties: {} } };
const TOOL = { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } };

const AS_SCHEMA = { response_format: { type: "json_schema", json_schema: SCHEMA } };

/** Each parameter as clients of chat completions set it, to values that are no default. */
const SET: Readonly<Record<string, readonly Fields[]>> = {
  frequency_penalty: [{ frequency_penalty: 0.5 }],
  logprobs: [{ logprobs: true }],
  n: [{ n: 2 }],
  presence_penalty: [{ presence_penalty: 0.5 }],
  seed: [{ seed: 7 }],
  stop: [{ stop: ["END"] }],
  top_logprobs: [{ logprobs: true, top_logprobs: 3 }],
  max_tokens: [{ max_tokens: 100 }],
  temperature: [{ temperature: 0.5 }],
  top_p: [{ top_p: 0.5 }],
  top_k: [{ top_k: 5 }],
  logit_bias: [{ logit_bias: { "1": 2 } }],
  structured_outputs: [AS_SCHEMA],
  response_format: [{ response_format: { type: "json_object" } }, AS_SCHEMA],
  tools: [{ tools: [TOOL] }],
  tool_choice: [{ tools: [TOOL], tool_choice: "auto" }],
};

/** The fields by which warnings name what is not sent under the name of the parameter. */
const FIELDS: Readonly<Record<string, string>> = { structured_outputs: "response_format" };

const data = loadShippedCatalog();
const bySlug = new Map(data.providers.map((record) => [record.slug, record]));

/** Returns the targets of an endpoint with a platform key, as routing has them. */
function targetsOf(model: ModelRecord, endpoint: ModelEndpoint): readonly UpstreamTarget[] {
  const record = bySlug.get(endpoint.provider);
  if (record === undefined) throw new Error(`no provider ${endpoint.provider}`);
  const formats = listEndpointFormats(endpoint, listProviderFormats(record));
  const provider = {
    record,
    families: data.families,
    formats,
    keys: [],
  } as unknown as Deployment["provider"];
  return new ServedDeployment(model, endpoint, provider).targets("chat").map((target) => ({
    provider: target,
    withReasoning: true,
    overrides: null,
    recallTurn: () => null,
    hashUser: (user: string) => user,
  }));
}

/** Whether a parameter reaches the endpoint: by one of its fields, alone or with reasoning switched off. */
function reaches(targets: readonly UpstreamTarget[], name: string): boolean {
  const fields = SET[name] ?? [];
  return [...fields, ...fields.map((one) => ({ ...one, reasoning_effort: "none" }))].some((one) => {
    const messages = [{ role: "user", content: "Hello" }];
    const request = openRequest("chat", { model: "acme/model", max_tokens: 50, messages, ...one });
    try {
      const { warnings } = request.encoding.plan(targets).encode();
      return !warnings.some(({ field }) => field === (FIELDS[name] ?? name));
    } catch (error) {
      if (error instanceof GatewayError) return false;
      throw error;
    }
  });
}

/** The parameters that a source names for an endpoint, whether they are taken or not. Routing sends none that an endpoint lacks. */
function namesOf(model: ModelRecord, endpoint: ModelEndpoint): ReadonlySet<string> {
  const record = bySlug.get(endpoint.provider) as ProviderRecord;
  const families = findFamilies(data.families, model, record.slug);
  const rules = listProviderFormats(record).flatMap((format) => [
    ...listTaken({ model, endpoint, record, format, families }).keys(),
  ]);
  const named = new Set([...model.supportedParameters, ...(record.parameters ?? ["stop"]), ...rules]);
  return named.difference(new Set(endpoint.lacks));
}

const ENDPOINTS = addProfiles(data.models, data.providers, data.families)
  .filter((model) => actionOf(model) === "chat")
  .flatMap((model) => model.endpoints.map((endpoint) => ({ model, endpoint })));

test("a parameter that a source names is listed for an endpoint of the shipped catalog exactly if a value that is no default reaches it", () => {
  expect(ENDPOINTS.length).toBeGreaterThan(1_000);
  const wrong = ENDPOINTS.flatMap(({ model, endpoint }) => {
    const targets = targetsOf(model, endpoint);
    if (targets.length === 0) return [];
    const listed = new Set(parametersOf(model, endpoint));
    const named = namesOf(model, endpoint);
    return Object.keys(SET)
      .filter((name) => named.has(name) && reaches(targets, name) !== listed.has(name))
      .map((name) => `${model.id} at ${endpoint.provider}: ${name}, ${listed.has(name) ? "listed" : "sent"}`);
  });
  expect(wrong).toEqual([]);
});

test("no endpoint of the shipped catalog lists a parameter that no source names", () => {
  const wrong = ENDPOINTS.flatMap(({ model, endpoint }) => {
    const named = namesOf(model, endpoint);
    return parametersOf(model, endpoint).filter((name) => name !== "suffix" && !named.has(name));
  });
  expect(wrong).toEqual([]);
});
