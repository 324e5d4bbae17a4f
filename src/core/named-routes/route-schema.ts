import { z } from "zod";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { PROMPT_CACHING } from "../../wire/conversation/preferences.ts";
import { isFreeId } from "../catalog/records/is-free-id.ts";
import { PlainText } from "../catalog/records/plain-text-schema.ts";
import { TIER_PREFIX } from "../catalog/tiers/tier-name.ts";
import { EFFORTS } from "../catalog/tiers/tier-schema.ts";
import { splitSortSuffix } from "./sort-suffix.ts";

/** The maximum number of named routes of the operator, and of each account. */
export const MAX_ROUTES = 500;
/** The longest definition, as JSON. Characters. */
export const MAX_DEFINITION_CHARS = 65_536;
/** Versions that are kept of each named route. */
export const MAX_VERSIONS = 20;

const MAX_TARGETS = 20;
const MAX_WEIGHT = 1_000_000;
const MAX_SLUG_CHARS = 100;
const MAX_STOPS = 16;
const MAX_SYSTEM_CHARS = 50_000;
const MAX_DESCRIPTION_CHARS = 1_000;

/** What a client may send as `model`: the id of a model or tier, or the name of a named route. */
const target = PlainText.trim()
  .min(1)
  .max(BOUNDS.modelIdChars)
  .regex(/^[!-~]+(?: [!-~]+)*$/, "must consist of printable ASCII characters")
  .refine((name) => !name.startsWith("@"), "must not be a preset")
  .describe(
    "Id of a model or tier, or the name of another named route. If the route's name has a `*`, one `*` here is replaced by what it stands for.",
  );

const pinned = z
  .string()
  .min(1)
  .max(MAX_SLUG_CHARS)
  .optional()
  .describe(
    "Slug of the only provider that may answer. The target is then the id of a model, or the provider's own name of it, and not another named route.",
  );

const common = {
  description: z
    .string()
    .max(MAX_DESCRIPTION_CHARS)
    .optional()
    .describe("Description for people. It has no effect."),
};

const replaces_model = z
  .boolean()
  .optional()
  .describe(
    "Whether the route is used even if the catalog has a model with its name. Only for routes of the operator. Defaults to `false`: the model is used.",
  );

const alias = z.strictObject({
  kind: z.literal("alias"),
  target,
  provider: pinned,
  replaces_model,
  ...common,
});

const group = z.strictObject({
  kind: z.literal("group"),
  targets: z
    .array(
      z.strictObject({
        model: target,
        provider: pinned,
        weight: z
          .int()
          .min(0)
          .max(MAX_WEIGHT)
          .describe(
            "Share of the requests, in proportion to the sum of all weights. 0 means the target is used only if others fail.",
          ),
        shadow: z
          .strictObject({
            model: target,
            share: z.number().gt(0).max(1).describe("Share of the target's requests that are copied."),
          })
          .optional()
          .describe(
            "A model that gets copies of requests. Their answers are discarded, and the operator pays. Only for routes of the operator.",
          ),
      }),
    )
    .min(1)
    .max(MAX_TARGETS)
    .refine((targets) => targets.some(({ weight }) => weight > 0), "must have a weight above 0")
    .refine(
      (targets) =>
        new Set(targets.map(({ model, provider = "" }) => `${model.toLowerCase()} ${provider}`)).size ===
        targets.length,
      "must not list a model twice, unless at different providers",
    )
    .describe("One is drawn by weight; the others follow if it fails."),
  sticky: z
    .enum(["session", "request"])
    .optional()
    .describe(
      "Whether all requests of a session get the same target, or each is drawn. Defaults to `session`.",
    ),
  replaces_model,
  ...common,
});

const slugs = z.array(z.string().min(1).max(MAX_SLUG_CHARS)).max(BOUNDS.patterns);
const dollars = z.union([z.number().min(0), z.string().regex(/^\d+(\.\d+)?$/, "must be a decimal number")]);

