import { isObject, type JsonObject, listAt, objectAt, objectsIn, textAt } from "./json-shape.ts";
import { type Rejection, reject } from "./rejection.ts";
import type { Conversation, Entry, OfferedTool, Reply } from "./scripted-model.ts";
import {
  cutText,
  type IncomingRequest,
  makeId,
  type ReadRequest,
  streamEvents,
  type VendorUsage,
  type WireFormat,
} from "./simulated-vendor.ts";

/** Function names by the thought signatures sent with their calls; `null` for a signature on a text. */
type Signatures = Map<string, string | null>;

/** Gemini's `generateContent` as Gemini 3 requires it: the signature of a call must be sent back with it. */
export function createGemini(): WireFormat {
  const signatures: Signatures = new Map();
  return {
    name: "gemini",
    hasPath: (path) => PATH.test(path),
    findKey: ({ headers, query }) => headers.get("x-goog-api-key") ?? query.get("key"),
    read: (request) => readRequest(request, signatures),
    renderRejection,
  };
}

const PATH = /^\/v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

function renderRejection({ message, status }: Rejection): Response {
  const name = status === 401 ? "UNAUTHENTICATED" : "INVALID_ARGUMENT";
  return Response.json({ error: { code: status, message, status: name } }, { status });
}

function readRequest({ path, query, body }: IncomingRequest, signatures: Signatures): ReadRequest {
  const [, model = "", method] = PATH.exec(path) ?? [];
  requireKnown(body, FIELDS.request, "");
  requireGenerationConfig(body["generationConfig"]);
  if (body["systemInstruction"] !== undefined) {
    requireKnown(
      objectAt(body["systemInstruction"], "system_instruction"),
      FIELDS.content,
      "system_instruction",
    );
  }
  const contents = listAt(body["contents"], "contents").map(readContent);
  if (contents.length === 0) reject("* GenerateContentRequest.contents: contents is not specified");
  requireTurns(contents);
  const losses = checkSignatures(contents, signatures);
  const conversation: Conversation = {
    tools: readTools(body["tools"]),
    entries: contents.flatMap(({ role, parts }) => parts.map((part) => entryOf(part, role))),
    allowsParallelCalls: true,
  };
  const config = objectsIn([body["generationConfig"]])[0];
  const showsThoughts = objectsIn([config?.["thinkingConfig"]])[0]?.["includeThoughts"] === true;
  return {
    conversation,
    losses,
    answer(reply, usage) {
      const parts = partsOf(reply, showsThoughts, signatures);
      if (method === "generateContent") return Response.json(chunkOf(model, joinTexts(parts), usage, true));
      const chunks = parts.map((part, index) => chunkOf(model, [part], usage, index === parts.length - 1));
      return query.get("alt") === "sse"
        ? streamEvents(chunks.map((data) => ({ data })))
        : Response.json(chunks);
    },
  };
}

/** Field names of each message of the protocol. Others are rejected, as by the vendor's JSON parser. */
const FIELDS = {
  request: names(
    "contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent labels model serviceTier store",
  ),
  content: names("role parts"),
  part: names(
    "text thought thoughtSignature functionCall functionResponse inlineData fileData executableCode codeExecutionResult videoMetadata mediaResolution partMetadata toolCall toolResponse",
  ),
  functionCall: names("id name args"),
  functionResponse: names("id name response willContinue scheduling parts"),
  tool: names(
    "functionDeclarations googleSearch googleSearchRetrieval codeExecution urlContext computerUse fileSearch googleMaps mcpServers",
  ),
  declaration: names("name description parameters parametersJsonSchema response responseJsonSchema behavior"),
  schema: names(
    "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum",
  ),
  generationConfig: names(
    "stopSequences responseMimeType responseSchema responseJsonSchema _responseJsonSchema responseModalities candidateCount maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs enableEnhancedCivicAnswers speechConfig thinkingConfig imageConfig mediaResolution",
  ),
  thinkingConfig: names("includeThoughts thinkingBudget thinkingLevel"),
} as const;

