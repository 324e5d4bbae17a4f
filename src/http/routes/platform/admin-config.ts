import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { formatTime } from "../../../base/time/time.ts";
import { credentialIdOf } from "../../../core/accounts/records/principal.ts";
import type { PinnedSetting } from "../../../core/gateways/gateway-config.ts";
import { presentChange } from "../../../core/settings/config-reload.ts";
import type { ConfigWrite, ConfigWritten } from "../../../core/stored-config/config-manager.ts";
import type {
  ConfigDocument,
  ConfigRevision,
  ConfigSecret,
  ConfigValue,
  RevisionHead,
} from "../../../core/stored-config/config-store.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint, type StoreInput } from "../../api/endpoint.ts";
import { makePage, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";
import type { PrincipalFor } from "../../middleware/authorize.ts";
import { ConfigChangeView } from "./config-change-view.ts";

const TAG = "Configuration";
const PATH = "/api/admin/config";

const Value = z.unknown() as unknown as z.ZodType<ConfigValue>;

const Path = z
  .array(z.string().min(1).max(512))
  .min(1)
  .max(16)
  .meta({
    description:
      "Path of a setting, of an entry, or of a section: keys of the configuration file, with the ids of entries instead of their positions.",
    examples: [["providers", "openai", "base_url"]],
  });

const Document = z.record(z.string(), z.unknown()) as unknown as z.ZodType<ConfigDocument>;

const secretId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    "must have 1 to 64 lower-case letters, digits, dots, dashes and underscores",
  )
  .meta({ description: "Id of the secret, which references name.", examples: ["openai-main"] });

/** The longest secret is the JSON file of a service account. */
const secretValue = z.string().min(1).max(16_384);

const SecretView = z
  .object({
    id: secretId,
    last_four: z.string().describe("Last characters of the secret; empty if it is short."),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().describe("Time of the last replacement (RFC 3339)."),
  })
  .meta({
    id: "ConfigSecret",
    description: "A secret of the stored configuration, without its value. A setting refers to it by its id.",
  });

const PinnedView = z
  .object({
    path: z.array(z.string()),
    file: z.string().nullable().describe("The configuration file; `null` if a variable sets the value."),
    line: z.int().nullable(),
    variable: z.string().nullable().describe("The environment variable that sets the value."),
    gateway: z
      .string()
      .nullable()
      .describe("The gateway with the file or variable; `null` for the one that answers."),
  })
  .meta({
    id: "PinnedSetting",
    description: "A setting of a configuration file or variable, which takes precedence over a stored one.",
  });

const ConfigView = z
  .object({
    revision: z.int().describe("Number of the latest revision; 0 if nothing was ever stored."),
    document: z
      .record(z.string(), z.unknown())
      .describe("The stored settings, in the schema of the configuration file. Secrets are references."),
    changed_at: z.iso.datetime().nullable(),
    changed_by: z.string().nullable().describe("Id of the credential that made the change."),
    pinned: z.array(PinnedView).describe("Settings that take precedence over stored ones."),
    secrets: z.array(SecretView),
  })
  .meta({ id: "StoredConfig", description: "The configuration that the management API has stored." });

/** `GET /api/admin/config`: the stored configuration. */
export const getConfig = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "Retrieve the stored configuration, its secrets without values, and what takes precedence over it",
  access: OPERATOR,
  response: z.object({ data: ConfigView }),
  async handle({ deps }) {
    const { latest, secrets, pinned } = await deps.resources.config.read();
    return {
      data: {
        revision: latest?.revision ?? 0,
        document: latest?.document ?? {},
        changed_at: latest === null ? null : formatTime(latest.changedAt),
        changed_by: latest?.changedBy ?? null,
        pinned: pinned.map(presentPinned),
        secrets: secrets.map(presentSecret),
      },
    };
  },
});

