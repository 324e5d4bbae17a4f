import { asFields } from "../json/fields.ts";
import {
  allFields,
  items,
  type JsonNode,
  LEAF,
  memberOf,
  parseMember,
  scanJson,
  stringOf,
} from "../json/scan.ts";
import { appendMember, applySplices, type Splice } from "../json/splice.ts";
import type { ClientApi } from "./inference-request.ts";

/** Settings that a preset adds to a request. Absent: none. */
export interface PresetSettings {
  /** Fallback models. */
  readonly models?: readonly string[] | undefined;
  /** Members of `provider`. */
  readonly provider?: Readonly<Record<string, unknown>> | undefined;
  /** Text before the request's own system text. */
  readonly system?: string | undefined;
  readonly parameters?: PresetParameters | undefined;
}

/** Parameters in the terms of chat completions. */
export interface PresetParameters {
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly frequency_penalty?: number | undefined;
  readonly presence_penalty?: number | undefined;
  readonly reasoning_effort?: string | undefined;
}

/** Where a client API has a parameter: the field to add, and further fields of a request that stand for the same. */
interface ParameterField {
  readonly field: string;
  readonly others?: readonly string[];
  readonly encode?: (value: unknown) => unknown;
}

type ParameterFields = Readonly<Partial<Record<keyof PresetParameters, ParameterField>>>;

const SAMPLING: ParameterFields = { temperature: { field: "temperature" }, top_p: { field: "top_p" } };
const toEffort = (effort: unknown): unknown => ({ effort });

/** The parameters that each client API has. */
const PARAMETERS: Readonly<Record<ClientApi, ParameterFields>> = {
  "chat.completions": {
    ...SAMPLING,
    max_tokens: { field: "max_tokens", others: ["max_completion_tokens"] },
    stop: { field: "stop" },
    seed: { field: "seed" },
    frequency_penalty: { field: "frequency_penalty" },
    presence_penalty: { field: "presence_penalty" },
    reasoning_effort: { field: "reasoning_effort", others: ["reasoning"] },
  },
  responses: {
    ...SAMPLING,
    max_tokens: { field: "max_output_tokens" },
    reasoning_effort: { field: "reasoning", encode: toEffort },
  },
  messages: {
    ...SAMPLING,
    max_tokens: { field: "max_tokens" },
    stop: { field: "stop_sequences" },
    reasoning_effort: { field: "output_config", others: ["thinking"], encode: toEffort },
  },
  completions: {
    ...SAMPLING,
    max_tokens: { field: "max_tokens" },
    stop: { field: "stop" },
    seed: { field: "seed" },
    frequency_penalty: { field: "frequency_penalty" },
    presence_penalty: { field: "presence_penalty" },
  },
  fim: { ...SAMPLING, max_tokens: { field: "max_tokens" }, stop: { field: "stop" } },
  embeddings: {},
  moderations: {},
  rerank: {},
  images: {},
  speech: {},
  transcriptions: {},
};

const SHAPE = allFields({ messages: items(LEAF), system: items(LEAF) });

/** What is applied to a request: settings, and the model in place of the requested one; null for the requested one. */
export interface AppliedSettings {
  readonly settings: PresetSettings;
  readonly model: string | null;
}

/**
 * Returns the body of a request with the settings of a preset. Fields of the request precede them, member by member in `provider`;
 * parameters that the client API does not have are left out. The body must have been parsed by its client API.
 */
export function applyPreset(api: ClientApi, bytes: Buffer, { settings, model }: AppliedSettings): Buffer {
  const text = bytes.toString("latin1");
  const root = scanJson(text, SHAPE);
  const splices = [
    ...(model === null ? [] : replaceModel(root, model)),
    ...addFields(api, root, settings),
    ...addProvider(text, root, settings.provider),
    ...(settings.system === undefined ? [] : addSystem(api, { text, root }, settings.system)),
  ];
  return applySplices(bytes, splices);
}

function replaceModel(root: JsonNode, model: string): Splice[] {
  const node = memberOf(root, "model");
  return node === undefined ? [] : [replace(node, model)];
}

function replace({ start, end }: JsonNode, value: unknown): Splice {
  return { start, end, insert: JSON.stringify(value) };
}

function addFields(
  api: ClientApi,
  root: JsonNode,
  { models, parameters = {} }: PresetSettings,
): readonly Splice[] {
  const splices: Splice[] = [];
  if (models !== undefined && memberOf(root, "models") === undefined)
    splices.push(appendMember(root, "models", JSON.stringify(models)));
  for (const [name, { field, others = [], encode }] of Object.entries(PARAMETERS[api])) {
    const value = parameters[name as keyof PresetParameters];
    if (value === undefined || [field, ...others].some((key) => memberOf(root, key) !== undefined)) continue;
    splices.push(appendMember(root, field, JSON.stringify(encode?.(value) ?? value)));
  }
  return splices;
}

function addProvider(text: string, root: JsonNode, provider: PresetSettings["provider"]): readonly Splice[] {
  if (provider === undefined) return [];
  const node = memberOf(root, "provider");
  if (node === undefined) return [appendMember(root, "provider", JSON.stringify(provider))];
  const own = asFields(parseMember(text, root, "provider"));
  return [replace(node, { ...provider, ...own })];
}

interface ScannedBody {
  readonly text: string;
  readonly root: JsonNode;
}

function addSystem(api: ClientApi, body: ScannedBody, system: string): readonly Splice[] {
  switch (api) {
    case "chat.completions":
      return prepend(memberOf(body.root, "messages"), { role: "system", content: system });
    case "responses":
      return addText(body, "instructions", system);
    case "messages": {
      const node = memberOf(body.root, "system");
      return node?.kind === "array"
        ? prepend(node, { type: "text", text: system })
        : addText(body, "system", system);
    }
    default:
      return [];
  }
}

/** Puts an element before the others of an array. */
function prepend(array: JsonNode | undefined, element: unknown): readonly Splice[] {
  if (array === undefined) return [];
  const comma = (array.items ?? []).length === 0 ? "" : ",";
  const at = array.start + 1;
  return [{ start: at, end: at, insert: JSON.stringify(element) + comma }];
}

/** Puts a text before the text of a field, or adds the field. */
function addText({ text, root }: ScannedBody, field: string, added: string): readonly Splice[] {
  const node = memberOf(root, field);
  if (node === undefined) return [appendMember(root, field, JSON.stringify(added))];
  const own = stringOf(text, node);
  return [replace(node, own === undefined || own === "" ? added : `${added}\n\n${own}`)];
}
