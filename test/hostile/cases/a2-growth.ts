import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { times } from "../../growth/dimension.ts";
import { expectRefusal, expectStatus, type HostileCase } from "../hostile-case.ts";

/* Bodies whose cost once grew with the square of their size. */

const CHAT = "/v1/chat/completions";
const TRANSLATED: readonly FormatName[] = ["gemini", "anthropic-messages", "bedrock-converse", "cohere-chat"];

type Body = Readonly<Record<string, unknown>>;
const user: Body = { role: "user", content: "Hello!" };
const call = (id: string): Body => ({ id, type: "function", function: { name: "look_up", arguments: "{}" } });
const branch = (at: number): Body => ({ type: "object", properties: { [`p${at}`]: { type: "string" } } });
const toolOf = (parameters: Body): Body => ({
  messages: [user],
  tools: [{ type: "function", function: { name: "tool", parameters } }],
});
const turn = (fields: Body): Body => ({ messages: [user, { role: "assistant", ...fields }, user] });

const accepted = (name: string, body: Body, path = CHAT): HostileCase => ({
  name: `A2 ${name}, to every format, without a key`,
  async run(bed) {
    const statuses = new Set<string>();
    for (const format of TRANSLATED) {
      const text = JSON.stringify({ model: bed.modelOf(format, true), ...body });
      statuses.add(await expectStatus(await bed.post(path, text, { authorization: "" }), 200));
    }
    return [...statuses].join("/");
  },
});

const refused = (name: string, body: Body, words: string): HostileCase => ({
  name: `A2 ${name} is rejected by its bound`,
  maxMemoryMb: 500,
  run: async (bed) =>
    expectRefusal(await bed.post(CHAT, { model: bed.modelOf("gemini", true), ...body }), words),
});

const cases: readonly HostileCase[] = [
  accepted("4,000 branches of anyOf", toolOf({ anyOf: times(4_000, branch) })),
  accepted("4,000 branches of allOf", toolOf({ allOf: times(4_000, branch) })),
  accepted(
    "10,000 branches of anyOf in a property",
    toolOf({ type: "object", properties: { p: { anyOf: times(10_000, branch) } } }),
  ),
  refused("30,000 branches of anyOf", toolOf({ anyOf: times(30_000, branch) }), "at most 10000 are accepted"),
  accepted("20,000 tool calls without results", turn({ tool_calls: times(20_000, (at) => call(`c${at}`)) })),
  refused(
    "50,000 tool calls",
    turn({ tool_calls: times(50_000, (at) => call(`c${at}`)) }),
    "more than 20000 tool calls",
  ),
  accepted(
    "100,000 reasoning details of one index",
    turn({
      content: "Well.",
      reasoning_details: times(100_000, () => ({ type: "reasoning.text", text: "a", index: 0 })),
    }),
  ),
  accepted(
    "20,000 encrypted details and 20,000 calls",
    turn({
      tool_calls: times(20_000, (at) => call(`c${at}`)),
      reasoning_details: times(20_000, (at) => ({
        type: "reasoning.encrypted",
        data: "AAAA",
        format: "google-gemini-v1",
        id: `c${20_000 - at}`,
        index: at,
      })),
    }),
  ),
  accepted("50,000 parts", {
    messages: [{ role: "user", content: times(50_000, () => ({ type: "text", text: "a" })) }],
  }),
  refused(
    "900,000 parts",
    { messages: [{ role: "user", content: times(900_000, () => ({ type: "text", text: "a" })) }] },
    "are accepted",
  ),
  accepted("20,000 messages", { messages: times(20_000, () => user) }),
  refused(
    "600,000 values in an unknown field",
    { messages: [user], unknown: times(600_000, () => 1) },
    "more than 500000 values",
  ),
  accepted("20,000 files of one name", {
    messages: [
      {
        role: "user",
        content: times(20_000, () => ({
          type: "file",
          file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" },
        })),
      },
    ],
  }),
];

export default cases.map((hostile) =>
  hostile.name.includes("files of one name") ? { ...hostile, run: (bed) => onlyBedrock(bed) } : hostile,
) satisfies readonly HostileCase[];

async function onlyBedrock(bed: Parameters<HostileCase["run"]>[0]): Promise<string> {
  const file = { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } };
  const body = {
    model: bed.modelOf("bedrock-converse"),
    messages: [{ role: "user", content: times(20_000, () => file) }],
  };
  return expectStatus(await bed.post(CHAT, body), 200);
}
