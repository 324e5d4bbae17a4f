import {
  closing,
  documentOf,
  opening,
  startVendor,
  textOf,
  type VendorCall,
} from "../support/vendors/vendor.ts";

/** What a request asks of the vendor, as a word of its message. */
export const PLANS = ["ANSWER", "FAIL", "BREAK", "HANG"] as const;
export type Plan = (typeof PLANS)[number];

/** The simulated vendor. */
export interface Upstream {
  /** The value for `base_url`. */
  readonly url: string;
  /** The credentials of the calls so far, in order. */
  readonly credentials: readonly string[];
  /** Answers that were sent completely. */
  readonly answers: number;
  stop(): void;
}

/** Starts the vendor. */
export function startUpstream(): Upstream {
  const credentials: string[] = [];
  let answers = 0;
  const vendor = startVendor(async (call) => {
    credentials.push(/^authorization: *(.*)$/im.exec(call.head)?.[1]?.trim() ?? "none");
    if (call.head.includes("/embeddings ")) return answerVector(call);
    const text = JSON.stringify(call.body);
    await PLAY[PLANS.find((plan) => text.includes(plan)) ?? "ANSWER"](call, () => {
      answers += 1;
    });
  });
  return {
    url: vendor.baseUrl,
    credentials,
    get answers() {
      return answers;
    },
    stop: vendor.stop,
  };
}

const PLAY: Readonly<Record<Plan, (call: VendorCall, count: () => void) => Promise<void>>> = {
  async ANSWER(call, count) {
    count();
    if (!call.isStream) return call.respond(200, documentOf("one two"));
    await call.begin();
    await call.events(...opening("one"), textOf(" two"), ...closing());
    await call.end();
  },
  FAIL: (call) => call.respond(500, { error: { message: "out of order", type: "server_error" } }),
  async BREAK(call) {
    await call.begin();
    await call.events(...opening("one"), textOf(" two"));
    call.connection.end();
  },
  async HANG(call) {
    await call.begin();
    await call.events(...opening("one"));
    for (let piece = 0; piece < PIECES && !(await isClosed(call)); piece++) await call.events(textOf(" on"));
    return call.gate();
  },
};

/** A stream that hangs goes on for longer than a second first, so that its progress is recorded. */
const PIECES = 6;
const PIECE_MS = 250;

async function isClosed({ connection }: VendorCall): Promise<boolean> {
  return Promise.race([connection.closed.then(() => true), Bun.sleep(PIECE_MS).then(() => false)]);
}

function answerVector(call: VendorCall): Promise<void> {
  return call.respond(200, {
    object: "list",
    model: "vector",
    data: [{ object: "embedding", index: 0, embedding: [0.25, 0.5] }],
    usage: { prompt_tokens: 7, total_tokens: 7 },
  });
}