/** `GET /api/admin/config/schema`: the schema of the configuration. */
export const getConfigSchema = defineEndpoint({
  method: "GET",
  path: `${PATH}/schema`,
  tag: TAG,
  summary: "Retrieve the JSON Schema of the configuration",
  access: OPERATOR,
  response: z.object({
    data: z
      .record(z.string(), z.unknown())
      .describe(
        "JSON Schema. `secret` marks secrets, `needsRestart` settings that take effect after a restart, `fileOnly` settings that only the file or the environment can have, and `entriesBy` lists and maps whose entries are set one by one.",
      ),
  }),
  handle: ({ deps }) => ({ data: deps.resources.configSchema() }),
});

/** `GET /api/admin/config/export`: the whole configuration as one document. */
export const exportConfig = defineEndpoint({
  method: "GET",
  path: `${PATH}/export`,
  tag: TAG,
  summary: "Export the configuration of this gateway, stored or not, with secrets as references",
  access: OPERATOR,
  response: z.object({
    data: z.object({
      document: z.record(z.string(), z.unknown()),
      secrets: z.array(z.string()).describe("Ids of the secrets that the document refers to."),
      left_out: z
        .array(z.string())
        .describe(
          "Settings that belong to a machine, such as addresses and databases. They are not included.",
        ),
    }),
  }),
  async handle({ deps }) {
    const { document, secrets, leftOut } = await deps.resources.config.exportAll();
    return { data: { document, secrets, left_out: leftOut } };
  },
});

const revisionField = z
  .int()
  .min(0)
  .optional()
  .describe(
    "The revision that the change was made from. If it is not the latest one, the change is rejected with 409.",
  );

const secretsField = z
  .record(secretId, secretValue)
  .default({})
  .describe("Secrets to store with the change, by id. A plain secret in a setting is stored, too.");

const dryRun = z.strictObject({
  dry_run: z.enum(["true", "false"]).default("false").describe("`true` only checks the change."),
});

const WrittenView = z.object({
  data: z
    .object({
      revision: z.int().describe("The latest revision."),
      stored: z.boolean().describe("Whether the change is stored."),
      changes: z.array(ConfigChangeView).describe("How the settings in force change. Secrets are masked."),
    })
    .meta({ id: "ConfigWritten" }),
});

/** `PATCH /api/admin/config`: changes some of the stored settings. */
export const patchConfig = defineEndpoint({
  method: "PATCH",
  path: PATH,
  tag: TAG,
  summary: "Change stored settings. Every gateway applies the change within a second",
  access: OPERATOR,
  query: dryRun,
  body: z.strictObject({
    revision: revisionField,
    edits: z
      .array(
        z.strictObject({
          path: Path,
          value: Value.optional().describe("The new value. Everything at the path and below is replaced."),
          remove: z.literal(true).optional().describe("Removes what is stored at the path and below."),
        }),
      )
      .max(1_000)
      .default([])
      .meta({ examples: [[{ path: ["limits", "attempts"], value: 3 }]] }),
    secrets: secretsField,
  }),
  response: WrittenView,
  errors: ["conflict"],
  async handle({ principal, query, body, deps, sessionId, audit }) {
    const change = body.edits.map(({ path, value, remove }, index) => {
      if ((value === undefined) === (remove === undefined))
        fail("invalid_request", `edits.${index}: must have either value or remove.`, {
          metadata: { field: `edits.${index}` },
        });
      return value === undefined ? { path } : { path, value };
    });
    return write({ principal, query, body, deps, sessionId, audit }, change);
  },
});

/** `PUT /api/admin/config`: replaces all stored settings. */
export const putConfig = defineEndpoint({
  method: "PUT",
  path: PATH,
  tag: TAG,
  summary:
    "Replace the stored configuration. It is applied whole or not at all, by every gateway within a second",
  access: OPERATOR,
  query: dryRun,
  body: z.strictObject({
    revision: revisionField,
    document: Document.meta({
      examples: [{ named_routes: { "gpt-4o": { kind: "alias", target: "sandbox/echo" } } }],
    }).describe("The stored settings, in the schema of the configuration file."),
    secrets: secretsField,
  }),
  response: WrittenView,
  errors: ["conflict"],
  handle: ({ principal, query, body, deps, sessionId, audit }) =>
    write({ principal, query, body, deps, sessionId, audit }, body.document),
});

