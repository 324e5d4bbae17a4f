import type { AnswerSetting, VendorFormat } from "./messages.ts";
import { VENDOR_ANSWERS } from "./vendor-answers.ts";

/** The text of the first content event of every stream. Its arrival counts as the first token. */
export const FIRST_TOKEN = "Gladly";

const WORDS = ["the", " gateway", " relays", " each", " event", " as", " it", " comes", ",", " word", " by"];

const PLAIN_HEAD =
  "HTTP/1.1 200 OK\r\ndate: Thu, 12 Feb 2026 22:04:52 GMT\r\ncontent-type: application/json\r\n" +
  "openai-processing-ms: 12\r\nx-request-id: req_9f2c1d7ab4e84f5f\r\nx-ratelimit-remaining-requests: 9999\r\n";
const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ndate: Thu, 12 Feb 2026 22:04:52 GMT\r\ncontent-type: text/event-stream; charset=utf-8\r\n" +
  "openai-processing-ms: 12\r\nx-request-id: req_9f2c1d7ab4e84f5f\r\ntransfer-encoding: chunked\r\n\r\n";

/** The pieces of an answer, sent one after another at the setting's interval. */
export type Answer = readonly Buffer[];

/** Builds the bytes of an answer once, so that sending it costs one write. */
export function makeAnswer(setting: AnswerSetting, format: VendorFormat): Answer {
  return setting.stream ? makeStream(setting, format) : [makePlain(setting.marker, format)];
}

/** About 1 kB, in the shape of a real answer. */
function makePlain(marker: string, format: VendorFormat): Buffer {
  const text = `${"A gateway stands between many callers and many models. ".repeat(9)}${marker}`;
  const body = JSON.stringify(VENDOR_ANSWERS[format].whole(text));
  return Buffer.from(`${PLAIN_HEAD}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** The opening, the content events and the closing of a stream, each in its own HTTP chunk, as vendors send them. */
function makeStream(setting: AnswerSetting, format: VendorFormat): Answer {
  const vendor = VENDOR_ANSWERS[format];
  const contents = Array.from({ length: setting.events }, (_, i) => contentOf(i, setting));
  const content = contents.map((text, i) => chunk(vendor.content(text, i)));
  const opening = STREAM_HEAD + vendor.opening().map(chunk).join("");
  const closing = vendor.closing(contents.join(""), setting.events).map(chunk).join("") + chunk("");
  if (setting.intervalMs === 0) return [Buffer.from(opening + content.join("") + closing)];
  const [first = "", ...rest] = content;
  return [opening + first, ...rest, closing].map((piece) => Buffer.from(piece));
}

function contentOf(index: number, setting: AnswerSetting): string {
  const first = index === 0 ? FIRST_TOKEN : (WORDS[index % WORDS.length] as string);
  return index === setting.events - 1 ? `${first} ${setting.marker}` : first;
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
