import { createHmac } from "node:crypto";

/** A question that a service has got. */
export interface ReceivedQuestion {
  readonly headers: Headers;
  readonly raw: string;
  readonly texts: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a service answers: JSON, or any response. */
export type Reply = (question: ReceivedQuestion) => unknown | Promise<unknown>;

/** A service on a free port that checks texts for guardrails. */
export interface CheckService {
  readonly url: string;
  /** All questions since the last `answer`. */
  readonly questions: readonly ReceivedQuestion[];
  /** Resolves when the question of that index has arrived. */
  question(index: number): Promise<ReceivedQuestion>;
  /** Discards earlier questions, and answers from now on so. */
  answer(reply: Reply): void;
  stop(): Promise<void>;
}

/** Starts a service that lets all texts pass until it is told otherwise. */
export function startCheckService(): CheckService {
  let reply: Reply = () => ({ action: "allow" });
  let questions: ReceivedQuestion[] = [];
  let arrival = Promise.withResolvers<void>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const raw = await request.text();
      const body = JSON.parse(raw);
      const question = { headers: request.headers, raw, body, texts: body.texts };
      questions.push(question);
      arrival.resolve();
      arrival = Promise.withResolvers();
      const answer = await reply(question);
      return answer instanceof Response ? answer : Response.json(answer);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/secret-path`,
    get questions() {
      return questions;
    },
    async question(index) {
      while (questions.length <= index) await arrival.promise;
      return questions[index] as ReceivedQuestion;
    },
    answer(next) {
      questions = [];
      reply = next;
    },
    stop: () => server.stop(true),
  };
}

/** Verifies a signature as docs/webhooks.md tells a receiver to. */
export function isQuestionSigned({ headers, raw }: ReceivedQuestion, secret: string): boolean {
  const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers.get("x-gateway-signature") ?? "");
  return match?.[2] === createHmac("sha256", secret).update(`${match?.[1]}.${raw}`).digest("hex");
}
