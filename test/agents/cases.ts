import {
  type Agent,
  CLAUDE_CODE,
  CLINE,
  CODEX,
  CODEX_OVER_WEBSOCKET,
  CODEX_OWN_PROVIDER,
  KILOCODE,
  KILOCODE_CUSTOM_PROVIDER,
  OPENCODE,
  QWEN_CODE,
  QWEN_CODE_AT_GOOGLE,
} from "./agents.ts";
import type { VendorFormat } from "./vendors/simulated-vendor.ts";

/** Providers of the catalog whose vendors are simulated. */
export type ProviderSlug = "openai" | "deepseek" | "anthropic" | "google";

/** An agent on a model. */
export interface AgentCase {
  readonly agent: Agent;
  readonly provider: ProviderSlug;
  /** The format in which the vendor is expected to be called. */
  readonly format: VendorFormat;
  readonly model: string;
}

function onChat(agent: Agent): AgentCase {
  return { agent, provider: "openai", format: "openai-chat", model: "openai/gpt-5.1" };
}

function onDeepseek(agent: Agent): AgentCase {
  return { agent, provider: "deepseek", format: "openai-chat", model: "deepseek/deepseek-reasoner" };
}

/** OpenAI speaks chat completions and Responses for this model: a Responses client is served in its own format. */
function onBoth(agent: Agent): AgentCase {
  return { agent, provider: "openai", format: "openai-responses", model: "openai/gpt-5.1" };
}

function onResponses(agent: Agent): AgentCase {
  return { agent, provider: "openai", format: "openai-responses", model: "openai/gpt-5.1-codex" };
}

function onMessages(agent: Agent): AgentCase {
  return {
    agent,
    provider: "anthropic",
    format: "anthropic-messages",
    model: "anthropic/claude-sonnet-4.5",
  };
}

function onGemini(agent: Agent): AgentCase {
  return { agent, provider: "google", format: "gemini", model: "google/gemini-3.1-pro-preview" };
}

/** Cases through the gateway, with the ids of its catalog. */
export const GATEWAY_CASES: readonly AgentCase[] = [
  onChat(CLAUDE_CODE),
  onGemini(CLAUDE_CODE),
  onMessages(CLAUDE_CODE),
  onMessages(CODEX),
  onDeepseek(CODEX),
  onBoth(CODEX),
  onResponses(CODEX),
  onMessages(CODEX_OVER_WEBSOCKET),
  onDeepseek(CODEX_OVER_WEBSOCKET),
  onResponses(CODEX_OVER_WEBSOCKET),
  onMessages(CODEX_OWN_PROVIDER),
  onDeepseek(CODEX_OWN_PROVIDER),
  onResponses(CODEX_OWN_PROVIDER),
  onChat(OPENCODE),
  onDeepseek(OPENCODE),
  onMessages(OPENCODE),
  onGemini(OPENCODE),
  onChat(QWEN_CODE),
  onMessages(QWEN_CODE),
  onChat(CLINE),
  onDeepseek(CLINE),
  onMessages(CLINE),
  onGemini(CLINE),
  onChat(KILOCODE),
  onDeepseek(KILOCODE),
  onMessages(KILOCODE),
  onGemini(KILOCODE),
];

/**
 * Cases without the gateway, with the vendor's model names: they test that agents and simulated vendors work
 * together.
 */
export const DIRECT_CASES: readonly AgentCase[] = [
  // With a thinking budget; with adaptive thinking and system messages at other positions.
  { ...onMessages(CLAUDE_CODE), model: "claude-sonnet-4-5" },
  { ...onMessages(CLAUDE_CODE), model: "claude-sonnet-5" },
  { ...onResponses(CODEX), model: "gpt-5.1-codex" },
  { ...onGemini(QWEN_CODE_AT_GOOGLE), model: "gemini-3.1-pro-preview" },
  { ...onDeepseek(OPENCODE), model: "deepseek-reasoner" },
  // A model without reasoning: these agents send `max_tokens`.
  ...[OPENCODE, QWEN_CODE, KILOCODE_CUSTOM_PROVIDER].map((agent) => ({ ...onChat(agent), model: "gpt-4.1" })),
];
