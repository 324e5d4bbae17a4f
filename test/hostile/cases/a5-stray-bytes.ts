import { times } from "../../growth/dimension.ts";
import { turnEventLoop } from "../../support/event-loop.ts";
import { closing, documentOf, opening, type VendorCall } from "../../support/vendors/vendor.ts";
import { ensure, type HostileCase } from "../hostile-case.ts";
import type { TestBed } from "../test-bed.ts";

/* A vendor that writes more than its answer: what follows must not reach the next caller of the connection. */

const CALLERS = 64;
const STRAYS = 3;

function promptOf({ body }: VendorCall): string {
  return (body["messages"] as readonly { readonly content: string }[])[0]?.content ?? "";
}

async function say(call: VendorCall, text: string): Promise<void> {
  if (!call.isStream) return call.respond(200, documentOf(text));
  await call.begin();
  await call.events(...opening(text), ...closing());
  await call.end();
}

/** Answers take long enough for the bytes after the previous one to arrive meanwhile. */
const ANSWER_MS = 15;

/** When the further answers arrive: with the first, in a later turn of the event loop, or when the next request may be in flight. */
const MOMENTS = {
  "with it": () => Promise.resolve(),
  "in the next turn": () => turnEventLoop(1),
  "5 ms behind it": () => Bun.sleep(5),
} as const;

async function sendStrays(call: VendorCall, wait: () => Promise<void>): Promise<void> {
  for (let stray = 0; stray < STRAYS; stray++) {
    await wait();
    await say(call, `stray of ${promptOf(call)}`);
  }
}

async function ask(bed: TestBed, caller: number, stream: boolean): Promise<string | null> {
  const content = `caller ${caller}.`;
  const body = { model: bed.paidModelOf("openai-chat"), stream, messages: [{ role: "user", content }] };
  const response = await bed.post("/v1/chat/completions", body);
  const text = await response.text();
  return response.status === 200 && text.includes(`"${content}"`) ? null : `${content} got ${text}`;
}

async function askAll(bed: TestBed, stream: boolean, atOnce: boolean): Promise<(string | null)[]> {
  if (atOnce) return Promise.all(times(CALLERS, (caller) => ask(bed, caller, stream)));
  const wrong: (string | null)[] = [];
  for (let caller = 0; caller < CALLERS; caller++) wrong.push(await ask(bed, caller, stream));
  return wrong;
}

export default Object.entries(MOMENTS).flatMap(([moment, wait]) =>
  [false, true].map(
    (stream): HostileCase => ({
      name: `A5 ${STRAYS} further ${stream ? "streams" : "answers"} ${moment}, ${CALLERS} clients sequentially and concurrently: no client gets another's answer`,
      config: "upstream: {transport: http1}",
      async run(bed) {
        bed.scripted.perform(async (call) => {
          await Bun.sleep(ANSWER_MS);
          await say(call, promptOf(call));
          void sendStrays(call, wait);
        });
        const wrong = [
          ...(await askAll(bed, stream, false)),
          ...(await askAll(bed, stream, true)),
          ...(await askAll(bed, stream, true)),
        ].filter((text) => text !== null);
        ensure(wrong.length === 0, `${wrong.length} wrong answers: ${wrong[0]?.slice(0, 300)}`);
        return "200";
      },
    }),
  ),
) satisfies readonly HostileCase[];
