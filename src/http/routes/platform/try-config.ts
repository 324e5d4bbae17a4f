import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import type { ProviderKey, ServedProvider } from "../../../core/deployments/served-provider.ts";
import type { Serving } from "../../../core/generation/call/call.ts";
import { KeyTrialView, presentTrial } from "../../../core/questions/key-trial-view.ts";
import { listHostModels } from "../../../core/questions/list-host-models.ts";
import { tryProviderKey } from "../../../core/questions/try-provider-key.ts";
import type { ConfigValue } from "../../../core/stored-config/config-store.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import type { HttpDeps } from "../../context/context.ts";

const TAG = "Configuration";
const PATH = "/api/admin/config";

const OfProvider = z.object({
  provider: z
    .string()
    .min(1)
    .max(100)
    .meta({ description: "Slug of the provider.", examples: ["openai"] }),
});

const settings = (z.record(z.string(), z.unknown()) as unknown as z.ZodType<ConfigValue>)
  .optional()
  .describe(
    "Settings of the provider as `providers.<slug>` of the configuration has them. They are tried and not stored. If absent, those in force are used.",
  );

/** The maximum number of keys that one test tries. */
const MAX_KEYS = 20;

/** `POST /api/admin/config/providers/{provider}/test`: calls a provider with each of its keys before they are stored. */
export const tryProviderSettings = defineEndpoint({
  method: "POST",
  path: `${PATH}/providers/:provider/test`,
  tag: TAG,
  summary:
    "Test the settings of a provider, stored or not, with a request for one token with each of its keys",
  needs: "gateway",
  access: OPERATOR,
  changesNothing: true,
  params: OfProvider,
  body: z.strictObject({
    settings,
    model: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe("Id of the model to call. Defaults to the cheapest one."),
  }),
  response: z.object({
    data: z.array(
      KeyTrialView.extend({
        key: z.string().describe("Name of the key, as in `keys` of the provider's health."),
      }),
    ),
  }),
  errors: ["conflict"],
  async handle({ params, body, deps }) {
    const serving = await readServing(deps, params.provider, body.settings);
    const provider = requireProvider(serving, params.provider);
    const models = body.model === undefined ? null : [body.model];
    const data = [];
    for (const key of provider.keys.slice(0, MAX_KEYS)) {
      const trial = await tryProviderKey(deps.generation, serving, { provider, key, models });
      data.push({ key: key.label, ...presentTrial(trial) });
    }
    return { data };
  },
});

/** `POST /api/admin/config/providers/{provider}/models`: the models that a host lists. */
export const listProviderModels = defineEndpoint({
  method: "POST",
  path: `${PATH}/providers/:provider/models`,
  tag: TAG,
  summary: "Ask a provider, stored or not, which models it serves",
  needs: "gateway",
  access: OPERATOR,
  changesNothing: true,
  params: OfProvider,
  body: z.strictObject({ settings }),
  response: z.object({
    data: z.array(
      z.object({
        id: z.string().describe("Name of the model at the host."),
        context_length: z
          .int()
          .nullable()
          .describe("Context window in tokens. `null` means the host does not say."),
      }),
    ),
  }),
  errors: ["conflict", "upstream_error"],
  async handle({ params, body, deps }) {
    const serving = await readServing(deps, params.provider, body.settings);
    const provider = requireProvider(serving, params.provider);
    const models = await listHostModels(provider, requireKey(provider), deps.clock);
    return { data: models.map(({ id, contextLength }) => ({ id, context_length: contextLength })) };
  },
});

/** Returns the models that would be served with the settings of a provider. */
async function readServing(deps: HttpDeps, slug: string, value: ConfigValue | undefined): Promise<Serving> {
  if (value === undefined) return deps.generation.serving();
  return deps.resources.config.tryEdits([{ path: ["providers", slug], value }]);
}

function requireProvider({ servedModels }: Serving, slug: string): ServedProvider {
  const provider = servedModels.provider(slug);
  if (provider !== undefined && provider.keys.length > 0) return provider;
  return fail(
    "invalid_request",
    `${slug} cannot be called: set api_keys, and the parts of its address if it has some.`,
    {
      metadata: { field: "settings" },
    },
  );
}

function requireKey({ keys, record }: ServedProvider): ProviderKey {
  return keys[0] ?? fail("invalid_request", `${record.name} has no key.`);
}

/** `POST /api/admin/config/guardrails/try`: checks a text with a guardrail before it is stored. */
export const tryGuardrail = defineEndpoint({
  method: "POST",
  path: `${PATH}/guardrails/try`,
  tag: TAG,
  summary: "Check a text with a guardrail, stored or not",
  needs: "gateway",
  access: OPERATOR,
  changesNothing: true,
  body: z.strictObject({
    guardrail: (z.record(z.string(), z.unknown()) as unknown as z.ZodType<ConfigValue>).meta({
      description: "A guardrail as the configuration has it. It is tried and not stored.",
      examples: [{ name: "emails", kind: "pii", types: ["email"], on: "both", action: "mask" }],
    }),
    text: z.string().min(1).max(100_000).describe("The text of a request."),
  }),
  response: z.object({
    data: z.object({
      action: z
        .enum(["none", "block", "mask", "warn", "unchecked", "unavailable"])
        .describe(
          "What happens to the request. `unchecked` and `unavailable`: the service could not check it.",
        ),
      kinds: z.array(z.string()).describe("Kinds of the matches, such as `EMAIL`."),
      reason: z.string().nullable().describe("Reason that the service gave."),
      text: z.string().describe("The text as the provider would get it."),
    }),
  }),
  errors: ["conflict"],
  handle: async ({ body, deps }) => ({
    data: await deps.resources.config.tryGuardrail(body.guardrail, body.text),
  }),
});
