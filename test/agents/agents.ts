import { CLIENTS, KEY_VARIABLE } from "../../src/app/connect/client-files.ts";

/** The API that an agent is configured to use. */
export interface AgentTarget {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The URL to which the API's paths are appended: `<base>/chat/completions`. */
  readonly base: string;
  readonly key: string;
  readonly model: string;
}

/** How an agent is started, in its home and a working folder. */
export interface AgentStart {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files to write before the start, by their path in the home folder. */
  readonly files: Readonly<Record<string, string>>;
}

/** A command-line agent, and how it runs without user interaction. */
export interface Agent {
  readonly name: string;
  /** The exact npm version. The newest versions need a newer Node than the gateway does. */
  readonly npmPackage: string;
  readonly version: string;
  readonly command: string;
  /** The client API that it speaks. */
  readonly api: "chat completions" | "Responses" | "Messages" | "generateContent";
  /** Whether it sends its requests over a WebSocket. */
  readonly usesWebSocket?: true;
  prepare(target: AgentTarget, prompt: string): AgentStart;
}

/** The path of the gateway's API. */
const API = "/api/gateway";

/** Returns a file with what `gateway connect` writes into it; null for a vendor, to which it does not connect. */
function connectFile(client: "claude" | "codex" | "opencode", { base, model }: AgentTarget, text: string) {
  const { editor, edits, files } = CLIENTS[client] as (typeof CLIENTS)[string];
  if (!base.endsWith(API)) return null;
  const parameters = { url: base.slice(0, -API.length), models: [model] as [string], key: null };
  const written = edits(parameters).reduce(
    (edited, { path, value }) => editor.set(edited, path, value),
    text,
  );
  return { [files[0] as string]: written };
}

/** The tools are listed, because root may not bypass all permission questions. */
export const CLAUDE_CODE: Agent = {
  name: "Claude Code",
  npmPackage: "@anthropic-ai/claude-code",
  version: "2.1.197",
  command: "claude",
  api: "Messages",
  prepare: (target, prompt) => {
    const { base, key, model } = target;
    const tools = ["--permission-mode", "acceptEdits", "--allowedTools", "Read,Write,Bash"];
    const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };
    const files = connectFile("claude", target, "");
    if (files !== null)
      return { args: ["-p", prompt, ...tools], env: { ...quiet, [KEY_VARIABLE]: key }, files };
    const env = {
      ANTHROPIC_BASE_URL: base,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    };
    return { args: ["-p", prompt, "--model", model, ...tools], env: { ...quiet, ...env }, files: {} };
  },
};

const CODEX_SETTINGS = `model_reasoning_effort = "medium"
check_for_update_on_startup = false

[analytics]
enabled = false
`;

export const CODEX: Agent = {
  name: "Codex",
  npmPackage: "@openai/codex",
  version: "0.169.0",
  command: "codex",
  api: "Responses",
  prepare: (target, prompt) => ({
    args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
    env: { [KEY_VARIABLE]: target.key },
    files: connectFile("codex", target, CODEX_SETTINGS) ?? {
      ".codex/config.toml": `model = "${target.model}"
model_provider = "gateway"
${CODEX_SETTINGS}
[model_providers.gateway]
name = "gateway"
base_url = "${target.base}"
env_key = "${KEY_VARIABLE}"
wire_api = "responses"
`,
    },
  }),
};

/** Codex with a WebSocket, over which it announces its first request and sends only what is new in each turn. */
export const CODEX_OVER_WEBSOCKET: Agent = {
  ...CODEX,
  name: "Codex over a WebSocket",
  usesWebSocket: true,
  prepare(target, prompt) {
    const start = CODEX.prepare(target, prompt);
    const files = Object.entries(start.files).map(([path, text]) => [path, text.replace(WIRE, WITH_SOCKETS)]);
    return { ...start, files: Object.fromEntries(files) };
  },
};

/** Codex with its own provider at another address. It uses a WebSocket and has the name `OpenAI`, with which Codex lets the server compact. */
export const CODEX_OWN_PROVIDER: Agent = {
  ...CODEX,
  name: "Codex with its own provider",
  usesWebSocket: true,
  prepare: ({ base, key, model }, prompt) => ({
    args: CODEX.prepare({ origin: "", base, key, model }, prompt).args,
    env: { CODEX_API_KEY: key },
    files: { ".codex/config.toml": `model = "${model}"\nopenai_base_url = "${base}"\n${CODEX_SETTINGS}` },
  }),
};

const WIRE = 'wire_api = "responses"';
const WITH_SOCKETS = `${WIRE}\nsupports_websockets = true`;

