import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { CLIENTS, type Client } from "../fidelity/formats.ts";
import { addCallIds } from "./call-ids.ts";
import { CLIENT_APIS, type ClientApi, NEXT_MESSAGE, resultOf } from "./clients.ts";
import { type Answer, type Conversation, type Item, type Json, readSse, type Turn } from "./conversation.ts";
import { answerFacts, compareFacts, conversationFacts, type Difference } from "./facts.ts";
import { READERS } from "./formats/all-formats.ts";
import { PLAIN_TARGETS, type Target, targetsOf } from "./hosts.ts";
import type { Recording } from "./recordings.ts";
import { listShapes, SHAPES, type Shape } from "./reshape.ts";
import { type Asked, modelOf, type ReplaySite } from "./site.ts";
import { findRefusal } from "./strict-vendors.ts";

/**
 * What is compared with the recording: the request as the vendor gets it, the answer as the client gets it, the next
 * turn as the vendor gets it, the next turn of a chat client that knows only the fields of the specification, and the next
 * turn as a vendor of another format gets it.
 */
export const CHECKS = ["request", "answer", "next turn", "bare next turn", "next turn elsewhere"] as const;
export type Check = (typeof CHECKS)[number];

/** One comparison. */
export interface Outcome {
  readonly check: Check;
  readonly client: Client;
  readonly target: Target;
  readonly recording: Recording;
  /** The differences; empty if everything arrived. */
  readonly differences: readonly Difference[];
  /** The gateway's message if it answered with an error. */
  readonly refusal: string | null;
  /** The warnings of the answer, each as `field: message`. */
  readonly warnings: readonly string[];
}

/** A recording from one client API to one target. */
export interface Direction {
  readonly client: ClientApi;
  readonly target: Target;
  readonly recording: Recording;
  /** The vendor's answer: the recording itself, or one of the vendor's own if the recording is of another format. */
  readonly answer: Recording;
  /** The shape of the history; `null`: as recorded. */
  readonly shape: Shape | null;
  /** Another vendor at which the conversation continues, and its answer. */
  readonly elsewhere: Pick<Direction, "target" | "answer">;
}

/** Lists every direction: each recorded answer to each client API, and each recorded request from each API to each format. */
export function listDirections(recordings: readonly Recording[]): Direction[] {
  const answersByFormat = Map.groupBy(recordings.filter(hasContent), ({ format }) => format);
  return recordings.flatMap((recording, place) => {
    const elsewhere = chooseOther(recording.format, place, answersByFormat);
    const own = targetsOf(recording).map((target) => ({
      target,
      recording,
      answer: recording,
      shape: null,
      elsewhere,
    }));
    if (recording.request === null) return fromEachClient(own);
    const shapes = [null, ...listShapes(READERS[recording.format].readRequest(recording.request))];
    const others = PLAIN_TARGETS.flatMap((target) => {
      const answer = pick(answersByFormat.get(target.format) ?? [], place);
      return shapes
        .filter((shape) => shape !== null || target.format !== recording.format)
        .map((shape) => ({ target, recording, answer, shape, elsewhere }));
    });
    return fromEachClient([...own, ...others]);
  });
}

function fromEachClient(directions: readonly Omit<Direction, "client">[]): Direction[] {
  return directions.flatMap((direction) =>
    CLIENTS.map((client) => ({ ...direction, client: CLIENT_APIS[client] })),
  );
}

/** Returns targets of another format in turn. */
function chooseOther(
  format: FormatName,
  place: number,
  answersByFormat: ReadonlyMap<FormatName, readonly Recording[]>,
): Direction["elsewhere"] {
  const target = pick(
    PLAIN_TARGETS.filter((other) => other.format !== format),
    place,
  );
  return { target, answer: pick(answersByFormat.get(target.format) ?? [], place) };
}

/** Returns elements of a list in turn. Every format has hand-made answers, so no list is empty. */
function pick<T>(list: readonly T[], place: number): T {
  return list[place % list.length] as T;
}

/** An answer of another recording must not be empty: that is a separate case. */
function hasContent(recording: Recording): boolean {
  return readVendor(recording).items.length > 0;
}

/** Replays one direction. */
export async function replay(site: ReplaySite, direction: Direction): Promise<Outcome[]> {
  const { client, target, recording, answer } = direction;
  const ask = (body: Json): Promise<Asked> =>
    site.ask(client.path, modelOf(target), body, answer, callerOf(direction));
  const body = { ...writeRequest(direction), stream: answer.isStream };
  const first = await ask(body);
  const isRecorded = recording.request !== null;
  if (first.status !== 200)
    return [compareReply(direction, isRecorded ? "request" : "answer", first, () => [])];
  const outcomes = isRecorded
    ? [compareReply(direction, "request", first, () => checkRequest(client, target, body, first))]
    : [];
  if (recording !== answer) return outcomes;
  const recorded = readVendor(answer);
  const got = readReply(client, answer.isStream, first.text);
  outcomes.push(
    compareReply(direction, "answer", first, () =>
      compareFacts(answerFacts(recorded), answerFacts(READERS[client.format].readAnswer(got))),
    ),
  );
  for (const [check, nextTurn] of [
    ["next turn", client.nextTurn],
    ["bare next turn", client.nextBareTurn],
  ] as const) {
    if (nextTurn === undefined) continue;
    const nextBody = nextTurn(body, got);
    const next = await ask(nextBody);
    const added = continueWith(recorded, client.answersItems?.(got) ?? []);
    outcomes.push(
      compareReply(direction, check, next, () =>
        checkNextTurn(client, target, { body: nextBody, first, next }, added),
      ),
    );
  }
  return [...outcomes, await replayElsewhere(site, direction, client.nextTurn(body, got))];
}

