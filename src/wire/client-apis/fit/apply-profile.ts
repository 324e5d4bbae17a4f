import { eitherOf } from "../../../base/collections/name-sets.ts";
import { asFields, asList, type Fields, omit } from "../../../base/json/fields.ts";
import {
  isWord,
  itemsOf,
  type JsonNode,
  memberOf,
  NO_NODES,
  tryParseNode,
  tryStringOf,
} from "../../../base/json/scan.ts";
import {
  LEFT_OUT_NOTHING,
  type LeftOut,
  removeItems,
  type Splice,
  setMember,
} from "../../../base/json/splice.ts";
import { listUnusedToolFields, TOOL_FIELDS } from "../../conversation/calls/unused-tool-fields.ts";
import type { ParameterRules } from "../../conversation/parameter-rules.ts";
import type { ProfileReview, RequestProfile, RequestView } from "../../conversation/request-profile.ts";
import { NOTHING_LEFT_OUT, reviewRequest } from "../../conversation/request-profile.ts";
import type { ProviderFormat } from "../../conversation/traits/format-name.ts";
import { ALL_FITS, type FittedMembers, fitEncoded, fitScanned } from "./fit-parameters.ts";

/** A scanned body. `text` is the body, bytes as Latin-1. */
interface ScannedBody {
  readonly text: string;
  readonly root: JsonNode;
  /** Absent: it has no prompt with parts. */
  readonly prompt?: { readonly mayHaveMedia: boolean };
}

/** The properties of an endpoint that decide how a request is fitted to it. */
interface ProfileTarget {
  readonly format: ProviderFormat;
  /** The endpoint's rules for parameters; absent or null if it accepts all of them. */
  readonly takes?: ParameterRules | null;
  /** The parts of a request that may be sent because their cost is known; absent or null for all. */
  readonly profile?: RequestProfile | null;
  /** Fields that the provider rejects, which are left out and warned of elsewhere. */
  readonly refusedFields: ReadonlySet<string>;
}

/**
 * Reviews a scanned body that is forwarded.
 * @throws GatewayError `invalid_request` as `reviewRequest`.
 */
export function reviewScanned(body: ScannedBody, target: ProfileTarget): ProfileReview {
  const { format, takes = null, profile = null, refusedFields } = target;
  const members = body.root.members ?? NO_NODES;
  const asking = members.filter(({ key, kind }) => TOOL_FIELDS.has(key) && kind !== "null");
  const unused = listUnusedToolFields(asking.map(({ key, items }) => [key, items?.length === 0]));
  const reviewed = takes === null ? ALL_FITS : fitScanned(takes, format, body);
  const fitted =
    unused.size === 0 || offersToolsElsewhere(body.root) ? reviewed : withoutFields(reviewed, unused);
  const skipped = eitherOf(refusedFields, fitted.removed);
  const review = profile === null ? NOTHING_LEFT_OUT : reviewRequest(profile, new ScannedView(body), skipped);
  return fitted === ALL_FITS ? review : joinReviews(fitted, review);
}

/** Whether a request names tools in another field: MCP servers of Messages, and items of Responses that add tools. */
function offersToolsElsewhere(root: JsonNode): boolean {
  return (
    (memberOf(root, "mcp_servers") ?? NULL).kind !== "null" ||
    itemsOf(root, "input").some((item) => memberOf(item, "tools") !== undefined)
  );
}

const NULL = { kind: "null" };

function withoutFields(fitted: FittedMembers, unused: ReadonlySet<string>): FittedMembers {
  return { ...fitted, removed: fitted.removed.union(unused) };
}

function joinReviews(fitted: FittedMembers, review: ProfileReview): ProfileReview {
  return {
    removed: review.removed.union(fitted.removed),
    replaced: new Map([...fitted.replaced, ...review.replaced]),
    removedTools: review.removedTools,
    warnings: [...fitted.warnings, ...review.warnings],
  };
}

/** Returns the edits of a scanned body that a review demands. */
export function toLeftOut(review: ProfileReview, { text, root }: ScannedBody): LeftOut {
  if (review === NOTHING_LEFT_OUT) return LEFT_OUT_NOTHING;
  const splices: Splice[] = [];
  for (const [name, value] of review.replaced) splices.push(setMember(root, name, JSON.stringify(value)));
  const tools = memberOf(root, "tools");
  if (tools !== undefined) splices.push(...removeItems(text, tools, review.removedTools));
  return { removed: review.removed, splices };
}

