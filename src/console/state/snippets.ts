/** How a client is pointed at the gateway. Pure functions. */

/** What a snippet is filled in with. */
interface SnippetValues {
  /** The URL of the gateway without a path. */
  readonly baseUrl: string;
  /** The key; null if it is not known. A snippet then reads it from the environment. */
  readonly key: string | null;
  readonly model: string;
}

/** What is done with a piece of a snippet. */
type SnippetUse = "run" | "javascript" | "python" | "codexFile" | "opencodeFile";

/** How one client is pointed at the gateway: pieces that work as they are when they are copied. */
interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly pieces: readonly { readonly use: SnippetUse; readonly code: string }[];
}

/** The environment variable that snippets read a key from that they do not contain. */
export const KEY_VARIABLE = "GATEWAY_API_KEY";

/** Returns the snippets for common clients and agents. */
export function listSnippets({ baseUrl, key, model }: SnippetValues): readonly Snippet[] {
  const api = `${baseUrl}/api/gateway`;
  // In the environment of one command, if it is not there already.
  const prefix = key === null ? "" : `${KEY_VARIABLE}=${key} `;
  return [
    {
      id: "curl",
      title: "curl",
      pieces: [{ use: "run", code: printExampleCall({ baseUrl, key, model }) }],
    },
    {
      id: "openai",
      title: "OpenAI SDK",
      pieces: [
        {
          use: "javascript",
          code: `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${api}",
  apiKey: ${key === null ? `process.env.${KEY_VARIABLE}` : `"${key}"`},
});
const answer = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Hello!" }],
});
console.log(answer.choices[0].message.content);`,
        },
      ],
    },
    {
      id: "python",
      title: "Python",
      pieces: [
        {
          use: "python",
          code: `${key === null ? "import os\n\n" : ""}from openai import OpenAI

client = OpenAI(
    base_url="${api}",
    api_key=${key === null ? `os.environ["${KEY_VARIABLE}"]` : `"${key}"`},
)
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
        },
      ],
    },
    {
      id: "claude-code",
      title: "Claude Code",
      pieces: [
        {
          use: "run",
          code: `ANTHROPIC_BASE_URL=${api} ANTHROPIC_AUTH_TOKEN="${shellKey(key)}" claude --model ${model}`,
        },
      ],
    },
    {
      id: "codex",
      title: "Codex",
      pieces: [
        {
          use: "codexFile",
          code: `model = "${model}"
model_provider = "gateway"

[model_providers.gateway]
name = "gateway"
base_url = "${api}"
env_key = "${KEY_VARIABLE}"
wire_api = "responses"`,
        },
        { use: "run", code: `${prefix}codex` },
      ],
    },
    {
      id: "opencode",
      title: "OpenCode",
      pieces: [
        { use: "opencodeFile", code: printOpencodeFile(api, model) },
        { use: "run", code: `${prefix}opencode --model gateway/${model}` },
      ],
    },
  ];
}

function printOpencodeFile(api: string, model: string): string {
  const gateway = {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: api, apiKey: `{env:${KEY_VARIABLE}}` },
    models: { [model]: { name: model, tool_call: true } },
  };
  return JSON.stringify({ provider: { gateway } }, null, 2);
}

/** Returns a key as it stands between double quotes in a shell. */
function shellKey(key: string | null): string {
  return key ?? `$${KEY_VARIABLE}`;
}

/** Returns a curl command that sends one chat completion. */
function printExampleCall({ baseUrl, key, model }: SnippetValues): string {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello!" }] });
  return `curl ${baseUrl}/api/gateway/chat/completions \\
  -H "Authorization: Bearer ${shellKey(key)}" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`;
}
