/**
 * Fake providers of several formats, on raw sockets with prepared bytes, so that they use as little as
 * possible of the core that they share with the load generator. Their answers are set over IPC; the path selects the format.
 */
import type { Socket } from "bun";
import { type Answer, makeAnswer } from "./answers.ts";
import { MessageReader } from "./framing.ts";
import type { AnswerSetting, UpstreamCommand, UpstreamReply, VendorFormat } from "./messages.ts";

const NOT_FOUND = Buffer.from("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
const MODELS_BODY = '{"object":"list","data":[{"id":"gpt-4o-mini","object":"model","owned_by":"openai"}]}';
const MODELS = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${MODELS_BODY.length}\r\n\r\n${MODELS_BODY}`,
);

let setting: AnswerSetting = { stream: false, events: 0, intervalMs: 0, latencyMs: 0, marker: "ready" };
/** Prepared answers of the current setting, built on first use. */
const answers = new Map<VendorFormat, Answer>();
let requests = 0;
let bodyBytes = 0;
let streams = 0;
let peakStreams = 0;

/** One connection from a target. */
class UpstreamConnection {
  readonly #reader = new MessageReader({ messageEnded: () => this.#answer() }, false);
  #unsent: Buffer | null = null;
  #timer: Timer | null = null;

  constructor(private readonly socket: Socket<UpstreamConnection | null>) {}

  read(data: Buffer): void {
    this.#reader.push(data);
  }

  drain(): void {
    const unsent = this.#unsent;
    this.#unsent = null;
    if (unsent !== null) this.#write(unsent);
  }

  leave(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    streams--;
  }

  #answer(): void {
    const { head } = this.#reader;
    const format = findFormat(head);
    if (format !== null) this.#answerAs(format);
    else this.#write(head.startsWith("GET /v1/models ") ? MODELS : NOT_FOUND);
  }

  #answerAs(format: VendorFormat): void {
    requests++;
    bodyBytes += this.#reader.bodyBytes;
    const answer = answerIn(format);
    if (setting.latencyMs === 0) this.#send(answer, setting.intervalMs);
    else setTimeout(() => this.#send(answer, setting.intervalMs), setting.latencyMs);
  }

  #send(pieces: Answer, intervalMs: number): void {
    this.#write(pieces[0] as Buffer);
    if (pieces.length === 1) return;
    streams++;
    peakStreams = Math.max(peakStreams, streams);
    let next = 1;
    this.#timer = setInterval(() => {
      this.#write(pieces[next++] as Buffer);
      if (next === pieces.length) this.leave();
    }, intervalMs);
  }

  #write(bytes: Buffer): void {
    if (this.#unsent !== null) {
      this.#unsent = Buffer.concat([this.#unsent, bytes]);
      return;
    }
    const sent = Math.max(0, this.socket.write(bytes));
    if (sent < bytes.length) this.#unsent = bytes.subarray(sent);
  }
}

const PATHS: readonly (readonly [string, VendorFormat])[] = [
  ["POST /v1/chat/completions ", "chat"],
  ["POST /v1/messages ", "messages"],
  ["POST /v1/responses ", "responses"],
  ["POST /v1beta/models/", "gemini"],
];

/** Returns the format of a request from its path; `null` for an unknown path. */
function findFormat(head: string): VendorFormat | null {
  for (const [path, format] of PATHS) if (head.startsWith(path)) return format;
  return null;
}

function answerIn(format: VendorFormat): Answer {
  let answer = answers.get(format);
  if (answer === undefined) {
    answer = makeAnswer(setting, format);
    answers.set(format, answer);
  }
  return answer;
}

type Timer = ReturnType<typeof setInterval>;

function set(next: AnswerSetting): void {
  setting = next;
  answers.clear();
  requests = 0;
  bodyBytes = 0;
  peakStreams = streams;
}

function obey(command: UpstreamCommand): void {
  if (command.kind === "set") set(command.setting);
  reply(
    command.kind === "set" ? { kind: "set" } : { kind: "count", count: { requests, bodyBytes, peakStreams } },
  );
}

function reply(message: UpstreamReply): void {
  process.send?.(message);
}

const listener = Bun.listen<UpstreamConnection | null>({
  hostname: "127.0.0.1",
  port: 0,
  data: null,
  socket: {
    open(socket) {
      socket.setNoDelay(true);
      socket.data = new UpstreamConnection(socket);
    },
    data: (socket, data) => socket.data?.read(data),
    drain: (socket) => socket.data?.drain(),
    close: (socket) => socket.data?.leave(),
    error: (socket) => socket.data?.leave(),
  },
});

process.on("message", obey);
// The bench has ended, for whatever reason.
process.on("disconnect", () => process.exit(0));
reply({ kind: "listening", port: listener.port });
