import type { EncodedRequest, ModelTarget } from "../../canonical/format.ts";
import { nameLeftOut } from "../../canonical/name-left-out.ts";
import type { ConversationRequest } from "../../canonical/request.ts";
import type { Warning } from "../../conversation/warning.ts";
import { asFields, type Fields } from "../../json/fields.ts";
import { encodeMessages } from "./encode-messages.ts";
import type { Warn } from "./encode-part.ts";
import { encodeTools } from "./encode-tools.ts";
import { keptFields, keptSpelling } from "./extras.ts";
import { writeSettings } from "./settings.ts";

/**
 * Puts a request into this format: as it came, where it came in it; else in the spelling that most hosts know. Usage
 * is asked for in streams.
 * @throws GatewayError `invalid_request` for media that this format has no place for.
 */
export function encodeRequest(request: ConversationRequest, target: ModelTarget): EncodedRequest {
  const warnings: Warning[] = nameLeftOut(request, "openai-chat");
  const warn: Warn = (field, message, isGrave) =>
    void warnings.push({ field, message, ...(isGrave ? { isGrave } : {}) });
  const spelling = keptSpelling(request);
  const tools = encodeTools(request.tools, warn);
  const settings = writeSettings(request, spelling, target, warn);
  const body = {
    model: target.name,
    messages: encodeMessages(request.messages, warn),
    ...(tools.length > 0 ? { tools } : "tools" in spelling ? { tools: spelling["tools"] } : {}),
    ...settings,
    ...(request.stream ? { stream_options: { include_usage: true } } : {}),
    ...putOver(keptFields(request), settings),
  };
  return { body, warnings };
}

/** What the client said in fields that a setting came to as well: the setting counts, inside of objects too. */
function putOver(kept: Fields, settings: Fields): Fields {
  const joined = Object.entries(kept).map(([name, value]) => {
    const setting = settings[name];
    const [object, over] = [asFields(value), asFields(setting)];
    if (object !== null && over !== null) return [name, { ...object, ...over }];
    return [name, setting === undefined ? value : setting];
  });
  return Object.fromEntries(joined);
}
