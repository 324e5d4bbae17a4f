import { z } from "zod";
import { BOUNDS } from "../../base/bounds.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import { splitSortSuffix } from "./sort-suffix.ts";

/** The most named routes of the operator, and of each account. */
export const MAX_ROUTES = 500;
/** The longest definition, as JSON. Characters. */
export const MAX_DEFINITION_CHARS = 65_536;
/** Versions that are kept of each named route. */
export const MAX_VERSIONS = 20;

const MAX_TARGETS = 20;
const MAX_WEIGHT = 1_000_000;
const MAX_DESCRIPTION_CHARS = 1_000;

/** What a client may send as `model`: the id of a model or tier, or the name of a named route. */
const target = z
  .string()
  .trim()
  .min(1)
  .max(BOUNDS.modelIdChars)
  .describe("Id of a model or tier, or the name of another named route.");

const common = {
  description: z.string().max(MAX_DESCRIPTION_CHARS).optional().describe("For people. It has no effect."),
};

const replaces_model = z
  .boolean()
  .optional()
  .describe(
    "Whether the route is used even if the catalog has a model with its name. Only for routes of the operator. Defaults to `false`: the model is used.",
  );

const alias = z.strictObject({ kind: z.literal("alias"), target, replaces_model, ...common });

const group = z.strictObject({
  kind: z.literal("group"),
  targets: z
    .array(
      z.strictObject({
        model: target,
        weight: z
          .int()
          .min(0)
          .max(MAX_WEIGHT)
          .describe(
            "Share of the requests, in proportion to the sum of all weights. 0: only used if others fail.",
          ),
      }),
    )
    .min(1)
    .max(MAX_TARGETS)
    .refine((targets) => targets.some(({ weight }) => weight > 0), "must have a weight above 0")
    .refine(
      (targets) => new Set(targets.map(({ model }) => model.toLowerCase())).size === targets.length,
      "must not list a model twice",
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

/** The schema of what a named route stands for. */
export const definitionSchema = z.discriminatedUnion("kind", [alias, group]);

const NAME = /^[a-z0-9][a-z0-9._:/+-]*$/;

/** The schema of the name of a named route. */
export const routeNameSchema = z
  .string()
  .max(BOUNDS.modelIdChars)
  .regex(NAME, "must consist of a-z, 0-9 and . _ : / + - and begin with a letter or digit")
  .refine((name) => !name.startsWith("gateway-auto/"), "must not begin with gateway-auto/: these are tiers")
  .refine((name) => splitSortSuffix(name) === null, "must not end in :nitro or :floor, which sort providers")
  .refine((name) => !isFreeId(name), "must not end in :free: these are free models");

/** The schema of `named_routes` in the configuration: definitions by name. */
export const namedRoutesSchema = z
  .record(routeNameSchema, definitionSchema)
  .refine(
    (routes) => Object.keys(routes).length <= MAX_ROUTES,
    `must not have more than ${MAX_ROUTES} routes`,
  );