function names(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

/** The parser accepts `snake_case` for every `camelCase` name. */
function requireKnown(value: JsonObject, known: ReadonlySet<string>, place: string): void {
  for (const name of Object.keys(value)) {
    const camel = name.replace(/(?<=.)_(\w)/g, (_, letter: string) => letter.toUpperCase());
    if (known.has(name) || known.has(camel)) continue;
    const where = place === "" ? "" : ` at '${place}'`;
    reject(`Invalid JSON payload received. Unknown name "${name}"${where}: Cannot find field.`);
  }
}

function requireGenerationConfig(value: unknown): void {
  if (value === undefined) return;
  const config = objectAt(value, "generation_config");
  requireKnown(config, FIELDS.generationConfig, "generation_config");
  if (config["thinkingConfig"] === undefined) return;
  const thinking = objectAt(config["thinkingConfig"], "generation_config.thinking_config");
  requireKnown(thinking, FIELDS.thinkingConfig, "generation_config.thinking_config");
  if (thinking["thinkingBudget"] !== undefined && thinking["thinkingLevel"] !== undefined) {
    reject("You can only set only one of thinking budget and thinking level.");
  }
}

interface Content {
  readonly role: "user" | "model";
  readonly parts: readonly JsonObject[];
}

function readContent(value: unknown, index: number): Content {
  const place = `contents[${index}]`;
  const content = objectAt(value, place);
  requireKnown(content, FIELDS.content, place);
  const role = content["role"] ?? "user";
  if (role !== "user" && role !== "model") reject("Please use a valid role: user, model.");
  const parts = listAt(content["parts"], `${place}.parts`).map((part, at) => {
    const fields = objectAt(part, `${place}.parts[${at}]`);
    requirePart(fields, `${place}.parts[${at}]`);
    return fields;
  });
  if (parts.length === 0)
    reject(`* GenerateContentRequest.${place}.parts: contents.parts must not be empty.`);
  return { role, parts };
}

const DATA = ["text", "functionCall", "functionResponse", "inlineData", "fileData"] as const;

function requirePart(part: JsonObject, place: string): void {
  requireKnown(part, FIELDS.part, place);
  if (!DATA.some((name) => part[name] !== undefined)) {
    reject(
      `* GenerateContentRequest.${place}.data: required oneof field 'data' must have one initialized field`,
    );
  }
  for (const kind of ["functionCall", "functionResponse"] as const) {
    if (part[kind] === undefined) continue;
    const fields = objectAt(part[kind], `${place}.${kind}`);
    requireKnown(fields, FIELDS[kind], `${place}.${kind}`);
    if (textAt(fields["name"] ?? "", `${place}.${kind}.name`) === "") {
      reject(`* GenerateContentRequest.${place}.${kind}.name: Name cannot be empty.`);
    }
    const data = kind === "functionCall" ? fields["args"] : fields["response"];
    if (data !== undefined && !isObject(data)) {
      reject(`Invalid value at '${place}.${kind}' (type.googleapis.com/google.protobuf.Struct)`);
    }
  }
}

function partsWith({ parts }: Content, kind: string): readonly JsonObject[] {
  return parts.filter((part) => part[kind] !== undefined);
}

/** Requires a turn of calls to follow a user turn, and to be followed by the same number of responses. */
function requireTurns(contents: readonly Content[]): void {
  for (const [index, content] of contents.entries()) {
    const before = contents[index - 1];
    const calls = partsWith(content, "functionCall").length;
    if (calls > 0 && (content.role !== "model" || before?.role !== "user")) {
      reject(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      );
    }
    const called = before?.role === "model" ? partsWith(before, "functionCall").length : 0;
    const responses = partsWith(content, "functionResponse").length;
    if (responses > 0 && called === 0) {
      reject("Please ensure that function response turn comes immediately after a function call turn.");
    }
    if (responses !== called) {
      reject(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      );
    }
  }
}

/** Accepted instead of a signature, for a history of another model. */
const STAND_INS = new Set(["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"]);

/** Requires the first call of each step of the current turn to have the signature that it was sent with. */
function checkSignatures(contents: readonly Content[], signatures: Signatures): string[] {
  const lastWords = contents.findLastIndex(
    (content) => content.role === "user" && partsWith(content, "functionResponse").length === 0,
  );
  return contents.flatMap((content, index): string[] => {
    if (content.role !== "model" || index < lastWords) return [];
    const first = partsWith(content, "functionCall")[0];
    if (first === undefined) return [];
    const name = String(objectAt(first["functionCall"], "functionCall")["name"]);
    const signature = first["thoughtSignature"];
    if (signature === undefined) {
      reject(
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
      );
    }
    if (STAND_INS.has(String(signature)))
      return [`The thought signature of the call of ${name} was replaced.`];
    return signatures.get(String(signature)) === name ? [] : reject("Thought signature is not valid.");
  });
}

function readTools(tools: unknown): OfferedTool[] {
  if (tools === undefined) return [];
  const seen = new Set<string>();
  return listAt(tools, "tools").flatMap((entry, index) => {
    const tool = objectAt(entry, `tools[${index}]`);
    requireKnown(tool, FIELDS.tool, `tools[${index}]`);
    return objectsIn(tool["functionDeclarations"]).map((declaration, at) => {
      const place = `tools[${index}].function_declarations[${at}]`;
      const offered = readDeclaration(declaration, place);
      if (seen.has(offered.name)) reject(`Duplicate function declaration found: ${offered.name}`);
      seen.add(offered.name);
      return offered;
    });
  });
}

function readDeclaration(declaration: JsonObject, place: string): OfferedTool {
  requireKnown(declaration, FIELDS.declaration, place);
  const name = textAt(declaration["name"], `${place}.name`);
  if (!/^[a-zA-Z_][\w.:-]{0,63}$/.test(name)) {
    reject(
      `* GenerateContentRequest.${place}.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.`,
    );
  }
  const { parameters, parametersJsonSchema } = declaration;
  if (parameters !== undefined && parametersJsonSchema !== undefined) {
    reject(`${place}: only one of parameters and parameters_json_schema may be set.`);
  }
  if (parameters !== undefined) requireSchema(objectAt(parameters, place), `${place}.parameters`);
  return { name, parameters: objectAt(parameters ?? parametersJsonSchema ?? {}, place) };
}

/** Checks `parameters`, which is an OpenAPI schema and not a JSON Schema: most keywords are unknown. */
function requireSchema(schema: JsonObject, place: string): void {
  requireKnown(schema, FIELDS.schema, place);
  if (Array.isArray(schema["type"]))
    reject(`Proto field is not repeating, cannot start list. at '${place}.type'`);
  if (
    typeof schema["type"] === "string" &&
    schema["type"].toLowerCase() === "array" &&
    !isObject(schema["items"])
  ) {
    reject(`* GenerateContentRequest.${place}.items: missing field.`);
  }
  if (isObject(schema["properties"])) {
    for (const [name, property] of Object.entries(schema["properties"])) {
      requireSchema(objectAt(property, place), `${place}.properties[${name}]`);
    }
  }
  if (isObject(schema["items"])) requireSchema(schema["items"], `${place}.items`);
  for (const option of objectsIn(schema["anyOf"])) requireSchema(option, `${place}.any_of`);
}

function entryOf(part: JsonObject, role: Content["role"]): Entry {
  const call = part["functionCall"];
  if (isObject(call)) return { kind: "call", id: String(call["id"] ?? ""), name: String(call["name"]) };
  const response = part["functionResponse"];
  if (isObject(response)) {
    // The model sees the complete response.
    const text = JSON.stringify(response["response"] ?? {});
    return { kind: "result", id: String(response["id"] ?? ""), text };
  }
  const text = typeof part["text"] === "string" ? part["text"] : "";
  return { kind: "text", role: role === "user" ? "user" : "assistant", text };
}

/** Returns the reply as parts, with texts split as in a stream. */
function partsOf(reply: Reply, showsThoughts: boolean, signatures: Signatures): JsonObject[] {
  const sign = (name: string | null): string => {
    const signature = Buffer.from(makeId(120)).toString("base64");
    signatures.set(signature, name);
    return signature;
  };
  const calls = reply.calls.map((call, index) => ({
    functionCall: { name: call.name, args: call.arguments },
    // Only the first of parallel calls is signed.
    ...(index === 0 && { thoughtSignature: sign(call.name) }),
  }));
  return [
    ...(showsThoughts ? cutText(reply.reasoning).map((text) => ({ text, thought: true })) : []),
    ...cutText(reply.text).map((text) => ({ text })),
    ...(calls.length > 0 ? calls : [{ text: "", thoughtSignature: sign(null) }]),
  ];
}

/** Joins consecutive texts of one kind, as a document has them. */
function joinTexts(parts: readonly JsonObject[]): JsonObject[] {
  const joined: JsonObject[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (
      last !== undefined &&
      typeof last["text"] === "string" &&
      typeof part["text"] === "string" &&
      last["thought"] === part["thought"]
    ) {
      joined[joined.length - 1] = { ...last, ...part, text: last["text"] + part["text"] };
    } else joined.push(part);
  }
  return joined;
}

function chunkOf(
  model: string,
  parts: readonly JsonObject[],
  usage: VendorUsage,
  isLast: boolean,
): JsonObject {
  const { input, output, reasoning } = usage;
  return {
    candidates: [{ content: { parts, role: "model" }, ...(isLast && { finishReason: "STOP" }), index: 0 }],
    usageMetadata: {
      promptTokenCount: input,
      ...(isLast && { candidatesTokenCount: output - reasoning }),
      totalTokenCount: isLast ? input + output : input + reasoning,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: input }],
      thoughtsTokenCount: reasoning,
    },
    modelVersion: model,
    responseId: makeId(22),
  };
}
