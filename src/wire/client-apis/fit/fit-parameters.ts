import { asFields, asList, type Fields, isEmpty } from "../../../base/json/fields.ts";
import { type JsonNode, NO_NODES, tryParseNode } from "../../../base/json/scan.ts";
import {
  ALL_TAKEN,
  type ParameterReview,
  type ParameterRules,
  type ParameterView,
  reviewParameters,
} from "../../conversation/parameter-rules.ts";
import type { ProviderFormat } from "../../conversation/traits/format-name.ts";
import type { ParameterContainer } from "../../conversation/traits/format-traits.ts";
import { FORMAT_TRAITS } from "../../formats/traits.ts";

function containersOf(format: ProviderFormat): readonly ParameterContainer[] {
  return FORMAT_TRAITS[format].parameters.containers;
}

/** Returns the chat API's name of a parameter that a format has under another name; null if both are the same. */
export function chatNameOf(format: ProviderFormat, field: string): string | null {
  for (const { names } of containersOf(format)) if (Object.hasOwn(names, field)) return names[field] ?? null;
  return null;
}

/** A scanned body of a format. `text` is the body, bytes as Latin-1. */
interface ScannedBody {
  readonly text: string;
  readonly root: JsonNode;
}

/** The members of a scanned body that are omitted, and those that get another value. */
export interface FittedMembers extends Pick<ParameterReview, "warnings"> {
  readonly removed: ReadonlySet<string>;
  readonly replaced: ReadonlyMap<string, unknown>;
}

/** The usual result: no member is omitted or replaced. */
export const ALL_FITS: FittedMembers = { removed: new Set(), replaced: new Map(), warnings: [] };

/** Reviews the parameters of a scanned body that is forwarded. Of the formats of clients, which have them in the body itself. */
export function fitScanned(rules: ParameterRules, format: ProviderFormat, body: ScannedBody): FittedMembers {
  const view = viewParameters(format, body);
  const review = reviewParameters(rules, view);
  if (review === ALL_TAKEN) return ALL_FITS;
  const removed = new Set<string>();
  const replaced = new Map<string, unknown>();
  for (const { at, value } of review.changes)
    if (value === undefined) removed.add(view.fieldAt(at));
    else replaced.set(view.fieldAt(at), value);
  return { removed, replaced, warnings: review.warnings };
}

/** Returns a view of the parameters of a scanned body that a client sent in a format. */
export function viewParameters(format: ProviderFormat, body: ScannedBody): ParameterView {
  return new ScannedParameters(body, containersOf(format)[0]?.names ?? {});
}

/** Fits the parameters of an encoded body. */
export function fitEncoded(
  rules: ParameterRules,
  format: ProviderFormat,
  body: Fields,
): { readonly body: Fields } & Pick<ParameterReview, "warnings"> {
  const view = new EncodedParameters(body, containersOf(format));
  const review = reviewParameters(rules, view);
  return { body: review === ALL_TAKEN ? body : view.apply(review.changes), warnings: review.warnings };
}

class ScannedParameters implements ParameterView {
  private readonly members: readonly JsonNode[];

  constructor(
    private readonly body: ScannedBody,
    private readonly names: Readonly<Record<string, string>>,
  ) {
    this.members = body.root.members ?? NO_NODES;
  }

  get count(): number {
    return this.members.length;
  }

  parameterAt(at: number): string {
    const field = this.fieldAt(at);
    return this.names[field] ?? field;
  }

  fieldAt(at: number): string {
    return (this.members[at] as JsonNode).key;
  }

  valueAt(at: number): unknown {
    return tryParseNode(this.body.text, this.members[at] as JsonNode);
  }
}

/** A parameter of an encoded body. */
interface Located {
  readonly container: string | null;
  readonly field: string;
  readonly parameter: string;
  readonly value: unknown;
  /** The entry of the list `field` that is the parameter; absent: it is the whole field. */
  readonly entry?: string;
}

class EncodedParameters implements ParameterView {
  private readonly located: readonly Located[];

  constructor(
    private readonly body: Fields,
    containers: readonly ParameterContainer[],
  ) {
    this.located = containers.flatMap(({ member, names, entry }) => {
      const fields = Object.entries(member === null ? body : (asFields(body[member]) ?? {}));
      const all = fields.map(
        ([field, value]): Located => ({ container: member, field, parameter: names[field] ?? field, value }),
      );
      if (entry === undefined || !asList(body[entry.field]).includes(entry.entry)) return all;
      return [...all, { container: null, value: true, ...entry }];
    });
  }

  get count(): number {
    return this.located.length;
  }

  parameterAt(at: number): string {
    return (this.located[at] as Located).parameter;
  }

  fieldAt(at: number): string {
    return this.parameterAt(at);
  }

  valueAt(at: number): unknown {
    return (this.located[at] as Located).value;
  }

  apply(changes: ParameterReview["changes"]): Fields {
    let { body } = this;
    for (const { at, value } of changes) {
      const { container, field, entry } = this.located[at] as Located;
      if (entry !== undefined) body = withoutEntry(body, field, entry);
      else if (container === null) body = withField(body, field, value);
      else {
        const inner = withField(asFields(body[container]) ?? {}, field, value);
        body = withField(body, container, isEmpty(inner) ? undefined : inner);
      }
    }
    return body;
  }
}

/** Returns fields without an entry of a list, or without the list if it is the only one. */
function withoutEntry(fields: Fields, name: string, entry: string): Fields {
  const others = asList(fields[name]).filter((one) => one !== entry);
  return withField(fields, name, others.length === 0 ? undefined : others);
}

/** Returns fields with another value of one of them, or without it if the value is undefined. */
function withField(fields: Fields, name: string, value: unknown): Fields {
  if (value !== undefined) return { ...fields, [name]: value };
  const { [name]: _, ...rest } = fields;
  return rest;
}
