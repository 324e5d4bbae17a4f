import { describe, expect, test } from "bun:test";
import type {
  ConfigProvider,
  ProviderHealth,
  Setting,
  StoredConfig,
} from "../../../../src/console/api/schema.ts";
import type { LoadedConfig } from "../../../../src/console/parts/config/config-types.ts";
import {
  findPinned,
  inForceAt,
  listPinned,
  storedAt,
} from "../../../../src/console/parts/config/read-config.ts";
import { toPerMillion, toPerToken } from "../../../../src/console/parts/config/shift-decimal.ts";
import { readPrices, typePrices } from "../../../../src/console/parts/config/typed-prices.ts";
import { initialsOf } from "../../../../src/console/parts/values/initials.ts";
import { toEdit, withEndpoint, withHidden } from "../../../../src/console/screens/models/override-draft.ts";
import {
  draftOf,
  editDraft,
  findProblems,
  toModel,
} from "../../../../src/console/screens/providers/model-draft.ts";
import {
  findSetups,
  isPartNeeded,
  listKeyRows,
  listProviderRows,
  toSlug,
} from "../../../../src/console/screens/providers/provider-rows.ts";
import { listEdits, readDraft } from "../../../../src/console/screens/providers/settings-draft.ts";

const refer = (id: string) => `\${secret:${id}}`;

const STORED: StoredConfig = {
  revision: 3,
  document: {
    providers: {
      vllm: {
        base_url: "http://vllm:8000/v1",
        api_keys: [
          { id: "main", key: refer("vllm-1"), weight: 2, enabled: true },
          { id: "old", key: refer("vllm-2"), weight: 1, enabled: false },
        ],
        headers: { "x-team": refer("vllm-3") },
        models: [{ id: "local/llama", name: "llama" }],
      },
    },
  },
  changed_at: null,
  changed_by: null,
  pinned: [
    {
      path: ["providers", "groq", "api_keys", "a"],
      file: "/etc/gateway.yaml",
      line: 4,
      variable: null,
      gateway: null,
    },
    {
      path: ["catalog", "overrides", "openai/gpt-5"],
      file: "/etc/gateway.yaml",
      line: 9,
      variable: null,
      gateway: null,
    },
  ],
  secrets: [1, 2, 3].map((n) => ({ id: `vllm-${n}`, last_four: `000${n}`, created_at: "", updated_at: "" })),
};

const setting = (name: string, changes: Partial<Setting>): Setting => ({
  name,
  value: null,
  source: "default",
  file: null,
  line: null,
  variable: null,
  references: [],
  is_secret: false,
  needs_restart: false,
  awaits_restart: false,
  description: "",
  ...changes,
});

const CONFIG: LoadedConfig = {
  stored: STORED,
  settings: [
    setting("providers.groq.api_keys", {
      value: [{ id: "a", key: "********" }],
      source: "file",
      file: "/etc/gateway.yaml",
      line: 4,
    }),
    setting("providers.mistral.api_keys", {
      value: ["********"],
      source: "environment",
      variable: "MISTRAL_API_KEY",
    }),
    setting("providers.vllm.api_keys", {
      value: [
        { id: "main", key: "********", weight: 2, enabled: true },
        { id: "old", key: "********", weight: 1, enabled: false },
      ],
      source: "database",
    }),
  ],
};

const health = (provider: string, keys: ProviderHealth["keys"]): ProviderHealth =>
  ({ provider, name: provider, state: "ok", keys, drain: null, endpoints: [] }) as unknown as ProviderHealth;
const key = (id: string, state: "ok" | "key_refused" = "ok") => ({ id, state, until: null, models: [] });

const setup = (slug: string, name: string, more: Partial<ConfigProvider> = {}): ConfigProvider => ({
  slug,
  name,
  is_own_host: false,
  base_url: "https://api.example.com/v1",
  formats: ["openai-chat"],
  parts: [],
  key_kind: "text",
  key_variables: [],
  keys_url: null,
  catalog_models: 3,
  models: 0,
  ...more,
});

