import type { Warning } from "../../conversation/warning.ts";
import type { ConversationRequest, Message } from "../model/request.ts";

/**
 * Describes the JSON Schema of the answer in the instructions, and requests JSON, for a host without a parameter for schemas. The
 * instruction depends only on the schema, so that the conversation begins the same in each turn.
 */
export function askForSchema(request: ConversationRequest): {
  readonly request: ConversationRequest;
  readonly warnings: readonly Warning[];
} {
  const { outputFormat, messages } = request;
  if (outputFormat?.kind !== "json-schema") return { request, warnings: [] };
  const text = `${INSTRUCTION}\n${JSON.stringify(outputFormat.schema)}`;
  return {
    request: { ...request, outputFormat: { kind: "json" }, messages: instruct(messages, text) },
    warnings: [IN_THE_PROMPT],
  };
}

const INSTRUCTION =
  "Answer with one JSON object and nothing else. The object must be valid by this JSON Schema:";

const IN_THE_PROMPT: Warning = {
  field: "response_format",
  message:
    "The provider supports JSON output but no schemas; the schema was put into the instructions, and the answer may not follow it.",
  isGrave: true,
};

function instruct(messages: readonly Message[], text: string): readonly Message[] {
  const part = { kind: "text", text } as const;
  const [first, ...rest] = messages;
  if (first?.role !== "system" && first?.role !== "developer")
    return [{ role: "system", parts: [part] }, ...messages];
  return [{ ...first, parts: [...first.parts, part] }, ...rest];
}
