import { asFields } from "../../base/json/fields.ts";
import {
  allFields,
  items,
  type JsonNode,
  LEAF,
  memberOf,
  parseMember,
  scanJson,
  stringOf,
} from "../../base/json/scan.ts";
import { appendMember, applySplices, type Splice } from "../../base/json/splice.ts";
import type { PresetParameters } from "./client-api.ts";
import { CLIENT_APIS } from "./client-apis.ts";
import type { ClientApi } from "./request/inference-request.ts";

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

const SHAPE = allFields({ messages: items(LEAF), system: items(LEAF) });

/** The settings to apply to a request, and the model that replaces the requested one; null to keep the requested one. */
interface AppliedSettings {
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
  for (const [name, { field, others = [], encode }] of Object.entries(CLIENT_APIS[api].parameters)) {
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
  const place = CLIENT_APIS[api].system;
  if (place === undefined) return [];
  const { field, toItem } = place;
  const node = memberOf(body.root, field);
  return node?.kind === "array" && toItem !== undefined
    ? prepend(node, toItem(system))
    : addText(body, field, system);
}

/** Puts an element before the others of an array. */
function prepend(array: JsonNode, element: unknown): readonly Splice[] {
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
