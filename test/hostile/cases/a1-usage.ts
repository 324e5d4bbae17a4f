import { FORMAT_NAMES, type FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { SCRIPTS } from "../../support/vendors/scripts/all-scripts.ts";
import { ANSWERED_TEXT, answerWithUsage } from "../../support/vendors/scripts/answer-with-usage.ts";
import { USAGE_OF } from "../../support/vendors/scripts/usage-of.ts";
import { ensure, expectStatus, type HostileCase } from "../hostile-case.ts";
import { addAccountWithKey, DOLLAR, expectSound, type Payer } from "../payer.ts";
import { PRICES, type TestBed } from "../test-bed.ts";

/* Vendors that count what no request can have used. */

/** Counts of the prompt, of the answer and of searches. */
const IMPOSSIBLE = [
  { prompt: 1e19, completion: 5 },
  { prompt: 10, completion: 1e19 },
  { prompt: 1e12, completion: 1e12 },
  { prompt: 9e15, completion: 9e15 },
  { prompt: 1e300, completion: 1e300 },
  { prompt: 10, completion: 5, searches: 1e30 },
  { prompt: 10, completion: 5_000, maxTokens: 1 },
] as const;
type ImpossibleCounts = { readonly prompt: number; readonly completion: number; readonly searches?: number };

/** More than the estimate for `ANSWERED_TEXT` and a greeting, and less than with any impossible count. Nanodollars. */
const MOST = 40 * PRICES.prompt + 16 * PRICES.completion;

function answerImpossibly(
  { scripted }: TestBed,
  format: FormatName,
  { prompt, completion, searches }: ImpossibleCounts,
): void {
  const usage = {
    ...USAGE_OF[format](prompt, completion),
    ...(searches === undefined
      ? {}
      : { num_search_queries: searches, server_tool_use: { web_search_requests: searches } }),
  };
  answerWithUsage(scripted, format, usage);
}

function ask(bed: TestBed, payer: Payer, format: FormatName, maxTokens: number | undefined, stream: boolean) {
  const messages = [{ role: "user", content: "Hello!" }];
  const bound = maxTokens === undefined ? {} : { max_tokens: maxTokens };
  return payer.post("/v1/chat/completions", {
    model: bed.paidModelOf(format),
    stream,
    messages,
    ...bound,
  });
}

const impossible = FORMAT_NAMES.map(
  (format): HostileCase => ({
    name: `A1 impossible tokens and searches, counted by a vendor of ${format}: an estimate is charged, and the gateway stays ready`,
    async run(bed) {
      const payer = await addAccountWithKey(bed, DOLLAR);
      for (const stream of [false, true]) {
        for (const counts of IMPOSSIBLE) {
          answerImpossibly(bed, format, counts);
          const before = await payer.rest();
          const maxTokens = "maxTokens" in counts ? counts.maxTokens : undefined;
          await expectStatus(await ask(bed, payer, format, maxTokens, stream), 200);
          const charged = before - (await payer.rest());
          ensure(
            charged > 0 && charged <= MOST,
            `${JSON.stringify(counts)}, streamed: ${stream}: ${charged} nanodollars`,
          );
        }
      }
      await expectSound(bed);
      return "200";
    },
  }),
);

const afterKill: HostileCase = {
  name: "A1 impossible counts, kill -9 and a new start: the gateway is ready, and balances are exact to the nanodollar",
  config: "limits: {attempts: 1}",
  async run(bed) {
    const payer = await addAccountWithKey(bed, DOLLAR);
    const answers: string[] = [];
    for (const format of FORMAT_NAMES) {
      for (const counts of IMPOSSIBLE) {
        answerImpossibly(bed, format, counts);
        answers.push(await (await ask(bed, payer, format, undefined, false)).text());
      }
    }
    await bed.crash();
    const told = answers.map(readCost).reduce((sum, cost) => sum + cost, 0);
    const spent = DOLLAR - (await payer.rest());
    ensure(spent === told, `${spent} nanodollars are spent, and answers told ${told}`);
    await expectSound(bed);
    bed.scripted.perform((call) => call.respond(200, SCRIPTS["openai-chat"].document(ANSWERED_TEXT, "stop")));
    return expectStatus(await ask(bed, payer, "openai-chat", undefined, false), 200);
  },
};

/** The cost that an answer reports, nanodollars. */
function readCost(text: string): number {
  const { usage } = JSON.parse(text) as { usage?: { cost?: number } };
  ensure(usage?.cost !== undefined, text.slice(0, 300));
  return Math.round(usage.cost * DOLLAR);
}

export default [...impossible, afterKill];
