import type { AskableApi } from "../../support/clients/client-apis.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { createAccountTools } from "../../support/gateway/management.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";
import { answerAnyFormat } from "../../support/vendors/answer-any-format.ts";
import {
  type RecordedRequest,
  type RecordingVendor,
  type Responder,
  startRecordingVendor,
} from "../../support/vendors/recording-vendor.ts";
import type { Fields } from "./profile-site.ts";

/** Models of hosts that the catalog does not know, one for each format. */
export const HOSTS = {
  chat: "acme/chat",
  responses: "acme/responses",
  messages: "acme/messages",
  gemini: "acme/gemini",
} as const;

const FORMATS = {
  chat: "openai-chat",
  responses: "openai-responses",
  messages: "anthropic-messages",
  gemini: "gemini",
} as const;

/** What a caller got for one request, and what reached the vendor of it. */
export interface Learned {
  readonly status: number;
  readonly text: string;
  readonly id: string;
  /** The bodies that reached the vendor, in order. */
  readonly sent: readonly Fields[];
}

/** A gateway in front of one simulated vendor that refuses fields. */
export interface LearningSite {
  readonly gateway: TestGateway;
  readonly vendor: RecordingVendor;
  readonly clock: TestClock;
  /** Returns the key of a new account. `byokProvider`: the account calls that provider with a key of its own. */
  newAccount(byokProvider?: string): Promise<string>;
  /** Sends one request. `respond` is the vendor. */
  ask(
    key: string,
    api: AskableApi,
    model: string,
    asked: { readonly more: Fields; readonly respond: Responder },
  ): Promise<Learned>;
  stop(): Promise<unknown>;
}

/** Starts a site. `yaml` precedes its configuration. */
export async function startLearningSite(yaml = ""): Promise<LearningSite> {
  const vendor = startRecordingVendor();
  const clock = createTestClock();
  const lines = Object.entries(FORMATS).map(
    ([name, format]) =>
      `  ${name}: {base_url: "${vendor.baseUrl}", api_keys: [platform-${name}-0123456789], format: ${format}, models: [{id: acme/${name}, name: up, context_length: 1000000}]}`,
  );
  lines.push(
    `  texts: {base_url: "${vendor.baseUrl}", api_keys: [platform-texts-0123456789], formats: [openai-completions], models: [{id: acme/base, name: up}]}`,
    `  both: {base_url: "${vendor.baseUrl}", api_keys: [platform-both-0123456789], formats: [openai-chat, openai-responses], models: [{id: acme/both, name: up}]}`,
    `  keys: {base_url: "${vendor.baseUrl}", api_keys: [platform-first-0123456789, platform-second-0123456789], models: [{id: acme/keys, name: up}]}`,
    `  embeddings: {base_url: "${vendor.baseUrl}", api_keys: [platform-embed-0123456789], models: [{id: acme/embed, name: up, output: embedding}]}`,
    `  mistral: {base_url: "${vendor.baseUrl}", api_keys: [platform-mistral-0123456789]}`,
  );
  const gateway = await startTestGateway({ clock, yaml: `${yaml}\nproviders:\n${lines.join("\n")}` });
  const accounts = createAccountTools(gateway);
  let keys = 0;
  return {
    gateway,
    vendor,
    clock,
    async newAccount(byokProvider) {
      const account = await accounts.user();
      if (byokProvider !== undefined) await bringKey(gateway, account, byokProvider, ++keys);
      return accounts.key(account);
    },
    async ask(key, api, model, { more, respond }) {
      vendor.reset(respond);
      const response = await fetch(`${gateway.base}${api.path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(api.body(model, more)),
      });
      const text = await response.text();
      const sent = vendor.requests.map((request) => JSON.parse(request.text) as Fields);
      const id = response.headers.get("x-gateway-generation-id") ?? "";
      return { status: response.status, text, id, sent };
    },
    stop: () => Promise.all([gateway.stop(), vendor.stop()]),
  };
}

async function bringKey(
  { url, adminKey }: TestGateway,
  account: string,
  provider: string,
  number: number,
): Promise<void> {
  const response = await fetch(`${url}/api/admin/accounts/${account}/provider-keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ provider, key: `own-key-${number}-0123456789` }),
  });
  if (response.status !== 201) throw new Error(await response.text());
}

/** Answers as the vendor's error says while a body has one of the fields, wherever it has parameters; otherwise plainly. */
export function refuse(fields: readonly string[], say: (field: string) => unknown, status = 400): Responder {
  return (request: RecordedRequest) => {
    const body = JSON.parse(request.text) as Fields;
    const found = fields.find((field) => hasField(body, field));
    return found === undefined ? answerAnyFormat(request) : Response.json(say(found), { status });
  };
}

/** Whether a body has a field, or its `generationConfig` does. */
export function hasField(body: Fields, field: string): boolean {
  const inner = (body["generationConfig"] ?? {}) as Fields;
  return Object.hasOwn(body, field) || Object.hasOwn(inner, field);
}

/** OpenAI's error for a parameter that a model does not take. */
export const unsupported = (field: string): unknown => ({
  error: {
    message: `Unsupported parameter: '${field}' is not supported with this model.`,
    type: "invalid_request_error",
    param: field,
    code: "unsupported_parameter",
  },
});
