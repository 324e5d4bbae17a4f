import type { AnswerSetting } from "./messages.ts";

/** Text of the first content event of every stream; its arrival is the first token. */
export const FIRST_TOKEN = "Gladly";

const ID = "chatcmpl-D8Z5oo6uDh67AD85p73ksdT1KxhE0";
const MODEL = "gpt-4o-mini-2024-07-18";
const CREATED = 1770933892;
const FINGERPRINT = "fp_de604bd877";
const WORDS = ["the", " gateway", " relays", " each", " event", " as", " it", " comes", ",", " word", " by"];
const OBFUSCATION = "aZ3kQ9xT7mB";

const PLAIN_HEAD =
  "HTTP/1.1 200 OK\r\ndate: Thu, 12 Feb 2026 22:04:52 GMT\r\ncontent-type: application/json\r\n" +
  "openai-processing-ms: 12\r\nx-request-id: req_9f2c1d7ab4e84f5f\r\nx-ratelimit-remaining-requests: 9999\r\n";
const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ndate: Thu, 12 Feb 2026 22:04:52 GMT\r\ncontent-type: text/event-stream; charset=utf-8\r\n" +
  "openai-processing-ms: 12\r\nx-request-id: req_9f2c1d7ab4e84f5f\r\ntransfer-encoding: chunked\r\n\r\n";

/** An answer in the pieces it is sent in, one after another in the setting's interval. */
export type Answer = readonly Buffer[];

/** Makes the bytes of an answer once, so that sending it costs a write. */
export function makeAnswer(setting: AnswerSetting): Answer {
  return setting.stream ? makeStream(setting) : [makePlain(setting.marker)];
}

/** About 1 kB, shaped like the real thing. */
function makePlain(marker: string): Buffer {
  const text = `${"A gateway stands between many callers and many models. ".repeat(9)}${marker}`;
  const body = JSON.stringify({
    id: ID,
    object: "chat.completion",
    created: CREATED,
    model: MODEL,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: text, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: usage(72),
    service_tier: "default",
    system_fingerprint: FINGERPRINT,
  });
  return Buffer.from(`${PLAIN_HEAD}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** The role, the content events, the finish, the usage and [DONE]; each in a chunk of its own, as vendors send it. */
function makeStream(setting: AnswerSetting): Answer {
  const contents = Array.from({ length: setting.events }, (_, i) => contentOf(i, setting));
  const content = contents.map((text, i) => chunk(event({ content: text }, null, i)));
  const opening = STREAM_HEAD + chunk(event({ role: "assistant", content: "", refusal: null }, null, 0));
  const closing =
    chunk(event({}, "stop", 5)) + chunk(usageEvent(setting.events)) + chunk("data: [DONE]\n\n") + chunk("");
  if (setting.intervalMs === 0) return [Buffer.from(opening + content.join("") + closing)];
  const [first = "", ...rest] = content;
  return [opening + first, ...rest, closing].map((piece) => Buffer.from(piece));
}

function contentOf(index: number, setting: AnswerSetting): string {
  const first = index === 0 ? FIRST_TOKEN : (WORDS[index % WORDS.length] as string);
  return index === setting.events - 1 ? `${first} ${setting.marker}` : first;
}

function event(delta: object, finish: string | null, turn: number): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return frame({ choices, usage: null, obfuscation: OBFUSCATION.slice(turn % OBFUSCATION.length) });
}

function usageEvent(tokens: number): string {
  return frame({ choices: [], usage: usage(tokens), obfuscation: "" });
}

function frame(rest: object): string {
  const start = { id: ID, object: "chat.completion.chunk", created: CREATED, model: MODEL };
  const body = { ...start, service_tier: "default", system_fingerprint: FINGERPRINT, ...rest };
  return `data: ${JSON.stringify(body)}\n\n`;
}

function usage(completionTokens: number): object {
  return {
    prompt_tokens: 216,
    completion_tokens: completionTokens,
    total_tokens: 216 + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