/** Conversations of different recordings, and of different clients, have different keys. */
function callerOf({ client, recording }: Direction): string {
  return `${client.name} ${recording.name}`;
}

/** Sends the next turn to a vendor of another format. */
async function replayElsewhere(site: ReplaySite, direction: Direction, next: Json): Promise<Outcome> {
  const { client } = direction;
  const { target, answer } = direction.elsewhere;
  const body = { ...next, stream: answer.isStream };
  const asked = await site.ask(client.path, modelOf(target), body, answer, callerOf(direction));
  return compareReply({ ...direction, target, answer }, "next turn elsewhere", asked, () =>
    checkRequest(client, target, body, asked),
  );
}

function compareReply(
  { client, target, recording, answer }: Direction,
  check: Check,
  { status, text }: Asked,
  compare: () => Difference[],
): Outcome {
  const isFailed = status !== 200;
  return {
    check,
    client: client.name,
    target,
    recording,
    differences: isFailed ? [] : compare(),
    refusal: isFailed ? `${status} ${decode(text)}` : null,
    warnings: isFailed ? [] : readWarnings(text, answer.isStream),
  };
}

/** The recorded request, translated if it was recorded in another API or has another shape. */
function writeRequest({ client, recording, answer, shape }: Direction): Json {
  const { format, request } = recording;
  if (request === null) return client.write(greet(answer));
  const { stream_options: _, ...rest } = request;
  if (format === client.format && shape === null) return rest;
  const conversation = addCallIds(READERS[format].readRequest(request));
  return client.write(shape === null ? conversation : SHAPES[shape](conversation));
}

/** Replaces a request that was not recorded: a greeting, with the tools that the answer calls. */
function greet(answer: Recording): Conversation {
  const names = readVendor(answer).items.flatMap((item) => (item.kind === "call" ? [item.name] : []));
  const tools = [...new Set(names)].map((name) => ({ name, description: null, schema: ANYTHING }));
  return { turns: [{ role: "user", items: [{ kind: "text", value: "Hello!" }] }], tools };
}

const ANYTHING = { type: "object", properties: {}, additionalProperties: true };

/** The vendor must receive what the client sent, in a form that it accepts. */
function checkRequest(client: ClientApi, target: Target, body: Json, { sent }: Asked): Difference[] {
  const expected = conversationFacts(READERS[client.format].readRequest(body));
  const got = sent.at(-1);
  return [
    ...compareFacts(expected, conversationFacts(READERS[target.format].readRequest(got))),
    ...checkRules(client, target, body, got),
  ];
}

/** The gateway is responsible for requests of another format; the client for those in the vendor's own. */
function checkRules(client: ClientApi, { format, slug }: Target, body: Json, got: Json): Difference[] {
  // Hosts that deviate from OpenAI's own chat have other rules.
  if (slug !== null && slug !== "openai") return [];
  const refusal = findRefusal(format, got);
  if (refusal === null || (client.format === format && findRefusal(format, body) !== null)) return [];
  return [{ kind: "rule", change: "added", value: refusal }];
}

/** The vendor must receive what it received before, its answer, and what the client has added. */
function checkNextTurn(
  client: ClientApi,
  target: Target,
  asked: { readonly body: Json; readonly first: Asked; readonly next: Asked },
  added: readonly Turn[],
): Difference[] {
  const reader = READERS[target.format];
  const before = reader.readRequest(asked.first.sent.at(-1));
  const wanted = { ...before, turns: [...before.turns, ...added] };
  const got = asked.next.sent.at(-1);
  return [
    ...compareFacts(conversationFacts(wanted), conversationFacts(reader.readRequest(got))),
    ...checkRules(client, target, asked.body, got),
  ];
}

/** The turns of an answer and of what its client adds. `itemTypes` are those of the client's own items. */
function continueWith({ items, finish }: Answer, itemTypes: readonly string[]): Turn[] {
  const calls = items.filter((item): item is Extract<Item, { kind: "call" }> => item.kind === "call");
  const results = calls.map(
    ({ id, name }, place): Item => ({ kind: "result", id, name, text: resultOf(place), media: [] }),
  );
  const turn: Turn = { role: "assistant", items };
  const answered = [...results, ...itemTypes.map((value): Item => ({ kind: "hosted", value }))];
  if (answered.length > 0) return [turn, { role: "tool", items: answered }];
  if (finish === "pause") return [turn];
  return [turn, { role: "user", items: [{ kind: "text", value: NEXT_MESSAGE }] }];
}

/** A recorded answer, read as its vendor defines it. */
export function readVendor({ format, isStream, body }: Recording): Answer {
  const reader = READERS[format];
  return reader.readAnswer(isStream ? reader.joinStream(body) : JSON.parse(decode(body)));
}

/** The answer as the client's library reads it. */
function readReply(client: ClientApi, isStream: boolean, text: string): Json {
  return isStream ? READERS[client.format].joinStream(text) : JSON.parse(decode(text));
}

function decode(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("utf8");
}

function readWarnings(text: string, isStream: boolean): string[] {
  const bodies: Json[] = isStream ? readSse(text) : [JSON.parse(decode(text))];
  const metadata = bodies.flatMap((body) => body.gateway_metadata ?? body.response?.gateway_metadata ?? []);
  return metadata.flatMap(({ warnings = [] }) =>
    warnings.map(({ field, message }: Json) => `${field}: ${message}`),
  );
}