/**
 * Applies an endpoint's profile to a body that was encoded for it.
 * @throws GatewayError `invalid_request` as `reviewRequest`.
 */
export function fitToProfile(
  body: Fields,
  target: ProfileTarget,
): { readonly body: Fields; readonly warnings: ProfileReview["warnings"] } {
  const { takes = null } = target;
  const used = withoutUnusedTools(body);
  const fitted = takes === null ? { body: used, warnings: [] } : fitEncoded(takes, target.format, used);
  const review = reviewFields(fitted.body, target);
  return {
    body: review === NOTHING_LEFT_OUT ? fitted.body : applyReview(fitted.body, review),
    warnings: [...fitted.warnings, ...review.warnings],
  };
}

function withoutUnusedTools(body: Fields): Fields {
  const asking = Object.entries(body).filter(
    ([field, value]) => TOOL_FIELDS.has(field) && (value ?? null) !== null,
  );
  const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
  const unused = listUnusedToolFields(asking.map(([field, value]) => [field, isEmpty(value)]));
  const isSent = unused.size === 0 || (body["mcp_servers"] ?? null) !== null || addsTools(body["input"]);
  return isSent ? body : omit(body, unused);
}

function addsTools(input: unknown): boolean {
  return asList(input).some((item) => asFields(item)?.["tools"] !== undefined);
}

/**
 * Reviews the fields of a body.
 * @throws GatewayError `invalid_request` as `reviewRequest`.
 */
export function reviewFields(
  body: Fields,
  { profile = null, refusedFields }: Pick<ProfileTarget, "profile" | "refusedFields">,
): ProfileReview {
  return profile === null ? NOTHING_LEFT_OUT : reviewRequest(profile, new FieldsView(body), refusedFields);
}

function applyReview(body: Fields, { removed, replaced, removedTools }: ProfileReview): Fields {
  const added = [...replaced].filter(([name]) => !Object.hasOwn(body, name));
  const kept = [...Object.entries(body).filter(([name]) => !removed.has(name)), ...added];
  return Object.fromEntries(
    kept.map(([name, value]): [string, unknown] => {
      if (replaced.has(name)) return [name, replaced.get(name)];
      return name === "tools"
        ? [name, asList(value).filter((_, at) => !removedTools.has(at))]
        : [name, value];
    }),
  );
}

class ScannedView implements RequestView {
  readonly members: readonly JsonNode[];
  private readonly tools: readonly JsonNode[];

  private readonly text: string;

  constructor(private readonly body: ScannedBody) {
    this.text = body.text;
    this.members = body.root.members ?? NO_NODES;
    this.tools = itemsOf(body.root, "tools");
  }

  hasFiles(): boolean {
    return this.body.prompt?.mayHaveMedia === true;
  }

  get toolCount(): number {
    return this.tools.length;
  }

  valueAt(at: number): unknown {
    return tryParseNode(this.text, this.members[at] as JsonNode);
  }

  toolTypeAt(at: number): string | undefined {
    const type = memberOf(this.tools[at], "type");
    // Nearly all tools are of this type, and the check does not copy the string.
    return isWord(this.text, type, "function") ? "function" : tryStringOf(this.text, type);
  }

  toolAt(at: number): Fields {
    return asFields(tryParseNode(this.text, this.tools[at] as JsonNode)) ?? {};
  }
}

/** Types of parts that are files, in any format. */
const FILE_TYPES: ReadonlySet<unknown> = new Set(["file", "input_file", "document"]);

/** Whether a value has a part that is a file. Its depth was bounded when it was parsed. */
function holdsFile(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsFile);
  const fields = asFields(value);
  if (fields === null) return false;
  return FILE_TYPES.has(fields["type"]) || holdsFile(fields["content"]) || holdsFile(fields["output"]);
}

class FieldsView implements RequestView {
  readonly members: readonly { readonly key: string }[];
  private readonly tools: readonly unknown[];

  constructor(private readonly body: Fields) {
    this.members = Object.keys(body).map((key) => ({ key }));
    this.tools = asList(body["tools"]);
  }

  hasFiles(): boolean {
    return holdsFile(this.body["messages"]) || holdsFile(this.body["input"]);
  }

  get toolCount(): number {
    return this.tools.length;
  }

  valueAt(at: number): unknown {
    return this.body[this.members[at]?.key ?? ""];
  }

  toolTypeAt(at: number): string | undefined {
    const { type } = this.toolAt(at);
    return typeof type === "string" ? type : undefined;
  }

  toolAt(at: number): Fields {
    return asFields(this.tools[at]) ?? {};
  }
}
