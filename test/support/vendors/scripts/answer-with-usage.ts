import type { FormatName } from "../../../../src/wire/conversation/traits/format-name.ts";
import type { Vendor } from "../vendor.ts";
import { SCRIPTS } from "./all-scripts.ts";

/** The text of every answer that `answerWithUsage` makes a vendor send. */
export const ANSWERED_TEXT = "Alpha one two";

/** Makes a vendor answer calls in a format, whole or streamed as requested, and report this usage. */
export function answerWithUsage(vendor: Pick<Vendor, "perform">, format: FormatName, usage: object): void {
  const script = SCRIPTS[format];
  vendor.perform(async (call) => {
    if (!script.isStream(call.head, call.body))
      return call.respond(200, script.document(ANSWERED_TEXT, "stop", usage));
    await call.begin(200, { "content-type": script.contentType });
    await call.piece(script.begin("Alpha one"));
    await call.piece(script.more(" two"));
    await call.piece(script.close("stop", usage));
    await call.end();
  });
}
