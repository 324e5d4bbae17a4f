import { fail } from "../../base/failures/errors.ts";

/** The name of a function in the client's request. */
export interface FunctionName {
  readonly name: string;
  readonly namespace?: string;
}

/** The names that AI Studio and Vertex AI both accept. Their references allow 64 or 128 characters, depending on the version. */
const ACCEPTED = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;
const MAX_CHARACTERS = 128;
const PREFIX = "gw.";
/** The namespace in which Gemini declares functions to its model, which now and then writes it before a name. */
const OWN_NAMESPACE = /^default_api[.:]/;

/**
 * Encodes a function's name for Gemini. A name with other characters, or in a namespace, is escaped so that `decodeFunctionName`
 * can decode it without the request: `gw.<namespace>..<name>`, other bytes as `.2F`.
 * @throws GatewayError `invalid_request` if the name is empty or too long.
 */
export function encodeFunctionName({ name, namespace }: FunctionName, field: string): string {
  const isPlain = ACCEPTED.test(name) && !name.startsWith(PREFIX) && !OWN_NAMESPACE.test(name);
  if (namespace === undefined && isPlain) return name;
  const escaped = `${PREFIX}${escapeName(namespace ?? "")}..${escapeName(name)}`;
  if (name !== "" && escaped.length <= MAX_CHARACTERS) return escaped;
  fail(
    "invalid_request",
    `${field}: Gemini takes names of 1 to ${MAX_CHARACTERS} characters; rename the tool.`,
    {
      metadata: { field },
    },
  );
}

const ESCAPED = /^gw\.((?:[\w-]|\.[0-9A-F]{2})*)\.\.((?:[\w-]|\.[0-9A-F]{2})+)$/;

/** Decodes the name of a function that the model calls to the client's name, without the namespace of Gemini. */
export function decodeFunctionName(called: string): FunctionName {
  const escaped = called.replace(OWN_NAMESPACE, "");
  const [, namespace = "", name = ""] = ESCAPED.exec(escaped) ?? [];
  if (name === "") return { name: escaped };
  const plain = { name: unescapeName(name) };
  return namespace === "" ? plain : { ...plain, namespace: unescapeName(namespace) };
}

function escapeName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/gu, (character) =>
    [...Buffer.from(character)]
      .map((byte) => `.${byte.toString(16).toUpperCase().padStart(2, "0")}`)
      .join(""),
  );
}

function unescapeName(escaped: string): string {
  const latin1 = escaped.replace(/\.([0-9A-F]{2})/g, (_all, byte: string) =>
    String.fromCharCode(Number.parseInt(byte, 16)),
  );
  return Buffer.from(latin1, "latin1").toString("utf8");
}
