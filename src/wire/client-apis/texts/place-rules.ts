import { API_WORDS, ENUM_MEMBERS } from "./api-words.ts";

/**
 * How the strings at a place of a body are read. `api`: what a client API defines, where ids, enumerations, media and signatures are no
 * texts. `schema`: JSON Schema, where enumerations are none. `free`: data of the caller, of which names of members and numbers are texts
 * too. Null: not read, because it stays in the gateway.
 */
export type Mode = "api" | "schema" | "free" | null;

/**
 * Members of a body that providers do not receive unchanged: fields that address the gateway, the model, whose name is replaced, and users,
 * which are replaced by hashes.
 */
const UNSENT_ROOTS: ReadonlySet<string> = new Set([
  ...["model", "models", "preset", "provider", "session_id", "tags", "usage", "user", "safety_identifier"],
]);

/** Members of objects of the API whose objects and arrays belong to the API as well. In all others there is data of the caller. */
const API_MEMBERS: ReadonlySet<string> = new Set([
  ...[
    "messages",
    "content",
    "input",
    "output",
    "system",
    "instructions",
    "prompt",
    "prediction",
    "suffix",
    "stop",
  ],
  ...[
    "tools",
    "functions",
    "function",
    "tool_calls",
    "function_call",
    "custom",
    "format",
    "grammar",
    "tool_choice",
  ],
  ...[
    "allowed_tools",
    "source",
    "image_url",
    "video_url",
    "audio_url",
    "input_audio",
    "audio",
    "file",
    "container",
  ],
  ...[
    "cache_control",
    "citations",
    "annotations",
    "url_citation",
    "reasoning",
    "reasoning_details",
    "summary",
  ],
  ...[
    "thinking",
    "extra_content",
    "google",
    "response_format",
    "json_schema",
    "text",
    "output_config",
    "stream_options",
  ],
  ...[
    "metadata",
    "mcp_servers",
    "context_management",
    "edits",
    "trigger",
    "keep",
    "tool_configuration",
    "results",
  ],
  ...[
    "web_search_options",
    "user_location",
    "approximate",
    "modalities",
    "include",
    "images",
    "texts",
    "documents",
  ],
  ...["data", "choices", "message", "segments", "words", "transcript"],
]);

/** Members with a JSON Schema. */
const SCHEMA_MEMBERS: ReadonlySet<string> = new Set([
  ...["parameters", "input_schema", "output_schema", "schema", "inputSchema"],
]);

/** Members of a schema with data that it describes. */
const DATA_OF_SCHEMAS: ReadonlySet<string> = new Set(["default", "const", "enum", "example", "examples"]);

/** Returns how a member's value is read. `isObject`: the value is one; `isRoot`: the member is of the body itself. */
export function modeOf(parent: Mode, key: string, { isObject, isRoot }: MemberPlace): Mode {
  if (parent === null || parent === "free") return parent;
  if (parent === "schema") return DATA_OF_SCHEMAS.has(key) ? "free" : "schema";
  if (isRoot && UNSENT_ROOTS.has(key)) return null;
  if (SCHEMA_MEMBERS.has(key)) return "schema";
  // The input of a call is an object, the input of a request a text or a list.
  if (key === "input" && isObject && !isRoot) return "free";
  return API_MEMBERS.has(key) ? "api" : "free";
}

interface MemberPlace {
  readonly isObject: boolean;
  readonly isRoot: boolean;
}

/** Whether the name of a member is a text. Very short ones are none, such as those of variables. */
export function isNameText(mode: Mode, name: string): boolean {
  return mode !== null && name.length >= MIN_NAME_CHARS && !API_WORDS.has(name);
}

const MIN_NAME_CHARS = 4;

/** Whether a name of data is a plain word, as the names of a tool's parameters are. */
export function isPlainName(name: string): boolean {
  return PLAIN_NAME.test(name);
}

const PLAIN_NAME = /^[A-Za-z_]{1,40}$/;

/** Whether a number is a text, as that of a card is in data. Amounts and settings of the API are none. */
export function isNumberText(mode: Mode, name: string): boolean {
  return mode === "free" || (mode !== null && !API_WORDS.has(name));
}

/** The kind of a string in the API. `data`: media in base64. `opaque`: readable only by its vendor. */
type StringKind = "text" | "word" | "id" | "data" | "opaque";

/** Returns the kind of a string by the name of its member. The caller must check that the value has that form. */
export function kindOf(name: string): StringKind {
  return KINDS.get(name) ?? (name.endsWith("_id") && API_WORDS.has(name) ? "id" : "text");
}

const KINDS: ReadonlyMap<string, StringKind> = new Map([
  ...[...ENUM_MEMBERS].map((name) => [name, "word"] as const),
  ...["id", "prompt_cache_key"].map((name) => [name, "id"] as const),
  ...[
    "data",
    "file_data",
    "image_data",
    "image_url",
    "video_url",
    "audio_url",
    "file_url",
    "url",
    "b64_json",
  ].map((name) => [name, "data"] as const),
  ...["signature", "thought_signature", "encrypted_content", "encrypted_index", "encrypted"].map(
    (name) => [name, "opaque"] as const,
  ),
]);

/** Whether a string has the form of an id, as those that vendors and clients make. */
export function isIdForm(value: string): boolean {
  return value.length <= ID_CHARS && OPAQUE_FORM.test(value);
}

const ID_CHARS = 256;

/** Whether a string has the form of a signature or of something encrypted: no words. */
export function isOpaqueForm(value: string): boolean {
  return OPAQUE_FORM.test(value);
}

const OPAQUE_FORM = /^[\w+/=.:|-]*$/;

/** Whether a string is base64, also with line breaks. */
export function isBase64Form(value: string): boolean {
  return /^[\w+/=\r\n-]*$/.test(value);
}

/** Whether a string in a member of this name is no text: a word of the API, an id, media or something encrypted. */
export function isNoText(name: string, value: string): boolean {
  switch (kindOf(name)) {
    case "word":
      return API_WORDS.has(value);
    case "id":
      return isIdForm(value);
    case "opaque":
      return isOpaqueForm(value);
    case "data":
      return isBase64Form(value) || /^data:[^,]*;base64,/.test(value);
    default:
      return false;
  }
}
