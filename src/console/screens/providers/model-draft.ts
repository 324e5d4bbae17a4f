/** Models that are added at a provider, as they are typed. Pure functions. */
import {
  NO_PRICES,
  type Prices,
  readPrices,
  type TypedPrices,
  typePrices,
} from "../../parts/config/typed-prices.ts";
import { text } from "../../text/text.ts";

/** A model in a form. */
export interface ModelDraft {
  /** Its name at the host. */
  readonly name: string;
  /** The id that clients send: author/model. */
  readonly id: string;
  readonly context: string;
  readonly prices: TypedPrices;
  /** A model of the catalog that it copies; null for none. */
  readonly copyOf: string | null;
  /** Settings of the model that have no field. They are kept. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** What is wrong with each field of a draft; null if nothing is. */
export type DraftProblems = Readonly<Record<"id" | "context" | "prices", string | null>>;

export const NO_DRAFT: ModelDraft = {
  name: "",
  id: "",
  context: "",
  prices: NO_PRICES,
  copyOf: null,
  others: {},
};

/** A model that a host lists. */
export interface HostModel {
  readonly id: string;
  readonly context_length: number | null;
}

/** Returns the draft of a model that a host lists. Its id begins with the host's slug if the host names no author. */
export function draftOf({ id, context_length }: HostModel, slug: string): ModelDraft {
  const known = /^[^/\s]+\/\S+$/.test(id) ? id : `${slug}/${id}`;
  return {
    ...NO_DRAFT,
    name: id,
    id: known.toLowerCase().replace(/\s+/g, "-"),
    context: context_length?.toString() ?? "",
  };
}

/** Returns the draft of a model of the configuration. */
export function editDraft(model: Readonly<Record<string, unknown>>): ModelDraft {
  const { id, name, context_length, prices, copy_of, ...others } = model;
  return {
    id: String(id ?? ""),
    name: typeof name === "string" ? name : "",
    context: context_length === undefined ? "" : String(context_length),
    prices: typePrices(prices as Prices | undefined),
    copyOf: typeof copy_of === "string" ? copy_of : null,
    others: { ...others, prices },
  };
}

export function findProblems({ id, context, prices }: ModelDraft): DraftProblems {
  const words = text.providers.model;
  return {
    id: /^[^/\s]+\/\S+$/.test(id.trim()) ? null : words.badId,
    context: /^\d{0,9}$/.test(context.trim()) ? null : words.badContext,
    prices: readPrices(prices) === null ? words.badPrices : null,
  };
}

export function isSound(draft: ModelDraft): boolean {
  return Object.values(findProblems(draft)).every((problem) => problem === null);
}

/** Returns a draft as the configuration has it. Empty fields are left out. */
export function toModel({
  name,
  id,
  context,
  prices,
  copyOf,
  others,
}: ModelDraft): Readonly<Record<string, unknown>> {
  const { prices: former, ...kept } = others;
  const read = readPrices(prices, (former as Prices | undefined) ?? {});
  return {
    id: id.trim(),
    ...(name.trim() === "" ? {} : { name: name.trim() }),
    ...(copyOf === null ? {} : { copy_of: copyOf }),
    ...(context.trim() === "" ? {} : { context_length: Number(context) }),
    ...kept,
    ...(read ? { prices: read } : {}),
  };
}
