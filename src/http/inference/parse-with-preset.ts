import { fail, rejectField } from "../../base/failures/errors.ts";
import type { InferencePrincipal } from "../../core/accounts/records/principal.ts";
import type { AppliedPreset, GenerationDeps } from "../../core/generation/call/call.ts";
import { type NamedPreset, namePreset } from "../../core/named-routes/name-preset.ts";
import type { NamedRoutes } from "../../core/named-routes/named-routes.ts";
import { applyPreset } from "../../wire/client-apis/apply-preset.ts";
import { CLIENT_APIS } from "../../wire/client-apis/client-apis.ts";
import type { ClientApi } from "../../wire/client-apis/request/inference-request.ts";

/** A request, and the preset that was applied to it; null if it names none. */
export interface ParsedRequest<Request> {
  readonly request: Request;
  readonly preset: AppliedPreset | null;
  /** Memory of the body that was made with the preset's settings. */
  readonly bodyBytes: number;
}

/** Parses the requests of a client API. */
export interface RequestParser<Request> {
  readonly api: ClientApi;
  /** @throws GatewayError for a body that is not valid. */
  parse(body: Buffer): Request;
}

/** The parsed request and its sender. */
interface Sent {
  readonly body: Buffer;
  readonly principal: InferencePrincipal;
}

/**
 * Parses a request, with the settings of the preset that it names. Rejects as its parser, or with a GatewayError `invalid_model` or
 * `invalid_request` for a preset that cannot be used; `authentication` for a preset without a key.
 */
export async function parseWithPreset<
  Request extends { readonly model: string; readonly preset: string | null },
>(
  { accounts: { accountRoutes } }: Pick<GenerationDeps, "accounts">,
  parser: RequestParser<Request>,
  { body, principal }: Sent,
): Promise<ParsedRequest<Request>> {
  const request = parser.parse(body);
  const named = namePreset(request);
  if (named === null) return { request, preset: null, bodyBytes: 0 };
  if (principal.kind === "anonymous")
    return fail("authentication", 'A preset needs an API key. Send it as "Authorization: Bearer gw_…".');
  return apply(await accountRoutes.of(principal.account.id), { parser, body, named });
}

/** Parses a request whose body was joined with what it continues. The settings of its preset are in the body already. */
export function parseJoined<Request>(
  parser: RequestParser<Request>,
  { preset }: ParsedRequest<Request>,
  body: Buffer,
): ParsedRequest<Request> {
  return { request: parser.parse(body), preset: preset === null ? null : { ...preset, body }, bodyBytes: 0 };
}

interface Named<Request> {
  readonly parser: RequestParser<Request>;
  readonly body: Buffer;
  readonly named: NamedPreset;
}

function apply<Request extends { readonly model: string }>(
  own: NamedRoutes | null,
  { parser, body, named }: Named<Request>,
): ParsedRequest<Request> {
  const { api } = parser;
  const { name, model: asked, field } = named;
  const route = own?.find(name);
  if (route === undefined || route.definition.kind !== "preset")
    return fail("invalid_model", `The account has no preset ${JSON.stringify(name.slice(0, 100))}.`, {
      metadata: { field, model: name },
    });
  if (CLIENT_APIS[api].takesForm === true)
    rejectField(field, "must not name a preset: presets are for JSON bodies");
  const { definition, version } = route;
  const model = asked ?? definition.model;
  if (model === undefined)
    return rejectField("model", `must name a model beside the preset ${name}, which has none`);
  const changed = applyPreset(api, body, { settings: definition, model: field === "model" ? model : null });
  const step = { name, kind: "preset", version, scope: "account", to: model } as const;
  const requested = field === "model" ? (asked === null ? name : `${asked}@preset/${name.slice(1)}`) : null;
  return {
    request: parser.parse(changed),
    preset: { step, requested, body: changed },
    bodyBytes: changed.length,
  };
}
