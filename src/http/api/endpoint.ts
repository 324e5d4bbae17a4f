import { z } from "zod";
import { BOUNDS } from "../../base/bounds.ts";
import { type ErrorCode, fail } from "../../base/errors.ts";
import { parseBody } from "../../wire/json/check-fields.ts";
import { requireBodyBytes } from "../../wire/json/reject-excess.ts";
import type { Handler, HttpDeps, RequestContext } from "../context/context.ts";
import { urlOf } from "../context/url-of.ts";
import { hashAddress } from "../middleware/identify-principal.ts";
import { type BodyHolder, readRequestBody } from "../middleware/read-body.ts";
import { answerOnce } from "./answer-once.ts";
import { type Access, type ApiPrincipal, identifyApiPrincipal } from "./api-principal.ts";
import { identifySigner } from "./identify-signer.ts";
import { announceAndMake, type ChangeNote, writeAudit } from "./write-audit.ts";

type Schema = z.ZodType;

/** What an endpoint's handler gets: everything checked. */
export interface ApiInput<Params, Query, Body> {
  readonly principal: ApiPrincipal;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly headers: Headers;
  readonly deps: HttpDeps;
  readonly requestId: string;
  /** Says what was changed, for the audit log. Without it the log names the path's ids and the body's fields alone. */
  note(change: ChangeNote): void;
}

/** An endpoint of the management or self-service API: what is served, checked and documented, said once. */
export interface Endpoint<
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `:name` for what varies: `/api/admin/keys/:id`. */
  readonly path: string;
  /** It answers behind every gateway prefix (`/api/gateway`, `/v1` and so on), which `path` then leaves out. */
  readonly everyPrefix?: true;
  /** Groups endpoints in the documentation. */
  readonly tag: string;
  /** One sentence, without a full stop. */
  readonly summary: string;
  readonly access: Access;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The answer's body. */
  readonly response: Schema;
  /** 200 unless said. */
  readonly status?: 201;
  /** Answered in its place where what is to be made was there before. */
  readonly known?: 200;
  /** Errors that it may answer beside those of every endpoint of its kind. */
  readonly errors?: readonly ErrorCode[];
  /** The answer is also there as CSV. */
  readonly csv?: true;
  /** The answer shows a secret: it is not kept for a request that comes twice. */
  readonly answersSecret?: true;
  handle(input: ApiInput<z.infer<Params>, z.infer<Query>, z.infer<Body>>): Promise<unknown> | unknown;
}

/** Nothing is taken here. */
export const NOTHING = z.strictObject({});

/** Declares an endpoint; only there so that the handler's types follow from the schemas. */
export function defineEndpoint<Params extends Schema, Query extends Schema, Body extends Schema>(
  endpoint: Endpoint<Params, Query, Body>,
): Endpoint<Params, Query, Body> {
  return endpoint;
}

/**
 * The handler of an endpoint: who calls, what they ask, checked; the answer as JSON, or the `Response` it made itself. A
 * change goes to the audit log, and one with an `Idempotency-Key` is made once.
 */
export function serveEndpoint(endpoint: Endpoint): Handler {
  return async (request, context) => {
    const { principal, bytes } = await admitCaller(endpoint, request, context);
    const url = urlOf(request);
    const notes: ChangeNote[] = [];
    const holder: BodyHolder = { source: "key", id: principal.key.id };
    const input: AnyInput = {
      principal: principal,
      params: check(endpoint.params, context.params, "path"),
      query: check(endpoint.query, Object.fromEntries(url.searchParams), "query"),
      body: check(endpoint.body, readJson(bytes ?? (await readBytes(request, context, holder))), "body"),
      headers: request.headers,
      deps: context.deps,
      requestId: context.requestId,
      note: (change) => void notes.push(change),
    };
    if (endpoint.method === "GET") return respond(endpoint, await endpoint.handle(input));
    const name = endpoint.method === "POST" ? request.headers.get("idempotency-key") : null;
    if (name === null) return change(endpoint, input, notes);
    return changeOnce(endpoint, input, notes, { name, address: url.pathname + url.search });
  };
}

type AnyInput = ApiInput<unknown, unknown, unknown>;

function respond(endpoint: Endpoint, answer: unknown): Response {
  return answer instanceof Response ? answer : Response.json(answer, { status: endpoint.status ?? 200 });
}

async function change(endpoint: Endpoint, input: AnyInput, notes: readonly ChangeNote[]): Promise<Response> {
  const { made, announced } = await announceAndMake(endpoint, input, () => endpoint.handle(input));
  await writeAudit(endpoint, input, announced, notes);
  return respond(endpoint, made);
}

async function changeOnce(
  endpoint: Endpoint,
  input: AnyInput,
  notes: readonly ChangeNote[],
  { name, address }: { name: string; address: string },
): Promise<Response> {
  const { deps, principal, body } = input;
  const keeper = { answers: deps.answers, now: deps.clock.now };
  const repeatable = {
    name,
    keyId: principal.key.id,
    content: JSON.stringify([endpoint.method, address, body]),
    answersSecret: endpoint.answersSecret === true,
  };
  let announced: number | null = null;
  const answer = await answerOnce(keeper, repeatable, async () => {
    const change = await announceAndMake(endpoint, input, () => endpoint.handle(input));
    announced = change.announced;
    return { status: endpoint.status ?? 200, body: change.made };
  });
  if (announced !== null) await writeAudit(endpoint, input, announced, notes);
  return new Response(answer.body, {
    status: answer.status,
    headers: {
      "content-type": "application/json",
      ...(answer.isRepeated ? { "idempotent-replayed": "true" } : {}),
    },
  });
}

const BODILESS = new Set(["GET", "DELETE", "HEAD"]);

/** Who calls; also the body where it had to be read to find that out. */
async function admitCaller(
  { access }: Endpoint,
  request: Request,
  context: RequestContext,
): Promise<{ readonly principal: ApiPrincipal; readonly bytes: Buffer | null }> {
  if (access.kind !== "signed")
    return { principal: await identifyApiPrincipal(request, context, access), bytes: null };
  const holder: BodyHolder = { source: "anonymous", id: hashAddress(request, context) };
  const bytes = await readBytes(request, context, holder);
  return { principal: identifySigner(request.headers, bytes, context.deps), bytes };
}

async function readBytes(request: Request, context: RequestContext, holder: BodyHolder): Promise<Buffer> {
  if (BODILESS.has(request.method)) return Buffer.alloc(0);
  const bytes = await readRequestBody(request, context, holder);
  requireBodyBytes(bytes, BOUNDS.managementBodyBytes, "Send less at once.");
  return bytes;
}

/** An absent body is an empty object: every field may have a default. */
function readJson(bytes: Buffer): unknown {
  return bytes.length === 0 ? {} : parseBody(bytes);
}

function check(schema: Schema, value: unknown, where: string): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".") || where;
  return fail("invalid_request", `${field}: ${issue?.message ?? "is not valid"}.`, { metadata: { field } });
}
