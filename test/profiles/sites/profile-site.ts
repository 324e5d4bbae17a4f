import { type AskableApi, CLIENT_APIS } from "../../support/clients/client-apis.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answerAnyFormat } from "../../support/vendors/answer-any-format.ts";
import {
  type RecordingVendor,
  type Responder,
  startRecordingVendor,
} from "../../support/vendors/recording-vendor.ts";

export const [CHAT, RESPONSES, MESSAGES] = CLIENT_APIS as readonly [AskableApi, AskableApi, AskableApi];

export type Fields = Readonly<Record<string, unknown>>;

/** What a caller and the vendor saw of one request. */
export interface Asked {
  readonly status: number;
  /** The whole answer. */
  readonly text: string;
  /** The body that reached the vendor last; empty if none did. */
  readonly sent: Fields;
  /** The fields that the answer's warnings name. */
  readonly named: readonly string[];
}

/** A gateway with keys of many providers. One simulated vendor answers for all of them and records their requests. */
export interface ProfileSite {
  readonly gateway: TestGateway;
  readonly vendor: RecordingVendor;
  /** Sends one request with further fields. `respond` answers it at the vendor; by default with "Hello there.". */
  ask(api: AskableApi, model: string, more: Fields, respond?: Responder): Promise<Asked>;
  stop(): Promise<unknown>;
}

const NAMES = [
  "ANTHROPIC",
  "OPENAI",
  "GEMINI",
  "XAI",
  "MOONSHOT",
  "MISTRAL",
  "DEEPSEEK",
  "GROQ",
  "CEREBRAS",
  "FIREWORKS",
  "MINIMAX",
];

/** The environment of providers that are named otherwise; `{vendor}` in it is the vendor's address. */
export const BEDROCK_AND_COHERE: Readonly<Record<string, string>> = {
  AWS_BEARER_TOKEN_BEDROCK: "bedrock-test-0001",
  AWS_BEDROCK_REGION: "us-east-1",
  AWS_BEDROCK_BASE_URL: "{vendor}",
  CO_API_KEY: "cohere-test-0001",
  CO_API_URL: "{vendor}",
};

/** Hosts of an operator's own, one for each format of clients, with the models `own/chat`, `own/responses` and `own/messages`. */
export const OWN_HOSTS = `
providers:
  chathost:
    base_url: {vendor}
    api_keys: [sk-own-0123456789]
    models: [{id: own/chat, name: up}]
  responseshost:
    base_url: {vendor}
    format: openai-responses
    api_keys: [sk-own-0123456789]
    models: [{id: own/responses, name: up}]
  messageshost:
    base_url: {vendor}
    format: anthropic-messages
    api_keys: [sk-own-0123456789]
    models: [{id: own/messages, name: up}]
`;

/** Starts such a site. `yaml` and `more` configure further providers; `{vendor}` in them is the vendor's address. */
export async function startProfileSite(
  yaml = "",
  more: Readonly<Record<string, string>> = {},
): Promise<ProfileSite> {
  const vendor = startRecordingVendor();
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(more))
    environment[name] = value.replaceAll("{vendor}", vendor.baseUrl);
  for (const name of NAMES) {
    environment[`${name}_API_KEY`] = `sk-test-${name.toLowerCase()}-0001`;
    environment[`${name}_BASE_URL`] = vendor.baseUrl;
  }
  const gateway = await startTestGateway({ environment, yaml: yaml.replaceAll("{vendor}", vendor.baseUrl) });
  return {
    gateway,
    vendor,
    async ask(api, model, more, respond = answerAnyFormat) {
      vendor.reset(respond);
      const response = await fetch(`${gateway.base}${api.path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify(api.body(model, more)),
      });
      const text = await response.text();
      const body = JSON.parse(text) as { gateway_metadata?: { warnings?: { field: string }[] } };
      const named = (body.gateway_metadata?.warnings ?? []).map(({ field }) => field);
      const sent = vendor.requests.length === 0 ? {} : JSON.parse(vendor.last().text);
      return { status: response.status, text, sent, named };
    },
    stop: () => Promise.all([gateway.stop(), vendor.stop()]),
  };
}
