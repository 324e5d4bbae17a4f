import { fail } from "../../../base/failures/errors.ts";
import { matchResults } from "./match-results.ts";
import type { OutlineMessage } from "./outline.ts";

/**
 * Rejects a tool result without an id if it is unclear which call it answers.
 * @throws GatewayError `invalid_request` that names the field.
 */
export function checkResultIds(messages: readonly OutlineMessage[]): void {
  if (!messages.some((message) => message.kind === "result" && message.callId === "")) return;
  const { unclear } = matchResults(messages);
  if (unclear === null) return;
  const message = messages[unclear.at];
  const field = (message?.kind === "result" ? message.field : undefined) ?? "tool_call_id";
  const open = unclear.openCalls === 0 ? "no tool call" : `${unclear.openCalls} tool calls`;
  fail(
    "invalid_request",
    `${field} is required here: ${open} before it had no result yet. Send the id of the call that it answers.`,
    { metadata: { field } },
  );
}
