import { describe, expect, test } from "bun:test";
import { FINISH_WORDS } from "../../src/wire/canonical/finish-words.ts";
import type { FormatName } from "../../src/wire/conversation/format-name.ts";
import { hasRecordings } from "../support/recordings.ts";
import { FEATURES } from "./answers/features.ts";
import { readClientStream, readStream, runFeature } from "./answers/run-answers.ts";
import { summarise } from "./answers/summarise.ts";
import { CLIENTS, type Client, FORMAT_OF } from "./formats.ts";
import { openRequest } from "./open-request.ts";
import { readRecorded } from "./recorded/recorded-answers.ts";
import { makeBody } from "./requests/request-case.ts";
import { readAiAnthropic, readAiCompatible, readAiOpenAiChat, readAiResponses } from "./sdks/ai-sdks.ts";
import { readAnthropic, readOpenAiChat, readOpenAiResponses } from "./sdks/official-sdks.ts";
import type { SdkReading } from "./sdks/sdk-reading.ts";
import { readGoogle, readMistral } from "./sdks/vendor-sdks.ts";
import { makeTarget } from "./targets.ts";

type Read = (stream: string) => Promise<SdkReading>;

const SDKS: Readonly<Record<Client, readonly (readonly [string, Read])[]>> = {
  chat: [
    ["openai", readOpenAiChat],
    ["@mistralai/mistralai", readMistral],
    ["@ai-sdk/openai-compatible", readAiCompatible],
    ["@ai-sdk/openai", readAiOpenAiChat],
  ],
  responses: [
    ["openai", readOpenAiResponses],
    ["@ai-sdk/openai", readAiResponses],
  ],
  messages: [
    ["@anthropic-ai/sdk", readAnthropic],
    ["@ai-sdk/anthropic", readAiAnthropic],
  ],
};

/** Streams that end in an error; libraries throw on them, each in its own way. */
const BREAKING = new Set(["an error in the middle", "a stream that breaks off"]);

/** What a library has no words for, and does not pass over either. */
const BEYOND: readonly (readonly [sdk: RegExp, name: RegExp, why: string])[] = [
  [
    /openai|mistralai/,
    /free text, .* to chat$|custom-tool.* to chat$/,
    "chat streams of these libraries know functions only",
  ],
  [/^@ai-sdk/, /^several choices/, "they join all choices"],
  [/^@ai-sdk\/openai$/, /^a refusal in words/, "its words count as text, and as a filter's"],
  [
    /^@ai-sdk\/anthropic$/,
    /^an image|\/image\.|signature on an image/,
    "Anthropic's models draw nothing, so its answers may hold no image",
  ],
  [/^@ai-sdk\/anthropic$/, /^the vendor's own word/, "a word that it does not know is another end"],
];

/** Mistral's library wants a call's name in every piece of it, where OpenAI's API and this one say it once. */
const CALL_GOES_ON = /"function":\{"arguments"/;

function isBeyond(sdk: string, { name, stream }: Streamed): boolean {
  if (sdk.startsWith("@mistralai") && CALL_GOES_ON.test(stream)) return true;
  return BEYOND.some(([library, pattern]) => library.test(sdk) && pattern.test(name));
}

interface Streamed {
  readonly name: string;
  readonly client: Client;
  readonly stream: string;
}

const OURS: readonly Streamed[] = FEATURES.filter(({ name }) => !BREAKING.has(name)).flatMap((feature) =>
  runFeature(feature).map(({ format, client, stream }) => ({
    name: `${feature.name}, ${format} to ${client}`,
    client,
    stream,
  })),
);

const RECORDINGS = readRecorded().flatMap(({ name, format, stream }) =>
  stream === null ? [] : [{ name, format, stream }],
);

/** What we encode; to its own format a vendor's stream goes as it came, with events that a library may not know. */
const RECORDED: readonly Streamed[] = RECORDINGS.flatMap(({ name, format, stream }) =>
  CLIENTS.filter((client) => FORMAT_OF[client] !== format).map((client) => ({
    name: `${name} to ${client}`,
    client,
    stream: streamFor(client, format, stream),
  })),
);

/** A vendor's stream as a client gets it. */
function streamFor(client: Client, format: FormatName, stream: string): string {
  const request = openRequest(client, makeBody(client, {}));
  request.encode(makeTarget(format));
  return readStream(request, format, stream);
}

/** What our own reader makes of it. */
function readOurselves({ client, stream }: Streamed): SdkReading {
  const [first] = summarise(readClientStream(client, stream)).choices;
  const word = FINISH_WORDS[first?.reason ?? "stop"];
  const calls = (first?.calls ?? []).map(({ name, arguments: args }) => [name, args] as const);
  return {
    text: first?.text ?? "",
    calls,
    finish: calls.length > 0 && word === "stop" ? "tool_calls" : word,
  };
}

const READINGS = [...OURS, ...RECORDED].flatMap((streamed) =>
  SDKS[streamed.client]
    .filter(([sdk]) => !isBeyond(sdk, streamed))
    .map(([sdk, read]) => [`${sdk}: ${streamed.name}`, read, streamed] as const),
);

describe("an official library reads our stream as we do", () => {
  test.each(READINGS)("%s", async (_name, read, streamed) => {
    expect(await read(streamed.stream)).toEqual(readOurselves(streamed));
  });
});

/** Google's library hands arguments that come in pieces on as they came. */
const JOINED_BY_NOBODY = '"partialArgs"';

/** What its own library reads of a vendor's stream: nothing of it may be lost on the way to any client. */
const VENDORS: readonly (readonly [folder: string, sdk: string, read: Read])[] = [
  ["google/", "@google/genai", readGoogle],
  ["mistral/", "@mistralai/mistralai", readMistral],
];

const VENDORS_OWN = VENDORS.flatMap(([folder, sdk, read]) =>
  RECORDINGS.flatMap(({ name, format, stream }) => {
    if (!name.startsWith(folder) || stream.includes(JOINED_BY_NOBODY)) return [];
    return CLIENTS.map((client) => {
      const ours = { name, client, stream: streamFor(client, format, stream) };
      return [`${sdk} and a ${client} client: ${name}`, read, stream, ours] as const;
    });
  }),
);

describe("a vendor's own library reads its recorded stream as our client does", () => {
  test("there are some of each", () => {
    for (const [, sdk] of VENDORS)
      expect(VENDORS_OWN.filter(([name]) => name.startsWith(sdk)).length).toBeGreaterThan(
        hasRecordings ? 8 : 2,
      );
  });

  test.each(VENDORS_OWN)("%s", async (_name, read, stream, ours) => {
    expect(readOurselves(ours)).toEqual(await read(stream));
  });
});
