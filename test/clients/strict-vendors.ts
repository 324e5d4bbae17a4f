import { expect } from "bun:test";
import { createAnthropicMessages } from "../agents/vendors/anthropic-messages.ts";
import { createGemini } from "../agents/vendors/gemini.ts";
import { createOpenaiChat } from "../agents/vendors/openai-chat.ts";
import { createOpenaiResponses } from "../agents/vendors/openai-responses.ts";
import { writePrompt } from "../agents/vendors/scripted-model.ts";
import { type SimulatedVendor, startVendor, type VendorRequest } from "../agents/vendors/simulated-vendor.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway/gateway.ts";

/** A gateway whose vendors validate requests as strictly as the real ones. The sandbox is enabled too. */
export interface StrictVendors {
  readonly gateway: TestGateway;
  readonly openai: SimulatedVendor;
  readonly anthropic: SimulatedVendor;
  readonly google: SimulatedVendor;
  /** The requests to all vendors since the last `clear`, in order. */
  requests(): readonly VendorRequest[];
  clear(): void;
  stop(): Promise<void>;
}

/** Starts a gateway with its vendors. `yaml` contains further top-level keys of the configuration. */
export async function startStrictVendors(
  yaml = "",
  options: TestGatewayOptions = {},
): Promise<StrictVendors> {
  const openai = startVendor(createOpenaiChat("openai"), createOpenaiResponses());
  const deepseek = startVendor(createOpenaiChat("deepseek"));
  const anthropic = startVendor(createAnthropicMessages());
  const google = startVendor(createGemini());
  const vendors = [openai, deepseek, anthropic, google];
  const gateway = await startTestGateway({
    ...options,
    usesRedis: false,
    yaml: `
sandbox: on
providers:
  openai: {base_url: "${openai.origin}/v1", api_keys: ["${openai.key}"]}
  deepseek: {base_url: "${deepseek.origin}/v1", api_keys: ["${deepseek.key}"]}
  anthropic: {base_url: "${anthropic.origin}", api_keys: ["${anthropic.key}"]}
  google: {base_url: "${google.origin}", api_keys: ["${google.key}"]}
${yaml}`,
  });
  return {
    gateway,
    openai,
    anthropic,
    google,
    requests: () => vendors.flatMap(({ requests }) => requests),
    clear() {
      for (const vendor of vendors) vendor.clear();
    },
    async stop() {
      await gateway.stop();
      await Promise.all(vendors.map((vendor) => vendor.stop()));
    },
  };
}

/** Models of the catalog, by the format in which their vendor is called. */
export const STRICT_MODELS = {
  "openai-chat": "openai/gpt-5.1",
  "openai-responses": "openai/gpt-5.1-codex",
  "anthropic-messages": "anthropic/claude-sonnet-4.5",
  gemini: "google/gemini-3.1-pro-preview",
} as const;

/** What the simulated model answers without a task. */
export const SMALL_TALK = "A file and a clue";
const CLUE = "clue-0123456789abcdef";
/** A task of three turns: one tool call, two parallel tool calls, the answer. */
export const TASK = writePrompt({ file: "/work/answer.txt", text: "it's", clueFile: "/work/clue.txt" });
export const TASK_ANSWER = `The task is done and the clue is ${CLUE}.`;

const PATH = { type: "string" };
/** The tools of the task, with their schemas. */
export const TASK_TOOLS = {
  write_file: {
    type: "object" as const,
    properties: { path: PATH, content: { type: "string" } },
    required: ["path", "content"],
  },
  read_file: { type: "object" as const, properties: { path: PATH }, required: ["path"] },
};

/** Runs a tool of the task. */
export function runTool(name: string): string {
  return name === "read_file" ? `It says ${CLUE}.` : "written";
}

/** Checks that the vendors rejected nothing and got all reasoning back that they require. */
export function expectCompleteHistories(vendors: StrictVendors, turns: number): void {
  const requests = vendors.requests();
  expect(requests.map(({ rejection, losses }) => ({ rejection, losses }))).toEqual(
    Array(turns).fill({ rejection: null, losses: [] }),
  );
  expect(requests.map(({ reply }) => reply?.calls.length)).toEqual([1, 2, 0].slice(0, turns));
}
