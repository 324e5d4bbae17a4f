import { JSON_EDITOR } from "./json-editor.ts";
import type { MemberPath, TextEditor } from "./text-editor.ts";
import { TOML_EDITOR } from "./toml-editor.ts";

/** The variable from which clients read the gateway's key. */
export const KEY_VARIABLE = "GATEWAY_API_KEY";

/** What is written into a client's configuration. */
export interface ConnectParameters {
  /** The gateway's address, without the path of the API. */
  readonly url: string;
  /** Ids of models or names of routes, the preferred one first. The clients' own names are not known to the gateway. */
  readonly models: readonly [string, ...string[]];
  /** The key, if it is to be in the file; null: the client reads `KEY_VARIABLE`. */
  readonly key: string | null;
}

/** A member that is written. */
export interface MemberEdit {
  readonly path: MemberPath;
  readonly value: unknown;
}

/** A client, and where its configuration is. */
export interface ClientFile {
  readonly name: string;
  /** Below the home folder. The first that exists is used, or else the first. */
  readonly files: readonly string[];
  readonly editor: TextEditor;
  edits(parameters: ConnectParameters): readonly MemberEdit[];
}

/** The path of the API below the gateway's address. Clients append the rest. */
const API = "/api/gateway";
const PROVIDER = "gateway";

/**
 * Claude Code appends `/v1/messages` to its base URL. Settings of `env` precede the shell's, and the output of `apiKeyHelper` is the key
 * (code.claude.com/docs/en/settings, code.claude.com/docs/en/llm-gateway; November 2026).
 */
const CLAUDE: ClientFile = {
  name: "Claude Code",
  files: [".claude/settings.json"],
  editor: JSON_EDITOR,
  edits({ url, models, key }) {
    const [main, small = main] = models;
    const variables = {
      ANTHROPIC_BASE_URL: url + API,
      ...(key === null ? {} : { ANTHROPIC_AUTH_TOKEN: key }),
      ANTHROPIC_MODEL: main,
      ANTHROPIC_DEFAULT_OPUS_MODEL: main,
      ANTHROPIC_DEFAULT_SONNET_MODEL: main,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: small,
    };
    const helper = { path: ["apiKeyHelper"], value: `printenv ${KEY_VARIABLE}` };
    return [
      ...Object.entries(variables).map(([name, value]) => ({ path: ["env", name], value })),
      ...(key === null ? [helper] : []),
    ];
  },
};

/**
 * Codex appends `/responses` to `base_url`, and takes no other `wire_api` than `responses`. `env_key` names the variable with the key
 * (developers.openai.com/codex/config-reference; November 2026).
 */
const CODEX: ClientFile = {
  name: "Codex",
  files: [".codex/config.toml"],
  editor: TOML_EDITOR,
  edits: ({ url, models: [model], key }) => [
    { path: ["model"], value: model },
    { path: ["model_provider"], value: PROVIDER },
    {
      path: ["model_providers", PROVIDER],
      value: {
        name: "Gateway",
        base_url: url + API,
        ...(key === null ? { env_key: KEY_VARIABLE } : { experimental_bearer_token: key }),
        wire_api: "responses",
      },
    },
  ],
};

/**
 * OpenCode has no list of the models of a provider of one's own. `{env:NAME}` is replaced by a variable
 * (opencode.ai/docs/providers, opencode.ai/docs/config; version 1, November 2026).
 */
const OPENCODE: ClientFile = {
  name: "OpenCode",
  files: [".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"],
  editor: JSON_EDITOR,
  edits: ({ url, models, key }) => [
    {
      path: ["provider", PROVIDER],
      value: {
        npm: "@ai-sdk/openai-compatible",
        name: "Gateway",
        options: { baseURL: url + API, apiKey: key ?? `{env:${KEY_VARIABLE}}` },
        models: Object.fromEntries(models.map((model) => [model, { name: model }])),
      },
    },
    { path: ["model"], value: `${PROVIDER}/${models[0]}` },
  ],
};

/** The clients by their names in commands. */
export const CLIENTS: Readonly<Record<string, ClientFile>> = {
  claude: CLAUDE,
  codex: CODEX,
  opencode: OPENCODE,
};