/** The parts of a request that changes the configuration. */
interface WriteInput
  extends Pick<
    StoreInput<PrincipalFor<typeof OPERATOR>, unknown, z.infer<typeof dryRun>, unknown>,
    "principal" | "query" | "deps" | "sessionId" | "audit"
  > {
  readonly body: {
    readonly revision?: number | undefined;
    readonly secrets: Readonly<Record<string, string>>;
  };
}

async function write(
  { principal, query, body, deps, sessionId, audit }: WriteInput,
  change: ConfigWrite["change"],
) {
  const written = await deps.resources.config.write({
    from: body.revision ?? null,
    change,
    secrets: Object.entries(body.secrets).map(([id, value]) => ({ id, value })),
    dryRun: query.dry_run === "true",
    by: credentialIdOf(principal),
    isInConsole: sessionId !== null,
  });
  audit({ target: `revision ${written.revision}`, changes: describeWritten(written, body.secrets) });
  return { data: presentWritten(written) };
}

function presentWritten({ revision, isStored, changes }: ConfigWritten) {
  return { revision, stored: isStored, changes: changes.map(presentChange) };
}

/** Returns a change as the audit log records it: each setting before and after, with secrets masked. */
function describeWritten(
  { isStored, changes }: ConfigWritten,
  secrets: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  if (!isStored) return { dry_run: true };
  const settings = changes.map(({ name, before, after }) => [name, { before, after }] as const);
  const replaced = Object.keys(secrets).map((id) => [`secrets.${id}`, "replaced"] as const);
  return Object.fromEntries([...settings, ...replaced]);
}

const RevisionView = z
  .object({
    revision: z.int(),
    changed_at: z.iso.datetime(),
    changed_by: z.string().describe("Id of the credential that made the change."),
    changed: z
      .array(z.array(z.string()))
      .describe(
        "Paths of the settings that differ from the revision before. Empty if only a secret was replaced.",
      ),
  })
  .meta({
    id: "ConfigRevision",
    description: "A revision of the stored configuration. The last 100 are kept.",
  });

const OfRevision = z.object({
  revision: z.coerce
    .number()
    .int()
    .min(1)
    .meta({ description: "Number of the revision.", examples: [1] }),
});

/** `GET /api/admin/config/revisions`: the former revisions. */
export const listConfigRevisions = defineEndpoint({
  method: "GET",
  path: `${PATH}/revisions`,
  tag: TAG,
  summary: "List the revisions of the stored configuration, latest first",
  access: OPERATOR,
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(100).default(20).describe("Maximum number of revisions."),
    after: z.coerce
      .number()
      .int()
      .min(1)
      .optional()
      .describe("Number of the last revision of the previous page."),
  }),
  response: pageView(RevisionView),
  handle: ({ query, deps }) =>
    makePage({
      limit: query.limit,
      load: (limit) => deps.resources.config.listRevisions(query.after ?? null, limit),
      present: (revisions) => revisions.map(presentRevision),
      cursorOf: ({ revision }) => String(revision),
    }),
});

/** `GET /api/admin/config/revisions/{revision}`: a former revision with its document. */
export const getConfigRevision = defineEndpoint({
  method: "GET",
  path: `${PATH}/revisions/:revision`,
  tag: TAG,
  summary: "Retrieve a revision of the stored configuration",
  access: OPERATOR,
  params: OfRevision,
  response: z.object({ data: RevisionView.extend({ document: z.record(z.string(), z.unknown()) }) }),
  async handle({ params, deps }) {
    const found = await findRevision(deps, params.revision);
    return { data: { ...presentRevision(found), document: found.document } };
  },
});