/** `provider` of a request, in a preset. */
const provider = z
  .strictObject({
    order: slugs.optional(),
    only: slugs.optional(),
    ignore: slugs.optional(),
    allow_fallbacks: z.boolean().optional(),
    own_keys_only: z.boolean().optional(),
    data_collection: z.enum(["allow", "deny"]).optional(),
    zdr: z.boolean().optional(),
    require_parameters: z.boolean().optional(),
    max_price: z
      .strictObject({
        prompt: dollars.optional(),
        completion: dollars.optional(),
        request: dollars.optional(),
        image: dollars.optional(),
      })
      .optional(),
    sort: z.enum(["price", "throughput", "latency"]).optional(),
    prompt_caching: z.enum(PROMPT_CACHING).optional(),
  })
  .describe("Members of `provider` that the request does not have.");

const parameters = z
  .strictObject({
    temperature: z.number().min(0).max(2).optional(),
    top_p: z.number().min(0).max(1).optional(),
    max_tokens: z.int().min(1).optional(),
    stop: z.array(z.string().min(1)).min(1).max(MAX_STOPS).optional(),
    seed: z.int().optional(),
    frequency_penalty: z.number().min(-2).max(2).optional(),
    presence_penalty: z.number().min(-2).max(2).optional(),
    reasoning_effort: z.enum(EFFORTS).optional(),
  })
  .describe("Parameters that the request does not have, as far as its client API has them.");

const preset = z.strictObject({
  kind: z.literal("preset"),
  model: target.optional().describe("Model, tier or named route for requests that name the preset as model."),
  models: z
    .array(target)
    .max(BOUNDS.fallbackModels)
    .optional()
    .describe("Fallbacks for requests without `models`."),
  provider: provider.optional(),
  parameters: parameters.optional(),
  system: z
    .string()
    .min(1)
    .max(MAX_SYSTEM_CHARS)
    .optional()
    .describe("Text before the request's system text."),
  ...common,
});

/** The schema of the definition of a named route in the configuration. Presets belong to accounts. */
const configuredSchema = z.discriminatedUnion("kind", [alias, group]);

/** The schema of the definition of a named route. */
export const definitionSchema = z.discriminatedUnion("kind", [alias, group, preset]);

/** The schema of the name of a preset. */
const presetNameSchema = z
  .string()
  .max(MAX_SLUG_CHARS)
  .regex(/^@[a-z0-9][a-z0-9._-]*$/, "must be @ and a name of a-z, 0-9 and . _ - such as @review");

const NAME = /^(?:[a-z0-9][a-z0-9._:/+ ()[\]-]*\*?|\*)[a-z0-9._:/+ ()[\]-]*$/;
const LOOSE_SPACE = / $| {2}/;

/** The schema of the name of a named route. */
export const routeNameSchema = z
  .string()
  .max(BOUNDS.modelIdChars)
  .regex(
    NAME,
    "must consist of a-z, 0-9, spaces and . _ : / + - ( ) [ ] with at most one `*`, and begin with a letter, a digit or the `*`",
  )
  .refine((name) => !LOOSE_SPACE.test(name), "must not end with a space or have two consecutive ones")
  .refine((name) => !name.startsWith(TIER_PREFIX), "must not begin with gateway-auto/: these are tiers")
  .refine((name) => splitSortSuffix(name) === null, "must not end in :nitro or :floor, which sort providers")
  .refine((name) => !isFreeId(name), "must not end in :free: these are free models");

/** The schema of `named_routes` in the configuration: definitions by name. */
export const namedRoutesSchema = z
  .record(routeNameSchema, configuredSchema)
  .refine(
    (routes) => Object.keys(routes).length <= MAX_ROUTES,
    `must not have more than ${MAX_ROUTES} routes`,
  );

/** Returns the problem of the name of a route of that kind; null if it is valid. Names of presets begin with @. */
export function findNameFault(name: string, kind: "alias" | "group" | "preset"): string | null {
  const schema = kind === "preset" ? presetNameSchema : routeNameSchema;
  const { error } = schema.safeParse(name);
  return error?.issues[0]?.message ?? null;
}
