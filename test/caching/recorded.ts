import { readRecordings } from "../replay/recordings.ts";
import type { ConversationClass, Step } from "./conversations.ts";

const PATHS: Readonly<Partial<Record<string, Step["path"]>>> = {
  "openai-chat": "/chat/completions",
  "anthropic-messages": "/messages",
  "openai-responses": "/responses",
};
const AFTER_MS = 5_000;

/** Returns the recorded requests, by whether the model has tools; none where there are no recordings. */
export function readRecordedClasses(): readonly ConversationClass[] {
  const kinds = new Map<string, Step[]>();
  for (const { format, request } of readRecordings().answers) {
    const path = PATHS[format];
    if (path === undefined || request === null) continue;
    const body = request as Step["body"];
    const tools = body["tools"];
    const kind = Array.isArray(tools) && tools.length > 0 ? "with tools" : "without tools";
    const steps = kinds.get(kind) ?? [];
    steps.push({ path, body, afterMs: AFTER_MS });
    kinds.set(kind, steps);
  }
  return [...kinds].map(([name, steps]) => ({ name: `recorded: ${name}`, isAgent: false, steps }));
}