/** @throws GatewayError `not_found`. */
async function findRevision({ resources }: StoreDeps, revision: number): Promise<ConfigRevision> {
  return (
    (await resources.config.findRevision(revision)) ??
    fail(
      "not_found",
      `There is no revision ${revision}. \`GET ${PATH}/revisions\` lists those that are kept.`,
    )
  );
}

/** `POST /api/admin/config/revisions/{revision}/restore`: stores a former revision again. */
export const restoreConfig = defineEndpoint({
  method: "POST",
  path: `${PATH}/revisions/:revision/restore`,
  tag: TAG,
  summary: "Store a former revision of the configuration again, as the next one",
  access: OPERATOR,
  params: OfRevision,
  query: dryRun,
  response: WrittenView,
  errors: ["not_found", "conflict"],
  async handle({ principal, params, query, deps, sessionId, audit }) {
    const { document } = await findRevision(deps, params.revision);
    return write({ principal, query, body: { secrets: {} }, deps, sessionId, audit }, document);
  },
});

/** `GET /api/admin/config/secrets`: the secrets of the stored configuration. */
export const listConfigSecrets = defineEndpoint({
  method: "GET",
  path: `${PATH}/secrets`,
  tag: TAG,
  summary: "List the secrets of the stored configuration, without values",
  access: OPERATOR,
  response: z.object({ data: z.array(SecretView) }),
  handle: async ({ deps }) => ({ data: (await deps.resources.config.read()).secrets.map(presentSecret) }),
});

/** `PUT /api/admin/config/secrets/{id}`: stores a secret or replaces its value. */
export const putConfigSecret = defineEndpoint({
  method: "PUT",
  path: `${PATH}/secrets/:id`,
  tag: TAG,
  summary: "Store a secret, or replace its value at every setting that refers to it",
  access: OPERATOR,
  params: z.object({ id: secretId }),
  body: z.strictObject({ value: secretValue.describe("The secret. No response contains it.") }),
  response: z.object({ data: SecretView }),
  errors: ["conflict"],
  async handle({ principal, params, body, deps, sessionId, audit }) {
    const { config } = deps.resources;
    const secrets = [{ id: params.id, value: body.value }];
    await config.write({
      ...{ from: null, change: [], secrets, dryRun: false, by: credentialIdOf(principal) },
      isInConsole: sessionId !== null,
    });
    audit({ target: params.id, changes: { value: "replaced" } });
    const found = (await config.read()).secrets.find(({ id }) => id === params.id);
    return found === undefined
      ? fail("conflict", "The secret has just been deleted.")
      : { data: presentSecret(found) };
  },
});

/** `DELETE /api/admin/config/secrets/{id}`: deletes a secret to which no setting refers. */
export const deleteConfigSecret = defineEndpoint({
  method: "DELETE",
  path: `${PATH}/secrets/:id`,
  tag: TAG,
  summary: "Delete a secret to which no setting refers",
  access: OPERATOR,
  params: z.object({ id: secretId }),
  response: z.object({ data: z.object({ id: z.string(), deleted: z.literal(true) }) }),
  errors: ["not_found", "conflict"],
  async handle({ principal, params, deps, audit }) {
    await deps.resources.config.removeSecret(params.id, credentialIdOf(principal));
    audit({ target: params.id, changes: {} });
    return { data: { id: params.id, deleted: true } };
  },
});

function presentSecret({ id, lastFour, createdAt, updatedAt }: ConfigSecret) {
  return { id, last_four: lastFour, created_at: formatTime(createdAt), updated_at: formatTime(updatedAt) };
}

function presentRevision({ revision, changedAt, changedBy, changed }: RevisionHead) {
  return { revision, changed_at: formatTime(changedAt), changed_by: changedBy, changed };
}

function presentPinned({ path, file, line, variable, gateway }: PinnedSetting) {
  return { path, file, line, variable, gateway };
}
