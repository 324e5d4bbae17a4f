import { z } from "zod";
import { isFreeId } from "../records/is-free-id.ts";
import { MODEL_ID, MODEL_ID_CHARS } from "../records/model-schema.ts";
import { PlainText } from "../records/plain-text-schema.ts";
import { TIER_PREFIX } from "./tier-name.ts";

/** The client APIs that accept tiers. */
export const CLIENT_APIS_WITH_TIERS = ["chat.completions", "responses", "messages"] as const;
/** Reasoning efforts that a tier can set. `none` disables reasoning. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const VERBOSITIES = ["low", "medium", "high"] as const;

const MAX_MODELS = 50;
const MAX_VALUES = 100;

const modelId = z
  .string()
  .max(MODEL_ID_CHARS)
  .regex(MODEL_ID, "must have the form author/model, in lower case")
  .refine((id) => !id.startsWith(TIER_PREFIX), "must be a model: a tier cannot contain tiers");

/** The schema of what a tier chooses in one case. */
export const pickSchema = z.strictObject({
  /** In order of preference. The first that is served, allowed and capable is used, the others are its fallbacks. */
  models: z.array(modelId).min(1).max(MAX_MODELS),
  /** `enabled` sets no effort. Absent: as the client requests. */
  reasoning: z.enum(["enabled", ...EFFORTS]).exactOptional(),
  /** Absent: as the client requests. */
  verbosity: z.enum(VERBOSITIES).exactOptional(),
});

const rule = z.discriminatedUnion("by", [
  /** By the value of a request header, ignoring case. */
  z.strictObject({
    by: z.literal("header"),
    header: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "must be a header name in lower case"),
    cases: z
      .array(
        z.strictObject({
          values: z.array(z.string().trim().min(1)).min(1).max(MAX_VALUES),
          pick: pickSchema,
        }),
      )
      .min(1)
      .max(MAX_VALUES),
    else: pickSchema,
  }),
  /** By client API. */
  z.strictObject({
    by: z.literal("api"),
    cases: z.partialRecord(z.enum(CLIENT_APIS_WITH_TIERS), pickSchema),
    else: pickSchema,
  }),
  /** By whether the paying account has a positive balance. */
  z.strictObject({ by: z.literal("balance"), paid: pickSchema, else: pickSchema }),
  /** One of the free models for each session. */
  z.strictObject({
    by: z.literal("free"),
    /** Patterns of excluded model ids. `*` stands for any characters. */
    except: z.array(z.string().min(1)).max(MAX_VALUES).default([]),
    /** Free models that are used only if no other can serve the request, in this order. */
    last: z
      .array(modelId.refine(isFreeId, "must be a free model: its id ends in :free"))
      .max(MAX_MODELS)
      .default([]),
  }),
]);

/** The schema of a tier in `catalog/tiers.json` and under `tiers` of the configuration. */
export const tierSchema = z.strictObject({
  id: z
    .string()
    .regex(
      /^gateway-auto\/[a-z0-9][a-z0-9._-]*$/,
      "must be gateway-auto/ and a name in lower case, such as gateway-auto/fast",
    )
    .describe("Replaces the catalog's tier with this id."),
  name: PlainText.min(1).describe("Display name."),
  description: z.string().default(""),
  released: z.iso.date().exactOptional().describe("Release date, shown as `created`."),
  rule: rule.describe(
    "How the tier chooses: by header, api, balance or free (docs/tiers.md). A pick has models in order of preference, and may set reasoning (enabled, or an effort) and verbosity.",
  ),
});

/** The maximum number of tiers in one list, and in the stores. */
export const MAX_TIERS = 100;

/** The schema of a list of tiers with unique ids. */
export const tiersSchema = z
  .array(tierSchema)
  .max(MAX_TIERS)
  .superRefine((tiers, { addIssue }) => {
    for (const [index, { id }] of tiers.entries()) {
      if (tiers.findIndex((other) => other.id === id) < index)
        addIssue({ code: "custom", path: [index, "id"], message: `${id} is listed twice` });
    }
  });

/** The schema of `catalog/tiers.json`. */
export const tierDataSchema = z.strictObject({
  /** The day of its last change. */
  version: z.iso.date(),
  /** Models that accept `verbosity`, in addition to those whose record lists it. Others may reject the field. */
  verbosity: z.array(modelId),
  tiers: tiersSchema,
});
