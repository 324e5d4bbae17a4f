import { expect, test } from "bun:test";
import { CLIENT_FAMILIES, parseClient } from "../../src/core/usage/clients/client-family";

/** Headers as clients send them, with what they are. */
const SENT: readonly (readonly [string, string, string | null])[] = [
  ["claude-cli/2.1.329 (external, cli)", "claude-code", "2.1.329"],
  ["codex_exec/0.169.0 (Debian 12.0.0; x86_64) dumb (codex_exec; 0.169.0)", "codex", "0.169.0"],
  ["codex_cli_rs/0.42.0 (Mac OS 15.1; arm64) iTerm.app/3.5", "codex", "0.42.0"],
  [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Cursor/1.7.2 Chrome/132 Safari/537.36",
    "cursor",
    "1.7.2",
  ],
  ["Cline/3.65.0", "cline", "3.65.0"],
  ["Kilo-Code/7.7.7 ai-sdk/openai-compatible/2.0.87 runtime/bun", "kilo-code", "7.7.7"],
  ["opencode-kilo-provider/7.7.7 ai-sdk/openrouter/3.1.0", "kilo-code", "7.7.7"],
  ["RooCode/3.28.1", "roo-code", "3.28.1"],
  ["opencode/1.18.33 ai-sdk/provider-utils/4.0.1 runtime/bun/1.4.0", "opencode", "1.18.33"],
  ["QwenCode/0.24.4 (linux; x64)", "qwen-code", "0.24.4"],
  ["OpenAI/Python 1.51.0 litellm/1.60.2", "litellm", "1.60.2"],
  ["langchainjs-openai/1.0.0 ((node/v20.20.2; linux; x64))", "langchain", "1.0.0"],
  ["ai/7.0.173 ai-sdk/openai/4.0.47 runtime/node.js/22", "vercel-ai-sdk", "7.0.173"],
  ["ai-sdk-openai-compatible/3.0.92", "vercel-ai-sdk", "3.0.92"],
  ["OpenAI/JS 6.49.0", "openai-node", "6.49.0"],
  ["OpenAI/Python 2.1.0", "openai-python", "2.1.0"],
  ["AsyncOpenAI/Python 1.99.0", "openai-python", "1.99.0"],
  ["Anthropic/JS 1.11.0", "anthropic-node", "1.11.0"],
  ["AsyncAnthropic/Python 0.70.0", "anthropic-python", "0.70.0"],
  ["google-genai-sdk/2.32.0 gl-node/v20.20.2", "google-genai", "2.32.0"],
  ["mistral-client-typescript/2.7.0 2.900.1 1.0.0 @mistralai/mistralai", "mistral", "2.7.0"],
  ["curl/8.14.1", "curl", "8.14.1"],
  ["python-requests/2.32.5", "python-requests", "2.32.5"],
  ["python-httpx/0.28.1", "python-httpx", "0.28.1"],
  ["Python/3.12 aiohttp/3.11.2", "python-other", "3.11.2"],
  ["node", "node-fetch", null],
  ["Go-http-client/2.0", "go-http", "2.0"],
  ["Java-http-client/21.0.4", "java", "21.0.4"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1.15",
    "browser",
    null,
  ],
  ["our-billing-bot/7", "other", null],
];

for (const [header, family, version] of SENT) {
  test(`the client of "${header.slice(0, 40)}" is ${family}`, () => {
    expect(parseClient(header)).toEqual({ family, version } as never);
  });
}

test("a request without a User-Agent has no client", () => {
  expect(parseClient(null)).toBeNull();
  expect(parseClient("   ")).toBeNull();
  expect(parseClient("(only a comment)")).toBeNull();
});

test("what a caller writes into a User-Agent never becomes a family or a long version", () => {
  expect(parseClient(`${"x".repeat(100_000)}/1`)).toEqual({ family: "other", version: null });
  expect(parseClient(`curl/${"1".repeat(200)}`)).toEqual({ family: "curl", version: null });
  expect(parseClient("curl/<script>")).toEqual({ family: "curl", version: null });
  expect(parseClient(`${"(".repeat(100_000)}curl/8`)).toBeNull();
});

test("each family is listed once and is a short lower-case name", () => {
  expect(new Set(CLIENT_FAMILIES).size).toBe(CLIENT_FAMILIES.length);
  for (const family of CLIENT_FAMILIES) expect(family).toMatch(/^[a-z0-9-]{1,24}$/);
});