describe("prices per million tokens", () => {
  test("become prices per token digit by digit, and back", () => {
    const pairs = [
      ["2.50", "0.0000025", "2.5"],
      ["0", "0", "0"],
      ["15", "0.000015", "15"],
      ["0.075", "0.000000075", "0.075"],
      ["1234567.1", "1.2345671", "1234567.1"],
      [".5", "0.0000005", "0.5"],
    ] as const;
    for (const [typed, perToken, back] of pairs) {
      expect(toPerToken(typed)).toBe(perToken);
      expect(toPerMillion(perToken)).toBe(back);
    }
  });

  test("are rejected if they are no number", () => {
    for (const typed of ["", ".", "1,5", "-1", "1e3", "$2"])
      expect([typed, toPerToken(typed)]).toEqual([typed, null]);
  });

  test("are stored with the prices that have no field, and only if both of prompt and answer are typed", () => {
    const typed = typePrices({ prompt: "0.000002", completion: "0.000006" });
    expect(typed).toEqual({ prompt: "2", completion: "6", cache_read: "", cache_write: "" });
    expect(readPrices({ ...typed, cache_read: "0.2" }, { request: "0.01", prompt: "1" })).toEqual({
      prompt: "0.000002",
      completion: "0.000006",
      cache_read: "0.0000002",
      request: "0.01",
    });
    expect(readPrices({ ...typed, completion: "" })).toBeNull();
    expect(readPrices(typePrices(null))).toBeUndefined();
  });
});

describe("the stored configuration", () => {
  test("is read by the ids of entries", () => {
    expect(storedAt(CONFIG, ["providers", "vllm", "models", "local/llama", "name"])).toBe("llama");
    expect(storedAt(CONFIG, ["providers", "vllm", "models", "local/other"])).toBeUndefined();
    expect(storedAt(CONFIG, ["toString"])).toBeUndefined();
    expect(inForceAt(CONFIG, ["providers", "mistral", "api_keys"])).toEqual(["********"]);
  });

  test("names what takes precedence at a path, in what contains it, and below it", () => {
    expect(findPinned(CONFIG, ["catalog", "overrides", "openai/gpt-5", "hidden"])?.line).toBe(9);
    expect(findPinned(CONFIG, ["catalog", "overrides", "openai/gpt-5-mini"])).toBeNull();
    expect(findPinned(CONFIG, ["providers", "groq"])).toBeNull();
    expect(listPinned(CONFIG, ["providers", "groq"]).map(({ line }) => line)).toEqual([4]);
  });
});

describe("the list of providers", () => {
  const lists = {
    hostFormats: [],
    setups: [setup("groq", "Groq", { models: 10 }), setup("mistral", "Mistral"), setup("xai", "xAI")],
    health: [health("groq", [key("groq#a")]), health("mistral", [key("mistral#0")]), health("xai", [])],
  };

  test("has those that are stored, set by a file or have a key, with where each is set", () => {
    const rows = listProviderRows(CONFIG, lists);
    expect(rows.map(({ slug, models, sources }) => [slug, models, sources])).toEqual([
      ["groq", 10, ["gateway.yaml:4"]],
      ["mistral", 0, ["MISTRAL_API_KEY"]],
      ["vllm", 0, ["This console"]],
    ]);
  });

  test("has for each key its secret, its place and its health", () => {
    const [main, old] = listKeyRows("vllm", CONFIG, health("vllm", [key("vllm#main.2", "key_refused")]));
    expect(main).toMatchObject({ id: "main", weight: 2, state: "key_refused", pinned: null });
    expect(main?.secret?.last_four).toBe("0001");
    expect(old).toMatchObject({ id: "old", isEnabled: false, state: "disabled" });
    expect(listKeyRows("groq", CONFIG, null)[0]).toMatchObject({
      id: "a",
      secret: null,
      pinned: { line: 4 },
    });
    expect(listKeyRows("mistral", CONFIG, null)[0]).toMatchObject({
      path: null,
      variable: "MISTRAL_API_KEY",
    });
  });

  test("offers providers by all words of their name or slug, and no hosts of the configuration", () => {
    const setups = [
      setup("azure", "Azure OpenAI"),
      setup("openai", "OpenAI"),
      setup("vllm", "vLLM", { is_own_host: true }),
    ];
    expect(findSetups(setups, "open azure").map(({ slug }) => slug)).toEqual(["azure"]);
    expect(findSetups(setups, "").map(({ slug }) => slug)).toEqual(["azure", "openai"]);
  });

  test("asks only for parts that the address has and that have no default", () => {
    const azure = { base_url: "https://{resource}.openai.azure.com" };
    expect(isPartNeeded(azure, { name: "resource", default: null })).toBe(true);
    expect(isPartNeeded(azure, { name: "api_version", default: null })).toBe(false);
    expect(
      isPartNeeded({ base_url: "https://{location}.x.com" }, { name: "location", default: "global" }),
    ).toBe(false);
  });
});

