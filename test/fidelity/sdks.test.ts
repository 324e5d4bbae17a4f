import { describe, expect, test } from "bun:test";
import { FINISH_WORDS } from "../../src/wire/canonical/model/finish-words.ts";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { isInRun } from "../support/long-run.ts";
import { hasRecordings } from "../support/vendors/recordings.ts";
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

/** Streams that end with an error. Each library throws a different error for them. */
const BREAKING = new Set(["error in the middle of the stream", "incomplete stream"]);

/** Streams that a library cannot read as intended. */
const UNSUPPORTED: readonly (readonly [sdk: RegExp, name: RegExp, why: string])[] = [
  [
    /openai|mistralai/,
    /^custom tool call, .* to chat$|custom-tool.* to chat$/,
    "these libraries support only functions in chat streams",
  ],
  [/^@ai-sdk/, /^several choices/, "they join all choices"],
  [/^@ai-sdk\/openai$/, /^refusal text/, "it reads the refusal as text with a content filter finish"],
  [
    /^@ai-sdk\/anthropic$/,
    /^generated image|^image of OpenAI|\/image\.|signature on an image/,
    "Anthropic's models generate no images, so it rejects images in answers",
  ],
  [
    /^@ai-sdk\/anthropic$/,
    /^vendor's own finish reason/,
    "it reads an unknown finish reason as another finish",
  ],
];

/** A piece of a call without its name. Mistral's library needs the name in each piece, unlike OpenAI's API and this one. */
const PIECE_WITHOUT_NAME = /"function":\{"arguments"/;

function isUnsupported(sdk: string, { name, stream }: Streamed): boolean {
  if (sdk.startsWith("@mistralai") && PIECE_WITHOUT_NAME.test(stream)) return true;
  return UNSUPPORTED.some(([library, pattern]) => library.test(sdk) && pattern.test(name));
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

/** Translated streams. Streams in the client's own format are relayed and may have events that a library does not know. */
const RECORDED: readonly Streamed[] = RECORDINGS.flatMap(({ name, format, stream }) =>
  CLIENTS.filter((client) => FORMAT_OF[client] !== format).map((client) => ({
    name: `${name} to ${client}`,
    client,
    stream: streamFor(client, format, stream),
  })),
);

/** Returns a vendor's stream as the client receives it. */
function streamFor(client: Client, format: FormatName, stream: string): string {
  const { answers } = openRequest(client, makeBody(client, {})).encoding.encode(makeTarget(format));
  return readStream(answers, stream);
}

/** Reads a stream with the gateway's own reader. */
function readWithGateway({ client, stream }: Streamed): SdkReading {
  const [first] = summarise(readClientStream(client, stream)).choices;
  const word = FINISH_WORDS[first?.reason ?? "stop"];
  const calls = (first?.calls ?? []).map(({ name, arguments: args }) => [name, args] as const);
  return {
    text: first?.text ?? "",
    calls,
    finish: calls.length > 0 && word === "stop" ? "tool_calls" : word,
  };
}

const READINGS = [...OURS, ...RECORDED.filter((_, index) => isInRun(8, index))].flatMap((streamed) =>
  SDKS[streamed.client]
    .filter(([sdk]) => !isUnsupported(sdk, streamed))
    .map(([sdk, read]) => [`${sdk}: ${streamed.name}`, read, streamed] as const),
);

describe("an official library reads the same as the gateway's reader", () => {
  test.each(READINGS)("%s", async (_name, read, streamed) => {
    expect(await read(streamed.stream)).toEqual(readWithGateway(streamed));
  });
});

/** Google's library does not join arguments that arrive in pieces. */
const PARTIAL_ARGUMENTS = '"partialArgs"';

/** The vendors' own libraries. What they read from a stream must reach every client. */
const VENDORS: readonly (readonly [folder: string, sdk: string, read: Read])[] = [
  ["google/", "@google/genai", readGoogle],
  ["mistral/", "@mistralai/mistralai", readMistral],
];

const VENDORS_OWN = VENDORS.flatMap(([folder, sdk, read]) =>
  RECORDINGS.flatMap(({ name, format, stream }) => {
    if (!name.startsWith(folder) || stream.includes(PARTIAL_ARGUMENTS)) return [];
    return CLIENTS.map((client) => {
      const ours = { name, client, stream: streamFor(client, format, stream) };
      return [`${sdk} and a ${client} client: ${name}`, read, stream, ours] as const;
    });
  }),
);

describe("a vendor's own library reads the same from its stream as a client of the gateway", () => {
  test("with recordings of each vendor", () => {
    for (const [, sdk] of VENDORS)
      expect(VENDORS_OWN.filter(([name]) => name.startsWith(sdk)).length).toBeGreaterThan(
        hasRecordings ? 8 : 2,
      );
  });

  test.each(VENDORS_OWN)("%s", async (_name, read, stream, ours) => {
    expect(readWithGateway(ours)).toEqual(await read(stream));
  });
});
