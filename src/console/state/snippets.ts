/** How a client is pointed at the gateway. Pure functions. */

/** What a snippet is filled in with. */
interface SnippetValues {
  /** The URL of the gateway without a path. */
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
}

/** Where a snippet is typed or stored, and what it says. */
interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly code: string;
}

/** Returns the snippets for common clients and agents. */
export function listSnippets({ baseUrl, key, model }: SnippetValues): readonly Snippet[] {
  const api = `${baseUrl}/api/gateway`;
  return [
    { id: "curl", title: "curl", code: printExampleCall({ baseUrl, key, model }) },
    {
      id: "openai",
      title: "OpenAI SDK",
      code: `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${api}", apiKey: "${key}" });
const answer = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Hello!" }],
});`,
    },
    {
      id: "python",
      title: "Python",
      code: `from openai import OpenAI

client = OpenAI(base_url="${api}", api_key="${key}")
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello!"}],
)`,
    },
    {
      id: "claude-code",
      title: "Claude Code",
      code: `ANTHROPIC_BASE_URL=${api} ANTHROPIC_AUTH_TOKEN=${key} claude --model ${model}`,
    },
    {
      id: "codex",
      title: "Codex",
      code: `# ~/.codex/config.toml; then: GATEWAY_KEY=${key} codex
model = "${model}"
model_provider = "gateway"

[model_providers.gateway]
name = "gateway"
base_url = "${api}"
env_key = "GATEWAY_KEY"
wire_api = "responses"`,
    },
    {
      id: "opencode",
      title: "OpenCode",
      code: JSON.stringify(
        {
          provider: {
            gateway: {
              npm: "@ai-sdk/openai-compatible",
              options: { baseURL: api, apiKey: key },
              models: { [model]: { name: model, tool_call: true } },
            },
          },
        },
        null,
        2,
      ),
    },
  ];
}

/** Returns a curl command that sends one chat completion. */
function printExampleCall({ baseUrl, key, model }: SnippetValues): string {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello!" }] });
  return `curl ${baseUrl}/api/gateway/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`;
}
