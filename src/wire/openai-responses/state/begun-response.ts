import { asFields, type Fields, setField } from "../../../base/json/fields.ts";
import { parseJson } from "../../../base/json/parse-json.ts";
import {
  decodeUtf8,
  fields,
  LEAF,
  memberOf,
  type Shape,
  scanJson,
  sliceOf,
} from "../../../base/json/scan.ts";
import { isAbsent } from "../../conversation/check-nodes.ts";
import { listMissing } from "../required-fields.ts";

/** The fields of a request that its response repeats. */
const REPEATED = [
  "instructions",
  "max_output_tokens",
  "max_tool_calls",
  "metadata",
  "parallel_tool_calls",
  "prompt_cache_key",
  "reasoning",
  "safety_identifier",
  "temperature",
  "text",
  "tool_choice",
  "tools",
  "top_logprobs",
  "top_p",
  "truncation",
  "user",
] as const;

const REQUEST: Shape = fields(Object.fromEntries(REPEATED.map((name) => [name, LEAF])));

/** Returns the fields of a response of which nothing has arrived yet: those that repeat its request, and defaults. `bytes`: the request. */
export function describeBegun(bytes: Uint8Array, known: Fields): Fields {
  const text = Buffer.from(bytes).toString("latin1");
  const root = scanJson(text, REQUEST);
  const repeated: Record<string, unknown> = { ...known };
  for (const name of REPEATED) {
    const node = memberOf(root, name);
    if (!isAbsent(node)) setField(repeated, name, parseJson(decodeUtf8(sliceOf(text, node))));
  }
  const { reasoning, text: format } = repeated;
  if (reasoning !== undefined)
    repeated["reasoning"] = { effort: null, summary: null, ...asFields(reasoning) };
  if (format !== undefined) repeated["text"] = { format: { type: "text" }, ...asFields(format) };
  return { ...repeated, ...listMissing(repeated) };
}
