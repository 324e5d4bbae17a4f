import { FORMAT_NAMES, type FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { times } from "../../growth/dimension.ts";
import { eventually } from "../../support/eventually.ts";
import { SCRIPTS } from "../../support/vendors/scripts/all-scripts.ts";
import { USAGE_OF } from "../../support/vendors/scripts/usage-of.ts";
import { documentOf, type VendorCall } from "../../support/vendors/vendor.ts";
import { ensure, expectStatus, type HostileCase } from "../hostile-case.ts";
import { addAccountWithKey, DOLLAR, expectSound, type Payer } from "../payer.ts";
import { LONGEST_ANSWER, PRICES } from "../test-bed.ts";

/* Answers that cost more than their account has. */

const CHAT = "/v1/chat/completions";
const SMALL_BALANCE = 0.083 * DOLLAR;
const messages = [{ role: "user", content: "Write a book." }];

/** A thousand tokens. */
const PAGE = "word ".repeat(800);
const PAGE_TOKENS = 1_000;

/** The longest answer, streamed until its connection is closed, or whole. */
async function sendLongAnswer(call: VendorCall, format: FormatName): Promise<void> {
  const script = SCRIPTS[format];
  const usage = USAGE_OF[format](10, LONGEST_ANSWER);
  if (!script.isStream(call.head, call.body))
    return call.respond(200, script.document(PAGE.repeat(LONGEST_ANSWER / PAGE_TOKENS), "stop", usage));
  let isCut = false;
  void call.connection.closed.then(() => {
    isCut = true;
  });
  await call.begin(200, { "content-type": script.contentType });
  await call.piece(script.begin("Once"));
  for (let said = 0; said < LONGEST_ANSWER && !isCut; said += PAGE_TOKENS)
    await call.piece(script.more(PAGE));
  if (isCut) return;
  await call.piece(script.close("stop", usage));
  await call.end();
}

const books = FORMAT_NAMES.flatMap((format): HostileCase[] =>
  [false, true].map((stream) => ({
    name: `A4 no max_tokens, 8.3 cents, and 100,000 tokens from ${format}, ${stream ? "streamed" : "whole"}: the balance stays above zero`,
    async run(bed) {
      bed.scripted.perform((call) => sendLongAnswer(call, format));
      const payer = await addAccountWithKey(bed, SMALL_BALANCE);
      const response = await payer.post(CHAT, { model: bed.paidModelOf(format), stream, messages });
      const text = await response.text();
      ensure(response.status === 200, `status ${response.status}: ${text.slice(0, 300)}`);
      if (stream) ensure(text.includes('"finish_reason":"length"'), text.slice(-300));
      const balance = await payer.rest();
      ensure(balance < SMALL_BALANCE / 2, `${balance} nanodollars are left of ${SMALL_BALANCE}`);
      return "200";
    },
  })),
);

async function askAtOnce(payer: Payer, model: string, count: number, stream: boolean): Promise<string[]> {
  const all = times(count, async () => {
    const response = await payer.post(CHAT, { model, stream, messages });
    const text = await response.text();
    ensure([200, 402].includes(response.status), `status ${response.status}: ${text.slice(0, 300)}`);
    return String(response.status);
  });
  return Promise.all(all);
}

const shortAnswers: HostileCase = {
  name: "A4 12 concurrent requests with short answers on one dollar, without max_tokens: all are answered",
  async run(bed) {
    const payer = await addAccountWithKey(bed, DOLLAR);
    let open = true;
    const asked = 12;
    bed.scripted.perform(async (call) => {
      // Each answer waits until all requests are sent, so that all holds exist at the same time.
      if (open) await call.gate();
      await call.respond(200, documentOf("Alpha"));
    });
    const answers = askAtOnce(payer, bed.paidModelOf("openai-chat"), asked, false);
    await eventually("all have reached the vendor", () => bed.scripted.calls.length === asked);
    open = false;
    for (const call of bed.scripted.calls) call.openGate();
    const statuses = await answers;
    ensure(
      statuses.every((status) => status === "200"),
      statuses.join("/"),
    );
    const balance = await payer.rest();
    ensure(
      balance === DOLLAR - asked * (10 * PRICES.prompt + 5 * PRICES.completion),
      `${balance} nanodollars are left`,
    );
    return "200";
  },
};

const longAnswers = [true, false].map(
  (stream): HostileCase => ({
    name: `A4 12 concurrent requests on one dollar, with 100,000 tokens each, ${stream ? "streamed" : "whole"}: the balance stays above zero`,
    async run(bed) {
      const payer = await addAccountWithKey(bed, DOLLAR);
      bed.scripted.perform((call) => sendLongAnswer(call, "openai-chat"));
      const statuses = await askAtOnce(payer, bed.paidModelOf("openai-chat"), 12, stream);
      const balance = await payer.rest();
      ensure(balance < DOLLAR / 2, `${balance} nanodollars are left`);
      await expectSound(bed);
      return [...new Set(statuses)].sort().join("/");
    },
  }),
);

const hugeBound: HostileCase = {
  name: "A4 a max_tokens of 100 million is held at the model's longest answer",
  async run(bed) {
    const payer = await addAccountWithKey(bed, 20 * DOLLAR);
    bed.scripted.perform(async (call) => {
      await call.gate();
      await call.respond(200, documentOf("Alpha"));
    });
    const body = { model: bed.paidModelOf("openai-chat"), max_tokens: 100_000_000, messages };
    const answer = payer.post(CHAT, body);
    await (await bed.scripted.call(0)).atGate;
    const held = await payer.held();
    bed.scripted.calls[0]?.openGate();
    const most = LONGEST_ANSWER * PRICES.completion + 1_000 * PRICES.prompt;
    ensure(held > 0 && held <= most, `${held} nanodollars are held`);
    return expectStatus(await answer, 200);
  },
};

const tokensPerMinute: HostileCase = {
  name: "A4 2,000 tokens a minute and no max_tokens: ten small requests in one minute are answered",
  async run(bed) {
    const payer = await addAccountWithKey(bed, DOLLAR, {
      rate_limit: { requests_per_minute: null, tokens_per_minute: 2_000, concurrent: null },
    });
    for (let asked = 0; asked < 10; asked++) {
      const body = { model: bed.paidModelOf("openai-chat"), messages };
      await expectStatus(await payer.post(CHAT, body), 200);
    }
    return "200";
  },
};

export default [...books, shortAnswers, ...longAnswers, hugeBound, tokensPerMinute];
