import { asFields, type Fields } from "../../base/json/fields.ts";
import {
  allFields,
  items,
  type JsonNode,
  LEAF,
  memberOf,
  parseMember,
  scanJson,
} from "../../base/json/scan.ts";
import { applySplices, type Splice, setMember } from "../../base/json/splice.ts";
import type { WholeAnswer } from "../canonical/answer/relay.ts";
import { encodeCostDetails } from "../canonical/model/cost-details.ts";
import type { AnswerEnd, AnswerIdentity, UsageReport } from "../canonical/model/format.ts";
import { brokenAnswer, findVendorError, type VendorError } from "../conversation/errors/vendor-error.ts";
import { readReportedCost, type TokenUsage, withPriceFacts } from "../conversation/usage.ts";

/** The parts of a JSON answer that decide its usage. */
export interface ScannedAnswer {
  /** Parses a member; undefined if it is absent. */
  read(name: string): unknown;
  /** The number of elements of the payload; 0 if it is no list. */
  readonly count: number;
}

/** The rules for a JSON answer. */
interface AnswerRules {
  /** The members that may hold the result. At least one of them must be present. */
  readonly payload: readonly string[];
  /** Returns the usage: the vendor's counts, or an estimate from request and answer. */
  readonly readUsage: (answer: ScannedAnswer) => TokenUsage;
}

/**
 * Reads a JSON answer that is forwarded with the gateway's id and model, and with its cost in `usage`. The result itself is not parsed,
 * because it is most of the answer.
 */
export function readJsonAnswer(
  body: Buffer,
  identity: AnswerIdentity,
  rules: AnswerRules,
): WholeAnswer<Buffer> {
  const text = body.toString("latin1");
  const root = scan(text, rules.payload);
  if (root?.kind !== "object") return createBrokenAnswer("the upstream's answer is not a JSON object");
  const read = (name: string) =>
    memberOf(root, name) === undefined ? undefined : parseMember(text, root, name);
  const error = findError(read);
  if (error !== null) return { kind: "error", error };
  const payload = rules.payload.map((name) => memberOf(root, name)).find((node) => node !== undefined);
  if (payload === undefined)
    return createBrokenAnswer(`the upstream's answer has no ${rules.payload.join(" or ")}`);
  const counted = rules.readUsage({ read, count: payload.items?.length ?? 0 });
  const usage = withPriceFacts(counted, undefined, readReportedCost(asFields(read("usage")) ?? {}));
  return {
    kind: "answer",
    isEmpty: false,
    usage,
    producedBytes: 0,
    finish: null,
    encode: (end) => applySplices(body, listSplices(root, { identity, own: read("usage"), end })),
  };
}

function scan(text: string, payload: readonly string[]): JsonNode | null {
  const lists = Object.fromEntries(payload.map((name) => [name, items(LEAF)]));
  try {
    return scanJson(text, allFields(lists));
  } catch {
    return null;
  }
}

function findError(read: ScannedAnswer["read"]): VendorError | null {
  return findVendorError({
    error: read("error"),
    object: read("object"),
    type: read("type"),
    message: read("message"),
  });
}

function createBrokenAnswer(message: string): WholeAnswer<Buffer> {
  return { kind: "error", error: brokenAnswer(message) };
}

interface Completion {
  readonly identity: AnswerIdentity;
  /** The vendor's `usage`. */
  readonly own: unknown;
  readonly end: AnswerEnd;
}

function listSplices(root: JsonNode, { identity, own, end }: Completion): Splice[] {
  const { report, metadata } = end;
  const replaced = (["id", "model"] as const).filter((name) => memberOf(root, name)?.kind === "string");
  return [
    ...replaced.map((name) => setMember(root, name, JSON.stringify(identity[name]))),
    setMember(root, "usage", JSON.stringify({ ...asFields(own), ...encodeCost(report) })),
    ...(metadata === null ? [] : [setMember(root, "gateway_metadata", JSON.stringify(metadata))]),
  ];
}

/** Returns the fields that the gateway adds to the vendor's `usage` (docs/api/other-endpoints.md). */
export function encodeCost(report: UsageReport): Fields {
  const { usage, cost, isByok } = report;
  return {
    cost,
    cost_details: encodeCostDetails(report),
    is_byok: isByok,
    ...(usage.estimated ? { estimated: true } : {}),
  };
}