export const OPENCODE: Agent = {
  name: "OpenCode",
  npmPackage: "opencode-ai",
  version: "1.18.33",
  command: "opencode",
  api: "chat completions",
  prepare: (target, prompt) => {
    const quiet = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
    const settings = `{ "autoupdate": false, "small_model": "gateway/${target.model}" }`;
    const files = connectFile("opencode", target, settings);
    if (files !== null)
      return { args: ["run", prompt], env: { ...quiet, [KEY_VARIABLE]: target.key }, files };
    return {
      args: ["run", "--model", `gateway/${target.model}`, prompt],
      env: quiet,
      files: { ".config/opencode/opencode.json": writeProviderConfig(target) },
    };
  },
};

/** For agents that ignore `NO_PROXY` and would use a proxy for this machine. */
const NO_PROXIES = { HTTP_PROXY: "", HTTPS_PROXY: "", http_proxy: "", https_proxy: "" };

const QWEN = { npmPackage: "@qwen-code/qwen-code", version: "0.15.10", command: "qwen" } as const;
const QWEN_SETTINGS = {
  ".qwen/settings.json": JSON.stringify({
    privacy: { usageStatisticsEnabled: false },
    general: { disableAutoUpdate: true },
  }),
};

export const QWEN_CODE: Agent = {
  ...QWEN,
  name: "Qwen Code",
  api: "chat completions",
  prepare: ({ base, key, model }, prompt) => ({
    args: ["--auth-type", "openai", "--yolo", "--prompt", prompt],
    env: { ...NO_PROXIES, OPENAI_BASE_URL: base, OPENAI_API_KEY: key, OPENAI_MODEL: model },
    files: QWEN_SETTINGS,
  }),
};

/** Uses Google's own API, which the gateway does not offer to clients. */
export const QWEN_CODE_AT_GOOGLE: Agent = {
  ...QWEN,
  name: "Qwen Code",
  api: "generateContent",
  prepare: ({ origin, key, model }, prompt) => ({
    args: ["--auth-type", "gemini", "--yolo", "--prompt", prompt],
    env: { ...NO_PROXIES, GOOGLE_GEMINI_BASE_URL: origin, GEMINI_API_KEY: key, GEMINI_MODEL: model },
    files: QWEN_SETTINGS,
  }),
};

const KILO = {
  npmPackage: "@kilocode/cli",
  version: "7.7.7",
  command: "kilo",
  api: "chat completions",
} as const;
const KILO_ENV = { KILO_DISABLE_AUTOUPDATE: "1", KILO_TELEMETRY_LEVEL: "off" };

/** Configured with the file that `cline auth` writes. */
export const CLINE: Agent = {
  name: "Cline",
  npmPackage: "cline",
  version: "3.0.65",
  command: "cline",
  api: "chat completions",
  prepare: ({ base, key, model }, prompt) => {
    const provider = "openai-compatible";
    const settings = { provider, apiKey: key, model, baseUrl: base };
    const configured = { settings, updatedAt: "2026-11-01T00:00:00.000Z", tokenSource: "manual" };
    return {
      args: ["--provider", provider, "--model", model, "--auto-approve", "true", prompt],
      env: {},
      files: {
        ".cline/data/settings/providers.json": JSON.stringify({
          version: 1,
          lastUsedProvider: provider,
          modes: {},
          providers: { [provider]: configured },
        }),
      },
    };
  },
};

/** Unmodified: the agent treats the gateway as its own service, under that service's path. */
export const KILOCODE: Agent = {
  ...KILO,
  name: "kilocode",
  prepare: ({ origin, key, model }, prompt) => ({
    args: ["run", "--auto", "--model", `kilo/${model}`, prompt],
    env: { ...KILO_ENV, KILO_API_URL: origin, KILO_API_KEY: key },
    files: {},
  }),
};

/** Uses a custom provider, which needs no list of models. */
export const KILOCODE_CUSTOM_PROVIDER: Agent = {
  ...KILO,
  name: "kilocode (custom provider)",
  prepare: (target, prompt) => ({
    args: ["run", "--auto", "--model", `gateway/${target.model}`, prompt],
    env: KILO_ENV,
    files: { ".config/kilo/kilo.json": writeProviderConfig(target) },
  }),
};

function writeProviderConfig({ base, key, model }: AgentTarget): string {
  const limit = { context: 200_000, output: 32_000 };
  return JSON.stringify({
    autoupdate: false,
    share: "disabled",
    small_model: `gateway/${model}`,
    provider: {
      gateway: {
        npm: "@ai-sdk/openai-compatible",
        name: "gateway",
        options: { baseURL: base, apiKey: key },
        models: { [model]: { name: model, tool_call: true, limit } },
      },
    },
  });
}
