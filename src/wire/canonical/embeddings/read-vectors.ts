import { asFields, type Fields } from "../../../base/json/fields.ts";
import {
  decodeUtf8,
  encodeLatin1,
  fields,
  items,
  type JsonNode,
  LEAF,
  memberOf,
  numberOf,
  type Shape,
  scanJson,
} from "../../../base/json/scan.ts";
import { brokenAnswer, findVendorError, type VendorError } from "../../conversation/errors/vendor-error.ts";

/** Where a format's answer holds its vectors. */
interface VectorPath {
  /** The path of member names to the list. */
  readonly path: readonly string[];
  /** The member of an element that holds the vector; null: the element is the vector. */
  readonly member: string | null;
}

/** The vectors of an answer as JSON and its other fields, or its error. */
type ListedVectors =
  | { readonly kind: "vectors"; readonly vectors: readonly string[]; readonly rest: Fields }
  | { readonly kind: "error"; readonly error: VendorError };

/**
 * Reads the vectors of an answer without parsing them, because they are most of its bytes. Fails unless there are `count` vectors: if one
 * is missing, it is unknown to which input.
 */
export function listVectors(body: string, at: VectorPath, count: number): ListedVectors {
  const text = encodeLatin1(body);
  const scanned = scan(text, at);
  if (scanned === null) return failed("the upstream's answer is not JSON");
  const { list, rest } = scanned;
  const error = findVendorError(rest);
  if (error !== null) return { kind: "error", error };
  const elements = list?.items ?? [];
  if (elements.length === 0) return failed("the upstream answered with nothing");
  if (elements.length !== count)
    return failed(`the upstream gave ${elements.length} embeddings for ${count} inputs`);
  const vectors = inOrder(text, elements).map((element) => vectorOf(text, element, at));
  return vectors.every((vector) => vector !== null)
    ? { kind: "vectors", vectors, rest }
    : failed("the upstream's answer has an embedding that is none");
}

function failed(message: string): ListedVectors {
  return { kind: "error", error: brokenAnswer(message) };
}

function scan(
  text: string,
  { path, member }: VectorPath,
): { list: JsonNode | undefined; rest: Fields } | null {
  try {
    const root = scanJson(text, shapeOf(path, member));
    const list = path.reduce<JsonNode | undefined>(memberOf, root);
    const small = list === undefined ? text : `${text.slice(0, list.start)}null${text.slice(list.end)}`;
    const rest = asFields(JSON.parse(decodeUtf8(small)));
    return rest === null ? null : { list, rest };
  } catch {
    return null;
  }
}

function shapeOf(path: readonly string[], member: string | null): Shape {
  const element = member === null ? LEAF : fields({ index: LEAF, [member]: LEAF });
  return path.reduceRight<Shape>((shape, name) => fields({ [name]: shape }), items(element));
}

/** Orders elements by their index, because clients rely on the order. */
function inOrder(text: string, elements: readonly JsonNode[]): readonly JsonNode[] {
  const ordered: JsonNode[] = [];
  for (const element of elements) {
    const index = numberOf(text, memberOf(element, "index")) ?? -1;
    // Invalid indexes are ignored.
    if (!(index in elements) || ordered[index] !== undefined) return elements;
    ordered[index] = element;
  }
  return ordered;
}

/** Matches an array of numbers without parsing each of them; parsing it reports malformed ones. Linear, because vendors send megabytes. */
const NUMBERS = /^\[\s*-?\d[-+.\deE,\s]*\]$/;
const BASE64 = /^"[A-Za-z0-9+/\\=]+"$/;

function vectorOf(text: string, element: JsonNode, { member }: VectorPath): string | null {
  const node = member === null ? element : memberOf(element, member);
  if (node === undefined) return null;
  const json = text.slice(node.start, node.end);
  return (node.kind === "array" ? NUMBERS : BASE64).test(json) ? json : null;
}
