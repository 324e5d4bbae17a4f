import { fail } from "../../base/errors.ts";

/** A function as a client names it. */
export interface FunctionName {
  readonly name: string;
  readonly namespace?: string;
}

/**
 * What AI Studio and Vertex both take. Their references say 64 or 128 characters, depending on the version; what the
 * vendor counts otherwise it refuses itself.
 */
const FITTING = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;
const MAX_CHARACTERS = 128;
const MARK = "gw.";

/**
 * A function's name as Gemini takes it. A name with other characters, or one in a group, is spelled so that
 * `decodeFunctionName` reads it back without knowing the request: `gw.<group>..<name>`, other bytes as `.2F`.
 * @throws GatewayError `invalid_request` when it is too long.
 */
export function encodeFunctionName({ name, namespace }: FunctionName, field: string): string {
  if (namespace === undefined && FITTING.test(name) && !name.startsWith(MARK)) return name;
  const spelled = `${MARK}${escapeName(namespace ?? "")}..${escapeName(name)}`;
  if (name !== "" && spelled.length <= MAX_CHARACTERS) return spelled;
  fail(
    "invalid_request",
    `${field}: Gemini takes names of 1 to ${MAX_CHARACTERS} characters; rename the tool.`,
    {
      metadata: { field },
    },
  );
}

const SPELLED = /^gw\.((?:[\w-]|\.[0-9A-F]{2})*)\.\.((?:[\w-]|\.[0-9A-F]{2})+)$/;

/** The client's name of a function that the model calls. */
export function decodeFunctionName(spelled: string): FunctionName {
  const [, namespace = "", name = ""] = SPELLED.exec(spelled) ?? [];
  if (name === "") return { name: spelled };
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

function unescapeName(spelled: string): string {
  const latin1 = spelled.replace(/\.([0-9A-F]{2})/g, (_all, byte: string) =>
    String.fromCharCode(Number.parseInt(byte, 16)),
  );
  return Buffer.from(latin1, "latin1").toString("utf8");
}
