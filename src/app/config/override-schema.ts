import { z } from "zod";
import type { PriceTerms } from "../../core/catalog/prices/price-row.ts";
import {
  endpointShape,
  IMAGE_SIZE,
  MODEL_ID,
  modelShape,
  PRICE_NAMES,
  priceChangeShape,
  pricesShape,
  reasoningShape,
  SLUG,
  takesShape,
  tierShape,
} from "../../core/catalog/records/model-schema.ts";
import {
  isSoundRule,
  parameterRuleShape,
  type TakenParameter,
  type TakenParameters,
} from "../../core/catalog/records/profile-schema.ts";
import type { CatalogOverrides, EndpointOverride } from "../../core/catalog/served/apply-overrides.ts";

type Shape = Readonly<Record<string, z.ZodType>>;

/** `cacheWrite1h` of the catalog is `cache_write_1h` in the configuration. */
function toSnake(name: string): string {
  return name.replace(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);
}

function toCamel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function spell(shape: Shape): Shape {
  return Object.fromEntries(Object.entries(shape).map(([name, schema]) => [toSnake(name), schema]));
}

/** Makes every member optional and removes defaults: an absent member leaves the catalog as it is. */
function partOf(shape: Shape): Shape {
  const members = Object.entries(spell(shape)).map(([name, schema]) => {
    const bare = schema instanceof z.ZodDefault ? (schema.unwrap() as z.ZodType) : schema;
    return [name, bare.optional()];
  });
  return Object.fromEntries(members) as Shape;
}

/** A price may end in zeros, unlike in the files of the catalog. `readPrices` removes them. */
const writtenPrice = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,18})?$/, 'must be a decimal string in US dollars, such as "0.0000025"');

const imageVariants = z
  .array(
    z.strictObject({
      quality: z.string().min(1).exactOptional(),
      size: z.string().regex(IMAGE_SIZE, "must have the form 1024x1024").exactOptional(),
      price: writtenPrice,
    }),
  )
  .min(1);

/** The names of prices in the configuration. */
const SPELLED_PRICES: ReadonlySet<string> = new Set(PRICE_NAMES.map(toSnake));

/** Spells a shape that has prices. */
function spellShape(shape: Shape): Shape {
  const members = Object.entries(spell(shape)).map(([name, schema]) => {
    if (name === "image_variants") return [name, imageVariants.exactOptional()];
    if (!SPELLED_PRICES.has(name)) return [name, schema];
    return [name, schema instanceof z.ZodOptional ? writtenPrice.exactOptional() : writtenPrice];
  });
  return Object.fromEntries(members) as Shape;
}

type Written = Readonly<Record<string, unknown>>;

/** Returns whether each item is greater than the one before. */
function isAscending(values: readonly unknown[]): boolean {
  return values.every((value, at) => at === 0 || (values[at - 1] as number) < (value as number));
}

/** Prices in the configuration, in snake case: the same for catalog overrides, pricing rules and models of the operator's own. */
export const pricesSchema = z.strictObject(spellShape(pricesShape));
/** Prices of longer prompts. */
export const tiersOfPricesSchema = z
  .array(z.strictObject(spellShape(tierShape)))
  .min(1)
  .refine(
    (tiers) => isAscending(tiers.map((tier: Written) => tier["min_prompt_tokens"])),
    "must be in ascending order of min_prompt_tokens",
  );
/** Announced prices. */
export const priceChangesSchema = z
  .array(
    z.strictObject({
      ...spell(priceChangeShape),
      prices: pricesSchema,
      price_tiers: tiersOfPricesSchema.optional(),
    }),
  )
  .min(1)
  .refine(
    (changes) => isAscending(changes.map((change: Written) => change["from"])),
    "must be in ascending order of from",
  );
const { provider: _, missingSince: __, fromPriceMap: ___, ...endpointFacts } = endpointShape;
const { id: ____, endpoints: _____, ...modelFacts } = modelShape;
const HOW_TO_SAY_IT =
  "must be yes, no, or a rule with one of: values (a list), min and max (numbers), not_with (another parameter), list (true)";

const takenParameter = z.union(
  [
    z.literal("yes"),
    z.literal("no"),
    z
      .strictObject(spell(parameterRuleShape))
      .refine(({ not_with: notWith, ...rule }) => isSoundRule({ ...rule, notWith }), HOW_TO_SAY_IT),
  ],
  HOW_TO_SAY_IT,
);

/** Statements about parameters, by the names of the chat API. */
export const takenSchema = z.record(z.string().min(1), takenParameter);

/** Facts of `ModelTakes`, and what is taken of parameters. `reasoning` may be either. */
const takesOverride = z
  .object({
    ...spell(takesShape),
    reasoning: z.union([takesShape.reasoning.unwrap(), takenParameter]).optional(),
  })
  .catchall(takenParameter)
  .optional();
const takesHereOverride = z.strictObject(spell(takesShape)).optional();
const hidden = z.boolean().optional();

const endpointOverride = z.strictObject({
  ...partOf(endpointFacts),
  prices: pricesSchema.nullable().optional(),
  price_tiers: tiersOfPricesSchema.optional(),
  takes: takesOverride,
  takes_here: takesHereOverride,
  price_changes: priceChangesSchema.optional(),
  hidden,
});

