import { asObjects, assignFields, type Fields, omit } from "../../../../base/json/fields.ts";
import type { ConversationRequest } from "../../../canonical/model/request.ts";
import { GATEWAY_FIELDS } from "../../../conversation/gateway-fields.ts";
import { keepExtras } from "../parts/extras.ts";
import { decodeMessages } from "./decode-messages.ts";
import { decodeTool } from "./decode-tools.ts";
import { readSettings, SETTING_FIELDS } from "./settings.ts";

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "tools",
  "stream_options",
  ...SETTING_FIELDS,
  ...GATEWAY_FIELDS,
]);

/**
 * Decodes a checked request. Unknown fields and unusual spellings are kept, so that `encodeRequest` returns the same request except
 * for the model's name, `stream_options` and the gateway's own fields.
 */
export function decodeRequest(body: Fields): ConversationRequest {
  const { settings, spelling } = readSettings(body);
  const tools = asObjects(body["tools"]);
  const spelled = "tools" in body && tools.length === 0 ? { ...spelling, tools: body["tools"] } : spelling;
  const conversation = {
    messages: decodeMessages(asObjects(body["messages"])),
    tools: tools.map(decodeTool),
  };
  return assignFields(assignFields(settings, conversation), keepExtras(omit(body, KNOWN_FIELDS), spelled));
}
