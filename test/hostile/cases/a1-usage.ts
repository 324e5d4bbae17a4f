import { FORMAT_NAMES, type FormatName } from "../../../src/wire/conversation/format-name.ts";
import { SCRIPTS } from "../../support/scripts/all-scripts.ts";
import { ANSWERED_TEXT, answerWithUsage } from "../../support/scripts/answer-with-usage.ts";
import { USAGE_OF } from "../../support/scripts/usage-of.ts";
import { type Field, PRICES } from "../field.ts";
import { expectStatus, type HostileCase, promise } from "../hostile-case.ts";
import { addPayer, DOLLAR, expectSound, type Payer } from "../payer.ts";

/* Vendors that count what no request can have used. */

/** Counts of the prompt, of the answer and of searches. */
const LIES = [
  { prompt: 1e19, completion: 5 },
  { prompt: 10, completion: 1e19 },
  { prompt: 1e12, completion: 1e12 },
  { prompt: 9e15, completion: 9e15 },
  { prompt: 1e300, completion: 1e300 },
  { prompt: 10, completion: 5, searches: 1e30 },
  { prompt: 10, completion: 5_000, maxTokens: 1 },
] as const;
type Lie = { readonly prompt: number; readonly completion: number; readonly searches?: number };

/** More than the estimate for `ANSWERED_TEXT` and a greeting, and less than any lie. Nanodollars. */
const MOST = 40 * PRICES.prompt + 16 * PRICES.completion;

function playLie({ scripted }: Field, format: FormatName, { prompt, completion, searches }: Lie): void {
  const usage = {
    ...USAGE_OF[format](prompt, completion),
    ...(searches === undefined
      ? {}
      : { num_search_queries: searches, server_tool_use: { web_search_requests: searches } }),
  };
  answerWithUsage(scripted, format, usage);
}

function ask(field: Field, payer: Payer, format: FormatName, maxTokens: number | undefined, stream: boolean) {
  const messages = [{ role: "user", content: "Hello!" }];
  const bound = maxTokens === undefined ? {} : { max_tokens: maxTokens };
  return payer.post("/v1/chat/completions", {
    model: field.paidModelOf(format),
    stream,
    messages,
    ...bound,
  });
}

const lies = FORMAT_NAMES.map(
  (format): HostileCase => ({
    name: `A1 impossible tokens and searches, counted by a vendor of ${format}: an estimate is charged, and the gateway stays ready`,
    async run(field) {
      const payer = await addPayer(field, DOLLAR);
      for (const stream of [false, true]) {
        for (const lie of LIES) {
          playLie(field, format, lie);
          const before = await payer.rest();
          const maxTokens = "maxTokens" in lie ? lie.maxTokens : undefined;
          await expectStatus(await ask(field, payer, format, maxTokens, stream), 200);
          const charged = before - (await payer.rest());
          promise(
            charged > 0 && charged <= MOST,
            `${JSON.stringify(lie)}, streamed: ${stream}: ${charged} nanodollars`,
          );
        }
      }
      await expectSound(field);
      return "200";
    },
  }),
);

const afterKill: HostileCase = {
  name: "A1 impossible counts, kill -9 and a new start: the gateway is ready, and balances are exact to the nanodollar",
  config: "limits: {attempts: 1}",
  async run(field) {
    const payer = await addPayer(field, DOLLAR);
    const answers: string[] = [];
    for (const format of FORMAT_NAMES) {
      for (const lie of LIES) {
        playLie(field, format, lie);
        answers.push(await (await ask(field, payer, format, undefined, false)).text());
      }
    }
    await field.crash();
    const told = answers.map(readCost).reduce((sum, cost) => sum + cost, 0);
    const spent = DOLLAR - (await payer.rest());
    promise(spent === told, `${spent} nanodollars are spent, and answers told ${told}`);
    await expectSound(field);
    field.scripted.perform((call) =>
      call.respond(200, SCRIPTS["openai-chat"].document(ANSWERED_TEXT, "stop")),
    );
    return expectStatus(await ask(field, payer, "openai-chat", undefined, false), 200);
  },
};

/** The cost that an answer reports, nanodollars. */
function readCost(text: string): number {
  const { usage } = JSON.parse(text) as { usage?: { cost?: number } };
  promise(usage?.cost !== undefined, text.slice(0, 300));
  return Math.round(usage.cost * DOLLAR);
}

export default [...lies, afterKill];
