import type { FormatName } from "../../../src/wire/conversation/format-name.ts";
import type { Play } from "../vendor.ts";

/** Why a scripted answer ends. `refusal`: the vendor's filter or the model itself cut it. */
export type ScriptedFinish = "stop" | "length" | "refusal";

/** A refusal, in the vendor's words. */
export interface ScriptedError {
  readonly status: number;
  readonly body: unknown;
}

/** What vendors refuse with. `credit`: the gateway's account there ran dry; `limited`: too many requests. */
export type ErrorName = "key" | "credit" | "limited" | "failed" | "overloaded" | "bad";

/** How vendors of one format speak, in the bytes of their streams and the documents of their answers. */
export interface VendorScript {
  readonly format: FormatName;
  /** The content type of its streams. */
  readonly contentType: string;
  /** Whether a request to this path with this body asks for a stream. */
  isStream(line: string, body: Readonly<Record<string, unknown>>): boolean;
  /** A stream as far as its first words. */
  begin(text: string): Buffer;
  /** More words. */
  more(text: string): Buffer;
  /** The end of the words, the finish, the usage as the vendor counts it, the end marker. */
  close(finish: ScriptedFinish, usage?: unknown): Buffer;
  /** The same without the end marker, where the format has one of its own. */
  finish(): Buffer;
  /** The end of the words, the usage and the end marker, and no reason to finish where the format can leave it out. */
  closeWithoutReason(): Buffer;
  /** The end of the words, and nothing that says how it finished. */
  trailOff(): Buffer;
  /** A stream as far as the middle of a tool call. */
  beginCall(): Buffer;
  /** A whole stream without a word. */
  sayNothing(): Buffer;
  /** An error in the middle of a stream. */
  fail(error: ScriptedError): Buffer;
  /** An answer that is not streamed. */
  document(text: string, finish: ScriptedFinish, usage?: unknown): unknown;
  /** An answer that is not streamed, without a word. */
  emptyDocument(): unknown;
  readonly errors: Readonly<Record<ErrorName, ScriptedError>>;
}

/** What every scripted vendor says that it used. Tokens. */
export const SCRIPTED_USAGE = { prompt: 10, completion: 5 } as const;

/** Events as they stand on the wire, each named by its `type` where `isNamed`. */
export function printEvents(events: readonly unknown[], isNamed = false): Buffer {
  const print = (event: unknown): string => {
    const name = isNamed ? `event: ${String((event as { type: unknown }).type)}\n` : "";
    return `${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;
  };
  return Buffer.from(events.map(print).join(""), "utf8");
}

/** A vendor of that format that is well and says `NAME one two`. */
export function healthyScript(script: VendorScript, name: string): Play {
  return async (call) => {
    const isStream = script.isStream(call.head, call.body);
    if (!isStream) return call.respond(200, script.document(`${name} one two`, "stop"));
    await call.begin(200, { "content-type": script.contentType });
    await call.piece(script.begin(`${name} one`));
    await call.piece(script.more(" two"));
    await call.piece(script.close("stop"));
    await call.end();
  };
}
