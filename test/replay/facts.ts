import { createHash } from "node:crypto";
import {
  type Answer,
  type Conversation,
  type Item,
  type Json,
  type Media,
  type Turn,
  textOf,
} from "./conversation.ts";

/** Kinds whose texts are joined before they are compared, because formats split them differently. */
const JOINED = ["system", "user", "text", "reasoning"] as const;
/** Kinds that are compared one by one. */
const SINGLE = [
  "call",
  "result",
  "media",
  "signature",
  "hosted",
  "tool",
  "citation",
  "finish",
  "usage",
] as const;

export type FactKind = (typeof JOINED)[number] | (typeof SINGLE)[number];

/** The contents of a conversation or an answer, by kind, in order. */
export type Facts = Readonly<Record<FactKind, readonly string[]>>;

/** A fact that only one side has, or a violated rule of the vendor. */
export interface Difference {
  readonly kind: FactKind | "rule";
  readonly change: "lost" | "added";
  readonly value: string;
}

const NOTHING: Facts = {
  system: [],
  user: [],
  text: [],
  reasoning: [],
  call: [],
  result: [],
  media: [],
  signature: [],
  hosted: [],
  tool: [],
  citation: [],
  finish: [],
  usage: [],
};

/** Returns the facts of a conversation. Results without an earlier call are left out, as specified. */
export function conversationFacts({ turns, tools }: Conversation): Facts {
  return gather([...turnFacts(turns), ...tools.map(({ name }): Fact => ["tool", name])]);
}

/** Returns the facts of an answer. */
export function answerFacts(answer: Answer): Facts {
  const { prompt, completion, cached } = answer.usage;
  const counts = { prompt, completion, cached };
  return gather([
    ...turnFacts([{ role: "assistant", items: answer.items }]),
    ...answer.citations.map((value): Fact => ["citation", value]),
    ["finish", answer.finish],
    // Without a vendor's count the gateway estimates, which is not a loss.
    ...(prompt
      ? Object.entries(counts).flatMap(([name, count]): Fact[] =>
          count ? [["usage", `${name} ${count}`]] : [],
        )
      : []),
  ]);
}

/** Returns the facts of an answer that its next turn must send back. */
export function replayedFacts(answer: Answer): Facts {
  return { ...answerFacts(answer), citation: [], finish: [], usage: [] };
}

/** Joins two lists of facts. */
export function joinFacts(...all: readonly Facts[]): Facts {
  const kinds = Object.keys(NOTHING) as FactKind[];
  return Object.fromEntries(
    kinds.map((kind) => [kind, all.flatMap((facts) => facts[kind])]),
  ) as unknown as Facts;
}

/** Lists what `got` lacks of `wanted`, and what it has in addition. */
export function compareFacts(wanted: Facts, got: Facts): Difference[] {
  // The gateway may count what the vendor does not.
  const names = wanted.usage.map((fact) => fact.split(" ")[0]);
  const counted = { ...got, usage: got.usage.filter((fact) => names.includes(fact.split(" ")[0])) };
  return [
    ...JOINED.flatMap((kind) => compareJoined(kind, wanted[kind].join(""), got[kind].join(""))),
    ...SINGLE.flatMap((kind) => compareSingle(kind, wanted[kind], counted[kind])),
  ];
}

type Fact = readonly [kind: FactKind, value: string];

function gather(facts: readonly Fact[]): Facts {
  const byKind = Map.groupBy(facts, ([kind]) => kind);
  const gathered = [...byKind].map(([kind, own]) => [kind, own.map(([, value]) => value)]);
  return { ...NOTHING, ...Object.fromEntries(gathered) };
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly label: string;
}

/** Pairs a result with the nearest earlier open call of its id; without ids, with the first of its name, or the only one. */
function turnFacts(turns: readonly Turn[]): Fact[] {
  const facts: Fact[] = [];
  const open: OpenCall[] = [];
  for (const { role, items } of turns) {
    for (const item of items) {
      if (item.kind === "call") open.push(openCall(item, facts));
      else if (item.kind === "result") closeCall(item, open, facts);
      else facts.push(...itemFacts(role, item));
    }
  }
  return facts;
}

function openCall(call: Extract<Item, { kind: "call" }>, facts: Fact[]): OpenCall {
  const label = `${ownName(call.name)}(${canonicalArguments(call.args)})`;
  facts.push(["call", label]);
  return { id: call.id, name: call.name, label };
}

/** Tools of a namespace have its name as a prefix where a format has no namespaces. */
function ownName(name: string): string {
  return name.split("__").at(-1) as string;
}

function closeCall(result: Extract<Item, { kind: "result" }>, open: OpenCall[], facts: Fact[]): void {
  const at = findOpen(result, open);
  const [call] = at < 0 ? [] : open.splice(at, 1);
  if (call === undefined) return;
  facts.push(["result", `${call.label} → ${squash(result.text)}`]);
  facts.push(...result.media.map(mediaFact));
}

function findOpen({ id, name }: Extract<Item, { kind: "result" }>, open: readonly OpenCall[]): number {
  if (id !== "") return open.findLastIndex((call) => call.id === id);
  // Without either it belongs to the only open call.
  return name === "" ? (open.length === 1 ? 0 : -1) : open.findIndex((call) => call.name === name);
}

function itemFacts(role: Turn["role"], item: Exclude<Item, { kind: "call" | "result" }>): Fact[] {
  if (item.kind === "media") return [mediaFact(item.media)];
  if (item.kind === "signature" || item.kind === "hosted") return [[item.kind, item.value]];
  if (role === "assistant") return [[item.kind === "reasoning" ? "reasoning" : "text", squash(item.value)]];
  return [[role === "system" ? "system" : "user", squash(item.value)]];
}

/** Media are compared by their bytes, because their types differ between formats. */
function mediaFact({ what, data, url }: Media): Fact {
  const digest =
    data === null ? url : createHash("sha256").update(Buffer.from(data, "base64")).digest("hex").slice(0, 16);
  return ["media", `${what === "file" || what === "image" ? "" : `${what} `}${digest}`];
}

/** Formats join texts with different whitespace. */
function squash(text: string): string {
  return text.replace(/\s+/g, "");
}

/** Arguments without whitespace, members sorted. Free text, and anything but a JSON object, is in `input`. */
function canonicalArguments(args: string): string {
  if (args.trim() === "" || args.trim() === "null") return "{}";
  const parsed = tryParse(args);
  return JSON.stringify(sortMembers(isObject(parsed) ? parsed : { input: args }));
}

function tryParse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isObject(value: Json): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sortMembers(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isObject(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers(member)]));
}

const EXCERPT = 60;

function compareJoined(kind: FactKind, wanted: string, got: string): Difference[] {
  if (wanted === got) return [];
  let at = 0;
  while (at < wanted.length && wanted[at] === got[at]) at++;
  const excerpt = (text: string): string => text.slice(at, at + EXCERPT);
  const change = excerpt(wanted) === "" ? "added" : "lost";
  return [{ kind, change, value: `${excerpt(wanted)} ⇒ ${excerpt(got)}` }];
}

function compareSingle(kind: FactKind, wanted: readonly string[], got: readonly string[]): Difference[] {
  const left = [...got];
  const lost = wanted.filter((value) => {
    const at = left.indexOf(value);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [
    ...lost.map((value): Difference => ({ kind, change: "lost", value })),
    ...left.map((value): Difference => ({ kind, change: "added", value })),
  ];
}

/** A tool's result as text, in any form. */
export function resultText(value: Json): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return textOf(value);
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
