import type { FormatName } from "../../../../src/wire/conversation/traits/format-name.ts";
import type { Play } from "../vendor.ts";

/** Why a scripted answer ends. `refusal`: the model or a content filter ended it. */
export type ScriptedFinish = "stop" | "length" | "refusal";

/** An error response of a vendor. */
export interface ScriptedError {
  readonly status: number;
  readonly body: unknown;
}

/** The errors of vendors. `credit`: the operator's account is out of credit; `limited`: too many requests. */
export type ErrorName = "key" | "credit" | "limited" | "failed" | "overloaded" | "bad";

/** Encodes the streams, documents and errors of vendors of one format. */
export interface VendorScript {
  readonly format: FormatName;
  /** The content type of streams. */
  readonly contentType: string;
  /** Returns whether a request with this request line and body asks for a stream. */
  isStream(line: string, body: Readonly<Record<string, unknown>>): boolean;
  /** The beginning of a stream, including its first text. */
  begin(text: string): Buffer;
  /** More text. */
  more(text: string): Buffer;
  /** The end of the text, the finish reason, the usage, and the end marker. */
  close(finish: ScriptedFinish, usage?: unknown): Buffer;
  /** The same without the end marker, if the format has one. */
  finish(): Buffer;
  /** The end of the text, the usage and the end marker, without a finish reason if the format can omit it. */
  closeWithoutReason(): Buffer;
  /** The end of the text, without usage, finish reason or end marker. */
  endWithoutFinish(): Buffer;
  /** A stream that ends in the middle of a tool call. */
  beginCall(): Buffer;
  /** A complete stream without text. */
  emptyStream(): Buffer;
  /** An error in the middle of a stream. */
  fail(error: ScriptedError): Buffer;
  /** An answer that is not streamed. */
  document(text: string, finish: ScriptedFinish, usage?: unknown): unknown;
  /** An answer that is not streamed, without text. */
  emptyDocument(): unknown;
  readonly errors: Readonly<Record<ErrorName, ScriptedError>>;
}

/** The token usage that every scripted vendor reports. */
export const SCRIPTED_USAGE = { prompt: 10, completion: 5 } as const;

/** Encodes events as SSE. With `isNamed` each has its `type` as event name. */
export function encodeEvents(events: readonly unknown[], isNamed = false): Buffer {
  const print = (event: unknown): string => {
    const name = isNamed ? `event: ${String((event as { type: unknown }).type)}\n` : "";
    return `${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;
  };
  return Buffer.from(events.map(print).join(""), "utf8");
}

/** Returns a healthy vendor of a format that answers `NAME one two`. */
export function healthyBehavior(script: VendorScript, name: string): Play {
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
