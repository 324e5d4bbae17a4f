import type { Entry } from "../agents/vendors/scripted-model.ts";
import type { VendorFormat } from "../agents/vendors/simulated-vendor.ts";
import type { TestGateway } from "../support/gateway/gateway.ts";
import type { Item, SessionClient, SessionResponse } from "./session-clients.ts";
import { lookUp, writeTask } from "./session-model.ts";
import { MODELS, type SessionVendors } from "./session-vendors.ts";

/** What goes wrong in a turn. `repeats`: the client sends the request twice, because it lost the first answer. */
type Trouble = "fails" | "breaks" | "repeats";

interface Turn {
  readonly format: VendorFormat;
  /** What the user asks. Without it, the turn sends the results of the calls before. */
  readonly task?: readonly (readonly string[])[];
  readonly trouble?: Trouble;
}

const [RESPONSES, MESSAGES, GEMINI, CHAT] = [
  "openai-responses",
  "anthropic-messages",
  "gemini",
  "openai-chat",
] as const;

/** Twenty turns. The vendor changes between tasks, and between a call and its result; each vendor but one is called again later. */
export const TURNS: readonly Turn[] = [
  { format: RESPONSES, task: [["amber"]] },
  { format: RESPONSES },
  { format: RESPONSES, task: [["beech"], ["cedar", "dogwood"]], trouble: "fails" },
  { format: RESPONSES },
  { format: MESSAGES },
  { format: MESSAGES, task: [["elm"], ["fir"]] },
  { format: MESSAGES, trouble: "breaks" },
  { format: MESSAGES },
  { format: MESSAGES, task: [["ginkgo", "hazel"], ["iris"]] },
  { format: GEMINI },
  { format: GEMINI, trouble: "fails" },
  { format: GEMINI, task: [["juniper"], ["kapok"]], trouble: "repeats" },
  { format: GEMINI },
  { format: CHAT, trouble: "breaks" },
  { format: CHAT, task: [["larch"]] },
  { format: CHAT },
  { format: MESSAGES, task: [["maple"]] },
  { format: RESPONSES },
  { format: RESPONSES, task: [["nutmeg"]], trouble: "fails" },
  { format: GEMINI },
];

const TOOL = {
  type: "function",
  name: "lookup",
  description: "Looks up a topic.",
  parameters: { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] },
  strict: false,
};

/** What a session has sent and received. */
export interface Session {
  /** The responses that were continued, one for each turn. */
  readonly responses: readonly SessionResponse[];
  /** Responses that the client did not continue: of streams that broke off, and the first answers of repeated requests. */
  readonly abandoned: readonly SessionResponse[];
  /** The conversation after each turn, without its answer: what the vendor of the turn must get. */
  readonly histories: readonly (readonly Item[])[];
}

/** Plays all turns. Each sends only what is new, to the gateway that `gatewayOf` returns. */
export async function runSession(
  client: SessionClient,
  vendors: SessionVendors,
  gatewayOf: (turn: number) => TestGateway | Promise<TestGateway>,
): Promise<Session> {
  const responses: SessionResponse[] = [];
  const abandoned: SessionResponse[] = [];
  const histories: (readonly Item[])[] = [];
  let history: readonly Item[] = [];
  for (const [index, turn] of TURNS.entries()) {
    const gateway = await gatewayOf(index);
    const before = responses.at(-1);
    const input = turn.task
      ? [{ role: "user", content: writeTask(turn.task) }]
      : answerCalls(before?.output ?? []);
    const body = {
      model: MODELS[turn.format],
      input,
      tools: [TOOL],
      store: true,
      stream: turn.trouble === "breaks" || index % 2 === 1,
      ...(turn.format === CHAT ? {} : { reasoning: { effort: "low", summary: "auto" } }),
      ...(before === undefined ? {} : { previous_response_id: before.id }),
    };
    if (turn.trouble === "fails" || turn.trouble === "breaks") vendors.disturb(turn.trouble);
    const repeats = turn.trouble === "repeats" && client.canRepeat;
    const headers: Record<string, string> = repeats ? { "idempotency-key": `turn-${index}` } : {};
    const isAskedAgain = turn.trouble === "breaks" || repeats;
    const asked = client.ask(gateway, body, headers);
    // With several gateways, the same request reaches another one, which rejects it while the first one still runs.
    const other = isAskedAgain ? await gatewayOf(index + 1) : gateway;
    if (!repeats || other !== gateway) await asked;
    const again = isAskedAgain ? client.ask(other, body, headers) : asked;
    const [first, response] = await Promise.all([asked, again]);
    if (isAskedAgain) abandoned.push(first);
    history = [...history, ...input];
    histories.push(history);
    history = [...history, ...response.output];
    responses.push(response);
  }
  return { responses, abandoned, histories };
}

function answerCalls(output: readonly Item[]): readonly Item[] {
  return output.flatMap((item) =>
    item["type"] === "function_call"
      ? [
          {
            type: "function_call_output",
            call_id: item["call_id"],
            output: lookUp(JSON.parse(item["arguments"]).topic),
          },
        ]
      : [],
  );
}

/** Returns what a vendor must get of items, as texts. */
export function describeItems(items: readonly Item[]): readonly string[] {
  return items.flatMap((item) => {
    if (item["type"] === "function_call") return [`call ${item["name"]}`];
    if (item["type"] === "function_call_output") return [`result ${item["output"]}`];
    if (item["type"] === "reasoning") return [];
    const { role, content } = item;
    const text = typeof content === "string" ? content : content.map((part: Item) => part["text"]).join("");
    return [`${role} ${text}`];
  });
}

/** Returns what a vendor got, as texts. Gemini's results are objects. */
export function describeEntries(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) => {
    if (entry.kind === "call") return [`call ${entry.name}`];
    if (entry.kind === "result")
      return [`result ${/the value of \w+ is \w+/.exec(entry.text)?.[0] ?? entry.text}`];
    return entry.text === "" ? [] : [`${entry.role} ${entry.text}`];
  });
}
