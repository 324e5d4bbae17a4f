import { asFields, createTable, type Fields, setField } from "../../../base/json/fields.ts";

/** Separates the texts of joined messages. */
const MESSAGE_BREAK = "\n\n";

/**
 * Joins assistant messages, each given as JSON, into one with the content and the calls of all of them. A field without a rule of
 * its own is taken from the first message that has it.
 */
export function joinAssistants(messages: readonly string[]): string {
  const [only] = messages;
  if (only !== undefined && messages.length === 1) return only;
  const joined: Record<string, unknown> = {};
  const all = messages.map((json) => asFields(JSON.parse(json)) ?? {});
  for (const field of new Set(all.flatMap(Object.keys))) {
    const values = all
      .map((message) => message[field])
      .filter((value) => value !== undefined && value !== null);
    setField(joined, field, (JOINERS[field] ?? takeFirst)(values));
  }
  return JSON.stringify(joined);
}

const JOINERS: Readonly<Record<string, (values: readonly unknown[]) => unknown>> = createTable({
  content: joinContents,
  reasoning: joinTexts,
  reasoning_content: joinTexts,
  reasoning_details: (values) => values.flat(),
  tool_calls: (values) => values.flat(),
});

function takeFirst(values: readonly unknown[]): unknown {
  return values[0] ?? null;
}

/** Joins contents: to one text if all are texts, otherwise to a list of parts. Returns null if all are empty. */
function joinContents(contents: readonly unknown[]): unknown {
  const filled = contents.filter(
    (content) => content !== "" && !(Array.isArray(content) && content.length === 0),
  );
  if (filled.length <= 1 || filled.every((content) => typeof content === "string")) return joinTexts(filled);
  return filled.flatMap((content) => (typeof content === "string" ? [toPart(content)] : content));
}

function toPart(text: string): Fields {
  return { type: "text", text };
}

function joinTexts(values: readonly unknown[]): unknown {
  const isText = values.every((value) => typeof value === "string");
  return isText && values.length > 0 ? values.join(MESSAGE_BREAK) : takeFirst(values);
}
