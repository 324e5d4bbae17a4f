import { asFields, type Fields } from "../../../../base/json/fields.ts";
import { listLostFields } from "../../../canonical/fit/list-lost-fields.ts";
import { warnInto } from "../../../canonical/fit/warn.ts";
import type { EncodedRequest, ModelTarget } from "../../../canonical/model/format.ts";
import type { ConversationRequest } from "../../../canonical/model/request.ts";
import type { Warning } from "../../../conversation/warning.ts";
import { TRAITS } from "../../traits.ts";
import { keptFields, keptSpelling } from "../parts/extras.ts";
import { encodeMessages } from "./encode-messages.ts";
import { encodeTools } from "./encode-tools.ts";
import { writeSettings } from "./settings.ts";

/**
 * Encodes a request: as the client spelled it if it came in this format, otherwise in the spelling that most hosts know. Requests the usage
 * of streams.
 * @throws GatewayError `invalid_request` for media that this format cannot express.
 */
export function encodeRequest(request: ConversationRequest, target: ModelTarget): EncodedRequest {
  const warnings: Warning[] = listLostFields(request, TRAITS);
  const warn = warnInto(warnings);
  const spelling = keptSpelling(request);
  const tools = encodeTools(request.tools, warn);
  const settings = writeSettings(request, target, warn);
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

/** Merges unknown fields with the settings. A setting wins over a field of the same name, and within an object over its member. */
function putOver(kept: Fields, settings: Fields): Fields {
  const joined = Object.entries(kept).map(([name, value]) => {
    const setting = settings[name];
    const [object, over] = [asFields(value), asFields(setting)];
    if (object !== null && over !== null) return [name, { ...object, ...over }];
    return [name, setting === undefined ? value : setting];
  });
  return Object.fromEntries(joined);
}
