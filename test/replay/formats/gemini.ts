import {
  type Answer,
  type Conversation,
  type Finish,
  type Item,
  type Json,
  listOf,
  type Media,
  readSse,
  signatureItems,
  type Turn,
  textItems,
  textOf,
  type WireReader,
  whatOf,
} from "../conversation.ts";
import { resultText } from "../facts.ts";

/** Google's `generateContent`. */
export const gemini: WireReader = { readRequest, readAnswer, joinStream };

/** Used where a history of another model has no signature. */
const STAND_IN = "skip_thought_signature_validator";

function readRequest(body: Json): Conversation {
  const system = textItems("text", textOf(body.systemInstruction?.parts));
  return {
    turns: [
      ...(system.length > 0 ? [{ role: "system" as const, items: system }] : []),
      ...listOf(body.contents).map(readTurn),
    ],
    tools: listOf(body.tools)
      .flatMap(({ functionDeclarations }) => listOf(functionDeclarations))
      .map(({ name, description, parameters, parametersJsonSchema, parameters_json_schema }) => ({
        name,
        description: description ?? null,
        schema: parametersJsonSchema ??
          parameters_json_schema ??
          lowerTypes(parameters) ?? { type: "object", properties: {} },
      })),
  };
}

/** Gemini's own schemas spell types in capitals. */
function lowerTypes(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(lowerTypes);
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.entries(schema).map(([name, value]) => [
    name,
    name === "type" && typeof value === "string" ? value.toLowerCase() : lowerTypes(value),
  ]);
  return Object.fromEntries(members);
}

function readTurn({ role, parts }: Json): Turn {
  return { role: role === "model" ? "assistant" : "user", items: listOf(parts).flatMap(readPart) };
}

function readPart(part: Json): Item[] {
  const signature = part.thoughtSignature === STAND_IN ? [] : signatureItems(part.thoughtSignature);
  if (part.functionCall) {
    const { id, name, args } = part.functionCall;
    return [{ kind: "call", id: id ?? "", name, args: JSON.stringify(args ?? {}) }, ...signature];
  }
  if (part.functionResponse) return [readResult(part.functionResponse)];
  const media = readMedia(part);
  if (media !== null) return [{ kind: "media", media }, ...signature];
  if (typeof part.text === "string")
    return [...textItems(part.thought ? "reasoning" : "text", part.text), ...signature];
  const [type = "nothing"] = Object.keys(part).filter((name) => name !== "thoughtSignature");
  return [...(type === "nothing" ? [] : [{ kind: "hosted" as const, value: type }]), ...signature];
}

function readResult({ id, name, response, parts }: Json): Item {
  const said = response?.output ?? response?.result ?? response?.error ?? response;
  const media = listOf(parts).flatMap((part) => readMedia(part) ?? []);
  return { kind: "result", id: id ?? "", name, text: resultText(said), media };
}

function readMedia({ inlineData, fileData }: Json): Media | null {
  if (inlineData) {
    const { mimeType, data } = inlineData;
    return { what: whatOf(mimeType), mediaType: mimeType, data, url: null };
  }
  if (!fileData) return null;
  return {
    what: whatOf(fileData.mimeType ?? ""),
    mediaType: fileData.mimeType ?? null,
    data: null,
    url: fileData.fileUri,
  };
}

const FINISHES: Readonly<Record<string, Finish>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "filter",
  RECITATION: "filter",
  PROHIBITED_CONTENT: "filter",
};

function readAnswer(body: Json): Answer {
  const [candidate] = listOf(body.candidates);
  const items = listOf(candidate?.content?.parts).flatMap(readPart);
  const usage = body.usageMetadata;
  const finish = FINISHES[candidate?.finishReason] ?? "stop";
  const counted = [usage?.candidatesTokenCount, usage?.thoughtsTokenCount];
  return {
    items,
    citations: listOf(candidate?.groundingMetadata?.groundingChunks).flatMap(({ web }) => web?.uri ?? []),
    finish: finish === "stop" && items.some(({ kind }) => kind === "call") ? "tools" : finish,
    usage: {
      prompt: usage?.promptTokenCount ?? null,
      completion: counted.reduce((sum, count) => sum + (count ?? 0), 0) || null,
      cached: usage?.cachedContentTokenCount ?? null,
    },
  };
}

/** Each chunk has the parts that follow the previous ones. */
function joinStream(latin1: string): Json {
  const chunks = readSse(latin1);
  const candidates = chunks.flatMap((chunk) => listOf(chunk.candidates).slice(0, 1));
  const parts = candidates.flatMap(({ content }) => listOf(content?.parts));
  const last: Json = Object.assign({}, ...candidates);
  return {
    candidates: [{ ...last, content: { role: "model", parts: joinCalls(parts) } }],
    usageMetadata: chunks.findLast((chunk) => chunk.usageMetadata)?.usageMetadata,
  };
}

/** Arguments may come in pieces, each with the path where it belongs. */
function joinCalls(parts: readonly Json[]): Json[] {
  const joined: Json[] = [];
  let open: Json = null;
  for (const part of parts) {
    const call = part.functionCall;
    if (call === undefined) joined.push(part);
    else if (open !== null && call.name === undefined) addPieces(open, call);
    else {
      open = { ...call, args: call.args ?? {} };
      addPieces(open, call);
      joined.push({ ...part, functionCall: open });
    }
    if (call !== undefined && !call.willContinue) open = null;
  }
  return joined;
}

function addPieces(open: Json, { partialArgs }: Json): void {
  for (const { jsonPath, stringValue, numberValue, boolValue, nullValue } of listOf(partialArgs)) {
    const steps = [...jsonPath.matchAll(/\.(\w+)|\[(\d+)\]|\['([^']*)'\]/g)].map(
      ([, name, index, quoted]) => name ?? quoted ?? Number(index),
    );
    const value = stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? "" : null);
    put(open.args, steps, value);
  }
}

function put(target: Json, [step, ...rest]: readonly (string | number)[], value: Json): void {
  if (step === undefined) return;
  if (rest.length > 0) {
    target[step] ??= typeof rest[0] === "number" ? [] : {};
    put(target[step], rest, value);
  } else
    target[step] =
      typeof target[step] === "string" && typeof value === "string" ? target[step] + value : value;
}