describe("names", () => {
  test("have two initials", () => {
    expect(["OpenAI", "Amazon Bedrock (Responses)", "xAI", "Z.AI", ""].map(initialsOf)).toEqual([
      "OP",
      "AB",
      "XA",
      "ZA",
      "",
    ]);
  });

  test("become slugs", () => {
    expect(["LM Studio", " vLLM (2) ", "???"].map(toSlug)).toEqual(["lm-studio", "vllm-2", ""]);
  });
});

describe("the models of a host", () => {
  test("get an id with an author, and are stored with what is filled in", () => {
    const draft = draftOf({ id: "Llama 3", context_length: 8192 }, "vllm");
    expect(draft).toMatchObject({ name: "Llama 3", id: "vllm/llama-3", context: "8192" });
    expect(draftOf({ id: "Qwen/Qwen3-32B", context_length: null }, "vllm").id).toBe("qwen/qwen3-32b");
    expect(toModel(draft)).toEqual({ id: "vllm/llama-3", name: "Llama 3", context_length: 8192 });
  });

  test("keep settings that the form does not have", () => {
    const model = {
      id: "local/m",
      context_length: 4096,
      output: "embedding",
      prices: { prompt: "0.000001", completion: "0", request: "0.5" },
    };
    expect(toModel(editDraft(model))).toEqual(model);
  });

  test("are rejected with the field that is wrong", () => {
    const draft = { ...draftOf({ id: "m", context_length: null }, "vllm"), id: "m", context: "many" };
    const problems = findProblems({ ...draft, prices: { ...draft.prices, prompt: "1" } });
    expect(Object.values(problems).every((problem) => problem !== null)).toBe(true);
  });
});

describe("the settings of a provider", () => {
  test("are stored as edits of what has changed, and a header keeps its secret", () => {
    const before = readDraft("vllm", CONFIG);
    expect(listEdits("vllm", before, before)).toEqual([]);
    const headers = [...before.headers, { name: "x-new", value: "secret", stored: null }];
    const edits = listEdits("vllm", before, { ...before, headers, base_url: "", trains_on_data: "false" });
    const path = (name: string) => ["providers", "vllm", name];
    expect(edits).toEqual([
      { path: path("base_url"), remove: true },
      { path: path("headers"), value: { "x-team": refer("vllm-3"), "x-new": "secret" } },
      { path: path("trains_on_data"), value: false },
    ]);
  });
});

describe("the override of a model", () => {
  const override = { name: "Mine", endpoints: { openai: { prices: { prompt: "1" }, name: "x" } } };

  test("hides the model or an endpoint, and keeps everything else", () => {
    expect(withHidden(withHidden(override, true), false)).toEqual(override);
    const hidden = withEndpoint(override, "azure", { hidden: true });
    expect(hidden.endpoints).toEqual({ ...override.endpoints, azure: { hidden: true } });
    expect(withEndpoint(hidden, "azure", { hidden: undefined })).toEqual(override);
  });

  test("is removed if it says nothing any more", () => {
    const path = ["catalog", "overrides", "openai/gpt-5"];
    const priced = withEndpoint({}, "openai", { prices: { prompt: "1" } });
    expect(toEdit("openai/gpt-5", priced)).toEqual({ path, value: priced });
    expect(toEdit("openai/gpt-5", withEndpoint(priced, "openai", { prices: undefined }))).toEqual({
      path,
      remove: true,
    });
  });
});