const modelOverride = z.strictObject({
  ...partOf(modelFacts),
  reasoning: z.strictObject(spell(reasoningShape)).optional(),
  takes: takesOverride,
  hidden,
  endpoints: z.record(z.string().regex(SLUG, "must be a provider's slug"), endpointOverride).optional(),
});

/** The catalog overrides in the configuration, in snake case. Each member has the schema of the catalog. */
export const overridesSchema = z.record(
  z.string().regex(new RegExp(MODEL_ID.source, "i"), "must be a model id: author/model"),
  modelOverride,
);

/** Converts the overrides to the spelling of the catalog. */
export function readOverrides(written: z.infer<typeof overridesSchema> = {}): CatalogOverrides {
  return Object.fromEntries(
    Object.entries(written).map(([id, { endpoints, takes, ...facts }]) => {
      const { facts: takenFacts, parameters } = splitTakes(takes);
      return [
        id,
        {
          ...(respell(facts) as object),
          ...(takenFacts === null ? {} : { takes: takenFacts }),
          ...(parameters === null ? {} : { takesByOperator: parameters }),
          ...(endpoints === undefined ? {} : { endpoints: readEndpoints(endpoints) }),
        },
      ];
    }),
  );
}

type WrittenEndpoint = z.infer<typeof endpointOverride>;

function readEndpoints(
  endpoints: Readonly<Record<string, WrittenEndpoint>>,
): Record<string, EndpointOverride> {
  const entries = Object.entries(endpoints).map(([slug, { takes, takes_here: here, ...rest }]) => {
    const { facts, parameters } = splitTakes(takes);
    const takesHere = { ...(respell(here ?? {}) as object), ...facts };
    return [
      slug,
      {
        ...(respell(rest) as object),
        ...(Object.keys(takesHere).length === 0 ? {} : { takesHere }),
        ...(parameters === null ? {} : { takesByOperator: parameters }),
      },
    ];
  });
  return Object.fromEntries(entries) as Record<string, EndpointOverride>;
}

/** Separates the facts of `ModelTakes` from the statements about parameters. Each is null if there is none. */
function splitTakes(written: Readonly<Record<string, unknown>> = {}): {
  readonly facts: object | null;
  readonly parameters: TakenParameters | null;
} {
  const facts: Record<string, unknown> = {};
  const parameters: Record<string, TakenParameter> = {};
  for (const [name, value] of Object.entries(written)) {
    const isFact = FACTS.has(name) && !takenParameter.safeParse(value).success;
    if (isFact) facts[toCamel(name)] = value;
    else parameters[name] = readTaken(value);
  }
  return {
    facts: Object.keys(facts).length === 0 ? null : facts,
    parameters: Object.keys(parameters).length === 0 ? null : parameters,
  };
}

const FACTS: ReadonlySet<string> = new Set(Object.keys(spell(takesShape)));

/** The names of parameters and their values are not converted. */
function readTaken(written: unknown): TakenParameter {
  if (typeof written !== "object" || written === null) return written as TakenParameter;
  const members = Object.entries(written).map(([name, value]) => [toCamel(name), value]);
  return Object.fromEntries(members) as TakenParameter;
}

/** Converts the configuration's statements about parameters to the spelling of the catalog. */
export function readTakenParameters(written: z.infer<typeof takenSchema>): TakenParameters {
  return Object.fromEntries(Object.entries(written).map(([name, taken]) => [name, readTaken(taken)]));
}

function respell(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(respell);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      toCamel(name),
      typeof member === "string" && isPriceName(name) ? trimZeros(member) : respell(member),
    ]),
  );
}

function isPriceName(name: string): boolean {
  return name === "price" || SPELLED_PRICES.has(name);
}

/** Returns a decimal string without zeros that mean nothing. Any other text is returned as it is. */
function trimZeros(text: string): string {
  return /^\d+(\.\d+)?$/.test(text)
    ? text
        .replace(/^0+(?=\d)/, "")
        .replace(/(\.\d*?)0+$/, "$1")
        .replace(/\.$/, "")
    : text;
}

/** Prices, those for longer prompts, and announced ones, as the configuration has them. */
interface WrittenPrices {
  readonly prices: z.infer<typeof pricesSchema>;
  readonly price_tiers?: z.infer<typeof tiersOfPricesSchema> | undefined;
  readonly price_changes?: z.infer<typeof priceChangesSchema> | undefined;
}

/** Converts prices to the spelling of the catalog. */
export function readPrices({ prices, price_tiers, price_changes }: WrittenPrices): PriceTerms {
  return respell({
    prices,
    ...(price_tiers === undefined ? {} : { price_tiers }),
    ...(price_changes === undefined ? {} : { price_changes }),
  }) as PriceTerms;
}

/** Converts prices of the catalog to the spelling of the configuration: the reverse of `readPrices`. */
export function spellPrices({ prices, priceTiers, priceChanges }: PriceTerms): Record<string, unknown> {
  return spellMembers({
    prices,
    ...(priceTiers === undefined ? {} : { priceTiers }),
    ...(priceChanges === undefined ? {} : { priceChanges }),
  }) as Record<string, unknown>;
}

function spellMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(spellMembers);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toSnake(name), spellMembers(member)]),
  );
}

/** Returns the path of an override in the configuration. */
export function spellPath(path: readonly string[]): readonly string[] {
  return ["catalog", "overrides", ...path.map((part, at) => (at === 0 ? part : toSnake(part)))];
}
